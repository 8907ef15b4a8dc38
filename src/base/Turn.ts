/** The order in which calls go on that have something to do at the same moment. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** Waits for the caller's turn: before a call does what takes the processor. By default nobody waits. */
export const Turn = Context.Reference<Effect.Effect<void>>("effect-n8n-mcp/Turn", { defaultValue: () => Effect.void })

/** Waits for the caller's turn. */
export const wait: Effect.Effect<void> = Effect.flatten(Effect.service(Turn))

/**
 * Turns of many callers: in each turn of the event loop every caller goes on with one thing, however many wait.
 *
 * **Details**
 *
 * Fifty answers for one caller that come at once would else be worked off before anything of another is looked at.
 */
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
      // Who goes away keeps the place, and does nothing with it.
    })
}
