/** Reading JSON whose shape nobody promised: what does not fit is `undefined`, never an exception. */
import * as Predicate from "effect/Predicate"

/** A JSON object of unknown content. */
export type Obj = { readonly [key: string]: unknown }

/** The value as an object, if it is one (an array is not). */
export const obj = (value: unknown): Obj | undefined =>
  Predicate.isObject(value) && !Array.isArray(value) ? value as Obj : undefined

/** The value as an array; anything else is an empty one. */
export const arr = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** The value as a string, if it is one. */
export const str = (value: unknown): string | undefined => Predicate.isString(value) ? value : undefined

/** The value as a finite number, if it is one. */
export const num = (value: unknown): number | undefined =>
  Predicate.isNumber(value) && Number.isFinite(value) ? value : undefined

/** The value as an integer, if it is one. */
export const int = (value: unknown): number | undefined => Number.isSafeInteger(value) ? value as number : undefined

type Defined<A> =
  & { [K in keyof A as undefined extends A[K] ? never : K]: A[K] }
  & { [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined> }

/** The object without the keys whose value is `undefined`: JSON and `exactOptionalPropertyTypes` know only absence. */
export const defined = <A extends object>(value: A): Defined<A> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Defined<A>
