/**
 * What our answers put where something was left out (`[redacted]`, `… [+N chars]`, `_truncated`) must never be written
 * as if it were the value.
 *
 * **Details**
 *
 * Where it stands for what is stored at the same place, the stored value is put back; elsewhere the write is refused.
 * So is a text whose hidden characters an answer spelled out.
 */
import * as Result from "effect/Result"
import { type Obj, obj, str } from "./domain/Json.ts"
import { marker, redactText } from "./Redact.ts"
import * as Visible from "./Visible.ts"

/** Where a placeholder stands that stands for nothing stored. */
export interface Unresolved {
  readonly path: string
  readonly what: string
}

const cutNote = /^([\s\S]*)… \[\+(\d+) chars\]$/

/** A string that one of our answers may have shown instead of `stored`. */
const standsFor = (given: string, stored: string): boolean => {
  if (given === marker || Visible.text(redactText(stored)) === given) return true
  const [, kept = "", more] = cutNote.exec(given) ?? []
  return more !== undefined && stored.length === kept.length + Number(more) && stored.startsWith(kept)
}

const isPlaceholder = (text: string): boolean => text.includes(marker) || cutNote.test(text)

/** The stored element that a given one is: by id, else by name; without either by position, where none came or went. */
const counterpart = (given: unknown, index: number, all: ReadonlyArray<unknown>, stored: ReadonlyArray<unknown>) => {
  const named = ["id", "name", "key"].filter((key) => str(obj(given)?.[key]) !== undefined)
  for (const key of named) {
    const found = stored.filter((candidate) => obj(candidate)?.[key] === obj(given)?.[key])
    if (found.length === 1) return found[0]
  }
  return named.length === 0 && all.length === stored.length ? stored[index] : undefined
}

const join = (path: string, key: string | number) =>
  typeof key === "number" ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`

const resolveArray = (
  given: ReadonlyArray<unknown>,
  stored: unknown,
  path: string
): Result.Result<unknown, Unresolved> => {
  const before = Array.isArray(stored) ? stored : []
  const result: Array<unknown> = []
  for (const [index, inner] of given.entries()) {
    const resolved = resolve(inner, counterpart(inner, index, given, before), join(path, index))
    if (Result.isFailure(resolved)) return resolved
    result.push(resolved.success)
  }
  return Result.succeed(result)
}

const resolveObject = (given: Obj, stored: unknown, path: string): Result.Result<unknown, Unresolved> => {
  if (given["_truncated"] !== undefined) {
    return Result.fail({ path, what: "part of it was cut from an answer (_truncated)" })
  }
  const before = obj(stored)
  const entries: Array<readonly [string, unknown]> = []
  for (const [key, inner] of Object.entries(given)) {
    const resolved = resolve(
      inner,
      before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined,
      join(path, key)
    )
    if (Result.isFailure(resolved)) return resolved
    entries.push([key, resolved.success])
  }
  return Result.succeed(Object.fromEntries(entries))
}

/** `given` with every placeholder replaced by what it stands for in `stored`. */
export const resolve = (given: unknown, stored: unknown, path = ""): Result.Result<unknown, Unresolved> => {
  if (typeof given === "string") {
    if (!isPlaceholder(given)) {
      const isSpelled = typeof stored === "string" && stored !== given && Visible.text(stored) === given
      return Result.succeed(isSpelled ? stored : given)
    }
    return typeof stored === "string" && standsFor(given, stored)
      ? Result.succeed(stored)
      : Result.fail({
        path,
        what: given.includes(marker) ? `${marker} stands for no stored value` : "it was cut in an answer"
      })
  }
  if (Array.isArray(given)) return resolveArray(given, stored, path)
  const object = obj(given)
  return object === undefined ? Result.succeed(given) : resolveObject(object, stored, path)
}
