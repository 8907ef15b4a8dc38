/** Production webhooks, which come and go with what is published. */
import * as Effect from "effect/Effect"
import { type Call, type Handler, route } from "./server.ts"

/** The webhook's path as one answers it that has been looked at once more. */
const look = ({ state }: Call, path: string) =>
  [...state.webhooks].flatMap(([id, { looks, next, now }]) => {
    const isUp = now.some((webhook) => webhook.path === path)
    if (!isUp && !next.some((webhook) => webhook.path === path)) return []
    state.webhooks.set(id, looks <= 1 ? { now: next, next, looks: 0 } : { now, next, looks: looks - 1 })
    return now.filter((webhook) => webhook.path === path).map(({ method }) => method)
  })

/** A production webhook starts nothing here; asked for its methods by a browser, it names them. */
const callWebhook: Handler = (call) => {
  const { id: path, method } = call
  const methods = look(call, path)
  const name = (message: string) => Response.json({ code: 404, message }, { status: 404 })
  if (method === "OPTIONS") {
    const allowed = { "access-control-allow-methods": ["OPTIONS", ...methods].join(", ") }
    return Effect.succeed(new Response(null, { status: 204, headers: call.headers["origin"] ? allowed : {} }))
  }
  if (methods.includes(method)) return Effect.succeed(Response.json({ message: "Workflow was started" }))
  if (methods.length === 0) return Effect.succeed(name(`The requested webhook "${method} ${path}" is not registered.`))
  const hint = `Did you mean to make a ${methods.join(" or ")} request?`
  return Effect.succeed(name(`This webhook is not registered for ${method} requests. ${hint}`))
}

/** The production webhooks. */
export const routes = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) =>
  route(method, "/webhook/*", {}, callWebhook)
)
