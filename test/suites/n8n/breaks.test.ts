/** What we say an upgrade breaks, against the rules that n8n ships for its own migration report. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Breaks from "../../../src/workflow/upgrade/Breaks.ts"
import * as NodeLookups from "../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../support/catalogue.ts"
import * as workflows from "../../support/workflows.ts"
import * as breakingChanges from "./breakingChanges.ts"
import { install } from "./install.ts"
import { inCi } from "./releases.ts"

const base = (name: string) => `n8n-nodes-base.${name}`
const langchain = (name: string) => `@n8n/n8n-nodes-langchain.${name}`

/** Types that no rule names, or only together with something else. */
const others = [
  ..."code set if switch filter httpRequest executeWorkflowTrigger stickyNote executeCommandTool".split(" ").map(base),
  ..."gmail slackTool compareDatasets splitInBatches merge readWriteFileTool".split(" ").map(base),
  ..."agentTool textClassifier toolCode chainLlm openAi".split(" ").map(langchain),
  "acme.none",
  ""
]

const types = [...new Set([...Breaks.rules.flatMap(({ types = [] }) => types), ...others])]

const versions = [1, 1.1, 1.3, 1.4, 1.5, 1.6, 1.9, 2, 2.2, 3, undefined]

const values = (name: string, ...each: ReadonlyArray<unknown>) => each.map((value) => ({ [name]: value }))

const texts = [
  "={{ $getPairedItem('A', 0) }}",
  "$getPairedItems",
  "$getPaired",
  "=process.env.A",
  "process .env",
  "process?.env['A']",
  "process/* a */.env",
  "the process environment",
  "process.environment",
  "={{ $env.A }}",
  "$env.A",
  "$evaluateExpression('{{ 1 }}')",
  "return $evaluateExpressions"
]

/** Own parameters, of which each rule has some that it names and some that are close to them. */
const parameters: ReadonlyArray<Obj> = [
  {},
  ...values("mode", "each", "once", "webhook", "hostedChat", null, ["each"]),
  ...values("agent", ..."conversationalAgent openAiFunctionsAgent planAndExecuteAgent".split(" ")),
  ...values("agent", "reActAgent", "sqlAgent", "toolsAgent", "", 5),
  ...values("source", "localFile", "url", "database", "parameter", null),
  ...values(
    "workflowId",
    "",
    "7",
    "={{ $json.id }}",
    "={{ $workflow.id }}",
    "={{$workflow.id}}",
    "={{ $workflow.id}}x",
    7
  ),
  ...values("workflowId", { value: "7" }, { value: "=a" }, { value: 7 }, { __rl: true }, null),
  ...values(
    "options",
    { waitForSubWorkflow: false },
    { waitForSubWorkflow: true },
    { waitForSubWorkflow: "false" },
    null
  ),
  ...values("language", "python", "pythonNative", "javaScript"),
  ...values("operation", "sendAndWait", "dispatchAndWait", "send"),
  ...texts.flatMap((text) => [{ code: text }, { jsCode: text }, { a: [{ b: text }] }])
]

const more: ReadonlyArray<Obj> = [
  {},
  { alwaysOutputData: true },
  { alwaysOutputData: true, onError: "continueErrorOutput" },
  { alwaysOutputData: "true" },
  { onError: "continueErrorOutput", disabled: true }
]

/** Every type with every version and parameters; the other keys take turns. */
const singleNodes = types.map((type, index) =>
  workflows.workflow(
    `type ${index}`,
    versions.flatMap((typeVersion, v) =>
      parameters.map((own, p) => ({
        ...workflows.node(`${v} ${p}`, "set", 1, own, more[(v + p) % more.length]),
        type,
        typeVersion
      }))
    )
  )
)

/** Workflows that may wait, and those that call them. */
const calls = ["wait", "form", "respondToWebhook", "slack", "gmail", "github", "set"].map(base).concat(
  langchain("chat")
)
  .flatMap((type) =>
    ["sendAndWait", "dispatchAndWait", undefined].flatMap((operation) =>
      ["executeWorkflowTrigger", "manualTrigger"].flatMap((trigger) => {
        const id = `${type} ${operation} ${trigger}`
        const call = (name: string, workflowId: unknown) => workflows.node(name, "executeWorkflow", 1.2, { workflowId })
        return [
          workflows.workflow(id, [
            workflows.node("Start", trigger),
            workflows.node("Wait", type, 1, { operation }),
            call("Itself", "={{ $workflow.id }}")
          ]),
          workflows.workflow(`calls ${id}`, [
            call("By id", id),
            call("From a list", { __rl: true, value: id, mode: "list" })
          ])
        ]
      })
    )
  )

const settings = [
  undefined,
  null,
  {},
  ...values("callerPolicy", "any", "none", null, "workflowsFromSameOwner", ["any"])
]
  .map((settings, index) => ({ ...workflows.workflow(`settings ${index}`, []), settings }))

const all: ReadonlyArray<Obj> = [...singleNodes, ...calls, ...settings]

/** Why we name a change that n8n's rules do not: the reasons of `.github/docs/evidence.md`. */
const isAccepted = ({ rule }: Breaks.Break, { parameters, type }: Obj): boolean => {
  const ownText = JSON.stringify(parameters)
  switch (rule) {
    // n8n's documents name them, its rules do not.
    case "type-removed":
      return [base("automizy"), base("crowdDevTrigger"), langchain("code")].includes(String(type))
    case "evaluate-expression":
      return type === base("code") && ownText.includes("$evaluateExpression")
    // n8n's rule reads `code` of a Code node, whose code is in `jsCode`; `$env` is refused in the same way.
    case "environment-access":
      return ownText.includes("$env") || type === base("code")
    // A tool variant is excluded and limited together with its node.
    case "type-disabled":
    case "file-access":
      return String(type).endsWith("Tool")
    default:
      return false
  }
}

it.effect(`names every break that the rules of n8n ${inCi["2"]} name`, () =>
  Effect.gen(function*() {
    const { bin } = yield* install(inCi["2"])
    const n8n = breakingChanges.load(bin)
    const byId = new Map(all.map((each) => [each["id"], each]))
    const issues = yield* Effect.promise(() => n8n.issues(all))
    const lookups = { ...yield* NodeLookups.make(types), workflow: (id: string) => byId.get(id) }
    const breaks = all.flatMap((workflow) =>
      Breaks.find(workflow, { to: "3.0" }, lookups).map((each) => ({ ...each, workflow: workflow["id"] }))
    )
    const sources = Map.groupBy(Breaks.rules, ({ source }) => source)
    const key = (rule: string, since: string, workflow: unknown, node: string | undefined) =>
      JSON.stringify([rule, since, workflow, node ?? ""])
    const ours = new Set(breaks.map(({ node, rule, since, workflow }) => key(rule, since, workflow, node)))
    const theirs = new Set(
      issues.map(({ node, rule, since, workflow }) => key(sources.get(rule)?.[0]?.rule ?? rule, since, workflow, node))
    )
    assert.deepStrictEqual([...theirs].filter((each) => !ours.has(each)), [])
    const unexplained = breaks.filter((each) =>
      !theirs.has(key(each.rule, each.since, each.workflow, each.node)) &&
      !arr(byId.get(each.workflow)?.["nodes"]).map((node) => obj(node) ?? {}).some((node) =>
        node["name"] === each.node && isAccepted(each, node)
      )
    )
    assert.deepStrictEqual(unexplained.slice(0, 20), [])
    // Each of n8n's rules named a node, and many nodes were named by none.
    assert.deepStrictEqual(n8n.ids.filter((id) => !issues.some(({ rule }) => rule === id)), [])
    const named = new Set(issues.map(({ node, workflow }) => `${workflow}/${node}`))
    const nodes = all.flatMap(({ id, nodes }) => (nodes as ReadonlyArray<Obj>).map(({ name }) => `${id}/${name}`))
    assert.isAbove(nodes.filter((each) => !named.has(each)).length, 1_000)
  }).pipe(Effect.provide([catalogue, NodeServices.layer])), 1_200_000)
