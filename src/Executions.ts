/**
 * Executions that were read are kept, so that the second look costs no request.
 *
 * **Details**
 *
 * Only executions that are over, which never change. Kept by instance and id, the least recently used out first,
 * bounded by the length of their JSON.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Execution from "./domain/Execution.ts"
import { N8nClient } from "./N8nClient.ts"
import type * as N8nError from "./N8nError.ts"

/** Reads executions with their data. */
export interface Service {
  /** The execution, from memory when it is over and was read before. */
  readonly get: (id: string) => Effect.Effect<Execution.Execution, N8nError.N8nError, N8nClient>
}

/**
 * The kept executions. It holds no client of its own: which n8n is asked is the call's business, so that one process
 * can serve several.
 */
export class Executions extends Context.Service<Executions, Service>()("effect-n8n-mcp/Executions") {}

/** 32 million characters of JSON. */
const defaultMaxLength = 32_000_000

/** Keeps at most `maxLength` characters of JSON. */
export const layer = (options: { readonly maxLength?: number } = {}): Layer.Layer<Executions> =>
  Layer.sync(Executions, () => {
    const maxLength = options.maxLength ?? defaultMaxLength
    // A Map iterates in the order of insertion: the first key is the one not used for longest.
    const kept = new Map<string, { readonly execution: Execution.Execution; readonly length: number }>()
    let total = 0

    const keep = (key: string, execution: Execution.Execution, length: number) => {
      if (length > maxLength) return
      kept.set(key, { execution, length })
      total += length
      for (const [oldest, entry] of kept) {
        if (total <= maxLength) break
        kept.delete(oldest)
        total -= entry.length
      }
    }

    return Executions.of({
      get: Effect.fn("Executions.get")(function*(id) {
        const n8n = yield* N8nClient
        const key = `${n8n.instance.key}/${id}`
        const found = kept.get(key)
        if (found !== undefined) {
          kept.delete(key)
          kept.set(key, found)
          return found.execution
        }
        const { length, value } = yield* n8n.getExecution(id)
        const execution = Execution.fromApi(value)
        if (Execution.isOver(execution.status) && !kept.has(key)) keep(key, execution, length)
        return execution
      })
    })
  })
