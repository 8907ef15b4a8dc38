/**
 * `pnpm bench`: compares our server with npm's `n8n-mcp` and a minimal one, against a real n8n, in one run.
 *
 * **Details**
 *
 * Prints Markdown on stdout and its progress on stderr, and stops everything that it starts. The exit code is 1 if a
 * criterion is missed or a server fails a request. `--quick`: fewer rounds, and no 66 MB. A full run draws the table
 * into `.github/images/bench.svg`.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { queries } from "../catalogue/search/queries.ts"
import { RealN8n } from "../suites/n8n/RealN8n.ts"
import { say } from "../support/processes.ts"
import * as contenders from "./contenders.ts"
import { file, finish, machine, main, quick } from "./main.ts"
import * as measure from "./measure.ts"
import * as peer from "./peer.ts"
import * as Relay from "./Relay.ts"
import * as report from "./report.ts"
import * as seed from "./seed.ts"

const n8nVersion = "2.41.1"

/** The rounds of each measurement; executions have a size in MB. */
interface Plan {
  readonly startUps: measure.Rounds
  readonly reads: measure.Rounds
  readonly sizes: ReadonlyArray<{ readonly megabytes: number; readonly rounds: measure.Rounds }>
}

const plans: { readonly quick: Plan; readonly full: Plan } = {
  quick: {
    startUps: { atLeast: 5, atMost: 9, seconds: 10 },
    reads: { atLeast: 20, atMost: 50, seconds: 5 },
    sizes: [
      { megabytes: 1, rounds: { atLeast: 3, atMost: 5, seconds: 5 } },
      { megabytes: 10, rounds: { atLeast: 3, atMost: 5, seconds: 15 } }
    ]
  },
  full: {
    startUps: { atLeast: 21, atMost: 21, seconds: 0 },
    reads: { atLeast: 20, atMost: 100, seconds: 15 },
    sizes: [
      { megabytes: 1, rounds: { atLeast: 5, atMost: 7, seconds: 10 } },
      { megabytes: 10, rounds: { atLeast: 3, atMost: 7, seconds: 30 } },
      { megabytes: 66, rounds: { atLeast: 3, atMost: 7, seconds: 110 } }
    ]
  }
}

const workflowCount = 20

const versions = ({ sqlite }: peer.Installed) => `n8n ${n8nVersion}, n8n-mcp ${peer.version} on ${sqlite}`

const method = ({ looks, smallRead, startUp }: measure.Results) => {
  const sizes = looks.map(({ megabytes, rounds }) => `${rounds} × ${megabytes.toFixed(0)} MB`).join(", ")
  return `medians of ${startUp.rounds} starts, ${smallRead.rounds} reads, ${sizes}, interleaved`
}

const legend = "floor: a bare SDK server whose tool downloads and discards; MB: 10⁶ bytes; tokens: o200k"

const run = Effect.fn("bench.run")(function*(plan: Plan, installed: peer.Installed) {
  const fs = yield* FileSystem.FileSystem
  const { apiKey, url } = yield* RealN8n
  const all = contenders.make(yield* fs.makeTempDirectoryScoped({ prefix: "bench-home-" }), installed)
  const target = { url, apiKey: Redacted.value(apiKey) }
  const relay = yield* Relay.make(url)

  yield* say("making workflows and executions")
  yield* seed.createListed(workflowCount - plan.sizes.length)
  const executions = yield* Effect.forEach(
    plan.sizes,
    ({ megabytes, rounds }) => Effect.map(seed.execution(megabytes), (execution) => ({ execution, megabytes, rounds }))
  )
  yield* say("starting each server")
  const startUp = yield* measure.startUp(all, target, plan.startUps)
  yield* say("listing workflows")
  const smallRead = yield* measure.smallRead(all, target, seed.listed, plan.reads)
  yield* say("searching nodes")
  const nodeSearch = yield* measure.nodeSearch(all, target, queries["blind"] ?? {})
  const looks = yield* Effect.forEach(
    executions,
    ({ execution, megabytes, rounds }) =>
      say(`reading an execution of ${megabytes} MB`).pipe(
        Effect.andThen(measure.looks(all, target, relay, execution, rounds))
      )
  )
  return { startUp, smallRead, nodeSearch, looks } satisfies measure.Results
}, Effect.scoped)

const bench = Command.make(
  "bench",
  {
    quick: quick("Fewer rounds, and no execution of 66 MB")
  },
  Effect.fnUntraced(function*({ quick }) {
    const plan = quick ? plans.quick : plans.full
    const before = machine()
    const installed = yield* peer.install()
    yield* say(`starting n8n ${n8nVersion}`)
    const began = performance.now()
    const results = yield* run(plan, installed).pipe(Effect.provide(RealN8n.layer(n8nVersion)))
    const duration = `${Math.round((performance.now() - began) / 1000)} s`
    const head = [before, versions(installed), method(results), legend, duration].join("; ")
    if (!quick) {
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(file("../../.github/images/bench.svg"), `${report.chart(results, head)}\n`)
    }
    yield* finish([head, report.table(results)], report.criteria(results))
  })
).pipe(Command.withDescription("Measure the server beside n8n-mcp and a bare one"))

main(bench)
