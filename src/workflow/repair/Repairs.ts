/** Shared parts of repairing a workflow: notes of repairs, and refusals. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { num, type Obj, obj } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"

/** Problem that cannot be repaired; for an unknown node `name`, `candidates` are the names of nodes. */
export type Problem = {
  /** For example `nodes[2].typeVersion`; empty for the whole workflow. */
  readonly path: string
  readonly message: string
  readonly name?: string
  readonly candidates?: ReadonlyArray<string>
}

/**
 * Source of a part: a caller, who can fix what is ambiguous; a file, where that is repaired; or n8n, whose parts stay
 * as they are but for what it refuses.
 */
export type Source = "caller" | "file" | "stored"

export type Checked<A> = Result.Result<A, Problem>

export const refuse = (path: string, message: string) => Result.fail<Problem>({ path, message })

/** Places of repairs by kind, so that 250 nodes without an id are one warning. */
export type Repairs = Map<string, Set<string>>

export const note = (repairs: Repairs, kind: string, where?: string) => {
  const places = repairs.get(kind) ?? new Set()
  if (where !== undefined) places.add(where)
  repairs.set(kind, places)
}

export const sentences = (repairs: Repairs, most = 20): ReadonlyArray<string> =>
  [...repairs].map(([kind, places]) => places.size === 0 ? `${kind}.` : `${kind}: ${Rows.listed([...places], most)}.`)

/** Whether a value is null or absent, which are the same to n8n. */
export const isNull: (value: unknown) => boolean = Predicate.isNullish

/** The value as an object; some languages write an empty one as an empty list. */
export const objectOf = (value: unknown): Obj | undefined =>
  Array.isArray(value) && value.length === 0 ? {} : obj(value)

export const numeric = (value: unknown): number | undefined =>
  Predicate.isString(value) && value.trim() !== "" ? num(Number(value)) : num(value)
