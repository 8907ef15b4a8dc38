/**
 * `N8N_URL=… N8N_API_KEY=… pnpm bench changes [60]`: one change of many workflows on a real n8n, and its undo, beside
 * the same requests without any check (read, write, publish) over as many connections. Creates the workflows, two of
 * three published, and deletes them. Prints seconds and tokens of each step, in three rounds.
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Services from "../../src/app/Services.ts"
import { obj } from "../../src/base/Json.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as tools from "../../src/tools/index.ts"
import { joined, node } from "../support/workflows.ts"
import { client, connections, temporary } from "./atN8n.ts"
import { main } from "./main.ts"

const rounds = 3
const tag = crypto.randomUUID().slice(0, 8)

const workflow = (index: number, host: string) => ({
  name: `Bench ${tag} ${index}`,
  settings: { executionOrder: "v1" },
  nodes: [
    node("Hook", "webhook", 2, { path: `${tag}-${index}`, httpMethod: "POST" }, { webhookId: `${tag}-${index}` }),
    node("Send", "httpRequest", 4.2, { method: "POST", url: `https://${host}/orders/${index}`, options: {} }),
    node("Done", "set", 3.4, { mode: "raw", jsonOutput: "={{ { ok: true } }}" })
  ],
  connections: joined(["Hook", "Send"], ["Send", "Done"])
})

const isPublished = (index: number) => index % 3 !== 0

const seeded = (count: number) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    (index) =>
      Effect.map(temporary(workflow(index, "old.example.com"), isPublished(index)), ({ id }) => ({ id, index }))
  )

/** Reads, writes and publishes each workflow. */
const plain = (all: ReadonlyArray<{ readonly id: string; readonly index: number }>, host: string) =>
  N8nClient.use((n8n) =>
    Effect.forEach(all, ({ id, index }) =>
      Effect.gen(function*() {
        const { name } = yield* n8n.getWorkflow(id)
        yield* n8n.putWorkflow(id, { ...workflow(index, host), name })
        if (isPublished(index)) yield* n8n.publishWorkflow(id)
      }), { concurrency: connections, discard: true })
  )

const change = { op: "replace", find: "https://old.example.com", with: "https://api.example.com" }

const report = Effect.fnUntraced(
  function*({ count }: { readonly count: number }) {
    const all = yield* seeded(count)
    const steps: Array<{ readonly name: string; readonly seconds: number; readonly tokens: number }> = []
    const timed = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function*() {
        const [duration, answer] = yield* Effect.timed(effect)
        const tokens = answer === undefined ? 0 : countTokens(JSON.stringify(answer))
        steps.push({ name, seconds: Duration.toSeconds(duration), tokens })
        return obj(obj(answer)?.["data"]) ?? {}
      })
    for (let round = 0; round < rounds; round++) {
      yield* timed("plain requests", plain(all, "new.example.com"))
      yield* timed("plain requests back", plain(all, "old.example.com"))
      const { plan } = yield* timed(
        "dry run",
        tools.bulkEdit.run({ select: { name: tag }, operations: [change], dryRun: true })
      )
      const { done } = yield* timed("application", tools.bulkEdit.run({ plan }))
      const { restored } = yield* timed("undo", tools.workflowRestore.run({ batch: plan }))
      yield* Console.log(
        `round ${round + 1}: ${String(done)} changed, ${String(restored)} restored of ${count}`
      )
    }
    for (const [name, own] of Map.groupBy(steps, (step) => step.name)) {
      const seconds = own.map((step) => step.seconds.toFixed(2)).join("  ")
      const tokens = own[0]?.tokens ?? 0
      yield* Console.log(`${name.padEnd(22)}${seconds} s${tokens === 0 ? "" : `  ${tokens} tokens`}`)
    }
  },
  Effect.scoped,
  Effect.provide([client, Services.layerMemory])
)

const count = Argument.Int("count").pipe(Argument.withDefault(60))
main(Command.make("changes", { count }, report).pipe(Command.withDescription("Measure one change of many workflows")))
