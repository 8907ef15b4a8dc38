import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Envelope from "../../src/answer/Envelope.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { recording } from "../support/spans.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, prepared, seed } from "./calls.ts"

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

/** In the places where secrets are found: one word for all, that is nowhere else. */
const canary = "c4naryB1rd7Qz"
const apiKey = `key-${canary}-0123456789`

/** Parameters, headers and credentials' names as nodes have them. */
const spoiltNode = (node: unknown): Obj => ({
  ...obj(node),
  parameters: {
    ...obj(obj(node)?.["parameters"]),
    password: canary,
    headerParameters: { parameters: [{ name: "Authorization", value: `Bearer ${canary}` }] },
    queryParameters: { parameters: [{ name: "api_key", value: canary }] },
    url: `https://user:${canary}@shop.example/?token=${canary}`
  }
})

const item = {
  json: {
    apiKey: canary,
    headers: { authorization: `Bearer ${canary}`, cookie: `session=${canary}`, "x-api-key": canary },
    note: `Authorization: Bearer ${canary}`
  }
}

/** Every item and every error of an execution. */
const spoiltExecution = (execution: N8nApi.Execution): N8nApi.Execution => {
  const spoilt = JSON.parse(JSON.stringify(execution), (key, value: unknown) => {
    if (key === "main") return arr(value).map((items) => Array.isArray(items) ? items.map(() => item) : items)
    if (key === "message" && typeof value === "string") return `${value} (Authorization: Bearer ${canary})`
    if (key === "nodes" && Array.isArray(value)) return value.map(spoiltNode)
    return value
  }) as N8nApi.Execution
  return spoilt
}

const spoiltSeed = {
  ...seed,
  workflows: seed.workflows.map((workflow) => ({ ...workflow, nodes: arr(workflow["nodes"]).map(spoiltNode) })),
  executions: seed.executions.map(spoiltExecution)
} as N8nApi.Seed

/** An error of n8n's that says what it was sent. */
const echo = () =>
  Effect.sync(() =>
    Response.json(
      { message: `Authorization: Bearer ${canary}, x-n8n-api-key: ${apiKey}, password: "${canary}"` },
      { status: 400 }
    )
  )

describe("a secret in keys, headers, parameters, items and errors", () => {
  const kinds = [{ what: "answers", before: () => Effect.void }, { what: "errors", before: echo }] as const
  for (const { before, what } of kinds) {
    it.live.each(all.filter(({ name }) => name !== "test_workflow").map((tool) => ({ tool, name: tool.name })))(
      `is in no answer, log or trace of $name, where n8n ${what}`,
      ({ name, tool }) => {
        const told: Array<string> = []
        const logger = Logger.make(({ cause, message }) => void told.push(JSON.stringify([message, String(cause)])))
        const { spans, tracer } = recording()
        return inWorld(
          ({ folder }) =>
            prepared(
              folder,
              Effect.gen(function*() {
                for (const raw of [false, true]) {
                  const args = "raw" in (tool.inputSchema.properties ?? {}) ? { ...calls[name], raw } : calls[name]
                  yield* tool.run(args).pipe(
                    Effect.tapError((error) => Effect.logDebug(error.message)),
                    Effect.match({
                      onSuccess: (answer) => void told.push(JSON.stringify(answer)),
                      onFailure: (error) => void told.push(JSON.stringify(Envelope.fromError(error)))
                    })
                  )
                }
                for (const { attributes, events, name } of spans) {
                  told.push(JSON.stringify([name, [...attributes], events]))
                }
                assert.isNotEmpty(told)
                for (const text of told) assert.notInclude(text, canary)
              }).pipe(
                Effect.withTracer(tracer),
                Effect.provide(Logger.layer([logger])),
                Effect.provideService(References.MinimumLogLevel, "All")
              )
            ),
          { seed: spoiltSeed, apiKey, before }
        )
      }
    )
  }
})
