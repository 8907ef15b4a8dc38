import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Arguments from "../../src/answer/Arguments.ts"
import * as Tool from "../../src/answer/Tool.ts"
import { parts } from "../../src/answer/toolParts.ts"
import { arr, obj } from "../../src/base/Json.ts"
import * as tools from "../../src/tools/index.ts"
import { connected, serve } from "../support/connected.ts"
import { random as seeded } from "../support/random.ts"
import { seed as firstSeed } from "../support/seed.ts"
import * as TestTime from "../support/TestTime.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { hostile, nearlyValid, valid } from "./arguments.ts"
import { calls, seed, writeFiles } from "./calls.ts"

const rounds = 6 * Number(process.env["N8N_MCP_ROUNDS"] ?? 1)

const kinds = { valid, nearlyValid, hostile }

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

const emptyOf = (tool: Tool.Any): { readonly [parameter: string]: string } =>
  parts in tool ? (tool[parts] as { readonly empty?: { readonly [parameter: string]: string } }).empty ?? {} : {}

/** Required arguments that decode. */
const usual = (tool: Tool.Any) => {
  const { required = [] } = tool.inputSchema as { readonly required?: ReadonlyArray<string> }
  return Object.fromEntries(required.map((key) => [key, obj(calls[tool.name])?.[key] ?? "w1"]))
}

describe("optional arguments", () => {
  it.effect.each(all.map((tool) => ({ tool, name: tool.name })))(
    "of $name that a client fills with nothing count as left out",
    ({ name, tool }) =>
      Effect.gen(function*() {
        const { properties = {}, ...schema } = Tool.jsonSchema(tool.input)
        const empty = Object.keys(emptyOf(tool))
        const decode = Arguments.decoder(name, tool.input, { ...schema, properties }, { empty: emptyOf(tool) })
        const plain = yield* decode(usual(tool))
        for (const [key, parameter] of Object.entries(properties)) {
          // The data of a test may be anything.
          if (key in usual(tool) || obj(parameter)?.["type"] === undefined) continue
          for (const nothing of ["", "null", []]) {
            if (nothing !== "" && empty.includes(key)) continue
            assert.deepStrictEqual(yield* decode({ ...usual(tool), [key]: nothing }), plain, `${key}: ${nothing}`)
          }
        }
      })
  )

  it.effect.each(all.map((tool) => ({ tool, name: tool.name })))(
    "of $name that a program leaves empty are refused",
    ({ name, tool }) =>
      Effect.gen(function*() {
        const { properties = {}, ...schema } = Tool.jsonSchema(tool.input)
        const empty = emptyOf(tool)
        const decode = Arguments.decoder(name, tool.input, { ...schema, properties }, { empty, isExact: true })
        for (const [key, parameter] of Object.entries(properties)) {
          if (key in usual(tool) || obj(parameter)?.["type"] === undefined) continue
          for (const nothing of ["", [], null]) {
            if (Array.isArray(nothing) && key in empty) continue
            const { field } = yield* Effect.flip(decode({ ...usual(tool), [key]: nothing }))
            assert.strictEqual(field, key, `${key}: ${JSON.stringify(nothing)}`)
          }
        }
      })
  )

  it.effect("are exact in a program's call, and lenient in a client's", () =>
    inWorld(function*() {
      const empty = yield* Effect.flip(tools.listExecutions.call({ workflowId: "" }))
      assert.deepInclude(empty, {
        _tag: "ValidationError",
        field: "workflowId",
        message: "workflowId is empty: omit it, or enter a value"
      })
      const typed = yield* Effect.flip(tools.listExecutions.call({ limit: "5" as never }))
      assert.deepInclude(typed, { _tag: "ValidationError", field: "limit" })
      const all = yield* tools.listExecutions.answer({})
      assert.deepStrictEqual(yield* tools.listExecutions.answer({ workflowId: "" }), all)
    }, { seed }))

  it("are values where empty only for these reasons", () => {
    assert.deepStrictEqual(
      Object.fromEntries(
        all.flatMap((tool) => Object.entries(emptyOf(tool)).map(([key, why]) => [`${tool.name}.${key}`, why]))
      ),
      {
        "update_workflow.nodes": "removes all nodes",
        "update_workflow.tags": "removes all tags",
        "search_execution.text": "the text null is searched",
        "retry_execution.ids": "an empty choice is not all",
        "sync_pull.only": "an empty choice is not all",
        "sync_push.only": "an empty choice is not all",
        "sync_status.only": "an empty choice is not all"
      }
    )
  })
})

describe("limits", () => {
  it.effect.each(
    all.filter(({ annotations }) => annotations.readOnlyHint).flatMap((tool) =>
      Object.entries(Tool.jsonSchema(tool.input).properties ?? {}).flatMap(([key, schema]) =>
        ["limit", "itemLimit", "last", "days", "wait"].includes(key) ? [{ tool, name: tool.name, key, schema }] : []
      )
    )
  )(
    "of $name are accepted as declared: $key",
    ({ key, name, schema, tool }) =>
      TestTime.run(inWorld(function*({ folder }) {
        yield* writeFiles(folder)
        const { maximum, minimum } = obj(obj(arr(obj(schema)?.["allOf"])[0]) ?? schema) ?? {}
        assert.isNumber(maximum, JSON.stringify(schema))
        for (const value of [minimum, maximum]) {
          const answer = yield* Effect.result(
            tool.run({ ...obj(calls[name]), ...(key === "last" ? { id: null } : {}), [key]: value })
          )
          if (Result.isFailure(answer)) assert.notPropertyVal(answer.failure, "field", key, answer.failure.message)
        }
      }, { seed }))
  )
})

describe("arguments made from the inputSchema", () => {
  it.live.each(all.map((tool) => ({ tool, name: tool.name })))(
    "of $name come to an answer or a typed error over the protocol, never to a bug",
    ({ name, tool }) =>
      inWorld(function*({ folder, run }) {
        yield* writeFiles(folder)
        const client = yield* connected(Effect.orDie(run(serve())))
        // The SDK checks answers by the schemas that it was told.
        yield* Effect.promise(() => client.listTools())
        const random = seeded(name.length * 104_729 + firstSeed(rounds))
        for (const [kind, make] of Object.entries(kinds)) {
          for (let round = 0; round < rounds; round++) {
            const args = make(tool.inputSchema, random, calls[name] ?? {})
            const shown = () => `${name}, ${kind}: ${JSON.stringify(args).slice(0, 500)}`
            // A protocol error would be thrown.
            const answer = yield* Effect.promise(() =>
              client.callTool({ name, arguments: args as Record<string, unknown> }).catch((error: unknown) => {
                throw new Error(shown(), { cause: error })
              })
            )
            const text = JSON.stringify(answer)
            assert.notInclude(text, "InternalError", shown())
            assert.isTrue(text.isWellFormed(), shown())
            if (answer.isError !== true) {
              assert.isTrue(obj(answer.structuredContent)?.["success"], shown())
            }
          }
        }
        assert.notProperty({}, "polluted")
      }, {
        seed,
        // Nothing runs there: what would be waited for never comes.
        before: () => Effect.sync(() => name === "test_workflow" ? new Response("{}", { status: 400 }) : undefined)
      }),
    // Proofs wait for runs of their copies in real time.
    60_000
  )
})
