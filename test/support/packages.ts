/** The expressions in n8n's packages, of all installed releases. */
import { readFileSync } from "node:fs"
import { arr, type Obj, obj } from "../../src/base/Json.ts"

const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

const names = Object.keys(manifest.devDependencies).filter((name) => /n8n-nodes-/.test(name))

const types = names.flatMap((name): ReadonlyArray<unknown> =>
  JSON.parse(readFileSync(new URL(`../../node_modules/${name}/dist/types/nodes.json`, import.meta.url), "utf8"))
)

const isExpression = (value: unknown): value is string =>
  typeof value === "string" && /^=\s*\{\{(?!\s*\}\})(?:(?!\}\}\s*\{\{)[^])*\}\}\s*$/.test(value)

/** Whether an expression uses only `$parameter` and `$nodeVersion`, like all that the catalogue evaluates. */
const isSelfContained = (code: string) =>
  !/\$(?!parameter\b|nodeVersion\b|\{)\w|\.keys\(\)|new RegExp/.test(code) && code.split("}}").length < 3

const expressionsIn = (value: unknown): ReadonlyArray<string> =>
  isExpression(value)
    ? [value.replace(/^=\s*\{\{/, "").replace(/\}\}\s*$/, "")]
    : Object.values(obj(value) ?? arr(value)).flatMap(expressionsIn)

/** The options of filters. */
const filtersIn = (value: unknown): ReadonlyArray<unknown> =>
  Object.values(obj(value) ?? arr(value)).flatMap((
    inner
  ) => [obj(obj(value)?.["typeOptions"])?.["filter"], ...filtersIn(inner)])

const sources = types.flatMap((type) => {
  const { inputs, outputs, properties, requiredInputs, webhooks } = obj(type) ?? {}
  return [
    ...expressionsIn([inputs, outputs, ...new Set(filtersIn(properties))].filter((each) => !Array.isArray(each))),
    ...expressionsIn([requiredInputs, webhooks]).filter(isSelfContained)
  ]
})

/** All expressions, with the names after a dot in them, which include those of parameters. */
export const expressions: ReadonlyArray<{ readonly source: string; readonly names: ReadonlyArray<string> }> = [
  ...new Set(sources)
].map((source) => ({
  source,
  names: [...new Set([...source.matchAll(/(?:\.|\[["'])([a-zA-Z]\w*)/g)].map(([, name = ""]) => name))].filter((name) =>
    name !== "length" && name !== "toString"
  )
}))

/** Parameters with those names, with every kind of value and the strings in the expression. */
export const parameters = (source: string, names: ReadonlyArray<string>): ReadonlyArray<Obj> => {
  const texts = [...new Set([...source.matchAll(/(["'])((?:(?!\1).)*)\1/g)].map(([, , text = ""]) => text))].slice(
    0,
    25
  )
  const deep = (value: unknown, levels: number): unknown =>
    levels === 0 ? value : Object.fromEntries(names.map((name) => [name, deep(value, levels - 1)]))
  const values: ReadonlyArray<unknown> = [
    ...texts,
    true,
    false,
    null,
    0,
    3,
    "a, b",
    [],
    ["GET", "POST"],
    [{ type: "ai_tool", maxConnections: -1 }, { outputKey: "x", category: "y" }],
    {}
  ]
  return [
    {},
    // The interpreter does not have the method `values` of JavaScript's arrays.
    ...values.flatMap((value) =>
      Array.isArray(value) && source.includes(".values") ? [] : [
        Object.fromEntries(names.map((name) => [name, value])),
        ...(names.length < 8 ? [deep(value, 2) as Obj] : []),
        ...names.slice(0, 6).map((name) => ({ [name]: value, mode: texts[0], operation: texts[1] }))
      ]
    )
  ]
}
