import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Arguments from "../../src/answer/Arguments.ts"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Tool from "../../src/answer/Tool.ts"
import * as parameters from "../../src/tools/shared/Parameters.ts"

const input = Schema.Struct({
  id: parameters.workflowId,
  executionId: Schema.optionalKey(parameters.executionId),
  limit: parameters.limit,
  ratio: Schema.optionalKey(Schema.Finite),
  active: Schema.optionalKey(Schema.Boolean),
  raw: parameters.flag("More."),
  tags: Schema.optionalKey(Schema.Array(Schema.String)),
  nodes: Schema.optionalKey(Schema.Array(Schema.Struct({ name: Schema.String, position: Schema.Array(Schema.Int) }))),
  settings: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  status: Schema.optionalKey(Schema.Literals(["success", "error"]))
})

const decode = Arguments.decoder("a_tool", input, Tool.jsonSchema(input), { empty: { nodes: "removes all" } })

const usage = "a_tool takes: id, executionId, limit, ratio, active, raw, tags, nodes, settings, status."

const refused = (args: unknown) => Effect.map(Effect.flip(decode(args)), Envelope.fromError)

describe("arguments", () => {
  const rows: ReadonlyArray<readonly [what: string, args: object, decoded?: object]> = [
    ["are taken as they are", { tags: ["a"], limit: 5, raw: true }],
    ["take an integer as text", { limit: "5" }, { limit: 5 }],
    ["take a number as text", { ratio: " 0.5 " }, { ratio: 0.5 }],
    ["take a boolean as text", { active: "false", raw: "true" }, { active: false, raw: true }],
    ["take an array as text", { tags: "[\"a\",\"b\"]" }, { tags: ["a", "b"] }],
    [
      "take an array of objects as text",
      { nodes: JSON.stringify([{ name: "Set", position: [0, 10] }]) },
      { nodes: [{ name: "Set", position: [0, 10] }] }
    ],
    ["take an object as text", { settings: "{\"a\":\"Asia/Tokyo\"}" }, { settings: { a: "Asia/Tokyo" } }],
    ["leave strings inside alone", { settings: { a: "5", b: null } }],
    ["take a number for an id", { id: 17, executionId: 1234 }, { id: "17", executionId: "1234" }],
    ["leave an id of digits a string", { id: "0017" }],
    ["leave an id that looks like JSON a string", { id: "{\"a\":1}" }],
    ["leave characters outside of the Basic Multilingual Plane alone", { id: "😀" }],
    ["take null as left out", { limit: null, tags: null, raw: null, status: null }, {}],
    [
      "take what clients fill in as left out",
      { limit: "", tags: [], raw: "", status: "null", settings: "", ratio: "null", executionId: "", active: "" },
      {}
    ],
    ["take an empty list that is a value", { nodes: [] }],
    ["take one value for a list", { tags: "a,b" }, { tags: ["a,b"] }],
    ["take one text of digits for a list of texts", { tags: "17" }, { tags: ["17"] }],
    ["take one number for a list of texts", { tags: 17 }, { tags: ["17"] }],
    ["take one object for a list", { nodes: { name: "Set", position: [] } }, {
      nodes: [{ name: "Set", position: [] }]
    }],
    ["take one of the values", { status: "error" }]
  ]
  it.effect.each(rows)("%s", ([, args, decoded = args]) =>
    Effect.gen(function*() {
      const expected: object = { id: "w", limit: 20, raw: false, ...decoded }
      assert.deepStrictEqual<object>(yield* decode({ id: "w", ...args }), expected)
      // The whole of them as text, too.
      assert.deepStrictEqual<object>(yield* decode(JSON.stringify({ id: "w", ...args })), expected)
    }))

  it.effect("may be missing if nothing is required", () =>
    Effect.gen(function*() {
      const optional = Schema.Struct({ limit: parameters.limit })
      const lenient = Arguments.decoder("a_tool", optional, Tool.jsonSchema(optional))
      for (const args of [undefined, null, {}, "{}"]) assert.deepStrictEqual(yield* lenient(args), { limit: 20 })
    }))

  it.effect("never need a parameter", () =>
    Effect.gen(function*() {
      const none = Arguments.decoder("a_tool", Schema.Struct({}), { properties: {} })
      assert.deepStrictEqual(yield* none({}), {})
      const { hint, message } = Envelope.fromError(yield* Effect.flip(none({ id: "1" })))
      assert.strictEqual(message, "Unknown parameter 'id'")
      assert.strictEqual(hint, "a_tool takes: no parameters.")
    }))

  it.effect.prop(
    "are the same when sent as JSON strings, one by one and together",
    { value: Schema.toType(input) },
    ({ value }) =>
      Effect.gen(function*() {
        const text = JSON.stringify(value)
        // JSON escapes half a character, which is refused.
        if (/\\ud[89a-f]/.test(text)) return
        const { tags, ...rest } = JSON.parse(text) as Record<string, unknown>
        const encoded = Array.isArray(tags) && tags.length > 0 ? { ...rest, tags } : rest
        const expected = yield* decode(encoded)
        const texts = Object.entries(encoded).map(([key, value]) =>
          [key, typeof value === "string" ? value : JSON.stringify(value)] as const
        )
        assert.deepStrictEqual(yield* decode(Object.fromEntries(texts)), expected)
        assert.deepStrictEqual(yield* decode(JSON.stringify(encoded)), expected)
        assert.deepStrictEqual(expected as unknown, encoded)
      })
  )
})

describe("refused arguments", () => {
  it.effect.each<readonly [args: object, field: string, message: string]>([
    [{ id: "" }, "id", "Workflow ID is required"],
    [{ id: null }, "id", "Workflow ID is required"],
    [{ id: ["w"] }, "id", `id: Expected string`],
    [{ limit: 0 }, "limit", "limit must be from 1 to 100"],
    [{ limit: "101" }, "limit", "limit must be from 1 to 100"],
    [{ limit: "many" }, "limit", `limit: Expected number`],
    [{ active: "yes" }, "active", `active: Expected boolean`],
    [{ active: 1 }, "active", "active: Expected boolean"],
    [{ tags: { a: 1 } }, "tags[0]", "tags[0]: Expected string"],
    [{ tags: [1] }, "tags[0]", "tags[0]: Expected string"],
    [{ settings: "[1]" }, "settings", "settings: Expected object"],
    [{ nodes: [{ name: "a", position: [0, "x"] }] }, "nodes[0].position[1]", "nodes[0].position[1]: Expected number"],
    [{ nodes: [{ position: [] }] }, "nodes[0].name", "nodes[0].name is required"],
    [{ status: "failed" }, "status", `status: Expected "success" | "error"`]
  ])("%j report the field '%s'", ([args, field, message]) =>
    Effect.gen(function*() {
      const report = { name: "ValidationError", message, context: { field }, hint: usage }
      assert.deepStrictEqual(yield* refused({ id: "w", ...args }), report)
    }))

  it.effect("have the advice on their reason beside it, once", () =>
    Effect.gen(function*() {
      const { hint, message } = yield* refused({ id: "w", executionId: "12a" })
      assert.strictEqual(message, "Execution ID must be digits, or a link to the run: '12a' is neither")
      assert.strictEqual(hint, `For a workflow's name: list_executions(workflowName: '12a'). ${usage}`)
    }))

  it.effect.each([
    ["limits", "Did you mean 'limit'? "],
    ["workflowId", "Did you mean 'id'? "],
    ["execution_id", "Did you mean 'executionId', 'id'? "],
    ["zzzzzz", ""],
    ["toString", ""]
  ])("with the unknown key '%s' suggest the nearest one", ([key = "", near]) =>
    Effect.gen(function*() {
      for (const value of [1, null]) {
        assert.deepStrictEqual(yield* refused({ id: "w", [key]: value }), {
          name: "ValidationError",
          message: `Unknown parameter '${key}'`,
          context: { field: key },
          hint: `${near}${usage}`
        })
      }
    }))

  it.effect("with a prototype in their JSON are refused like any other key", () =>
    Effect.gen(function*() {
      const { message } = yield* refused(`{"id":"w","__proto__":{"limit":5}}`)
      assert.strictEqual(message, "Unknown parameter '__proto__'")
    }))

  it.effect("with an unknown nested key report its path", () =>
    Effect.gen(function*() {
      const { context, message } = yield* refused({ id: "w", nodes: [{ name: "a", position: [], nme: "b" }] })
      assert.strictEqual(context["field"], "nodes[0].nme")
      assert.include(message, "nodes[0].nme")
    }))

  it.effect("report unknown and wrong arguments together", () =>
    Effect.gen(function*() {
      const { hint, message } = yield* refused({ limits: 5, limit: 0, activ: true })
      assert.strictEqual(
        message,
        "Unknown parameter 'limits'; Unknown parameter 'activ'; Workflow ID is required; limit must be from 1 to 100"
      )
      assert.strictEqual(hint, `Did you mean 'limit'? Did you mean 'active'? ${usage}`)
    }))

  it.effect("list a limited number of problems, and count the rest", () =>
    Effect.gen(function*() {
      const { message } = yield* refused({ id: "w", tags: Array.from({ length: 1000 }, () => 1) })
      assert.match(message, /tags\[19\]: Expected string and 980 more$/)
    }))

  it.effect("suggest for as many unknown names as they list, and count the rest", () =>
    Effect.gen(function*() {
      const names = Array.from({ length: 9_000 }, (_, index) => [`limit${index}`, 1] as const)
      const { hint, message } = yield* refused({ id: "w", ...Object.fromEntries(names) })
      assert.match(message, /Unknown parameter 'limit19' and 8980 more$/)
      assert.strictEqual(hint, `Did you mean 'limit'? ${usage}`)
    }))

  const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`k${n}`, n]))
  it.effect.each<readonly [field: string, args: object]>([
    ["tags", { tags: Object.values(many).map(String) }],
    ["settings", { settings: many }],
    ["settings.a", { settings: { a: many } }]
  ])("with too many elements in %s are refused", ([field, args]) =>
    Effect.gen(function*() {
      const { context, message } = yield* refused({ id: "w", ...args })
      assert.deepStrictEqual([message, context], [`${field} has more than 10,000 elements`, { field }])
    }))

  it.effect("with JSON of too many values are refused before it is parsed", () =>
    Effect.gen(function*() {
      const { message } = yield* refused({ id: "w", tags: JSON.stringify(Array.from({ length: 300_001 }, () => 0)) })
      assert.match(message, /^tags has more than 300,000 values/)
    }))

  it.effect.each([
    { args: { id: "a\ud800" }, field: "id" },
    { args: { id: "\udc00" }, field: "id" },
    { args: { id: "w", tags: ["a", "\ud83d b"] }, field: "tags[1]" },
    { args: { id: "w", settings: { a: { b: ["\ud800"] } } }, field: "settings.a.b[0]" },
    { args: { id: "w", settings: { "\ud800": 1 } }, field: "settings[\"\ufffd\"]" },
    { args: `{"id":"\\ud800"}`, field: "id" }
  ])("with half a character are refused: $field", ({ args, field }) =>
    Effect.gen(function*() {
      const { context, message, name } = yield* refused(args)
      assert.strictEqual(name, "ValidationError")
      assert.strictEqual(context["field"], field)
      assert.include(message, "surrogate")
      assert.isTrue(JSON.stringify([message, context]).isWellFormed())
    }))

  it.effect("nested deeper than anything is are refused, not walked through", () =>
    Effect.gen(function*() {
      const nested = (levels: number) => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
      for (const levels of [250, 100_000]) {
        const { context, message } = yield* refused({ id: "w", settings: { a: nested(levels) } })
        assert.strictEqual(message, "settings is nested more than 200 levels deep")
        assert.deepStrictEqual(context, { field: "settings" })
      }
      assert.strictEqual((yield* decode({ id: "w", settings: { a: nested(150) } })).id, "w")
    }))

  it.effect("may be an object as a JSON string, but not inside another object", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* decode(`{"id":"w"}`)).id, "w")
      assert.strictEqual((yield* refused({ arguments: { id: "w" } })).context["field"], "arguments")
      assert.strictEqual((yield* refused({ arguments: `{"id":"w"}` })).context["field"], "arguments")
    }))

  it.effect.each([
    { args: [] },
    { args: [{ id: "w" }] },
    { args: "id=w" },
    { args: "\"w\"" },
    { args: "[]" },
    { args: "null" },
    { args: 5 },
    { args: true }
  ])("that are not an object ($args) are reported", ({ args }) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* refused(args), {
        name: "ValidationError",
        message: "arguments must be a JSON object",
        context: { field: "arguments" },
        hint: usage
      })
    }))
})
