import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Deadline from "../../../src/base/Deadline.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import * as TestMark from "../../../src/n8n/model/TestMark.ts"
import type * as Workflow from "../../../src/n8n/model/Workflow.ts"
import { WriteGuard } from "../../../src/n8n/WriteGuard.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../../src/testing/runs.ts"
import * as Proof from "../../../src/trials/proof/Proof.ts"
import { staleReason } from "../../../src/trials/proof/Volatility.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory, type Needs, type Options } from "../../support/world.ts"
import { cost, records, running, type Version, workflow } from "./recordings.ts"

const prove = (more: Partial<Proof.Options> = {}) => Proof.prove("w1", { timeout: 25_000, redacts: true, ...more })

/** An n8n with a version of the workflow, and runs that the plain one recorded. */
const proving = <Eff extends Effect.Effect<unknown, unknown, Needs>, A>(
  version: Version,
  use: (api: N8nApi.N8nApi) => Generator<Eff, A, never>,
  { executions = records("plain", 8), ...options }: Options & Partial<Pick<N8nApi.Seed, "executions">> = {}
) => inMemory(use, { seed: { workflows: [workflow(version)], executions }, runs: running(), ...options })

const one = function*() {
  return yield* prove()
}

const pathsOf = (ignored: Proof.Proof["ignored"]) => ignored.map(({ node, paths }) => `${node}.${paths.join(", ")}`)

/** The plain version with a node that sends its items. */
const sending = {
  ...workflow("plain"),
  nodes: [...workflow("plain").nodes, node("Send", "httpRequest", 4.2, { url: "https://shop.example" })],
  connections: { ...workflow("plain").connections, End: main("Send") }
}

/** Answer of n8n instead of the publication of a copy of the plain version. */
const refusing = (answer: () => Response): NonNullable<Options["before"]> => (request, api) =>
  Effect.gen(function*() {
    const [, id] = /workflows\/([^/]+)\/publish/.exec(request.url) ?? []
    const copy = (yield* api.workflows).find((each) => each.id === id)
    const isOld = arr(copy?.["nodes"]).some((each) => str(obj(obj(each)?.["parameters"])?.["version"]) === "plain")
    return isOld ? answer() : undefined
  })

describe("a proof", () => {
  it.effect("ignores what differs whenever a run is repeated, and what depends on the time", () =>
    proving("plain", function*(api) {
      const { groups, ignored, notReplayed, runs, same, verdict } = yield* prove()
      assert.deepStrictEqual({ groups, notReplayed, runs, same, verdict }, {
        groups: [],
        notReplayed: [],
        runs: 8,
        same: 8,
        verdict: "8 same; 1 volatile value compared by shape"
      })
      assert.sameMembers(pathsOf(ignored), ["Map.at", "Map.day"])
      for (const { also, paths, why } of ignored) {
        assert.deepStrictEqual([also, why], [1, paths[0] === "day" ? staleReason : undefined])
      }
      assert.deepStrictEqual((yield* api.workflows).map(({ name }) => name), ["Orders"])
    }))

  it.effect("finds a change beside them at the node that makes it, with few runs of the version that ran", () =>
    proving("without email", function*(api) {
      const { groups, same } = yield* prove()
      assert.strictEqual(same, 0)
      assert.lengthOf(groups, 1)
      assert.deepInclude(groups[0], { node: "Map", paths: ["email removed"], runs: 8, also: ["End"] })
      const { copies, runs } = cost(yield* api.requests)
      assert.strictEqual(copies, 2)
      // Every run once, and each again on the version that ran, because of the day; only two of them twice.
      assert.isAtMost(runs, 8 + 8 + 2)
    }))

  it.effect("finds a failure, and the end of one", () =>
    Effect.gen(function*() {
      const failing = yield* proving("throws", one)
      assert.deepInclude(failing.groups[0], { node: "Map", paths: ["failed"], runs: 8 })
      assert.match(failing.verdict, /^0 same; 8 fail at 'Map'/)
      const healed = yield* proving("plain", one, { executions: records("throws", 3) })
      assert.deepInclude(healed.groups[0], { node: "Map", paths: ["no longer failed"], runs: 3 })
      const alike = yield* proving("throws", one, { executions: records("throws", 3) })
      assert.deepInclude(alike, { runs: 3, same: 3 })
    }))

  it.effect("finds a trigger that callers no longer reach", () => {
    const moved = workflow("plain", {
      nodes: workflow("plain").nodes.map((each) =>
        each.name === "Hook" ? { ...each, parameters: { path: "elsewhere", httpMethod: "POST" } } : each
      )
    })
    return inMemory(function*() {
      const { groups, verdict } = yield* prove()
      assert.deepInclude(groups[0], { node: "Hook", paths: ["parameters.path"], runs: 2 })
      assert.match(verdict, /; all would start differently; 1 volatile/)
    }, { seed: { workflows: [moved], executions: records("plain", 2) }, runs: running() })
  })

  describe("names places, each of which can be ignored", () => {
    const changed = (change: (each: Workflow.Node) => Obj) => ({
      nodes: workflow("plain").nodes.map((each) => ({ ...each, ...change(each) }))
    })
    const send = (url: string) => {
      const { connections, nodes } = workflow("plain")
      return workflow("plain", {
        nodes: [...nodes, node("Send", "httpRequest", 4.2, { url, options: {} })],
        connections: { ...connections, End: main("Send") }
      })
    }
    const moved = { parameters: { path: "elsewhere", httpMethod: "PUT" } }
    it.effect.each<[name: string, draft: Obj, then?: Obj]>([
      ["items", workflow("without email")],
      ["parameters", workflow("plain", changed(({ name }) => name === "Hook" ? moved : {}))],
      ["requests", send("https://new.example"), send("https://old.example")]
    ])("of %s", ([, draft, then]) => {
      const seed = { workflows: [draft], executions: records("plain", 2, then as never) } as unknown as N8nApi.Seed
      return inMemory(function*() {
        const places = (yield* prove()).outcomes.flatMap(({ differences }) => differences)
          .flatMap(({ node, path }) => path === "" ? [] : [{ node, path }])
        assert.isAbove(places.length, 0)
        for (const { node, path } of places) {
          for (const text of [`'${node}'.${path}`, path]) {
            const { outcomes } = yield* prove({ ignore: [text] })
            const rest = outcomes.flatMap(({ differences }) => differences)
            assert.isFalse(rest.some((each) => each.node === node && each.path === path), text)
          }
        }
      }, { seed, runs: running() })
    })
  })

  describe("of another version of the trigger", () => {
    const withHook = (more: Obj) =>
      workflow("plain", {
        nodes: workflow("plain").nodes.map((each) => each.name === "Hook" ? { ...each, ...more } : each)
      })
    /** Runs whose recorded request was a POST with this body. */
    const requests = (ran = workflow("plain")) =>
      [1, 2].map((no) => {
        const hook = {
          headers: { "content-type": "application/json", "content-length": "8", "x-shop": "a" },
          params: {},
          query: {},
          body: { no },
          webhookUrl: "https://n8n.test/webhook/orders"
        }
        const [record] = records("plain", 1, ran)
        const [own] = arr(obj(obj(obj(record?.data)?.["resultData"])?.["runData"])?.["Hook"])
        Object.assign(obj(own) ?? {}, { data: { main: [[{ json: hook }]] } })
        return { ...record, id: String(100 + no) }
      }) as ReadonlyArray<N8nApi.NewExecution>
    const isAlone = (copy: N8nApi.Workflow) => arr(copy["nodes"]).length === 2
    const versionIn = (copy: N8nApi.Workflow) => obj(arr(copy["nodes"])[0])?.["typeVersion"]
    /** n8n whose triggers alone return what their version makes of a request. */
    const n8n = (make: (version: unknown, body: unknown) => Obj | Response, copies: Array<N8nApi.Workflow> = []) => {
      const others = running()
      return (copy: N8nApi.Workflow, body: unknown) => {
        if (!isAlone(copy)) return others(copy)
        copies.push(copy)
        const made = make(versionIn(copy), body)
        return made instanceof Response ? made : succeededExecution({ workflow: copy, items: { Hook: [made] } })
      }
    }
    const seed = { workflows: [withHook({ typeVersion: 1 })], executions: requests() }
    const left = (api: N8nApi.N8nApi) => Effect.map(api.workflows, (all) => all.map(({ name }) => name))

    it.effect("removes the copies of a test that is interrupted", () =>
      Effect.gen(function*() {
        const reached = yield* Deferred.make<void>()
        yield* inMemory(function*(api) {
          const fiber = yield* Effect.forkChild(prove())
          yield* Deferred.await(reached)
          const alone = (yield* api.workflows).filter(isAlone)
          assert.lengthOf(alone, 2)
          for (const { name, nodes } of alone) {
            assert.isTrue(TestMark.isCopy({ name, nodes: arr(nodes) }))
            assert.match(String(obj(obj(arr(nodes)[0])?.["parameters"])?.["path"]), /^[\da-f-]{36}$/)
          }
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(yield* left(api), ["Orders"])
        }, {
          seed,
          runs: n8n(() => ({})),
          before: ({ url }, api) =>
            Effect.flatMap(api.workflows, (all) => {
              const paths = all.filter(isAlone).map(({ nodes }) =>
                str(obj(obj(arr(nodes)[0])?.["parameters"])?.["path"])
              )
              return url.includes("/webhook/") && paths.some((path) => url.endsWith(`/${path}`))
                ? Effect.andThen(Deferred.succeed(reached, undefined), Effect.never)
                : Effect.undefined
            })
        })
      }))

    it.effect("tests nothing where a guard forbids it, or a request fails between n8n and its caller", () =>
      Effect.gen(function*() {
        const copies: Array<N8nApi.Workflow> = []
        yield* inMemory(function*() {
          const guard = yield* WriteGuard
          const forbids = (nodes: ReadonlyArray<unknown>) =>
            nodes.length === 2
              ? Errors.invalid("workflowId", "its webhooks are not to be called", [])
              : guard.checkTest(nodes)
          const { notReplayed } = yield* Effect.provideService(prove(), WriteGuard, { ...guard, checkTest: forbids })
          assert.match(notReplayed[0]?.why ?? "", /its webhooks are not to be called/)
          assert.deepInclude(yield* prove({ ignore: ["'Hook'.typeVersion"] }), { notReplayed: [] })
          assert.lengthOf(copies, 0)
        }, { seed, runs: n8n(() => ({}), copies) })
        const broken = n8n((version) => version === 1 ? new Response("Bad gateway", { status: 502 }) : {})
        yield* inMemory(function*() {
          const { groups, notReplayed } = yield* prove()
          assert.deepStrictEqual(groups, [])
          assert.match(notReplayed[0]?.why ?? "", /HTTP 502/)
        }, { seed, runs: broken })
      }))
  })

  it.effect("ignores what was published since the runs, and finds what the draft changes beside it", () => {
    const { connections, nodes } = workflow("without email")
    const published = { versionId: "v1", nodes, connections }
    const proved = (draft: ReadonlyArray<Obj>) => {
      const more = { versionId: "v2", activeVersionId: "v1", activeVersion: published, nodes: draft }
      const workflows = [workflow("without email", more)]
      return inMemory(one, { seed: { workflows, executions: records("plain", 3) }, runs: running() })
    }
    return Effect.gen(function*() {
      const other = nodes.map((each) => each.name === "End" ? { ...each, parameters: { a: 1 } } : each)
      const same = yield* proved(other)
      assert.deepInclude(same, { runs: 3, same: 3 })
      assert.deepInclude(same.ignored.find(({ paths }) => paths.includes("email")), { node: "Map", why: staleReason })
      assert.deepInclude((yield* proved(workflow("throws").nodes)).groups[0], { node: "Map", paths: ["failed"] })
    })
  })

  it.effect("ignores that a node does not run any more that the published version lacks too", () => {
    return inMemory(function*(api) {
      yield* api.edit("w1", (now) => ({ ...now, nodes: [...arr(now.nodes), node("Note", "stickyNote", 1)] as never }))
      const { groups, runs, same } = yield* prove()
      assert.deepStrictEqual([groups, runs, same], [[], 2, 2])
    }, {
      seed: { workflows: [workflow("plain", { active: true })], executions: records("plain", 2, sending) },
      runs: running()
    })
  })

  it.effect("refuses to ignore what it does not know", () =>
    proving("without email", function*() {
      const typo = yield* Effect.flip(prove({ ignore: ["'Mop'.email"] }))
      assert.deepInclude(typo, { _tag: "ValidationError", field: "ignore" })
      assert.include(JSON.stringify(typo), "'Map'")
    }))

  it.effect("takes the newest runs, or those that are named", () =>
    proving("plain", function*() {
      const newest = yield* prove({ last: 3 })
      assert.sameMembers(newest.outcomes.map(({ execution }) => execution), ["108", "107", "106"])
      const named = yield* prove({ executions: ["102", "104"] })
      assert.deepStrictEqual(named.outcomes.map(({ execution }) => execution), ["102", "104"])
    }))

  it.effect("names runs that cannot be replayed, and does not call them the same", () => {
    const [first, second, third] = records("plain", 3)
    assert.isDefined(first)
    assert.isDefined(second)
    assert.isDefined(third)
    const executions = [{ ...first, data: { resultData: { runData: {} } } }, second, { ...third, workflowId: "w2" }]
    return proving("plain", function*() {
      const { notReplayed, runs, same } = yield* prove({ executions: ["101", "102", "103", "999"] })
      assert.deepStrictEqual([runs, same], [1, 1])
      const why = new Map(notReplayed.map((each) => [each.execution, each.why]))
      assert.match(why.get("101") ?? "", /stored no data/)
      assert.match(why.get("103") ?? "", /is of another workflow \('w2'\)/)
      assert.match(why.get("999") ?? "", /Execution '999' not found/)
      const none = yield* prove({ executions: ["999"] })
      assert.deepInclude(none, { verdict: "nothing was replayed", runs: 0, same: 0 })
    }, { executions })
  })

  it.effect("refuses a workflow without recorded runs: manual ones are not", () =>
    Effect.gen(function*() {
      const refusal = (executions: ReadonlyArray<N8nApi.NewExecution>) =>
        proving("plain", function*() {
          return yield* Effect.flip(prove())
        }, { executions })
      const none = yield* refusal([])
      assert.deepInclude(none, { _tag: "ValidationError", field: "workflowId" })
      assert.match(none.message, /no recorded runs to replay/)
      const manual = yield* refusal(records("plain", 2).map((each) => ({ ...each, mode: "manual" })))
      assert.match(JSON.stringify(manual), /2 newest executions were manual/)
    }))

  it.effect("reports all differences where the version that ran can no longer run, and says so", () =>
    proving("without email", function*() {
      const { groups, notReplayed, same } = yield* prove()
      assert.strictEqual(same, 0)
      assert.includeMembers([...groups[0]?.paths ?? []], ["email removed", "at", "day"])
      assert.match(notReplayed[0]?.why ?? "", /^The version before the change, .*n8n refuses to publish it/)
    }, { before: refusing(() => Response.json({ message: "Unrecognized node type: x.y" }, { status: 400 })) }))

  it.effect("does not judge runs where n8n was too busy to replay the version before the change", () =>
    proving("without email", function*() {
      const { groups, left, notReplayed, runs } = yield* prove({ last: 2 })
      assert.deepStrictEqual([groups, runs, left], [[], 0, ["108", "107"]])
      assert.match(notReplayed[0]?.why ?? "", /^not judged, because the version before the change was not replayed: /)
    }, { before: refusing(() => Response.json({ message: "Database is locked" }, { status: 503 })) }))

  it.effect("leaves the runs for which the call has no time", () =>
    proving("plain", function*() {
      const now = yield* Clock.currentTimeMillis
      const { left, runs, verdict } = yield* prove({ last: 3 }).pipe(
        Effect.provideService(Deadline.Current, { until: now + 11_000, waitingFor: undefined })
      )
      assert.deepStrictEqual([left, runs, verdict], [["108", "107", "106"], 0, "nothing was replayed"])
    }))

  it.effect("claims no difference of runs without the time to learn what always differs", () => {
    const deadline: Deadline.Deadline = { until: Infinity, waitingFor: undefined }
    const next = running()
    let count = 0
    return proving("plain", function*() {
      const { groups, left, runs } = yield* prove().pipe(Effect.provideService(Deadline.Current, deadline))
      assert.deepStrictEqual([groups, runs], [[], 0])
      // The last one ends too late to be read.
      assert.isAtLeast(left.length, 4)
      assert.strictEqual(count, 8)
    }, {
      runs: (copy) => {
        if (++count === 8) deadline.until = 0
        return next(copy)
      }
    })
  })
})
