/** Accessors for JSON of unknown shape: a value of another type is `undefined`, never an exception. */
import * as Predicate from "effect/Predicate"

export type Obj = { readonly [key: string]: unknown }

/** The value as an object, if it is one (an array is not). */
export const obj = (value: unknown): Obj | undefined =>
  Predicate.isObject(value) && !Array.isArray(value) ? value as Obj : undefined

/** The value as an array; anything else is an empty array. */
export const arr = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

export const str = (value: unknown): string | undefined => Predicate.isString(value) ? value : undefined

export const num = (value: unknown): number | undefined =>
  Predicate.isNumber(value) && Number.isFinite(value) ? value : undefined

export const int = (value: unknown): number | undefined => Number.isSafeInteger(value) ? value as number : undefined

type Defined<A> =
  & { [K in keyof A as undefined extends A[K] ? never : K]: A[K] }
  & { [K in keyof A as undefined extends A[K] ? K : never]?: Exclude<A[K], undefined> }

/** The own property of an object or array with this name, if there is one. */
export const own = (value: unknown, key: string | number): unknown =>
  Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? (value as Obj)[key] : undefined

/** Whether two JSON values are equal, regardless of the order of keys. */
export const equals = (left: unknown, right: unknown): boolean => {
  if (!Predicate.isObjectOrArray(left) || !Predicate.isObjectOrArray(right)) return left === right
  const keys = Object.keys(left)
  return left === right || Array.isArray(left) === Array.isArray(right) &&
      Object.keys(right).length === keys.length &&
      keys.every((key) => Object.hasOwn(right, key) && equals(own(left, key), own(right, key)))
}

export const without = (value: Obj, isDropped: (inner: unknown, key: string) => boolean): Obj =>
  Object.fromEntries(Object.entries(value).filter(([key, inner]) => !isDropped(inner, key)))

/** Maps the values of an object and keeps the order of keys; Effect's `Record.map` loses a key `__proto__`. */
export const mapValues = (value: Obj, change: (inner: unknown, key: string) => unknown): Obj =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner, key)]))

export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => {
    const object = obj(inner)
    return object === undefined
      ? inner
      : Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => a < b ? -1 : 1))
  }) ?? ""

/** The object without the keys whose value is `undefined`: JSON and `exactOptionalPropertyTypes` know only absence. */
export const defined = <A extends object>(value: A): Defined<A> =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Defined<A>

/** Whether a value is as good as absent: `null`, an empty text, an empty list or an empty object. */
export const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === "" ||
  (Array.isArray(value) ? value.length === 0 : obj(value) !== undefined && Object.keys(value).length === 0)
