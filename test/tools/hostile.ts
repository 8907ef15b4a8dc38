/** Arguments that no tool should stumble over: calls that succeed, with one place spoilt. */
import { type Obj, obj } from "../../src/base/Json.ts"

const deep = (levels: number): unknown => {
  let value: unknown = "bottom"
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** Values that have broken something somewhere. */
export const values: ReadonlyArray<unknown> = [
  "",
  " ",
  ".",
  "..",
  "../..",
  "%2e%2e",
  "..\\..",
  "/etc/passwd.json",
  "a/../../b.json",
  "\0",
  "a\0b",
  "\ud800",
  "a\udc00b",
  "\u202e\u200b\ufeff",
  "😀".repeat(50),
  "x".repeat(100_000),
  "{}",
  "[]",
  "null",
  "{\"a\":",
  "={{ $json.a }}",
  "={{ (() => { while (true) {} })() }}",
  "__proto__",
  "constructor",
  "toString",
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  true,
  false,
  null,
  [],
  {},
  [[]],
  [null],
  [""],
  [{}],
  { "": "" },
  { "\ud800": "\ud800" },
  { length: -1 },
  { toString: 1, constructor: null },
  JSON.parse(`{"__proto__":{"polluted":true}}`),
  deep(2_000)
]

/** Where something can be spoilt: the path of each value, those of containers included. */
const places = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> => [
  ...path.length === 0 ? [] : [path],
  ...Array.isArray(value) || obj(value) !== undefined
    ? Object.entries(value as object).flatMap(([key, each]) => places(each, [...path, key]))
    : []
]

const withAt = (value: unknown, [key, ...rest]: ReadonlyArray<string>, put: unknown): unknown => {
  if (key === undefined) return put
  if (Array.isArray(value)) return value.map((each, at) => String(at) === key ? withAt(each, rest, put) : each)
  return Object.fromEntries(
    Object.entries(obj(value) ?? {}).map(([name, each]) => [name, name === key ? withAt(each, rest, put) : each])
  )
}

/** The call with one place spoilt, or with one key more; `random` gives numbers from 0 to below its argument. */
export const spoilt = (call: Obj, known: ReadonlyArray<string>, random: (below: number) => number): unknown => {
  const pick = <A>(list: ReadonlyArray<A>) => list[random(list.length)]
  const value = pick(values)
  const dice = random(100)
  if (dice < 5) return value
  if (dice < 10) return { ...call, [String(pick(["extra", "\ud800", "__proto__", "id "]))]: value }
  if (dice < 40 && known.length > 0) return { ...call, [pick(known) ?? ""]: value }
  const at = pick(places(call))
  return at === undefined ? value : withAt(call, at, value)
}
