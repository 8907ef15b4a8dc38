/** Contexts of calls, to which each adds a dozen services of its own: copies of all services took a tenth of the memory. */
import * as Context from "effect/Context"

/** Context that is not copied when a call adds its own services. */
export const layered = <R>(context: Context.Context<R>): Context.Context<R> =>
  Context.makeUnsafe<R>(context.mapUnsafe, { maxDepth: 32 })

/** `Context.merge` of the fiber's context and a larger one, which wins, without a copy of the larger one. */
export const above = <R>(large: Context.Context<R>, current: Context.Context<never>): Context.Context<R> => {
  let result = large
  for (const [key, value] of current.mapUnsafe) {
    if (!large.mapUnsafe.has(key)) result = Context.addUnsafe(result, key, value)
  }
  return result
}
