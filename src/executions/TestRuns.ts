/** Stored executions of tests, whose records in n8n are deleted with their copies. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { gunzipSync, gzipSync } from "node:zlib"
import { Documents } from "../base/Documents.ts"
import type { Blocks } from "./blocks.ts"

export type { Blocks } from "./blocks.ts"

/** Store of executions; best effort, so that neither method fails. */
export interface Service {
  readonly save: (instance: string, id: string, body: Blocks) => Effect.Effect<void>
  readonly load: (instance: string, id: string) => Effect.Effect<Uint8Array | undefined>
}

/** Executions of tests; none are stored without a layer. */
export const TestRuns = Context.Reference<Service>("effect-n8n-mcp/TestRuns", {
  defaultValue: () => ({ save: () => Effect.void, load: () => Effect.undefined })
})

const maxRuns = 50

const maxBytes = 32_000_000

const nameOf = (id: string) => `${id}.json.gz`

/** Stores compressed executions in the collection `tests`. */
export const layer: Layer.Layer<never, never, Documents> = Layer.effect(
  TestRuns,
  Effect.map(Documents, ({ collection }) => ({
    save: Effect.fn("TestRuns.save")(function*(instance, id, body) {
      if (body.length > maxBytes) return
      const { list, remove, write } = collection("tests", instance)
      yield* write(nameOf(id), gzipSync(body.read(0, body.length), { level: 1 }))
      const names = (yield* list).toSorted((a, b) => Number.parseInt(b) - Number.parseInt(a))
      yield* Effect.forEach(names.slice(maxRuns), remove, { discard: true })
    }, (saving) => Effect.ignore(saving)),
    load: Effect.fn("TestRuns.load")(
      function*(instance, id) {
        const packed = yield* collection("tests", instance).read(nameOf(id))
        return packed && (yield* Effect.try(() => gunzipSync(packed, { maxOutputLength: maxBytes })))
      },
      Effect.orElseSucceed(() => undefined)
    )
  }))
)
