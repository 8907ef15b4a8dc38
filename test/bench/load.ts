/**
 * `pnpm bench load`: compares our HTTP server under 200 clients with a bare SDK server and a minimal one of Effect, in one run.
 *
 * **Details**
 *
 * All ask a stub of n8n in a process of its own, ours in both eras of MCP. It runs over loopback, prints Markdown on stdout and its progress on stderr, and stops everything
 * that it starts. The exit code is 1 if a criterion is missed or a call fails. `--quick`: a fifth of the calls.
 */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { say } from "../support/processes.ts"
import * as HttpProcess from "./load/HttpProcess.ts"
import * as measure from "./load/measure.ts"
import * as report from "./load/report.ts"
import { file, finish, machine, main, quick } from "./main.ts"

const plans: { readonly quick: measure.Plan; readonly full: measure.Plan } = {
  quick: { clients: 200, calls: 5, rounds: 4, warmups: 5, step: 2_000, steps: 10, odd: 2_000 },
  full: { clients: 200, calls: 10, rounds: 10, warmups: 10, step: 20_000, steps: 10, odd: 10_000 }
}

const run = Effect.fn("load.run")(function*(plan: measure.Plan) {
  const fs = yield* FileSystem.FileSystem
  const home = yield* fs.makeTempDirectoryScoped({ prefix: "bench-load-" })
  const n8n = yield* HttpProcess.start("n8n", [file("load/stub.ts")], home)
  const env = { N8N_URL: `http://127.0.0.1:${n8n.port}`, N8N_API_KEY: "bench" }
  const serving = [file("../../dist/main.js"), "--transport", "http", "--port", "0"]
  const ours = yield* HttpProcess.start("ours", serving, home, env)
  const bare = yield* HttpProcess.start("bare", [file("load/floor.mjs")], home, env)
  const minimal = yield* HttpProcess.start("minimal", [file("load/minimal.ts")], home, env)
  const servers = { ours, bare, minimal, n8n }
  yield* say(`${plan.clients} clients, in turns`)
  const speed = {
    "2025-11-25": yield* measure.speed(servers, plan, "2025-11-25"),
    "2026-07-28": yield* measure.speed(servers, plan, "2026-07-28")
  }
  yield* say("a caller beside another's slow calls")
  const shared = yield* HttpProcess.start("shared", serving, home, {
    ...env,
    N8N_MCP_AUTH_TOKEN: Object.values(measure.tokens).join(","),
    N8N_MCP_RATE_LIMIT: "0"
  })
  const fairness = yield* measure.fairness(shared, plan)
  yield* say("memory over many calls")
  return { speed, fairness, memory: yield* measure.memory(ours, plan) } satisfies measure.Results
}, Effect.scoped)

const load = Command.make(
  "load",
  {
    quick: quick("A fifth of the calls")
  },
  Effect.fnUntraced(function*({ quick }) {
    const plan = quick ? plans.quick : plans.full
    const before = machine()
    const results = yield* run(plan)
    yield* finish([before, report.text(results, plan)], report.criteria(results))
  })
).pipe(Command.withDescription("Measure the server over HTTP beside a bare one"))

main(load)
