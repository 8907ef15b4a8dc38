/**
 * Placeholders of answers (`[redacted]`, `… [+N chars] …`, `_truncated`), which must never be written as values.
 *
 * **Details**
 *
 * A placeholder for the value stored at the same path is replaced by that value; otherwise the write is refused. Text
 * whose hidden characters were spelled out is restored in the same way. An element of a list is not identified by its
 * index: it must have the id or name of the stored one, or equal it apart from placeholders; otherwise one host could
 * receive the password of another.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Errors from "../base/Errors.ts"
import { equals, type Obj, obj, str } from "../base/Json.ts"
import { member } from "../base/JsonPath.ts"
import * as Omission from "../base/Omission.ts"
import * as Redact from "../base/Redact.ts"
import * as Turn from "../base/Turn.ts"
import * as Visible from "../base/Visible.ts"

export interface Unresolved {
  readonly path: string
  readonly what: string
}

/** A stored value, and its redacted form before truncation and spelling out. */
interface Stored {
  readonly value: unknown
  readonly shown: unknown
}

const absent: Stored = { value: undefined, shown: undefined }

const part = ({ shown, value }: Stored, key: string | number): Stored => {
  const [whole, clean] = [value, shown] as ReadonlyArray<Obj | undefined>
  return whole !== undefined && Object.hasOwn(whole, key) ? { value: whole[key], shown: clean?.[key] } : absent
}

const isPlaceholder = (text: string): boolean => text.includes(Redact.marker) || Omission.isShortened(text)

/** Whether a string is the stored one, or the form of it in an answer. */
const isShownString = (text: string, { shown, value }: Stored): boolean =>
  typeof value === "string" && typeof shown === "string" &&
  (text === value || text === Visible.text(shown) || Omission.isFormOf(text, value) || Omission.isFormOf(text, shown))

/** Whether a whole value is the stored one, or the form of it in an answer. */
const isShown = (value: unknown, stored: Stored): boolean => {
  if (typeof value === "string") return isShownString(value, stored)
  if (Array.isArray(value)) {
    return Array.isArray(stored.value) && stored.value.length === value.length &&
      value.every((inner, index) => isShown(inner, part(stored, index)))
  }
  const [object, before] = [obj(value), obj(stored.value)]
  if (object === undefined || before === undefined) return value === stored.value
  const keys = Object.keys(object)
  return keys.length === Object.keys(before).length &&
    keys.every((key) => Object.hasOwn(before, key) && isShown(object[key], part(stored, key)))
}

/** Whether a value contains anything that has to be restored. */
const needsStored = (value: unknown): boolean => {
  if (typeof value === "string") return isPlaceholder(value) || value.includes("\\u")
  if (Array.isArray(value)) return value.some(needsStored)
  const object = obj(value)
  return object !== undefined &&
    Object.entries(object).some(([key, inner]) =>
      key === "_truncated" || key.includes(Redact.marker) || needsStored(inner)
    )
}

/** Maximum number of comparisons of elements with stored ones: in longer lists they have no counterpart. */
const maxComparisons = 4_000_000

/** Stored counterpart of an element: by id, name or equality, and by rank among equal ones if none is missing. */
const counterpart = (list: ReadonlyArray<unknown>, index: number, stored: ReadonlyArray<Stored>): Stored => {
  const element = list[index]
  for (const key of ["id", "name", "key"]) {
    const name = str(obj(element)?.[key])
    const bearers = name === undefined ? [] : stored.filter(({ value }) => obj(value)?.[key] === name)
    if (bearers.length === 1) return bearers[0] ?? absent
  }
  const alike = stored.filter((candidate) => isShown(element, candidate))
  const [first = absent] = alike
  if (alike.every(({ value }) => equals(value, first.value))) return first
  const like = [...list.keys()].filter((at) => isShown(list[at], first))
  return like.length === alike.length ? alike[like.indexOf(index)] ?? absent : absent
}

const nothingStored = `${Redact.marker} does not match a stored value`

const noCounterpart =
  `${Redact.marker} is in a list element that has neither the id nor the name of a stored one, nor equals ` +
  "one: send the element as it was read, or the secret itself"

const resolveArray = (
  list: ReadonlyArray<unknown>,
  stored: Stored,
  path: string
): Result.Result<unknown, Unresolved> => {
  const before = Array.isArray(stored.value) ? stored.value.map((_, index) => part(stored, index)) : []
  const isUnchanged = isShown(list, stored)
  const isComparable = list.length * before.length <= maxComparisons
  return Result.all(list.map((inner, index) => {
    const place = isUnchanged
      ? before[index] ?? absent
      : isComparable && needsStored(inner)
      ? counterpart(list, index, before)
      : absent
    return Result.mapError(resolveIn(inner, place, member(path, index)), (failure) => {
      const isAmbiguous = failure.what === nothingStored && place === absent && before.length > 0
      return isAmbiguous ? { ...failure, what: noCounterpart } : failure
    })
  }))
}

const resolveObject = (object: Obj, stored: Stored, path: string): Result.Result<unknown, Unresolved> =>
  Result.gen(function*() {
    if (object["_truncated"] !== undefined) {
      return yield* Result.fail({ path, what: "part of it was truncated in an answer (_truncated)" })
    }
    const before = obj(stored.value) === undefined ? absent : stored
    const entries: Array<readonly [string, unknown]> = []
    for (const [key, inner] of Object.entries(object)) {
      const place = part(before, key)
      const at = member(path, key)
      if (place === absent && key.includes(Redact.marker)) return yield* Result.fail({ path: at, what: nothingStored })
      entries.push([key, yield* resolveIn(inner, place, at)])
    }
    return Object.fromEntries(entries)
  })

const resolveIn = (value: unknown, stored: Stored, path: string): Result.Result<unknown, Unresolved> => {
  if (typeof value === "string") {
    if (isShownString(value, stored)) return Result.succeed(stored.value)
    if (!isPlaceholder(value)) return Result.succeed(value)
    return value === Redact.marker && typeof stored.value === "string"
      ? Result.succeed(stored.value)
      : Result.fail({ path, what: value.includes(Redact.marker) ? nothingStored : "it was truncated in an answer" })
  }
  if (Array.isArray(value)) return resolveArray(value, stored, path)
  const object = obj(value)
  return object === undefined ? Result.succeed(value) : resolveObject(object, stored, path)
}

export const resolve = (
  value: unknown,
  stored: unknown,
  shown: unknown = Redact.redact(stored)
): Result.Result<unknown, Unresolved> => resolveIn(value, { value: stored, shown }, "")

const resolved = (value: Obj, stored: unknown) => needsStored(value) ? resolve(value, stored) : Result.succeed(value)

/** Value with what is stored in the place of placeholders; unchanged if one of them stands for nothing. */
export const filled = (value: Obj, stored: unknown): Obj => obj(Result.getOrUndefined(resolved(value, stored))) ?? value

/** Reason why a value cannot be written over a stored one. */
export const fault = (value: Obj, stored: unknown): string | undefined => {
  const result = resolved(value, stored)
  return Result.isFailure(result) ? `${result.failure.path}: ${result.failure.what}` : undefined
}

const refusal = ({ path, what }: Unresolved) =>
  new Errors.ValidationError({
    reason: `${path === "" ? "The workflow" : path}: ${what}`,
    field: path,
    hint: ["Nothing was written.", { _tag: "ReadWhole" }]
  })

/** Replaces placeholders by stored values, and fails for one without a stored value. */
export const restore = Effect.fnUntraced(function*(value: Obj, stored: unknown) {
  yield* Turn.pause
  if (!needsStored(value)) return value
  const shown = yield* Turn.run(() => Redact.steps(stored))
  yield* Turn.pause
  const restored = yield* Effect.mapError(Effect.fromResult(resolve(value, stored, shown)), refusal)
  return obj(restored) ?? {}
})
