/** Short builders for workflows, and helpers to test them with test_workflow. */
import * as Effect from "effect/Effect"
import { type Obj, str } from "../../../src/base/Json.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import * as tools from "../../../src/tools/index.ts"
import { node } from "../../support/workflows.ts"
import * as scenarios from "./scenarios.ts"

/** A Manual Trigger named `T`. */
export const manual = node("T", "manualTrigger", 1)

/** An Edit Fields node that returns the value of an expression. */
export const set = (name: string, json: string) => node(name, "set", 3.4, { mode: "raw", jsonOutput: `={{ ${json} }}` })

/** A Code node. */
export const code = (name: string, jsCode: string, more: Obj = {}) => node(name, "code", 2, { jsCode }, more)

/** A Wait node. */
export const wait = (amount: number, unit: "seconds" | "hours" = "seconds") =>
  node("Wait", "wait", 1.1, { amount, unit }, { webhookId: crypto.randomUUID() })

/** A Webhook node named `Orders`. */
export const webhook = (path: string) =>
  node("Orders", "webhook", 2, { path, httpMethod: "POST", responseMode: "onReceived" }, { webhookId: path })

/** Runs a workflow by its webhook and returns the execution's id. */
export const happened = Effect.fnUntraced(function*(workflowId: string, path: string, body: unknown) {
  const after = yield* scenarios.newestExecution()
  yield* scenarios.callWebhook(path, { body })
  return yield* scenarios.awaitExecution(workflowId, after)
})

/** A main connection. */
export type Link = readonly [from: string, to: string, output?: number, input?: number]

/** Connections in n8n's shape. */
export const connected = (links: ReadonlyArray<Link>) =>
  Object.fromEntries([...Map.groupBy(links, ([from]) => from)].map(([from, out]) => [from, {
    main: Array.from(
      { length: Math.max(...out.map(([, , output = 0]) => output)) + 1 },
      (_, index) =>
        out.filter(([, , output = 0]) => output === index)
          .map(([, to, , input = 0]) => ({ node: to, type: "main", index: input }))
    )
  }]))

/** Links that connect the nodes in a row. */
export const chain = (...names: ReadonlyArray<string>): ReadonlyArray<Link> =>
  names.slice(1).map((to, index) => [names[index] ?? "", to])

/** Creates a workflow on n8n and returns its id. */
export const made = (name: string, nodes: ReadonlyArray<Obj>, links: ReadonlyArray<Link>, more: Obj = {}) =>
  scenarios.create(
    Object.assign({ name }, { nodes, connections: connected(links), settings: { executionOrder: "v1" } }, more)
  )

/** Tests a workflow. */
export const test = (workflowId: string, more: Partial<Parameters<typeof tools.testWorkflow.call>[0]> = {}) =>
  tools.testWorkflow.call({ workflowId, timeout: 60_000, mode: "auto", ...more })

/** The JSON of the items that a test returned. */
export const jsons = (data: { readonly items: ReadonlyArray<{ readonly json: unknown }> } | undefined) =>
  (data?.items ?? []).map(({ json }) => json)

/** The names of the test copies on n8n. */
export const copiesLeft = Effect.map(
  scenarios.allWorkflows,
  (all) => all.map(({ name }) => str(name) ?? "").filter((name) => TestMark.ownerOf(name))
)
