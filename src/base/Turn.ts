/** Fair order of concurrent calls that need the processor. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Waits for the caller's turn before processor-intensive work. By default without waiting. */
export const Turn = Context.Reference<Effect.Effect<void>>("effect-n8n-mcp/Turn", { defaultValue: () => Effect.void })

export const wait: Effect.Effect<void> = Effect.flatten(Effect.service(Turn))

/** Turns of many callers: in each turn of the event loop every caller gets one, however many calls it has. */
export const make = (): (caller: string) => Effect.Effect<void> => {
  const waiting = new Map<string, Array<() => void>>()
  const next = () => {
    const now = [...waiting].flatMap(([caller, all]) => {
      const first = all.shift()
      if (all.length === 0) waiting.delete(caller)
      return first ?? []
    })
    if (waiting.size > 0) setImmediate(next)
    for (const goOn of now) goOn()
  }
  return (caller) =>
    Effect.callback((resume) => {
      if (waiting.size === 0) setImmediate(next)
      const goOn = () => resume(Effect.void)
      const all = waiting.get(caller)
      if (all === undefined) waiting.set(caller, [goOn])
      else all.push(goOn)
      // Cancelled callers stay queued; their turn is a no-op.
    })
}
