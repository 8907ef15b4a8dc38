/** Source control: an n8n's connection to a Git repository (needs a licence). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { getJson, type Requests, sendJson } from "./requests.ts"

/** A file of the repository, or a thing of n8n, that differs; `status` such as `new`, `modified` or `deleted`. */
const Change = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  type: Schema.String,
  file: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.String),
  location: Schema.optionalKey(Schema.String),
  conflict: Schema.optionalKey(Schema.Boolean),
  updatedAt: Schema.optionalKey(Schema.String)
})

/**
 * What a pull from source control changes, or changed, of one thing.
 *
 * @category models
 * @since 0.1.0
 */
export type SourceControlChange = typeof Change.Type

const Changes = Schema.Struct({ data: Schema.Array(Change) })

/** 1.x names what came by kind. */
const Pulled = Schema.Struct({
  workflows: Schema.optionalKey(Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String }))),
  credentials: Schema.optionalKey(
    Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String }))
  )
})

/** The source control endpoints; without the licence they fail with an error that `isUnlicensed` knows. */
export interface Service {
  /** `GET /source-control/status` (2.x): what a push or a pull would do. */
  readonly sourceControlStatus: (
    direction: "push" | "pull"
  ) => Effect.Effect<ReadonlyArray<SourceControlChange>, Errors.RequestError>
  /** `POST /source-control/push` (2.x); `force` overwrites conflicts. */
  readonly pushSourceControl: (
    push: {
      readonly commitMessage: string
      readonly files: ReadonlyArray<{ readonly id: string; readonly type: string }>
      readonly force?: boolean
    }
  ) => Effect.Effect<ReadonlyArray<SourceControlChange>, Errors.RequestError>
  /** `POST /source-control/pull`: overwrites what is on n8n if `force` says so. `autoPublish` is 2.x only. */
  readonly pullSourceControl: (
    options?: { readonly force?: boolean; readonly autoPublish?: "none" | "all" | "published" }
  ) => Effect.Effect<ReadonlyArray<SourceControlChange>, Errors.RequestError>
}

const fromV1 = ({ credentials = [], workflows = [] }: typeof Pulled.Type): ReadonlyArray<SourceControlChange> => [
  ...workflows.map(({ id, name }) => ({ id, name, type: "workflow" })),
  ...credentials.map(({ id, name }) => ({ id, name, type: "credential" }))
]

/** Git takes its time, in seconds. */
const gitTimeout = 120

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => ({
  sourceControlStatus: Effect.fn("N8nClient.sourceControlStatus")((direction) =>
    Effect.map(
      getJson(requests, "/source-control/status", Changes, { operation: "read the status of source control" }, {
        direction
      }),
      ({ data }) => data
    )
  ),
  pushSourceControl: Effect.fn("N8nClient.pushSourceControl")(({ files, ...options }) =>
    Effect.map(
      sendJson(
        requests,
        {
          method: "POST",
          path: "/source-control/push",
          body: { ...options, fileNames: files },
          seconds: gitTimeout
        },
        Changes,
        { operation: "push to source control" }
      ),
      ({ data }) => data
    )
  ),
  pullSourceControl: Effect.fn("N8nClient.pullSourceControl")((options = {}) =>
    Effect.map(
      sendJson(
        requests,
        { method: "POST", path: "/source-control/pull", body: options, seconds: gitTimeout },
        Schema.Union([Schema.Array(Change), Pulled]),
        { operation: "pull from source control" }
      ),
      (answer) => "length" in answer ? answer : fromV1(answer)
    )
  )
})
