/** Calls of the real webhook of a published workflow. */
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import * as Errors from "../base/Errors.ts"
import { arr, obj } from "../base/Json.ts"
import * as Visible from "../base/Visible.ts"
import * as Execution from "../executions/Execution.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, type WebhookCall } from "../n8n/N8nClient.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import * as Webhooks from "../workflow/Webhooks.ts"
import * as Reference from "../workflows/Reference.ts"
import * as executionWatch from "./executionWatch.ts"
import * as TriggerItems from "./TriggerItems.ts"

export const methods: ReadonlySet<string> = new Set(["DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"])

/** Header that identifies the execution among others of the workflow. */
export const marker = "x-effect-n8n-mcp-test"

const refuse = (reason: string, field: string) =>
  Errors.invalid(field, reason, "Nothing ran. mode: 'copy' runs any workflow, published or not, with any trigger.")

/** Nodes of the published version, which on 2.x may differ from the draft. */
export const publishedNodes = (workflow: Workflow.Workflow): ReadonlyArray<Workflow.Node> => {
  const nodes = arr(obj(workflow["activeVersion"])?.["nodes"])
  return nodes.length === 0 ? workflow.nodes : nodes as ReadonlyArray<Workflow.Node>
}

const isWebhook = ({ disabled, type }: Workflow.Node) => type === Webhooks.webhookType && disabled !== true

/** Path of a Webhook node; `undefined` if an expression computes it. */
export const pathOf = (node: Workflow.Node, params: { readonly [name: string]: unknown }) => {
  const segments = Webhooks.segmentsOf(node)
  return segments?.map((part) => part.startsWith(":") ? encodeURIComponent(String(params[part.slice(1)] ?? "")) : part)
    .join("/")
}

/** Opens the published version of a workflow, and the Webhook node that calls start. */
export const open = Effect.fnUntraced(function*(workflowId: string, startNode: string | undefined) {
  const n8n = yield* N8nClient
  const { place, version } = Reference.parse(workflowId)
  if (version !== undefined && version !== Reference.published) {
    return yield* refuse("The real webhook runs only the published version", "workflowId")
  }
  if (place.kind !== "n8n") return yield* refuse("Only a workflow on n8n is live", "workflowId")
  const workflow = yield* n8n.getWorkflow(place.id)
  if (!workflow.active) {
    return yield* refuse(`'${Visible.label(workflow.name)}' is not published: it has no live webhook`, "mode")
  }
  const nodes = publishedNodes(workflow)
  yield* WriteGuard.use(({ checkTest }) => checkTest(nodes))
  const node = nodes.find((node) =>
    isWebhook(node) && (startNode === undefined || node.name === startNode || node.id === startNode)
  )
  if (node === undefined) {
    return yield* refuse(`'${Visible.label(workflow.name)}' is not started by a Webhook node`, "mode")
  }
  const method = TriggerItems.methodOf(node)
  if (!methods.has(method)) {
    return yield* refuse(`'${Visible.label(node.name)}' has a method that cannot be called: '${method}'`, "mode")
  }
  return { subject: { ...Workflow.running(workflow) ?? workflow, nodes }, id: place.id, node, method }
})

export type Live = Effect.Success<ReturnType<typeof open>>

const texts = (values: object) =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) =>
      [key, typeof value === "string" ? value : JSON.stringify(value)] as const
    )
  )

/** Request that test data stand for. */
export const requestOf = Effect.fnUntraced(function*({ method, node }: Live, testData: unknown) {
  if (Array.isArray(testData) && testData.length > 1) {
    return yield* refuse("A live webhook takes one request, not several", "testData")
  }
  const { params, ...request } = TriggerItems.request(method, Array.isArray(testData) ? testData[0] : testData)
  const path = pathOf(node, params)
  return path === undefined
    ? yield* refuse(`An expression computes the path of '${Visible.label(node.name)}'`, "mode")
    : { path, ...request }
})

/** Webhook call of a live test, and the search for its execution. */
export const target = Effect.fnUntraced(function*(live: Live, testData: unknown, timeout: number) {
  const { id, method, node } = live
  const { body, headers, path, query } = yield* requestOf(live, testData)
  const token = randomUUID()
  const call: WebhookCall = {
    method: method as WebhookCall["method"],
    query: texts(query),
    headers: { ...texts(headers), [marker]: token },
    ...(method === "GET" || method === "HEAD" || body === undefined ? {} : { body }),
    seconds: timeout / 1000 + 30
  }
  const runs = yield* executionWatch.newRuns(id, (execution) => {
    const slot = { node: node.name, run: 0, side: "output", port: { type: "main", index: 0 } } as const
    const [item] = Execution.slice(execution, [{ count: 1, slot }], 0, 1)
    return obj(obj(item?.json)?.["headers"])?.[marker] === token
  })
  const find: executionWatch.Search = Effect.map(runs.refresh, () => {
    const own = [...runs.settled].find(([, { value }]) => value)
    return own === undefined ? { candidates: [...runs.pending] } : { id: own[0] }
  })
  return { path, call, find }
})
