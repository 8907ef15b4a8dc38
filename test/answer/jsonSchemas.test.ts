import { assert, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as jsonSchemas from "../../src/answer/jsonSchemas.ts"

const nothing = Schema.Struct({})
const object = { type: "object" as const, properties: {} }

it("lists an object without properties as an object, at the root and inside", () => {
  const closed = { ...object, additionalProperties: false }
  assert.deepStrictEqual(jsonSchemas.ofArguments(nothing), closed)
  assert.deepStrictEqual(jsonSchemas.ofArguments(nothing.annotate({ description: "Nothing" })), {
    description: "Nothing",
    ...closed
  })
  // A parameter may be called like a keyword.
  const input = Schema.Struct({ a: nothing, rows: Schema.Array(nothing), not: Schema.Null, properties: nothing })
  assert.deepStrictEqual(jsonSchemas.ofArguments(input), {
    type: "object",
    properties: { a: object, rows: { type: "array", items: object }, not: { type: "null" }, properties: object },
    required: ["a", "rows", "not", "properties"],
    additionalProperties: false
  })
  const named = nothing.annotate({ identifier: "Empty" })
  assert.deepStrictEqual(jsonSchemas.ofArguments(Schema.Struct({ a: named }))["$defs"], { Empty: object })
})

it("describes such an object in answers, too", () => {
  const dataOf = (output: Schema.ConstraintCodec<object, unknown>) =>
    jsonSchemas.ofAnswer(output).properties?.["data"] as { readonly properties: object }
  assert.deepStrictEqual(dataOf(nothing).properties, { _truncated: {} })
  assert.deepStrictEqual(dataOf(Schema.Struct({ a: nothing, rows: Schema.Array(nothing) })).properties, {
    a: object,
    rows: { type: "array", items: object },
    _truncated: {}
  })
})
