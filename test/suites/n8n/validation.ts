/** Compares the catalogue and the validation with what a real n8n publishes and refuses. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Services from "../../../src/app/Services.ts"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import type { Problem } from "../../../src/base/Problem.ts"
import * as NodeDetails from "../../../src/catalogue/types/NodeDetails.ts"
import type * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as Outside from "../../../src/catalogue/types/Outside.ts"
import * as Ports from "../../../src/catalogue/types/Ports.ts"
import * as ToolVariant from "../../../src/catalogue/types/ToolVariant.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { main, node } from "../../support/workflows.ts"
import type { RealN8n } from "./RealN8n.ts"

const evaluate = await Effect.runPromise(Ports.evaluator)

const background = { release: "2.41.1", releases: { lacking: {}, removed: {} } }

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const hook = () => node("Hook", "webhook", 2, { path: `v-${crypto.randomUUID()}` }, { webhookId: crypto.randomUUID() })

const chain = (names: ReadonlyArray<string>) =>
  Object.fromEntries(
    names.slice(1).map((to, index) => [names[index], main(to)])
  )

const workflow = (name: string, nodes: ReadonlyArray<ReturnType<typeof node>>, connected = nodes) => ({
  name,
  nodes,
  connections: chain(connected.map((each) => each.name)),
  settings: { executionOrder: "v1" }
})

const http = (parameters: Obj, more?: Obj) => node("Get", "httpRequest", 4.2, parameters, more)
const slack = (more?: Obj) =>
  node("Post", "slack", 2.2, {
    resource: "message",
    operation: "post",
    select: "channel",
    channelId: { __rl: true, mode: "id", value: "C0122KQ70S7E" },
    text: "hi"
  }, more)
const credentials = { credentials: { slackApi: { id: "abcdefghijklmnop", name: "Slack" } } }

/** Workflows that n8n 2.x publishes and refuses. */
const published = [
  workflow("plain", [hook(), http({ url: "https://example.com" }), slack(credentials)]),
  workflow("faults in a disabled node", [hook(), http({ url: "" }, { disabled: true })]),
  workflow("faults in a node that nothing leads to", [hook(), http({ url: "" })], [hook()]),
  workflow("a version that n8n does not look at", [hook(), node("X", "noOp", 1.5, {})])
]
const refused = [
  workflow("a required parameter is empty", [hook(), http({ url: "" })]),
  workflow("a required parameter is missing", [hook(), http({})]),
  workflow("a type that is not there", [hook(), node("X", "htpRequest", 1, {})]),
  workflow("a version that is not there", [hook(), node("X", "set", 9, {})]),
  workflow("a type that is disabled", [hook(), node("X", "e2eTest", 1, { operation: "remoteOptions" })]),
  workflow("no such resource", [
    hook(),
    node("X", "googleSheets", 4.5, {
      documentId: { __rl: true, mode: "url", value: "https://example.com/none" },
      sheetName: { __rl: true, mode: "id", value: "gid=0" }
    }, { credentials: { googleSheetsOAuth2Api: { id: "abcdefghijklmnop", name: "Sheets" } } })
  ])
]

const create = (given: ReturnType<typeof workflow>) => tools.createWorkflow.call({ ...given, active: true })

/** For n8n's own tests, or switched off unless told. */
const notOffered = new Set(
  ["dynamicCredentialCheck", "e2eTest", "executeCommand"].map((name) => `n8n-nodes-base.${name}`)
)

/** node_get's example of a type, as a node with credentials. */
const exampleNode = (nodeType: NodeType.NodeType) => {
  const { at, steps } = Result.getOrThrow(NodeDetails.details(nodeType, {}, evaluate, background))
  const details = at(steps)
  const { credentials = [], example, inputs = [], name, outputs = [], trigger, type, version } = details
  const given = Object.fromEntries(credentials.map((each) => [each.type, { id: "abcdefghijklmnop", name: "some" }]))
  const present = (ports: ReadonlyArray<string>) => ports.filter((port) => !port.includes(" when ")).map(typeOfPort)
  return {
    node: node(`${name} ${type}`, type, version, example?.parameters as Obj, { credentials: given }),
    isTrigger: trigger === true,
    inputs: present(inputs),
    outputs: present(outputs)
  }
}

const typeOfPort = (label: string) => label.split(/[ [/]/)[0] ?? ""

/** Every type's example but triggers', whose services would have to answer, and the tools that n8n makes of types. */
const examples = () => {
  const types = [...nodeTypes.all.values()].filter(({ type }) => !notOffered.has(type))
  const tools = types.flatMap((base) => ToolVariant.variant(`${base.type}Tool`, base) ?? [])
  return [...types, ...tools].map(exampleNode).filter(({ isTrigger }) => !isTrigger)
}

/** The examples that take and give items, in a row. */
const inARow = () =>
  examples().filter(({ inputs, outputs }) => inputs.includes("main") && outputs.includes("main")).map(({ node }) =>
    node
  )

/** Types that need a file in each item, or the same fields. */
const needsMore = /\.(?:compression|editImage|extractFromFile|removeDuplicates)$/

/** The examples that need nothing but items: neither an account, nor a service, nor sub-nodes. */
const runnable = (parse: JavaScript.Parse) =>
  inARow().filter((node) =>
    node.type.startsWith("n8n-nodes-base.") && !needsMore.test(node.type) &&
    Object.keys(obj(obj(node)?.["credentials"]) ?? {}).length === 0 &&
    !Outside.reachesOutside(nodeTypes.all.get(node.type), node, parse)
  )

/** The examples that lend something to an agent: models, memories, tools and what these need. */
const lent = () => examples().filter(({ outputs }) => outputs.length > 0 && !outputs.includes("main"))

const agent = () => node("Agent", "@n8n/n8n-nodes-langchain.agent", 3.1, { promptType: "define", text: "hi" })

/** Errors, but for credentials: n8n looks for these only when it runs. */
const errorsOf = (problems: ReadonlyArray<Problem>) =>
  problems.filter(({ path, severity }) => severity === "error" && !path.includes(".credentials"))

/** Publishes a workflow, and sees that the validation finds no errors in it. */
const publishes = (given: ReturnType<typeof workflow>) =>
  Effect.gen(function*() {
    const { active, id, warnings } = yield* create(given)
    assert.isTrue(active, warnings?.join())
    const { problems } = yield* tools.validateWorkflow.call({ workflowId: id })
    yield* tools.deleteWorkflow.call({ id, confirm: true })
    return errorsOf(problems)
  })

/** Those of the nodes that the connected n8n has, by what the validation says of their types and versions. */
const there = Effect.fnUntraced(function*(nodes: ReadonlyArray<ReturnType<typeof node>>) {
  const { problems } = yield* tools.validateWorkflow.call({ workflow: workflow("all", nodes) })
  const missing = new Set(
    problems.flatMap(({ message, node }) => /^The connected n8n \S+ has no /.test(message) ? [node] : [])
  )
  return nodes.filter(({ name }) => !missing.has(name))
})

/**
 * Adds the tests of the catalogue to a suite. The releases differ: n8n 1 publishes what n8n 2 refuses, so only n8n 2 is
 * given all examples.
 */
export const validation = (it: It, version: string) => {
  const v2 = !version.startsWith("1.")

  it.effect("validate_workflow: valid is what this n8n publishes", () =>
    Effect.gen(function*() {
      for (const given of published) {
        const { active, id } = yield* create(given)
        assert.isTrue(active, given.name)
        assert.deepStrictEqual(
          errorsOf((yield* tools.validateWorkflow.call({ workflowId: id })).problems),
          [],
          given.name
        )
      }
      for (const given of refused) {
        const { active, id, warnings } = yield* create(given)
        const { problems, valid } = yield* tools.validateWorkflow.call({ workflowId: id })
        assert.isFalse(valid, given.name)
        assert.isTrue(problems.some(({ node, severity }) => severity === "error" && node !== "Hook"), given.name)
        // 1.x looks at nodes when they run.
        if (v2) assert.isFalse(active, `${given.name}: ${warnings?.join()}`)
      }
    }))

  it.effect("validate_workflow: a credential that is not set is not an error, but keeps n8n 2 from publishing", () =>
    Effect.gen(function*() {
      const { active, id } = yield* create(workflow("no credential", [hook(), slack()]))
      assert.strictEqual(active, !v2)
      const { missingCredentials, valid } = yield* tools.validateWorkflow.call({ workflowId: id })
      assert.isTrue(valid)
      assert.deepStrictEqual(missingCredentials, [{ node: "Post", type: "slackApi" }])
    }))

  it.effect("node_get: its examples run, also on an item that lacks most fields", () =>
    Effect.gen(function*() {
      const nodes = (yield* there(runnable(yield* JavaScript.parser))).map((each) => ({
        ...each,
        onError: "continueRegularOutput"
      }))
      assert.isAbove(nodes.length, 20)
      const { id } = yield* tools.createWorkflow.call({
        name: "examples that run",
        nodes: [node("Start", "manualTrigger", 1, {}), ...nodes],
        connections: { Start: { main: [nodes.map(({ name }) => ({ node: name, type: "main", index: 0 }))] } },
        settings: { executionOrder: "v1" },
        active: false
      })
      const few = { id: 2, data: "<p>b</p>", html: "<p>b</p>", markdown: "b" }
      const { executionId, status } = yield* tools.testWorkflow.call({
        workflowId: id,
        testData: [{ ...few, id: 1, name: "a", status: "active", price: 2, quantity: 3 }, few],
        timeout: 60_000,
        mode: "auto"
      })
      assert.strictEqual(status, "success")
      const errors = yield* Effect.forEach(nodes, ({ name: nodeName, parameters }) =>
        Effect.map(
          tools.getExecutionByNode.call({ id: executionId, nodeName, itemOffset: 0, itemLimit: 10 }),
          ({ output }) =>
            output.items.flatMap(({ json }) => {
              const error = obj(json)?.["error"]
              return error === undefined ? [] : [{ nodeName, error, parameters }]
            })
        ))
      assert.deepStrictEqual(errors.flat(), [])
    }))

  if (v2) {
    it.effect("node_get: n8n publishes its examples, all in one workflow", () =>
      Effect.gen(function*() {
        const nodes = [hook(), ...(yield* there(inARow()))]
        assert.isAbove(nodes.length, 300)
        const errors = yield* publishes(workflow("examples", nodes))
        assert.deepStrictEqual(errors.filter(({ path }) => path.includes(".parameters")), [])
      }))

    it.effect("node_get: n8n publishes its examples of models, memories and tools, tool variants too", () =>
      Effect.gen(function*() {
        const all = lent()
        const are = new Set(yield* there(all.map(({ node }) => node)))
        const subNodes = all.filter(({ node }) => are.has(node))
        assert.isAbove(subNodes.length, 300)
        const { connections, ...rest } = workflow("sub-nodes", [hook(), agent()])
        const errors = yield* publishes({
          ...rest,
          nodes: [...rest.nodes, ...subNodes.map(({ node }) => node)],
          connections: {
            ...connections,
            ...Object.fromEntries(subNodes.map(({ node: { name }, outputs: [type = "ai_tool"] }) => [
              name,
              { [type]: [[{ node: "Agent", type, index: 0 }]] }
            ]))
          }
        })
        assert.deepStrictEqual(errors.filter(({ path }) => path.includes(".parameters")), [])
      }))
  } else {
  }
}
