/** Production webhooks of published workflows. */
import * as Effect from "effect/Effect"
import { empty, json, text } from "./answers.ts"
import { type Call, type Handler, route } from "./server.ts"
import { addExecution, list, type Node, obj } from "./state.ts"

/** Methods of a webhook path; each request brings a pending registration closer. */
const methodsOf = ({ state }: Call, path: string) =>
  [...state.webhooks].flatMap(([id, { current, lag, next }]) => {
    const isRegistered = current.some((webhook) => webhook.path === path)
    if (!isRegistered && !next.some((webhook) => webhook.path === path)) return []
    state.webhooks.set(id, lag <= 1 ? { current: next, next, lag: 0 } : { current, next, lag: lag - 1 })
    return current.filter((webhook) => webhook.path === path).map(({ method }) => method)
  })

const nothingRuns =
  "this simulated n8n runs nothing: give its option `runs`, such as (workflow) => FakeN8n.succeededExecution({ workflow })"

const started = () => json({ message: "Workflow was started" })

/** Stores the execution of a webhook's call, and answers like the workflow's first Respond to Webhook node. */
const run = ({ body, now, options: { runs }, state }: Call, path: string) => {
  const [id] = [...state.webhooks].find(([, { current }]) => current.some((webhook) => webhook.path === path)) ?? []
  const workflow = state.workflows.get(id ?? "")
  if (workflow === undefined) return started()
  const published = obj(workflow.activeVersion)
  const nodes = list<Node>(published["nodes"] ?? workflow["nodes"])
  const connections = published["connections"] ?? workflow["connections"]
  if (runs === undefined) return json({ code: 501, message: nothingRuns }, { status: 501 })
  const scripted = runs({ ...workflow, nodes, connections }, body)
  if (scripted === undefined) return started()
  if (scripted instanceof Response) return scripted
  const execution = addExecution(state, { ...scripted, mode: "webhook" }, Date.parse(now))
  const responder = nodes.find(({ disabled, type }) => type === "n8n-nodes-base.respondToWebhook" && disabled !== true)
  return obj(responder?.["parameters"])["responseBody"] === "={{ $execution.id }}"
    ? text(execution.id)
    : started()
}

/** Answers a webhook call or a CORS preflight, which lists the methods. */
const callWebhook: Handler = (call) => {
  const { id: path, method } = call
  const methods = methodsOf(call, path)
  const notFound = (message: string) => json({ code: 404, message }, { status: 404 })
  if (method === "OPTIONS") {
    const allowed = { "access-control-allow-methods": ["OPTIONS", ...methods].join(", ") }
    return Effect.succeed(empty(call.headers["origin"] ? allowed : {}))
  }
  if (methods.includes(method)) return Effect.sync(() => run(call, path))
  if (methods.length === 0) {
    return Effect.succeed(notFound(`The requested webhook "${method} ${path}" is not registered.`))
  }
  const hint = `Did you mean to make a ${methods.join(" or ")} request?`
  return Effect.succeed(notFound(`This webhook is not registered for ${method} requests. ${hint}`))
}

export const routes = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) =>
  route(method, "/webhook/*", callWebhook)
)
