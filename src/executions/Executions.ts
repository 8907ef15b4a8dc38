/**
 * Executions with their data, scanned while streaming and cached compressed: reading one again needs no request.
 *
 * Only finished executions are cached, since they never change. The cache is keyed by instance and id and bounded in
 * bytes; the least recently used are evicted first.
 */
import * as Cache from "effect/Cache"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import { sumAll } from "effect/Number"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { obj } from "../base/Json.ts"
import * as Locks from "../base/KeyedMutex.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Turn from "../base/Turn.ts"
import * as HttpErrors from "../n8n/HttpErrors.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { type ConsumeExecution, N8nClient } from "../n8n/N8nClient.ts"
import * as Blocks from "./blocks.ts"
import * as Execution from "./Execution.ts"
import { ExecutionReader, type Part } from "./executionReader.ts"
import { type Failure, ofError } from "./FailureGroups.ts"
import { TestRuns } from "./TestRuns.ts"

export type { Failure } from "./FailureGroups.ts"

/** Reads executions with their data. */
export interface Service {
  /** Reads an execution, from the cache if it has ended and was read before. */
  readonly get: (id: string) => Effect.Effect<Execution.Execution, Errors.N8nError, N8nClient>
  /** Reads and caches an execution that n8n is about to delete, ended or not, for later calls of `get`. */
  readonly keep: (id: string) => Effect.Effect<Execution.Execution, Errors.N8nError, N8nClient>
  /**
   * Reads why a finished execution failed; `undefined` without an error. Reads only as far as the error, and only once.
   */
  readonly failure: (id: string) => Effect.Effect<Failure | undefined, Errors.N8nError, N8nClient>
  /** Reads the version of the workflow that ran, and only as far as that, once; `undefined` if n8n records none. */
  readonly version: (id: string) => Effect.Effect<string | undefined, Errors.N8nError, N8nClient>
  /** Reads the failure of a finished execution and the version that ran, in one request. */
  readonly origin: (
    id: string
  ) => Effect.Effect<
    { readonly failure: Failure | undefined; readonly version: string | undefined },
    Errors.N8nError,
    N8nClient
  >
}

/** Cache of executions. Each call provides the client, so that one process can serve several n8n. */
export class Executions extends Context.Service<Executions, Service>()("effect-n8n-mcp/Executions") {}

/** Limits in bytes. */
export interface Options {
  /** Memory for the cache. Default: 64 MB. */
  readonly maxCachedBytes?: number | undefined
  /** Maximum size of an execution's JSON. Default: 512 MB. */
  readonly maxBodyBytes?: number | undefined
}

const defaults = { maxCachedBytes: 64_000_000, maxBodyBytes: 512_000_000 }

const maxCachedParts = 10_000

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000)} MB`

const tooLarge = (id: string, size: string, max: number) =>
  Errors.invalid("id", `Execution '${id}' contains ${size}, more than the limit of ${megabytes(max)}`, {
    _tag: "RaiseExecutionLimit"
  })

type Body = Parameters<ConsumeExecution<unknown>>[0]

const attempt = <A>(target: Errors.Target, read: () => A) =>
  Effect.try({
    try: read,
    catch: (cause) => HttpErrors.unreadableError(target, cause instanceof Error ? cause.message : String(cause))
  })

/** Scans and compresses a body; fails if it is not an execution. */
const read = (id: string, maxBodyBytes: number) => (body: Body, target: Errors.Target) =>
  Effect.gen(function*() {
    const reader = new ExecutionReader()
    const writer = new Blocks.Writer()
    let arrived = 0
    yield* Stream.runForEach(body, (chunk) =>
      Effect.gen(function*() {
        arrived += chunk.length
        yield* attempt(target, () => reader.push(chunk))
        const declared = reader.declaredBytes ?? 0
        if (declared > maxBodyBytes) return yield* tooLarge(id, megabytes(declared), maxBodyBytes)
        if (arrived > maxBodyBytes) return yield* tooLarge(id, `more than ${megabytes(arrived)}`, maxBodyBytes)
        writer.write(chunk)
      }))
    const blocks = writer.end()
    const execution = yield* attempt(target, () => reader.end(blocks))
    return { execution, blocks, isWithheld: reader.isWithheld }
  })

const readEarly = (part: Part): ConsumeExecution<ExecutionReader> => (body, target) =>
  Effect.suspend(() => {
    const reader = new ExecutionReader()
    const push = (chunk: Uint8Array) => {
      reader.push(chunk)
      return !reader.has(part)
    }
    return Effect.as(Stream.runForEachWhile(body, (chunk) => attempt(target, () => push(chunk))), reader)
  })

/** Requests an execution, and again if n8n withheld needed data because it is large. */
const request = Effect.fnUntraced(function*<A extends { readonly isWithheld: boolean }>(
  id: string,
  read: ConsumeExecution<A>,
  needsData = true
) {
  const n8n = yield* N8nClient
  const first = yield* n8n.readExecution(id, {}, read)
  return needsData && first.isWithheld ? yield* n8n.readExecution(id, { ignoreDataSizeLimit: true }, read) : first
})

/** Whether n8n fails to make the answer with the data of an execution, which it does each time. */
const isUndeliverable = (error: Errors.N8nError) => Errors.statusOf(error) === 500

/** Reads only the row of an execution whose data n8n cannot deliver. */
const rowOf = Effect.fnUntraced(function*(id: string, fault: Errors.N8nError) {
  const head = yield* Effect.mapError(N8nClient.use(({ executionHead }) => executionHead(id)), () => fault)
  const row = yield* read(id, Infinity)(Stream.succeed(new TextEncoder().encode(JSON.stringify(head))), {
    operation: "get execution"
  }).pipe(Effect.mapError(() => fault))
  return { ...row.execution, unreadable: Errors.inOneLine(fault, 200) }
})

const failureOf = (execution: Execution.Execution): Failure | undefined => {
  const failure = Execution.failure(execution)
  return failure === undefined ? undefined : ofError(failure.error, failure.node)
}

/** Cache within limits; executions read by `keep` remain in `TestRuns` after this process ends. */
export const layer = (options: Options = {}): Layer.Layer<Executions> =>
  Layer.effect(
    Executions,
    Effect.gen(function*() {
      const testRuns = yield* TestRuns
      const maxCachedBytes = options.maxCachedBytes ?? defaults.maxCachedBytes
      const maxBodyBytes = options.maxBodyBytes ?? defaults.maxBodyBytes
      // A Map iterates in the order of insertion: the first key is the least recently used.
      const entries = new Map<string, { readonly execution: Execution.Execution; readonly size: number }>()

      const download = (id: string) => request(id, read(id, maxBodyBytes))

      const recall = (key: string) => {
        const entry = entries.get(key)
        if (entry === undefined) return undefined
        entries.delete(key)
        entries.set(key, entry)
        return entry.execution
      }

      const remember = (key: string, { blocks: { size }, execution }: Effect.Success<ReturnType<typeof download>>) => {
        entries.delete(key)
        if (size > maxCachedBytes) return
        entries.set(key, { execution, size })
        let total = sumAll(Array.from(entries.values(), ({ size }) => size))
        for (const [oldest, { size }] of entries) {
          if (total <= maxCachedBytes) break
          entries.delete(oldest)
          total -= size
        }
      }

      const early = yield* Cache.makeWith(
        ({ id, key, part }: { readonly id: string; readonly key: string; readonly part: Part }) => {
          const execution = entries.get(key)?.execution
          return execution === undefined
            ? Effect.map(
              request(id, readEarly(part), part !== "version"),
              ({ failure, version }) => ({ failure, version })
            )
            : Effect.succeed({ version: execution.version, failure: failureOf(execution) })
        },
        {
          capacity: maxCachedParts,
          timeToLive: (exit) => Exit.isSuccess(exit) ? Infinity : 0,
          requireServicesAt: "lookup"
        }
      )
      const readPart = Effect.fnUntraced(function*(part: Part, id: string) {
        const { instance } = yield* N8nClient
        return yield* Cache.get(early, { id, key: `${instance.key}/${id}`, part }).pipe(
          Effect.catchIf(isUndeliverable, () =>
            Effect.succeed({
              failure: { message: "n8n cannot deliver the data of the run (HTTP 500)" },
              version: undefined
            }))
        )
      })

      // Clients request several nodes of one execution concurrently: the first call reads it, the others wait.
      const oneAtATime = Locks.make()

      const stored = Effect.fnUntraced(function*(id: string, gone: Errors.NotFoundError) {
        const { instance } = yield* N8nClient
        const bytes = yield* testRuns.load(instance.key, id)
        if (bytes === undefined) return yield* gone
        return yield* read(id, maxBodyBytes)(Stream.succeed(bytes), { operation: "get execution" }).pipe(
          Effect.mapError(() => gone)
        )
      })

      return Executions.of({
        keep: Effect.fn("Executions.keep")(function*(id) {
          const { instance } = yield* N8nClient
          const key = `${instance.key}/${id}`
          const downloaded = yield* download(id).pipe(oneAtATime(key))
          remember(key, downloaded)
          yield* testRuns.save(instance.key, id, downloaded.blocks)
          return downloaded.execution
        }),
        failure: Effect.fn("Executions.failure")((id) => Effect.map(readPart("failure", id), ({ failure }) => failure)),
        origin: Effect.fn("Executions.origin")((id) => readPart("failure", id)),
        version: Effect.fn("Executions.version")((id) => Effect.map(readPart("version", id), ({ version }) => version)),
        get: Effect.fn("Executions.get")(function*(id) {
          const n8n = yield* N8nClient
          const key = `${n8n.instance.key}/${id}`
          return recall(key) ?? (yield* Effect.suspend(() => {
            // A call that held the lock before may have read it.
            const execution = recall(key)
            if (execution !== undefined) return Effect.succeed(execution)
            return download(id).pipe(
              Effect.catchTag("NotFoundError", (gone) => stored(id, gone)),
              Effect.map((downloaded) => {
                if (ExecutionHead.isOver(downloaded.execution.status)) remember(key, downloaded)
                return downloaded.execution
              }),
              Effect.catchIf(isUndeliverable, (fault) => rowOf(id, fault))
            )
          }).pipe(oneAtATime(key)))
        })
      })
    })
  )

/** Refuses a node that is not in the execution. @internal */
export const checkNode = (execution: Execution.Execution, name: string, field: string) => {
  const names = Execution.nodeNames(execution)
  if (execution.unreadable !== undefined) {
    return Errors.invalid("id", `n8n cannot deliver the data of execution '${execution.id}'`, execution.unreadable)
  }
  return names.includes(name)
    ? Effect.void
    : Errors.invalid(field, `Node '${name}' not found in execution '${execution.id}'`, suggestion(name, names))
}

const index = (name: string) => Schema.optionalKey(Input.within(name, Input.fromZero))
const checkItems = Input.decoder(
  Schema.Struct({ node: Schema.NonEmptyString, run: index("run"), output: index("output") }),
  "ignore"
)

/** Items to stream. */
export interface ItemsOptions<S extends Schema.ConstraintDecoder<unknown> = typeof Schema.Unknown> {
  readonly node: string
  /** Index of the run, from 0. Default: all runs, in order. */
  readonly run?: number | undefined
  /** Index of the output, from 0. Default: all outputs. */
  readonly output?: number | undefined
  /** Schema of the `json` of an item. Default: unchecked. */
  readonly schema?: S | undefined
  /** Whether secrets are redacted, as in answers for models. Default: values are as n8n stored them. */
  readonly redact?: boolean | undefined
}

/**
 * The `json` of each item that a node output, parsed as it is asked for.
 *
 * Memory holds the JSON of the execution compressed, as after `get`, and the items of 32 kB. It fails if the workflow has
 * no such node, and if n8n itself hides the items; without a run of the node it is empty.
 *
 * **Example** (Sum of a large output)
 *
 * ```ts
 * import { Executions } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Schema from "effect/Schema"
 * import * as Stream from "effect/Stream"
 *
 * const Order = Schema.Struct({ amount: Schema.Finite })
 *
 * export const revenue = (id: string) =>
 *   Executions.streamItems(id, { node: "Read orders", schema: Order }).pipe(
 *     Stream.runFold(() => 0, (sum, { amount }) => sum + amount)
 *   )
 *
 * const workflow = {
 *   id: "w1",
 *   name: "Orders",
 *   nodes: [{ name: "Read orders", type: "n8n-nodes-base.manualTrigger" }],
 *   connections: {}
 * }
 * const items = { "Read orders": [{ amount: 3 }, { amount: 4 }] }
 *
 * export const test = FakeN8n.FakeN8n.use((fake) =>
 *   fake.addExecution(FakeN8n.succeededExecution({ id: "1", workflow, items }))
 * ).pipe(
 *   Effect.andThen(revenue("1")),
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow], executions: [] }), Executions.layer()))
 * )
 * ```
 */
export const streamItems = <S extends Schema.ConstraintDecoder<unknown> = typeof Schema.Unknown>(
  id: string,
  options: ItemsOptions<S>
): Stream.Stream<S["Type"], Errors.N8nError | Schema.SchemaError, N8nClient | Executions> =>
  Stream.unwrap(Effect.gen(function*() {
    const { node, output, redact = false, run, schema } = options
    yield* checkItems(options)
    const execution = yield* (yield* Executions).get(id)
    yield* checkNode(execution, node, "node")
    if (execution.isRedacted) {
      return yield* Errors.invalid("id", `n8n hides the items of execution '${id}'`, "Its workflow is set to redact.")
    }
    const runs = execution.runs.get(node) ?? []
    if (run !== undefined && runs[run] === undefined) {
      return yield* Errors.invalid("run", `Node '${node}' has no run ${run}`, `It ran ${runs.length} times.`)
    }
    const parts = runs.filter(({ index }) => run === undefined || index === run)
      .flatMap((each) => Execution.outputSlots(node, each))
      .filter(({ slot }) => output === undefined || slot.port.index === output)
    const items = Stream.fromIterable(parts).pipe(
      Stream.flatMap(({ slot }) => Stream.fromIterable(execution.segments(slot), { chunkSize: 1 })),
      Stream.tap(() => Turn.wait),
      Stream.flatMap((segment) => {
        const shown = redact ? segment.redactor() : identity
        return Stream.fromIterable(segment.items().map((item): unknown => shown(obj(item)?.["json"] ?? {})))
      })
    )
    return schema === undefined
      ? items as Stream.Stream<S["Type"]>
      : Stream.mapEffect(items, (item) => Schema.decodeUnknownEffect(schema)(item))
  }))
