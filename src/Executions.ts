/**
 * Executions with their data: read as they arrive, kept packed, so that the second look costs no request.
 *
 * **Details**
 *
 * Only executions that are over are kept: they never change. The least recently used go first, bounded by what they
 * take in memory; kept by instance and id.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Blocks from "./Blocks.ts"
import * as Execution from "./domain/executions/Execution.ts"
import { ExecutionReader } from "./domain/executions/ExecutionReader.ts"
import * as Locks from "./Locks.ts"
import { N8nClient } from "./N8nClient.ts"
import * as N8nError from "./N8nError.ts"
import type { TestRuns } from "./TestRuns.ts"

/** Reads executions with their data. */
export interface Service {
  /** The execution, from memory when it is over and was read before. */
  readonly get: (id: string) => Effect.Effect<Execution.Execution, N8nError.N8nError, N8nClient>
  /** Reads an execution that n8n is about to forget, over or not, and keeps it: `get` then gives what was read. */
  readonly keep: (id: string) => Effect.Effect<Execution.Execution, N8nError.N8nError, N8nClient>
}

/**
 * The kept executions. It holds no client of its own: which n8n is asked is the call's business, so that one process
 * can serve several.
 */
export class Executions extends Context.Service<Executions, Service>()("effect-n8n-mcp/Executions") {}

/** Bounds, in bytes. */
export interface Options {
  /** What all that is kept may take in memory. Default 64 MB. */
  readonly maxKeptBytes?: number | undefined
  /** The most JSON one execution may have. Default 512 MB. */
  readonly maxBodyBytes?: number | undefined
  /** Where what `keep` read stays beyond this process. */
  readonly testRuns?: TestRuns | undefined
}

interface Kept {
  readonly execution: Execution.Execution
  readonly size: number
}

const defaults = { maxKeptBytes: 64_000_000, maxBodyBytes: 512_000_000 }

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`

const tooLarge = (id: string, size: string, max: number) =>
  new N8nError.Validation({
    reason: `Execution '${id}' holds ${size}, more than the bound of ${megabytes(max)}`,
    field: "id",
    hint: "Raise --max-execution-mb (N8N_MCP_MAX_EXECUTION_MB) where the server is started, or look at it in n8n."
  })

/** Scans and packs one body; what is no execution is told as such. */
const read =
  (id: string, maxBodyBytes: number) =>
  (body: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>, target: N8nError.Target) =>
    Effect.gen(function*() {
      const reader = new ExecutionReader()
      const writer = new Blocks.Writer()
      const unreadable = (cause: unknown) =>
        N8nError.unreadable(target, cause instanceof Error ? cause.message : String(cause))
      let arrived = 0
      yield* Stream.runForEach(body, (chunk) =>
        Effect.gen(function*() {
          arrived += chunk.length
          yield* Effect.try({ try: () => reader.push(chunk), catch: unreadable })
          const declared = reader.declaredBytes ?? 0
          if (declared > maxBodyBytes) return yield* tooLarge(id, megabytes(declared), maxBodyBytes)
          if (arrived > maxBodyBytes) return yield* tooLarge(id, `more than ${megabytes(arrived)}`, maxBodyBytes)
          yield* Effect.promise(() => writer.write(chunk))
        }))
      const blocks = yield* Effect.promise(() => writer.end())
      const execution = yield* Effect.try({ try: () => reader.end(blocks), catch: unreadable })
      return { execution, blocks, isWithheld: reader.isWithheld }
    })

/** Keeps executions within bounds. */
export const layer = (options: Options = {}): Layer.Layer<Executions> =>
  Layer.sync(Executions, () => {
    const maxKeptBytes = options.maxKeptBytes ?? defaults.maxKeptBytes
    const maxBodyBytes = options.maxBodyBytes ?? defaults.maxBodyBytes
    // A Map iterates in the order of insertion: the first key is the one not used for longest.
    const kept = new Map<string, Kept>()
    let total = 0

    const recall = (key: string) => {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found.execution
    }

    const keep = (key: string, entry: Kept) => {
      if (entry.size > maxKeptBytes) return
      kept.set(key, entry)
      total += entry.size
      for (const [oldest, { size }] of kept) {
        if (total <= maxKeptBytes) break
        kept.delete(oldest)
        total -= size
      }
    }

    const download = Effect.fnUntraced(function*(id: string) {
      const n8n = yield* N8nClient
      const first = yield* n8n.readExecution(id, {}, read(id, maxBodyBytes))
      if (!first.isWithheld) return first
      return yield* n8n.readExecution(id, { ignoreDataSizeLimit: true }, read(id, maxBodyBytes))
    })

    // Clients look at several nodes of one execution at once: the first call reads it, the others wait for that.
    const oneAtATime = Locks.make()

    /** n8n has it no more: it may have been a test's. */
    const stored = Effect.fnUntraced(function*(id: string, gone: N8nError.NotFound) {
      const { instance } = yield* N8nClient
      const bytes = yield* options.testRuns?.load(instance.key, id) ?? Effect.succeed(undefined)
      if (bytes === undefined) return yield* gone
      const unreadable = () => gone
      return yield* read(id, maxBodyBytes)(Stream.succeed(bytes), { operation: "get execution" }).pipe(
        Effect.mapError(unreadable)
      )
    })

    return Executions.of({
      keep: Effect.fn("Executions.keep")(function*(id) {
        const { instance } = yield* N8nClient
        const key = `${instance.key}/${id}`
        const { blocks, execution } = yield* download(id).pipe(oneAtATime(key))
        keep(key, { execution, size: blocks.size })
        yield* options.testRuns?.save(instance.key, id, blocks) ?? Effect.void
        return execution
      }),
      get: Effect.fn("Executions.get")(function*(id) {
        const n8n = yield* N8nClient
        const key = `${n8n.instance.key}/${id}`
        return yield* Effect.suspend(() => {
          const found = recall(key)
          if (found !== undefined) return Effect.succeed(found)
          return download(id).pipe(
            Effect.catchTag("NotFoundError", (gone) => stored(id, gone)),
            Effect.map(({ blocks, execution }) => {
              if (Execution.isOver(execution.status)) keep(key, { execution, size: blocks.size })
              return execution
            })
          )
        }).pipe(oneAtATime(key))
      })
    })
  })
