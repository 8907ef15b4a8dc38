/** Failures of real nodes beside those of the nodes that repeat them, and verdicts on workflows with weak places. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type * as Services from "../../../src/app/Services.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as NodeFailures from "../../../src/trials/drill/NodeFailures.ts"
import { node } from "../../support/workflows.ts"
import { chain, copiesLeft, happened, type Link, made, set, webhook } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"
import { weak } from "./weakWorkflows.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

const bodies: { readonly [status: string]: string } = {
  401: "{\"message\":\"Bad credentials\"}",
  429: "{\"message\":\"Too many requests\"}",
  500: "{\"message\":\"Internal error\"}",
  200: "{\"ok\":true,\"id\":7}"
}

/** A service that fails as the first part of the path says, or below `/state` as `kind` says; `hits` are those parts. */
const service = Effect.gen(function*() {
  const { host } = yield* RealN8n
  const self = { url: "", kind: "200", hits: new Array<string>() }
  const server = createServer((request, response) => {
    const [, first = ""] = (request.url ?? "").split(/[/?]/)
    const kind = first === "state" ? self.kind : first
    self.hits.push(first)
    if (kind === "timeout") return
    if (kind === "dropped") return void request.socket.destroy()
    response.setHeader("content-type", "application/json")
    response.statusCode = Number(bodies[kind] === undefined ? 200 : kind)
    response.end(kind === "empty" ? "[]" : bodies[kind] ?? bodies[200])
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => server.close().closeAllConnections())
  )
  // oxlint-disable-next-line no-unsafe-type-assertion -- a server that listens on a port has one
  self.url = `http://${host}:${(server.address() as AddressInfo).port}`
  return self
})

const credential = Effect.fnUntraced(function*(type: string, data: Obj) {
  const { body } = yield* scenarios.request("POST", "credentials", { name: `drill ${type}`, type, data })
  const id = str(obj(body)?.["id"])
  assert.isString(id, JSON.stringify(body))
  return { credentials: { [type]: { id, name: `drill ${type}` } } }
})

type Built = Omit<ReturnType<typeof node>, "position"> & { readonly position: readonly [number, number] }

const added = (isCopied: boolean, of: string): NodeFailures.Naming => {
  let count = 0
  return Object.assign((role: string) => ({ id: `${of}-${count++}`, name: `${role} ${count}` }), { isCopied })
}

/** The nodes with one replaced by those that repeat its failure. */
const replaced = (
  nodes: ReadonlyArray<Built>,
  links: ReadonlyArray<Link>,
  name: string,
  kind: NodeFailures.Kind,
  isV1: boolean
): readonly [ReadonlyArray<Obj>, ReadonlyArray<Link>] => {
  const failing = nodes.find((each) => each.name === name)
  assert.isDefined(failing)
  const failure = NodeFailures.of(failing, kind, { isV1, outputs: 1 })
  assert.isDefined(failure)
  const row = NodeFailures.nodes(failing, failure, added(isV1, name))
  const [first] = row
  return [
    nodes.flatMap((each): ReadonlyArray<Obj> => each.name === name ? row : [each]),
    [
      ...links.map(([from, to, ...rest]): Link => [from, to === name ? first?.name ?? name : to, ...rest]),
      ...chain(...row.map((each) => each.name))
    ]
  ]
}

const changing = "stack timestamp context description cause node tags level functionality shouldReport".split(" ")

/** An error's fields that are the same in every run, and without the host. */
const lasting = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(lasting)
  const object = obj(value)
  if (object !== undefined) {
    const entries = Object.entries(object).filter(([key]) => !changing.includes(key))
    return Object.fromEntries(entries.map(([key, inner]) => [key, lasting(inner)]))
  }
  return typeof value === "string"
    ? value.replace(/timeout of \d+ms/, "timeout").replace(/[\d.]+:\d+/, "host:port")
    : value
}

/** The JSON of the items that a node received, by way of a node that passes them on; a list has no fields either. */
const received = (runs: Obj, name: string) =>
  arr(arr(obj(obj(arr(runs[name])[0])?.["data"])?.["main"])[0]).map((item) => lasting(obj(obj(item)?.["json"]) ?? {}))

const id = (value: string, mode = "id") => ({ __rl: true, mode, value })

type Make = (kind: NodeFailures.Kind, more: Obj) => Effect.Effect<Built, unknown, RealN8n>

/** Nodes with the failures that they can have, and the way to make each; fast tests have recordings of many more. */
const subjectsOf = (url: string, sub: string) => {
  const simple = (type: string, version: number, parameters: (at: string) => Obj): Make => (kind, more) =>
    Effect.succeed(node("N", type, version, parameters(`${url}/${kind}`), more))
  const called =
    (type: string, version: number, parameters: Obj, credentialType: string, data: (at: string) => Obj): Make =>
    (kind, more) =>
      Effect.map(
        credential(credentialType, data(`${url}/${kind}`)),
        (credentials) => node("N", type, version, parameters, { ...credentials, ...more })
      )
  const answered = ["401", "429", "500", "empty"] as const
  const format = { response: { response: { responseFormat: "text" } } }
  const issue = {
    authentication: "accessToken",
    resource: "issue",
    operation: "get",
    owner: id("o", "name"),
    repository: id("r", "name"),
    issueNumber: 1
  }
  const github = (server: string) => ({ server, user: "u", accessToken: "x" })
  const openAi = { resource: "text", operation: "message", modelId: id("gpt-4o-mini"), options: {} }
  const hi = { messages: { values: [{ content: "hi" }] } }
  const openAiKey = (at: string) => ({ apiKey: "sk-x", url: at, header: false })
  const calls = { workflowId: id(sub), workflowInputs: { mappingMode: "defineBelow", value: {} }, options: {} }
  const subjects: ReadonlyArray<readonly [string, ReadonlyArray<NodeFailures.Kind>, Make]> = [
    [
      "HTTP Request 4.2",
      [...answered, "timeout"],
      simple("httpRequest", 4.2, (at) => ({ url: at, options: { timeout: 800 } }))
    ],
    ["HTTP Request 1", ["429", "empty"], simple("httpRequest", 1, (at) => ({ url: at, responseFormat: "json" }))],
    ["HTTP Request for a text", ["empty"], simple("httpRequest", 4.2, (at) => ({ url: at, options: format }))],
    ["GitHub", ["401", "429"], called("github", 1.1, issue, "githubApi", github)],
    [
      "OpenAI",
      ["401", "500"],
      called("@n8n/n8n-nodes-langchain.openAi", 1.8, { ...openAi, ...hi }, "openAiApi", openAiKey)
    ],
    ["Execute Workflow", ["500"], simple("executeWorkflow", 1.2, () => calls)]
  ]
  return subjects
}

/** Settings that run in one workflow; the one that stops it is the last branch. */
const settings: ReadonlyArray<Obj> = [
  {},
  { onError: "continueRegularOutput" },
  { onError: "continueErrorOutput" },
  { alwaysOutputData: true, onError: "continueRegularOutput" }
]

const orders = { orders: [{ id: 1, name: "a" }, { id: 2, name: "b" }, { id: 3, name: "c" }] }

/** Adds the tests of failure drills to a suite. */
export const drilling = (it: It, v2: boolean) => {
  it.effect(
    "drill: what follows receives the same from a failing node and from the nodes that repeat it",
    () =>
      Effect.gen(function*() {
        const { url } = yield* service
        const sub = yield* made("fails", [
          node("T", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
          node("B", "stopAndError", 1, { errorMessage: "The sub-workflow failed" })
        ], chain("T", "B"))
        if (v2) yield* scenarios.publish(sub)
        const compare = Effect.fnUntraced(function*(label: string, kind: NodeFailures.Kind, make: Make) {
          const parts = yield* Effect.forEach(settings, (more, index) =>
            Effect.map(make(kind, more), (failing) => ({
              ...failing,
              id: `n${index}`,
              name: `N${index}`,
              position: [400, 400 * (index === 0 ? 9 : index)] as const
            })))
          const seen = yield* Effect.forEach([true, false], (isReal) =>
            Effect.gen(function*() {
              const path = `drill-${crypto.randomUUID()}`
              const each = node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders", options: {} })
              const nodes: Array<Obj> = [webhook(path), each]
              const links: Array<Link> = [...chain("Orders", "Each")]
              const ends: Array<string> = []
              for (const part of parts) {
                const [one, two] = [`${part.name} to 0`, `${part.name} to 1`]
                ends.push(one, two)
                const [x, y] = part.position
                nodes.push(
                  { ...node(one, "noOp"), position: [x + 300, y] },
                  { ...node(two, "noOp"), position: [x + 300, y + 100] }
                )
                const hasError = obj(part)?.["onError"] === "continueErrorOutput"
                const around: ReadonlyArray<Link> = [
                  ["Each", part.name],
                  [part.name, one],
                  ...(hasError ? [[part.name, two, 1] as const] : [])
                ]
                const [ownNodes, ownLinks] = isReal ? [[part], around] : replaced([part], around, part.name, kind, !v2)
                nodes.push(...ownNodes)
                links.push(...ownLinks)
              }
              const workflow = yield* made(`${label} ${kind}`, nodes, links)
              yield* scenarios.publish(workflow)
              const { executionId, status } = yield* happened(workflow, path, orders)
              const execution = obj(yield* scenarios.fetchJson(`executions/${executionId}?includeData=true`))
              const { error, lastNodeExecuted, runData } = obj(obj(execution?.["data"])?.["resultData"]) ?? {}
              return {
                status,
                failure: status === "error" ? [lastNodeExecuted, lasting(obj(error)?.["message"])] : [],
                received: Object.fromEntries(ends.map((end) => [end, received(obj(runData) ?? {}, end)]))
              }
            }))
          assert.deepStrictEqual(seen[1], seen[0], `${label} fails with ${kind}`)
        })
        const cases = subjectsOf(url, sub).flatMap(([label, kinds, make]) =>
          kinds.map((kind) => [label, kind, make] as const)
        )
        yield* Effect.forEach(cases, (each) => compare(...each), { concurrency: v2 ? 3 : 1, discard: true })
      }).pipe(Effect.scoped),
    600_000
  )

  it.effect(
    "drill: the tool's verdicts on workflows with weak places; nothing is sent, and no copies are left",
    () =>
      Effect.gen(function*() {
        const sink = yield* Recorder.make
        const alert = yield* made("Alert", [node("T", "errorTrigger"), set("Out", "{}")], chain("T", "Out"))
        if (v2) yield* scenarios.publish(alert)
        const deaf = yield* made("Deaf", [node("T", "manualTrigger")], [])
        const token = crypto.randomUUID()
        const path = (name: string) => `${name.replaceAll(/\W/g, "-")}-${token}`
        const cases = weak({
          failing: `${sink.url}/lookup`,
          working: sink.url,
          path,
          errorWorkflow: alert,
          noErrorTrigger: deaf
        })
        const ids = yield* Effect.forEach(cases, ({ links, name, nodes, settings = {} }) =>
          Effect.gen(function*() {
            const id = yield* made(name, nodes, links, { settings: { executionOrder: "v1", ...settings } })
            yield* scenarios.publish(id)
            const after = yield* scenarios.newestExecution()
            yield* scenarios.callWebhook(path(name), { body: orders })
            yield* scenarios.awaitExecution(id, after, ["success"])
            return id
          }))
        const sent = sink.lines().length
        assert.isAbove(sent, cases.length)
        const answers = yield* Effect.forEach(
          ids,
          (workflowId) => tools.workflowProve.call({ workflowId, drill: true }),
          // SQLite of n8n 1 refuses transactions side by side.
          { concurrency: v2 ? 3 : 1 }
        )
        cases.forEach(({ because, grade, kind, name }, index) => {
          const { drill: rows = [] } = answers[index] ?? {}
          const own = rows.filter((row) => row["node"] === "Lookup")
          const label = NodeFailures.labelOf(kind)
          const row = own.find(({ failures }) => arr(failures).includes(label))
          assert.strictEqual(row?.["verdict"], grade, `${name}: ${JSON.stringify(rows)}`)
          assert.match(String(row?.["why"]), because)
          // Each kind once.
          assert.deepStrictEqual(
            own.flatMap(({ failures }) => arr(failures)),
            NodeFailures.kinds.map(NodeFailures.labelOf),
            name
          )
        })
        assert.lengthOf(sink.lines(), sent)
        assert.deepStrictEqual(yield* copiesLeft, [])
      }).pipe(Effect.scoped),
    300_000
  )

  it.effect(
    "drill: the tool's verdicts beside what n8n does: its status, its answer, the alerts and the saved orders",
    () =>
      Effect.gen(function*() {
        const sink = yield* service
        const alert = yield* made("Alert at the sink", [
          node("T", "errorTrigger"),
          node("Out", "httpRequest", 4.2, { url: `${sink.url}/alert`, options: {} })
        ], chain("T", "Out"))
        if (v2) yield* scenarios.publish(alert)
        const token = crypto.randomUUID()
        const hook = (path: string, responseMode: string) =>
          node("Orders", "webhook", 2, { path, httpMethod: "POST", responseMode, options: {} }, { webhookId: path })
        const each = node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders", options: {} })
        const to = (name: string, at: string, options: Obj = {}, more: Obj = {}) =>
          node(name, "httpRequest", 4.2, { url: `${sink.url}/${at}`, options: { timeout: 400, ...options } }, more)
        const lookup = (options: Obj = {}, more: Obj = {}) => to("Lookup", "state", options, more)
        const save = to("Save", "save")
        const sub = yield* made("Looks up", [
          node("Called", "executeWorkflowTrigger", 1.1, { inputSource: "passthrough" }),
          to("Inner", "state")
        ], chain("Called", "Inner"))
        if (v2) yield* scenarios.publish(sub)
        const pagination = {
          paginationMode: "updateAParameterInEachRequest",
          parameters: { parameters: [{ type: "qs", name: "page", value: "={{ $pageCount + 1 }}" }] },
          paginationCompleteWhen: "other",
          completeExpression: "={{ $pageCount >= 1 }}",
          limitPagesFetched: true,
          maxRequests: 2
        }
        const plain = chain("Orders", "Each", "Lookup", "Save")
        const row = [each, lookup(), save]
        const answer = node("Answer", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "ok", options: {} })
        const batches = node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} })
        const pause = node("Wait", "wait", 1.1, { amount: 1, unit: "seconds" }, { webhookId: crypto.randomUUID() })
        const called = node("Lookup", "executeWorkflow", 1.2, { workflowId: id(sub), mode: "once", options: {} })
        const alerted = { errorWorkflow: alert }
        type Shape = readonly [name: string, mode: string, ReadonlyArray<Obj>, ReadonlyArray<Link>, Obj?]
        const shapes: ReadonlyArray<Shape> = [
          ["no alert", "onReceived", row, plain],
          ["error workflow", "onReceived", row, plain, alerted],
          ["last node", "lastNode", row, plain],
          ["respond node", "responseNode", [...row, answer], [...plain, ["Save", "Answer"]]],
          [
            "loop with error output",
            "onReceived",
            [each, batches, lookup({}, { onError: "continueErrorOutput" }), save, to("Report", "report")],
            [
              ...chain("Orders", "Each", "Loop"),
              ["Loop", "Lookup", 1],
              ...chain("Lookup", "Save", "Loop"),
              ["Lookup", "Report", 1],
              ["Report", "Loop"]
            ]
          ],
          ["continues", "onReceived", [each, lookup({}, { onError: "continueRegularOutput" }), save], plain],
          ["sub-workflow", "onReceived", [each, called, save], plain],
          ["wait", "onReceived", [pause, ...row], chain("Orders", "Each", "Wait", "Lookup", "Save"), alerted],
          ["pages", "onReceived", [each, lookup({ pagination: { pagination } }), save], plain]
        ]
        const wrong: Array<string> = []
        let compared = 0
        for (const [name, mode, nodes, links, settings = {}] of shapes) {
          const path = `${name.replaceAll(/\W/g, "-")}-${token}`
          const id = yield* made(name, [hook(path, mode), ...nodes], links, {
            settings: { executionOrder: "v1", ...settings }
          })
          yield* scenarios.publish(id)
          const run = Effect.fnUntraced(function*(kind: string) {
            sink.kind = kind
            sink.hits = []
            const after = yield* scenarios.newestExecution()
            const { status: answer } = yield* scenarios.callWebhook(path, { body: orders })
            const { status } = yield* scenarios.awaitExecution(id, after)
            const count = (at: string) => sink.hits.filter((hit) => hit === at).length
            if (status === "error" && settings["errorWorkflow"] !== undefined) {
              yield* Effect.sync(() => count("alert")).pipe(
                Effect.repeat({ schedule: Schedule.spaced("100 millis"), times: 100, until: (alerts) => alerts > 0 }),
                scenarios.live
              )
            }
            const isAlerted = count("alert") > 0 || answer >= 400
            const stops = isAlerted ? "stops with alert" : "stops silently"
            return { status, stops, saved: count("save"), isReported: count("report") > 0 }
          })
          const usual = yield* run("200")
          assert.deepInclude(usual, { status: "success", isReported: false }, name)
          const { drill: rows = [] } = yield* tools.workflowProve.call({ workflowId: id, drill: true })
          const own = rows.filter((row) => row["node"] === "Lookup")
          for (const kind of ["401", "500", "timeout", "dropped", "empty"]) {
            const label = kind === "empty" ? "empty list" : kind === "dropped" ? "timeout" : kind
            const row = own.find(({ failures }) => arr(failures).includes(label))
            // A sub-workflow's call only fails, or returns nothing.
            if (row === undefined || /cannot meet/.test(String(row["why"]))) continue
            const { isReported, saved, status, stops } = yield* run(kind)
            const truth = status === "error" || kind === "empty" && saved < usual.saved
              ? stops
              : isReported
              ? "handled"
              : "continues and loses items"
            compared++
            if (row["verdict"] !== truth) {
              wrong.push(`${name}, ${kind}: ${String(row["verdict"])} (${String(row["why"])}), but n8n ${truth}`)
            }
          }
        }
        // Gaps of the drill: remove a line when its verdict is right.
        const gaps = v2 ? ["last node, empty"] : [
          "last node, empty",
          // The caller gets HTTP 200, though the run fails before the answer.
          ...["401", "500", "timeout", "dropped"].map((kind) => `respond node, ${kind}`),
          // Pagination takes an answer with an error status as a page.
          ...["401", "500"].map((kind) => `pages, ${kind}`)
        ]
        assert.strictEqual(compared, 42)
        assert.deepStrictEqual(wrong.map((each) => each.split(":")[0]), gaps, wrong.join("\n"))
        assert.deepStrictEqual(yield* copiesLeft, [])
      }).pipe(Effect.scoped),
    300_000
  )
}
