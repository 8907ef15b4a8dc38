/** Which part of a JSON value became which of another. */
import { obj, str } from "../Json.ts"
import { keysOf } from "./JsonLayout.ts"

/** The same JSON, keys in the same order. */
export const isSame = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((inner, index) => isSame(inner, b[index]))
  }
  const [left, right] = [obj(a), obj(b)]
  if (left === undefined || right === undefined) return false
  const [keys, others] = [keysOf(left), keysOf(right)]
  return keys.length === others.length &&
    keys.every((key, index) => key === others[index] && isSame(left[key], right[key]))
}

/** For each of the new ones the index of the old one that it was; each old one is taken once at most. */
export type Alignment = ReadonlyArray<number | undefined>

/** What is left takes the old one that follows its predecessor's, where `fits` allows. */
const pair = (
  matched: ReadonlyArray<number | undefined>,
  count: number,
  fits: (old: number, next: number) => boolean
): Alignment => {
  const taken = new Set(matched)
  let last = -1
  return matched.map((old, next) => {
    const candidate = old ?? last + 1
    if (old === undefined && (candidate >= count || taken.has(candidate) || !fits(candidate, next))) return undefined
    taken.add(candidate)
    last = candidate
    return candidate
  })
}

/** What tells an element from its neighbours, such as a node's id. */
const identityOf = (value: unknown) => str(obj(value)?.["id"]) ?? str(obj(value)?.["name"])

/** An element that may have become another: of the same kind, and with an identity most of what it had. */
const isOther = (a: unknown, b: unknown) => {
  const [left, right] = [obj(a), obj(b)]
  if (left === undefined || right === undefined || (identityOf(a) ?? identityOf(b)) === undefined) {
    return kindOf(a) === kindOf(b)
  }
  const keys = keysOf(left)
  const same = keys.filter((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]))
  return 2 * same.length >= Math.max(keys.length, keysOf(right).length)
}

const kindOf = (value: unknown) => Array.isArray(value) ? "array" : obj(value) === undefined ? "scalar" : "object"

/** Elements: what is equal at both ends, then by id, then by content, then by place. */
export const alignElements = (olds: ReadonlyArray<unknown>, news: ReadonlyArray<unknown>): Alignment => {
  const least = Math.min(olds.length, news.length)
  let start = 0
  while (start < least && isSame(olds[start], news[start])) start++
  let end = 0
  while (end < least - start && isSame(olds.at(-1 - end), news.at(-1 - end))) end++

  const shift = olds.length - news.length
  const isEnd = (next: number) => next < start || next >= news.length - end
  const queues = new Map<string, Array<number>>()
  const keysFor = (value: unknown) => {
    const identity = identityOf(value)
    return identity === undefined ? `=${JSON.stringify(value)}` : `#${identity}`
  }
  for (let old = olds.length - end - 1; old >= start; old--) {
    const key = keysFor(olds[old])
    const queue = queues.get(key)
    if (queue === undefined) queues.set(key, [old])
    else queue.push(old)
  }
  const matched = news.map((value, next) =>
    isEnd(next) ? next < start ? next : next + shift : queues.get(keysFor(value))?.pop()
  )
  return pair(matched, olds.length, (old, next) => isOther(olds[old], news[next]))
}

const isLike = (a: unknown, b: unknown) => {
  if (isSame(a, b)) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length > 0 && b.length > 0
  const [left, right] = [obj(a), obj(b)]
  if (left === undefined || right === undefined) return false
  const [keys, others] = [keysOf(left), new Set(keysOf(right))]
  return 2 * keys.filter((key) => others.has(key)).length >= Math.max(keys.length, others.size)
}

type Members = ReadonlyArray<readonly [key: string, value: unknown]>

/** Members: by key, then as renamed: in the same place with about the same value. */
export const alignMembers = (olds: Members, news: Members): Alignment => {
  const places = new Map(olds.map(([key], index) => [key, index]))
  return pair(
    news.map(([key]) => places.get(key)),
    olds.length,
    (old, next) => isLike(olds[old]?.[1], news[next]?.[1])
  )
}
