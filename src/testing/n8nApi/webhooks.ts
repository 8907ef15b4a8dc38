/** Production webhooks of published workflows. */
import * as Effect from "effect/Effect"
import { type Call, type Handler, route } from "./server.ts"

/** The methods of a webhook path; each request brings a pending registration closer. */
const methodsOf = ({ state }: Call, path: string) =>
  [...state.webhooks].flatMap(([id, { current, lag, next }]) => {
    const isRegistered = current.some((webhook) => webhook.path === path)
    if (!isRegistered && !next.some((webhook) => webhook.path === path)) return []
    state.webhooks.set(id, lag <= 1 ? { current: next, next, lag: 0 } : { current, next, lag: lag - 1 })
    return current.filter((webhook) => webhook.path === path).map(({ method }) => method)
  })

/** Answers a webhook call, without executing anything, or a CORS preflight, which lists the methods. */
const callWebhook: Handler = (call) => {
  const { id: path, method } = call
  const methods = methodsOf(call, path)
  const notFound = (message: string) => Response.json({ code: 404, message }, { status: 404 })
  if (method === "OPTIONS") {
    const allowed = { "access-control-allow-methods": ["OPTIONS", ...methods].join(", ") }
    return Effect.succeed(new Response(null, { status: 204, headers: call.headers["origin"] ? allowed : {} }))
  }
  if (methods.includes(method)) return Effect.succeed(Response.json({ message: "Workflow was started" }))
  if (methods.length === 0) {
    return Effect.succeed(notFound(`The requested webhook "${method} ${path}" is not registered.`))
  }
  const hint = `Did you mean to make a ${methods.join(" or ")} request?`
  return Effect.succeed(notFound(`This webhook is not registered for ${method} requests. ${hint}`))
}

/** The routes of production webhooks. */
export const routes = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) =>
  route(method, "/webhook/*", {}, callWebhook)
)
