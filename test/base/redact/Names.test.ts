import { assert, describe, it } from "@effect/vitest"
import * as Predicate from "effect/Predicate"
import { readFileSync } from "node:fs"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import { marker, redact } from "../../../src/base/Redact.ts"

const packages = [
  "n8n-nodes-base",
  "@n8n/n8n-nodes-langchain",
  "n8n-nodes-base-1.123",
  "n8n-nodes-langchain-1.123"
]

/** All entries of lists that may hold a name and a value, as `[name, value]` of their fields. */
const pairs = (parameters: unknown): ReadonlyArray<readonly [string, string]> =>
  arr(parameters).flatMap((parameter) => {
    const { options, type } = obj(parameter) ?? {}
    if (type !== "fixedCollection") return pairs(options)
    return arr(options).flatMap((option) => {
      const fields = arr(obj(option)?.["values"]).map(obj).filter(Predicate.isNotUndefined)
      const named = (pattern: RegExp, types: ReadonlyArray<string>) =>
        fields.filter((field) => types.includes(str(field["type"]) ?? "")).flatMap((field) => str(field["name"]) ?? [])
          .filter((name) => pattern.test(name))
      const values = named(/value|content$/i, ["string", "json"])
      const names = named(/name|key|id$|field|column|attribute|property|header|param|title|label|code/i, [
        "string",
        "options",
        "resourceLocator"
      ]).filter((name) => !values.includes(name))
      return [...names.flatMap((name) => values.map((value) => [name, value] as const)), ...pairs(fields)]
    })
  })

/** What stands beside these is no value of theirs: texts to read, kinds of fields, columns, references. */
const unpaired = new Set([
  "attributeType/value",
  "fieldType/defaultValue",
  "fieldType/fieldValue",
  "parameterType/value",
  "namedRangeReference/value",
  "name/valueVector",
  "name/valueBlob",
  "name/content",
  "title/textContent",
  "key/textContent",
  "code/fallback_value",
  "fileId/content",
  "fileName/content",
  "binaryPropertyName/content",
  "idColumnName/contentColumnName",
  "vectorColumnName/contentColumnName",
  "metadataColumnName/contentColumnName"
])

describe("pairs of n8n's nodes", () => {
  it.each(packages)("of %s are recognized", (name) => {
    const types: ReadonlyArray<Obj> = JSON.parse(
      readFileSync(new URL(`../../../node_modules/${name}/dist/types/nodes.json`, import.meta.url), "utf8")
    )
    const byFields = new Map(
      types.flatMap(({ properties }) => pairs(properties)).map((pair) => [pair.join("/"), pair])
    )
    assert.isAbove(byFields.size, 5)
    const unredacted = [...byFields.values()].filter(([field, value]) =>
      obj(redact({ [field]: "password", [value]: "hunter2" }))?.[value] !== marker
    )
    assert.deepStrictEqual(unredacted.map((pair) => pair.join("/")).filter((pair) => !unpaired.has(pair)), [])
  })
})
