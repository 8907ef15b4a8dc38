/** Variables, which expressions read as `$vars` (needs a licence). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { elements, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, type Requests, sendOnly } from "./requests.ts"

/** A variable; one without `project` is everybody's. */
const Variable = Schema.Struct({
  id: Schema.String,
  key: Schema.String,
  value: Schema.String,
  type: Schema.optionalKey(Schema.NullOr(Schema.String)),
  project: Schema.optionalKey(Schema.NullOr(Schema.Struct({ id: Schema.String, name: Schema.String })))
})

/**
 * A variable that workflows read as `$vars`.
 *
 * @category models
 * @since 0.1.0
 */
export type Variable = typeof Variable.Type

const Variables = pageOf(Variable)

/**
 * A variable as it is written: `key` is letters, digits and `_`, `value` at most 1,000 characters.
 *
 * @category models
 * @since 0.1.0
 */
export interface VariableFields {
  readonly key: string
  readonly value: string
  readonly projectId?: string
}

/**
 * Which variables: `state` finds those without a value.
 *
 * @category models
 * @since 0.1.0
 */
export interface Query {
  readonly projectId?: string | undefined
  readonly state?: "empty" | undefined
}

/** The variable endpoints; without the licence they fail with an error that `isUnlicensed` knows. */
export interface Service {
  /** `GET /variables`. */
  readonly listVariables: (query: PageQuery & Query) => Effect.Effect<Page<Variable>, Errors.RequestError>
  /** All variables, a page at a time as they are asked for. */
  readonly streamVariables: (query?: Query) => Stream.Stream<Variable, Errors.RequestError>
  /** `POST /variables`. */
  readonly createVariable: (variable: VariableFields) => Effect.Effect<void, Errors.RequestError>
  /** `PUT /variables/{id}`. */
  readonly updateVariable: (id: string, variable: VariableFields) => Effect.Effect<void, Errors.N8nError>
  /** `DELETE /variables/{id}`. */
  readonly deleteVariable: (id: string) => Effect.Effect<void, Errors.N8nError>
}

const listTarget: Errors.Target = { operation: "list variables" }

const target = (operation: string, id: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Variable",
  resourceId: id
})

const path = (id: string) => `/variables/${encodeURIComponent(id)}`

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listVariables: Service["listVariables"] = Effect.fn("N8nClient.listVariables")((query) =>
    getJson(requests, "/variables", Variables, listTarget, { ...query })
  )
  return {
    listVariables,
    streamVariables: (query = {}) => elements(listTarget, (page) => listVariables({ ...query, ...page })),
    createVariable: Effect.fn("N8nClient.createVariable")((body) =>
      sendOnly(requests, { method: "POST", path: "/variables", body }, { operation: "create variable" })
    ),
    updateVariable: Effect.fn("N8nClient.updateVariable")((id, body) =>
      sendOnly(requests, { method: "PUT", path: path(id), body }, target("update variable", id))
    ),
    deleteVariable: Effect.fn("N8nClient.deleteVariable")((id) =>
      sendOnly(requests, { method: "DELETE", path: path(id) }, target("delete variable", id))
    )
  }
}
