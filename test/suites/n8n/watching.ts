/** A watch on a real n8n: seeded incidents, each found within two polls, and counted by a webhook's receiver. */
import { assert, type Vitest } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as WatchReport from "../../../src/app/report/WatchReport.ts"
import type * as Services from "../../../src/app/Services.ts"
import * as Watching from "../../../src/app/Watching.ts"
import { arr, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import type { Incident } from "../../../src/watch/Watch.ts"
import { node } from "../../support/workflows.ts"
import { chain, code, connected, made } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as Recorder from "./Recorder.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const minute = 60_000

/** Real time, which `pass` moves on. */
const shifted = () => {
  const real = Clock.Clock.defaultValue()
  let offset = 0
  const at = () => real.currentTimeMillisUnsafe() + offset
  const clock: Clock.Clock = {
    monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: real.monotonicTimeNanos,
    sleep: (duration) => real.sleep(duration),
    currentTimeMillisUnsafe: at,
    currentTimeMillis: Effect.sync(at),
    currentTimeNanosUnsafe: () => BigInt(at()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(at()) * 1_000_000n)
  }
  return { clock, pass: (millis: number) => void (offset += millis) }
}

const hook = (path: string) =>
  node("In", "webhook", 2, { path, httpMethod: "POST", responseMode: "onReceived", options: {} }, { webhookId: path })

const everyMinutes = (minutesInterval: number) =>
  node("Schedule", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "minutes", minutesInterval }] } })

/**
 * Adds the test to a suite, before the others: their workflows and runs would be in its reports. The releases differ:
 * n8n 1 has no versions, and tests no credentials.
 */
export const watching = (it: It, { v2 }: { readonly v2: boolean }) => {
  it.effect(
    "watch: each seeded incident is posted once, within two polls, with its cause",
    () =>
      Effect.gen(function*() {
        const recorder = yield* Recorder.make
        const { crash, url } = yield* RealN8n
        const { clock, pass } = shifted()
        const ids: Array<string> = []
        // Other tests count what there is. n8n 1 does not bear several at a time.
        yield* Effect.addFinalizer(() =>
          Effect.forEach(ids, (id) => Effect.ignore(scenarios.remove(id)), { concurrency: v2 ? 6 : 1 })
        )
        const hooks = new Map<string, string>()
        let isRefused = false
        const hanging = Promise.withResolvers<undefined>()
        recorder.answer = (body) =>
          obj(body)?.["hang"] !== undefined
            ? hanging.promise
            : Promise.resolve(isRefused && obj(body)?.["incidents"] === undefined ? 401 : undefined)

        const publish = Effect.fnUntraced(function*(
          name: string,
          nodes: ReadonlyArray<ReturnType<typeof node>>,
          trigger: ReturnType<typeof node> = hook(`watch-${crypto.randomUUID()}`)
        ) {
          const id = yield* made(name, [trigger, ...nodes], chain(trigger.name, ...nodes.map(({ name }) => name)))
          ids.push(id)
          hooks.set(id, String(obj(trigger.parameters)?.["path"]))
          yield* scenarios.publish(id)
          return id
        })
        const call = (id: string, body: unknown = {}) => scenarios.callWebhook(hooks.get(id) ?? "", { body })
        /** Runs a workflow, and waits for its end or for one of these statuses. */
        const run = Effect.fnUntraced(function*(id: string, body: unknown = {}, statuses?: ReadonlyArray<string>) {
          const after = yield* scenarios.newestExecution()
          yield* call(id, body)
          return yield* scenarios.awaitExecution(id, after, statuses)
        })
        /** Whether a run of a workflow ran this code: for a moment the earlier version still runs. */
        const runsCode = Effect.fnUntraced(function*(id: string, js: string) {
          const { executionId } = yield* run(id)
          const execution = obj(yield* scenarios.fetchJson(`executions/${executionId}?includeData=true`))
          return arr(obj(execution?.["workflowData"])?.["nodes"]).some((each) =>
            obj(obj(each)?.["parameters"])?.["jsCode"] === js
          )
        })
        /** Saves and publishes another code, and runs it. */
        const change = Effect.fnUntraced(function*(id: string, js: string) {
          const { status, text } = yield* scenarios.request("PUT", `workflows/${id}`, {
            name: obj(yield* scenarios.fetchJson(`workflows/${id}`))?.["name"],
            nodes: [hook(hooks.get(id) ?? ""), code("Code", js)],
            connections: connected(chain("In", "Code")),
            settings: { executionOrder: "v1" }
          })
          assert.strictEqual(status, 200, text)
          assert.isTrue(yield* Effect.repeat(runsCode(id, js), { times: 50, until: (isNew) => isNew }))
        })

        const post = yield* Watching.post(Redacted.make(`${recorder.url}/hook`))
        const context = { program: "effect-n8n-mcp", zone: "UTC" }
        const unknown: Array<string> = []
        const look = Effect.gen(function*() {
          pass(minute)
          const { failure, report } = yield* Watching.round({ every: minute, zone: "UTC" }, ({ incidents }) =>
            incidents.length === 0
              ? Effect.void
              : post(JSON.stringify(WatchReport.message(incidents, url.host, context))))
          assert.isUndefined(failure)
          assert.isFalse(report.isSkipped)
          assert.isAtMost(report.requests, posted().length === 0 ? 200 : 8)
          unknown.push(...report.unknown)
          return report
        }).pipe(Effect.provideService(Clock.Clock, clock))
        const posted = () =>
          recorder.bodies().flatMap((body) =>
            (obj(body)?.["incidents"] ?? []) as ReadonlyArray<Incident>
          )
        const expected: Array<string> = []
        /** Looks twice at most, until each of these is posted: kind, workflow, and what its sentences contain. */
        const finds = Effect.fnUntraced(function*(
          all: ReadonlyArray<readonly [kind: Incident["kind"], id: string | undefined, text: RegExp]>
        ) {
          const isPosted = ([kind, id, text]: typeof all[number]) =>
            posted().some((incident) =>
              incident.kind === kind && (id === undefined || incident.workflowId === id) &&
              text.test(`${incident.what}; ${incident.cause ?? ""}`)
            )
          yield* look
          if (!all.every(isPosted)) yield* look
          for (const each of all) {
            assert.isTrue(isPosted(each), `${each.join(" ")} is not in\n${JSON.stringify(posted(), undefined, 1)}`)
            expected.push(each[0])
          }
        })

        const coded = (name: string, js = "return []") => publish(name, [code("Code", js)])
        const pays = yield* coded(
          "Pays",
          "if ($input.first().json.body.bad) throw new Error('card declined'); return $input.all()"
        )
        const changes = yield* coded("Changes", "return $input.all()")
        const byHand = yield* coded("By hand")
        const archived = yield* coded("Archived")
        const deleted = yield* coded("削除")
        const lists = yield* coded("Lists", "return [{ json: { n: 1 } }, { json: { n: 2 } }]")
        const quick = yield* coded(
          "Quick",
          "await new Promise((next) => setTimeout(next, $input.first().json.body.ms)); return $input.all()"
        )
        const hang = (name: string) =>
          publish(name, [
            node("Hang", "httpRequest", 4.2, {
              method: "POST",
              url: `${recorder.url}/hang`,
              sendBody: true,
              bodyParameters: { parameters: [{ name: "hang", value: "1" }] },
              options: {}
            })
          ])
        const [hangs, hangsToo] = [yield* hang("Hangs"), yield* hang("Hangs too")]
        const tagged = Effect.fnUntraced(function*(id: string, tag: string) {
          yield* scenarios.request("PUT", `workflows/${id}/tags`, [{ id: yield* scenarios.tag(tag) }])
          return id
        })
        const quiet = yield* tagged(yield* coded("Quiet"), "watch: silent 30m")
        const off = yield* tagged(yield* coded("Off", "throw new Error('not reported')"), "watch: off")
        const credential = yield* scenarios.openAiCredential("Local AI", `${recorder.url}/v1`)
        const asks = yield* publish("Asks", [
          node("Ask", "httpRequest", 4.2, {
            url: `${recorder.url}/v1/models`,
            authentication: "predefinedCredentialType",
            nodeCredentialType: "openAiApi",
            options: {}
          }, { credentials: { openAiApi: credential } })
        ])
        yield* run(pays)
        yield* run(changes)
        for (let each = 0; each < 5; each++) {
          yield* Effect.forEach([1, 2, 3, 4], () => call(quick, { ms: 300 }), { concurrency: 4 })
        }

        const durations = yield* scenarios.fetchJson(`executions?workflowId=${quick}&limit=50&status=success`).pipe(
          Effect.map((page) =>
            arr(obj(page)?.["data"]).map((each) =>
              Date.parse(String(obj(each)?.["stoppedAt"])) - Date.parse(String(obj(each)?.["startedAt"]))
            )
          ),
          Effect.repeat({ schedule: Schedule.spaced("200 millis"), until: ({ length }) => length === 20 }),
          scenarios.live
        )

        // Nothing of the past is posted. Of each poll, the data of one run are read.
        yield* look
        for (let each = 0; each < 5; each++) {
          yield* run(lists)
          yield* look
        }
        assert.deepStrictEqual(posted(), [])

        const slow = yield* Effect.forkChild(run(quick, { ms: 6_000 + 6 * Math.max(...durations) }))
        yield* run(pays, { bad: true })
        yield* run(off)
        yield* change(changes, "throw new Error('the new price is missing')")
        yield* scenarios.unpublish(byHand)
        yield* scenarios.archive(archived)
        yield* scenarios.remove(deleted)
        yield* finds([
          ["failed", pays, /card declined/],
          [
            "failed",
            changes,
            v2
              ? /the new price is missing.*its first failure since version [0-9a-f]{8}, published at .*; the run before, at .*, succeeded/
              : /the new price is missing/
          ],
          ["unpublished", byHand, /no longer published.*someone/],
          ["unpublished", archived, /archived/],
          ["unpublished", deleted, /'削除' was deleted/]
        ])
        // Once more: the same causes are not posted again.
        yield* run(pays, { bad: true })
        yield* Fiber.join(slow)
        yield* finds([["slow", quick, /took [\d.]+ s, usually at most (?:[\d.]+ s|\d+ ms)/]])
        yield* change(lists, "return []")
        // On a busy machine the earlier version ran once more.
        for (let each = 0; each < 2; each++) {
          yield* look
          yield* run(lists)
        }
        // Without versions, an empty night looks the same.
        yield* finds(v2 ? [["empty", lists, /end without items.*usually with 2.*since version/]] : [])

        const running = yield* Effect.forEach([hangs, hangsToo], (id) => run(id, {}, ["running"]))
        yield* look
        yield* crash(
          running.map(({ executionId }) => executionId),
          finds([["unreachable", undefined, /2 times in a row/]])
        )
        yield* finds([["failed", undefined, /2 runs ended with n8n itself.*restarted/]])

        const clocks = [
          yield* publish("Clock", [code("Code", "return []")], everyMinutes(1)),
          // n8n counts from its last start.
          yield* publish("Every seven minutes", [code("Code", "return []")], everyMinutes(7))
        ]
        yield* call(hangs)
        yield* look
        isRefused = true
        pass(3 * 60 * minute)
        yield* finds([
          ...clocks.map((id) => ["missed", id, /did not start at .* later times/] as const),
          ["stuck", hangs, /has not ended for 3 h/],
          ["silent", quiet, /since .*its limit is 30 min/],
          ...v2
            ? [["credential", asks, /'Local AI' \(openAiApi\) no longer signs in: 1 published.*'Asks'/] as const]
            : []
        ])
        yield* look
        hanging.resolve(undefined)

        assert.deepStrictEqual(
          posted().map(({ kind }) => kind).toSorted(),
          expected.toSorted(),
          JSON.stringify(posted())
        )
        assert.strictEqual(unknown.length, v2 ? 0 : 1, unknown.join("\n"))
      }).pipe(Effect.scoped),
    400_000
  )
}
