/**
 * `N8N_URL=… N8N_API_KEY=… pnpm bench proof [50]`: a proof of an unchanged workflow of nine nodes over so many recorded
 * runs, on a real n8n on this machine, three times. Prints the verdict, seconds and tokens. Creates workflows and
 * deletes them. That proofs find changes, and send nothing, is tested (`test/suites/n8n/proving.ts`).
 */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Services from "../../src/app/Services.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as tools from "../../src/tools/index.ts"
import { listening } from "../support/listening.ts"
import { orders } from "../support/scenarios/provable.ts"
import { aWhile, client, place, requested, temporary } from "./atN8n.ts"
import { main } from "./main.ts"

const rounds = 3

/** Waits until a workflow has this many executions that have ended. */
const recorded = (id: string, count: number) =>
  N8nClient.use((n8n) => n8n.listExecutions({ workflowId: id, limit: 250 })).pipe(
    Effect.filterOrFail(
      ({ executions }) => executions.filter(({ status }) => status === "success" || status === "error").length >= count
    ),
    Effect.retry(aWhile)
  )

const report = Effect.fnUntraced(
  function*({ runs }: { readonly runs: number }) {
    const { url } = yield* place
    const sink = yield* listening((request, response) =>
      void request.resume().on(
        "end",
        () => response.setHeader("content-type", "application/json").end(JSON.stringify({ ok: true }))
      )
    )
    const path = `bench-${crypto.randomUUID()}`
    const { id } = yield* temporary({
      ...orders.draft({ path, sink }),
      name: `Bench ${path}`,
      settings: { executionOrder: "v1" }
    })
    for (let run = 0; run < runs; run++) {
      yield* Effect.retry(
        requested("call the webhook", new URL(`webhook/${path}`, url), {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(orders.body(run))
        }),
        aWhile
      )
    }
    yield* recorded(id, runs)
    for (let round = 0; round < rounds; round++) {
      const [duration, proof] = yield* Effect.timed(tools.workflowProve.call({ workflowId: id, last: runs }))
      const tokens = countTokens(JSON.stringify(proof))
      yield* Console.log(`${Duration.toSeconds(duration).toFixed(1)} s, ${tokens} tokens: ${proof.verdict}`)
    }
  },
  Effect.scoped,
  Effect.provide([client, Services.layerMemory])
)

const runs = Argument.Int("runs").pipe(Argument.withDefault(50))
main(Command.make("proof", { runs }, report).pipe(Command.withDescription("Measure a proof over many runs")))
