/** Workflows that refer to credentials, tables and each other, and an n8n of production to which they are promoted. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import type * as Sync from "../../src/sync/Sync.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { main, node } from "../support/workflows.ts"
import { clientOf } from "../support/world.ts"

export const trigger = node("Start", "scheduleTrigger", 1.2, { rule: { interval: [{}] } })

export const locator = (value: string, cachedResultName: string) => ({
  __rl: true,
  mode: "list",
  value,
  cachedResultName,
  cachedResultUrl: `/workflow/${value}`
})

export const call = (id: string, name: string) =>
  node("Call", "executeWorkflow", 1.2, { source: "database", workflowId: locator(id, name) })

const stripe = { stripeApi: { id: "dev-stripe", name: "Stripe" } }

/** A node with a credential that production has under the same name, and more of them. */
export const charge = (more: Obj = {}) =>
  node("Charge", "httpRequest", 4.2, { url: "https://stripe.test" }, { credentials: { ...stripe, ...more } })

export const store = node("Store", "dataTable", 1, {
  resource: "row",
  operation: "insert",
  dataTableId: { ...locator("dev-table", "Orders"), cachedResultUrl: "/projects/dev/datatables/dev-table" }
})

export const workflow = (id: string, name: string, nodes: ReadonlyArray<Obj>, more: Obj = {}) => ({
  id,
  name,
  nodes,
  connections: { Start: main(String(nodes[1]?.["name"] ?? "Start")) },
  settings: {},
  ...more
})

export const production: N8nApi.Seed = {
  executions: [],
  workflows: [],
  credentials: [
    { id: "prod-stripe", name: "Stripe", type: "stripeApi" },
    { id: "prod-other", name: "Stripe", type: "otherApi" },
    { id: "prod-header", name: "Header of production", type: "httpHeaderAuth" }
  ],
  dataTables: [{ id: "prod-table", name: "Orders", columns: [{ name: "n", type: "number" }] }]
}

export interface TargetOptions extends N8nApi.Options {
  readonly target?: N8nApi.Seed
  readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
}

/** The n8n at http://production.test, and its client. */
export const makeTarget = Effect.fnUntraced(
  function*({ target: seed = production, through = (client) => client, ...options }: TargetOptions) {
    const target = yield* N8nApi.make(seed, options)
    const context = yield* Layer.build(clientOf(through(target.client), { host: "production.test" }))
    return { target, to: Context.get(context, N8nClient.N8nClient) }
  }
)

/** The outcome of each workflow by its name. */
export const outcomes = ({ entries }: Sync.PromotionReport) =>
  Object.fromEntries(
    entries.map(({ action, blocked, error, name, status }) => [
      name,
      blocked ? "blocked" : action ?? error?.message ?? status
    ])
  )

export const writes = (api: N8nApi.N8nApi) =>
  Effect.map(api.requests, (requests) => requests.filter(({ method }) => method !== "GET").length)

export const byName = (api: N8nApi.N8nApi) =>
  Effect.map(api.workflows, (all) => Object.fromEntries(all.map((each) => [each.name, each])))

export const names = (api: N8nApi.N8nApi) => Effect.map(api.workflows, (all) => all.map(({ name }) => name).toSorted())

export const nodeOf = (workflow: Obj | undefined, name: string) =>
  obj(arr(workflow?.["nodes"]).find((each) => obj(each)?.["name"] === name)) ?? {}

export const parameterOf = (workflow: Obj | undefined, name: string, parameter: string) =>
  obj(nodeOf(workflow, name)["parameters"])?.[parameter]
