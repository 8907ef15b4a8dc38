/** What repairing a workflow has in common: what was repaired, and what cannot be. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { num, type Obj, obj } from "../../base/Json.ts"

/** What cannot be repaired; where `name` is the name of no node, `candidates` are the names there are. */
export type Problem = {
  /** Such as `nodes[2].typeVersion`; empty for the whole. */
  readonly path: string
  readonly message: string
  readonly name?: string
  readonly candidates?: ReadonlyArray<string>
}

/** A value, or what is wrong with it. */
export type Checked<A> = Result.Result<A, Problem>

/** What is wrong, and where. */
export const refuse = (path: string, message: string) => Result.fail<Problem>({ path, message })

/** Repairs by kind: 250 nodes without an id are one warning. */
export type Repairs = Map<string, Set<string>>

/** Notes a repair, and where. */
export const note = (repairs: Repairs, kind: string, where?: string) => {
  const places = repairs.get(kind) ?? new Set()
  if (where !== undefined) places.add(where)
  repairs.set(kind, places)
}

/** One sentence for each kind of repair. */
export const sentences = (repairs: Repairs, most = 20): ReadonlyArray<string> =>
  [...repairs].map(([kind, places]) => {
    const more = places.size > most ? ` and ${places.size - most} more` : ""
    return places.size === 0 ? `${kind}.` : `${kind}: ${[...places].slice(0, most).join(", ")}${more}.`
  })

/** Null and left out are the same to n8n. */
export const isNull = (value: unknown): boolean => Predicate.isNullish(value)
/** The value as an object; an empty list is how some languages write an empty one. */
export const objectOf = (value: unknown): Obj | undefined =>
  Array.isArray(value) && value.length === 0 ? {} : obj(value)

/** The number, also out of a string. */
export const numeric = (value: unknown): number | undefined =>
  Predicate.isString(value) && value.trim() !== "" ? num(Number(value)) : num(value)
