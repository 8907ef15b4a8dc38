/** Channel from a call to its client: progress and questions to the user. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import { sha256 } from "../base/Hash.ts"
import { obj } from "../base/Json.ts"
import * as Methods from "./Methods.ts"

const isYes = (answer: unknown) => {
  const { action, content } = obj(answer) ?? {}
  return action === "accept" && obj(content)?.["confirm"] === true
}

const question = (message: string): Methods.Question => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: {
      type: "object",
      properties: { confirm: { type: "boolean", title: "Do it", description: message, default: false } },
      required: ["confirm"]
    }
  }
})

const confirm = ({ ask, capabilities }: Methods.Request) => (message: string) => {
  if (!Methods.canAsk(capabilities, question(message))) return Effect.succeed("unasked" as const)
  // The text is part of the name, so that a call can ask several questions.
  const name = `confirm-${sha256(message, "base64url").slice(0, 12)}`
  return Deadline.paused(ask({ [name]: question(message) })).pipe(
    Effect.map((answers) => isYes(answers[name]) ? "yes" as const : "no" as const),
    Effect.orElseSucceed(() => "no" as const)
  )
}

/** Provides a call's context. If the client asked for progress, silent calls report once a second. */
export const provide =
  (request: Methods.Request) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const progressToken = obj(request.params["_meta"])?.["progressToken"]
    const ask = confirm(request)
    if (progressToken === undefined) {
      return Effect.provideService(call, CallContext, { progress: () => Effect.void, confirm: ask })
    }
    let reportsItself = false
    let beats = 0
    const notify = (params: { readonly progress: number; readonly total?: number; readonly message: string }) =>
      request.notify("notifications/progress", { progressToken, ...params })
    const beat = Effect.suspend(() => {
      if (reportsItself) return Effect.void
      beats += 1
      return notify({ progress: beats, message: `working for ${beats} s` })
    }).pipe(Effect.delay("1 second"), Effect.repeat(Schedule.forever))
    return Effect.scoped(Effect.andThen(
      Effect.forkScoped(beat),
      Effect.provideService(call, CallContext, {
        hearsProgress: true,
        progress: (progress, total, message) =>
          Effect.suspend(() => {
            reportsItself = true
            // Each value must exceed the previous one, heartbeats included.
            return notify({
              progress: beats + progress,
              message,
              ...(total === undefined ? {} : { total: beats + total })
            })
          }),
        confirm: ask
      })
    ))
  }
