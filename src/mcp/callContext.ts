/** A call's way back to the client: progress, and a person to ask. */
import type { Server } from "@modelcontextprotocol/sdk/server/index.js"
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { CallContext } from "../base/CallContext.ts"
import * as Deadline from "../base/Deadline.ts"
import type { Extra } from "./handling.ts"

const Yes = Schema.Struct({
  action: Schema.Literal("accept"),
  content: Schema.Struct({ confirm: Schema.Literal(true) })
})

const question = (message: string) => ({
  method: "elicitation/create" as const,
  params: {
    message,
    requestedSchema: {
      type: "object" as const,
      properties: { confirm: { type: "boolean" as const, title: "Do it", description: message, default: false } },
      required: ["confirm"]
    }
  }
})

const confirm = (server: Server, { sendRequest }: Extra) => (message: string) =>
  server.getClientCapabilities()?.elicitation === undefined
    ? Effect.succeed("unasked" as const)
    : Deadline.paused(Effect.tryPromise(() => sendRequest(question(message), ElicitResultSchema))).pipe(
      Effect.map((answer) => Schema.is(Yes)(answer) ? "yes" as const : "no" as const),
      Effect.orElseSucceed(() => "no" as const)
    )

/** Gives a call its context. Where the client asked for progress, a call that reports none reports every second that it goes on. */
export const provide =
  (server: Server, extra: Extra) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const { _meta, sendNotification } = extra
    const progressToken = _meta?.progressToken
    const ask = confirm(server, extra)
    if (progressToken === undefined) {
      return Effect.provideService(call, CallContext, { progress: () => Effect.void, confirm: ask })
    }
    let reportsItself = false
    let beats = 0
    const notify = (params: { readonly progress: number; readonly total?: number; readonly message: string }) =>
      Effect.ignore(
        Effect.tryPromise(() =>
          sendNotification({ method: "notifications/progress", params: { progressToken, ...params } })
        )
      )
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
            // Each has to be more than the one before, those of the beat included.
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
