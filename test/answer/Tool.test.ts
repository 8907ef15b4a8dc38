import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Envelope from "../../src/answer/Envelope.ts"
import * as Hints from "../../src/answer/Hints.ts"
import * as Locale from "../../src/answer/Locale.ts"
import * as Minimize from "../../src/answer/Minimize.ts"
import * as Tool from "../../src/answer/Tool.ts"
import { marksIn } from "../../src/answer/Truncated.ts"
import * as Errors from "../../src/base/Errors.ts"
import * as Omission from "../../src/base/Omission.ts"
import { cost } from "../../src/base/TokenBound.ts"
import { getExecution, listExecutions } from "../../src/tools/executions/index.ts"
import { document, failed as failedRun, holding, node } from "../executions/runData.ts"

/** A direction override, spelled out in six characters. */
const hidden = "\u202e"
const spelled = "\\u202e"

const Row = Schema.Struct({ text: Schema.String, apiKey: Schema.optionalKey(Schema.String) })

interface Data {
  readonly rows: ReadonlyArray<typeof Row.Type>
  readonly total?: number
}

/** A tool that answers `data`; `steps` records the order of its parts and their input. */
const listing = (data: Data, more: { readonly annotations?: Tool.Annotations; readonly total?: number } = {}) => {
  const steps: Array<string> = []
  const tool = Tool.make({
    name: "list_rows",
    title: "List rows",
    description: "Lists rows.",
    annotations: more.annotations ?? Tool.readOnly,
    scopes: [],
    input: Schema.Struct({ name: Schema.String, limit: Schema.optionalKey(Schema.Int) }),
    output: Schema.Struct({ rows: Schema.Array(Row), count: Schema.Int }),
    handler: ({ name }) => Effect.sync(() => steps.push(`handle ${name}`)).pipe(Effect.as(data)),
    summarize: ({ rows }) => {
      steps.push("summarize")
      return { rows, count: rows.length }
    },
    message: ({ count }, { name }) => {
      steps.push(`message ${count}`)
      return { en: `Rows of '${name}'`, ja: `'${name}' の行` }
    },
    totals: ({ total }) => total === undefined ? {} : { rows: total },
    next: ({ name }) => (path, kept) => path === "rows" ? `list_rows(name: '${name}', offset: ${kept})` : undefined,
    budget: ({ rows: [first] }) => {
      steps.push(`budget for ${first?.text}`)
      return { total: more.total ?? Infinity }
    }
  })
  return { tool, steps }
}

const one = (text: string, apiKey?: string): Data => ({ rows: [apiKey === undefined ? { text } : { text, apiKey }] })

const failed = document({ Pay: [failedRun(0, { message: `${"x".repeat(1_100)} card declined` })] }, {
  status: "error",
  nodes: [node("Pay")]
})

describe("a call", () => {
  it.effect("decodes, handles, summarizes, redacts, minimizes and encodes, in this order", () =>
    Effect.gen(function*() {
      const { steps, tool } = listing(one(`password=hunter2hunter2${hidden}`))
      const answer = yield* tool.run({ name: "a", limit: "5" })
      const clean = `password=[redacted]`
      assert.deepStrictEqual(steps, ["handle a", "summarize", `budget for ${clean}`, "message 1"])
      assert.deepStrictEqual(answer, {
        success: true,
        message: "Rows of 'a'",
        data: { rows: [{ text: clean }], count: 1 }
      })
    }))

  it.effect("refuses invalid arguments before the handler runs", () =>
    Effect.gen(function*() {
      const { steps, tool } = listing(one("x"))
      const error = yield* Effect.flip(tool.run({ name: "a", limt: 5 }))
      assert.instanceOf(error, Errors.ValidationError)
      assert.deepStrictEqual([error.message, error.field], ["Unknown parameter 'limt'", "limt"])
      assert.strictEqual(Hints.text(error.hint), "Did you mean 'limit'? list_rows takes: name, limit.")
      assert.deepStrictEqual(steps, [])
    }))

  it.effect.each([
    { annotations: Tool.readOnly, readOnly: true, refused: false },
    { annotations: Tool.destructive, readOnly: false, refused: false },
    { annotations: Tool.destructive, readOnly: true, refused: true },
    { annotations: Tool.additive, readOnly: true, refused: true }
  ])(
    "with $annotations on a server with readOnly $readOnly is refused: $refused",
    ({ annotations, readOnly, refused }) =>
      Effect.gen(function*() {
        const { steps, tool } = listing(one("x"), { annotations })
        for (const call of [Effect.asVoid(tool.run({ name: "a" })), Effect.asVoid(tool.call({ name: "a" }))]) {
          steps.length = 0
          const exit = yield* Effect.exit(call).pipe(Effect.provideService(Tool.ReadOnly, readOnly))
          assert.strictEqual(Exit.isFailure(exit), refused)
          assert.strictEqual(steps.length === 0, refused)
        }
        assert.strictEqual(Tool.offered([tool], readOnly).length, refused ? 0 : 1)
      })
  )

  it.effect("dies if the answer does not match its schema", () =>
    Effect.gen(function*() {
      const { tool } = listing({ rows: [{ text: 7 as unknown as string }] })
      const exit = yield* Effect.exit(tool.run({ name: "a" }))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    }))
})

describe("an answer", () => {
  it.effect("has secrets redacted and hidden characters escaped", () =>
    Effect.gen(function*() {
      const { tool } = listing(one(`a${hidden}b`, `se${hidden}cret`))
      assert.deepStrictEqual((yield* tool.answer({ name: "a" })).data, {
        rows: [{ text: `a${spelled}b`, apiKey: "[redacted]" }],
        count: 1
      })
    }))

  it.effect("keeps secrets without redaction, but hidden characters are escaped", () =>
    Effect.gen(function*() {
      const { tool } = listing(one("a", `secret${hidden}`))
      const { data: { rows } } = yield* tool.answer({ name: "a" }).pipe(
        Effect.provideService(Tool.RedactSecrets, false)
      )
      assert.strictEqual(rows[0]?.apiKey, `secret${spelled}`)
    }))

  it.effect("is cut by its length after escaping hidden characters", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 300 }, () => ({ text: hidden.repeat(20) }))
      const { tool } = listing({ rows })
      const { data } = yield* tool.answer({ name: "a" }).pipe(Effect.provideService(Minimize.MaxResultChars, 6_000))
      const size = cost(data)
      assert.isAtMost(size, 6_000)
      assert.isAbove(size, 4_500)
      assert.isTrue(data.rows.every(({ text }) => text === spelled.repeat(20)))
      const kept = data.rows.length
      const mark = { path: "rows", kept, total: 300, next: `list_rows(name: 'a', offset: ${kept})` }
      assert.deepStrictEqual<unknown>(marksIn(data), [mark])
    }))

  it.effect("is cut once, so that a note counts all cut characters", () =>
    Effect.gen(function*() {
      const { tool } = listing(one(hidden.repeat(9_000)))
      const { data: { rows: [row] } } = yield* tool.answer({ name: "a" }).pipe(
        Effect.provideService(Minimize.MaxResultChars, 4_000)
      )
      assert.isTrue(Omission.isFormOf(row?.text ?? "", spelled.repeat(9_000)))
    }))

  it.effect("has the mark of a page, with the full length if the page is cut further", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 50 }, (_, index) => ({ text: `${index} ${"x".repeat(90)}` }))
      const { tool } = listing({ rows, total: 900 })
      const name = `a${hidden}`
      const marks = (chars: number) =>
        tool.answer({ name }).pipe(
          Effect.map(({ data }) => marksIn(data)),
          Effect.provideService(Minimize.MaxResultChars, chars)
        )
      const next = (kept: number) => `list_rows(name: 'a${spelled}', offset: ${kept})`
      assert.deepStrictEqual(yield* marks(40_000), [{ path: "rows", kept: 50, total: 900, next: next(50) }])
      const [mark] = yield* marks(4_000)
      assert.isBelow(mark?.kept ?? 50, 50)
      assert.deepInclude(mark, { path: "rows", total: 900, next: next(mark?.kept ?? 0) })
    }))

  it.effect("stays within the tool's own budget", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 300 }, () => ({ text: "text" }))
      const { tool } = listing({ rows }, { total: 1_000 })
      assert.isAtMost(cost((yield* tool.answer({ name: "a" })).data), 1_000)
    }))

  it.effect("has a message without secrets or hidden characters, of bounded length, in the caller's language", () =>
    Effect.gen(function*() {
      const { tool } = listing(one("x"))
      const message = (name: string, locale: Locale.Locale = "en") =>
        tool.run({ name }).pipe(
          Effect.map((answer) => answer.message),
          Effect.provideService(Locale.CurrentLocale, locale)
        )
      assert.strictEqual(yield* message(`token=abcdefghijklmnop ${hidden}`), `Rows of 'token=[redacted] ${spelled}'`)
      assert.strictEqual(yield* message("a", "ja"), "'a' の行")
      assert.isAtMost((yield* message("very long ".repeat(100))).length, 300)
    }))
})

describe("a program's call", () => {
  it.effect("takes what a client would send: defaults apply, and what the Schema refuses is a ValidationError", () =>
    Effect.gen(function*() {
      const { failure } = yield* getExecution.call({ id: "77" })
      assert.deepStrictEqual([failure?.node, failure?.error.message], ["Pay", `${"x".repeat(1_100)} card declined`])
      const refusals = yield* Effect.forEach([
        Effect.asVoid(listExecutions.call({ startedAfter: "yesterday" })),
        Effect.asVoid(listExecutions.call({ limit: 100_000 })),
        Effect.asVoid(getExecution.call({ id: "" }))
      ], Effect.flip)
      assert.deepStrictEqual(
        refusals.map((error) => error._tag === "ValidationError" ? error.field : error),
        ["startedAfter", "limit", "id"]
      )
    }).pipe(Effect.provide(holding(failed))))

  it.effect("is not cut and has hidden characters as they are, but no secrets", () =>
    Effect.gen(function*() {
      const rows = Array.from({ length: 500 }, () => ({ text: hidden.repeat(200), apiKey: "hunter2hunter2" }))
      const { steps, tool } = listing({ rows, total: 900 })
      const data = yield* tool.call({ name: "a" })
      assert.deepStrictEqual(data.rows, rows.map(({ text }) => ({ text, apiKey: "[redacted]" })))
      assert.deepStrictEqual(steps, ["handle a", "summarize"])
      assert.deepStrictEqual<unknown>(marksIn(data), [{ path: "rows", kept: 500, total: 900 }])
    }))

  it.effect("gives decoded data, and its answer the same encoded", () =>
    Effect.gen(function*() {
      const tool = Tool.make({
        name: "add_day",
        title: "Add a day",
        description: "The day after.",
        annotations: Tool.readOnly,
        input: Schema.Struct({
          day: Schema.DateTimeUtcFromString,
          by: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(1)))
        }),
        output: Schema.Struct({ day: Schema.DateTimeUtcFromString }),
        handler: ({ by, day }) => Effect.succeed(DateTime.add(day, { days: by })),
        summarize: (day) => ({ day }),
        message: () => "The day after"
      })
      const { day } = yield* tool.call({ day: "2026-01-31T00:00:00.000Z" })
      assert.isTrue(DateTime.isDateTime(day))
      const answer = yield* tool.answer({ day: "2026-01-31T00:00:00.000Z", by: 2 })
      assert.deepStrictEqual(answer, {
        success: true,
        message: "The day after",
        data: { day: "2026-02-02T00:00:00.000Z" }
      })
      const input: Tool.Input<typeof tool> = { day: "2026-01-31T00:00:00.000Z" }
      const output: Tool.Output<typeof tool> = { day }
      assert.hasAllKeys({ ...input, ...output }, ["day"])
      assert.hasAllKeys(tool.input.fields, ["day", "by"])
    }))
})

describe("a wrapped tool", () => {
  class Denied extends Schema.TaggedError<Denied>()("Denied", { hint: Schema.String }) {
    override readonly message = "policy: no"
  }
  const deny = new Denied({ hint: "Ask for it." })

  it.effect("is denied in every way of calling it, with the error that was given", () =>
    Effect.gen(function*() {
      const { steps, tool } = listing(one("x"))
      const denied = Tool.wrap(tool, () => Effect.fail(deny))
      const calls: ReadonlyArray<Effect.Effect<unknown, Errors.Failure>> = [
        denied.call({ name: "a" }),
        denied.answer({ name: "a" }),
        denied.run({ name: "a" })
      ]
      for (const call of calls) assert.strictEqual(yield* Effect.flip(call), deny)
      assert.deepStrictEqual(steps, [])
      assert.deepStrictEqual(Envelope.fromError(deny), {
        name: "Denied",
        message: "policy: no",
        context: {},
        hint: "Ask for it."
      })
    }))

  it.effect("runs with another input, and its data is changed before it is redacted and cut", () =>
    Effect.gen(function*() {
      const { tool } = listing({ rows: [{ text: "x" }], total: 9 })
      const seen: Array<unknown> = []
      const wrapped = Tool.wrap(tool, (run, input) =>
        Effect.map(run({ ...input, name: "b" }), (data) => {
          seen.push(input)
          return { ...data, rows: [{ text: `password=hunter2hunter2${hidden}` }] }
        }))
      const twice = Tool.wrap(wrapped, (run, input) => Effect.andThen(run(input), run(input)))
      const { data } = yield* twice.answer({ name: "a" })
      assert.deepStrictEqual(data.rows, [{ text: "password=[redacted]" }])
      assert.deepStrictEqual(marksIn(data).map(({ total }) => total), [9])
      assert.deepStrictEqual(seen, [{ name: "a" }, { name: "a" }])
      assert.deepStrictEqual([twice.name, twice.inputSchema], [tool.name, tool.inputSchema])
    }))

  it.effect("changes nothing on a read-only server, and keeps what was set on the tool", () =>
    Effect.gen(function*() {
      const { steps, tool } = listing(one("x"), { annotations: Tool.destructive })
      const wrapped = Tool.wrap({ ...tool, description: "Other." }, (run, input) => run(input))
      assert.strictEqual(wrapped.description, "Other.")
      const error = yield* Effect.flip(wrapped.call({ name: "a" })).pipe(Effect.provideService(Tool.ReadOnly, true))
      assert.deepStrictEqual([error._tag, steps], ["ValidationError", []])
    }))
})

describe("the output schema", () => {
  it("declares marks at the root of the data and allows them next to lists", () => {
    const { tool } = listing(one("x"))
    const data = tool.outputSchema.properties?.["data"]
    assert.hasAllKeys((data as Tool.JsonSchema).properties, ["rows", "count", "_truncated"])
    const rows = (data as Tool.JsonSchema).properties?.["rows"]
    const { items } = rows as { readonly items: Tool.JsonSchema }
    assert.hasAllKeys(items.properties, ["text", "apiKey"])
    assert.notProperty(tool.inputSchema.properties, "_truncated")
  })
})

it.effect("a tool may take nothing, and refuses everything else", () =>
  Effect.gen(function*() {
    const tool = Tool.make({
      name: "ping",
      title: "Ping",
      description: "Answers.",
      annotations: Tool.readOnly,
      input: Schema.Struct({}),
      output: Schema.Struct({ pong: Schema.Boolean }),
      handler: () => Effect.succeed({ pong: true }),
      message: () => "Pong"
    })
    assert.deepStrictEqual(tool.inputSchema, { type: "object", properties: {}, additionalProperties: false })
    assert.deepStrictEqual(yield* tool.call({}), { pong: true })
    const refused = yield* Effect.flip(tool.run({ x: 1 }))
    assert.include(refused.message, "Unknown parameter 'x'")
  }))
