/** Arguments that no tool should stumble over. */
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
