/** Proofs of changes that others notice: of what answers, what sends, settings, code, and what a copy changes. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { failedExecution, succeededExecution } from "../../../src/testing/runs.ts"
import * as Proof from "../../../src/trials/proof/Proof.ts"
import { main, node } from "../../support/workflows.ts"
import { inMemory } from "../../support/world.ts"

const prove = (more: Partial<Proof.Options> = {}) => Proof.prove("w1", { timeout: 25_000, redacts: true, ...more })

const hook = node("Hook", "webhook", 2, { path: "orders", httpMethod: "POST", responseMode: "responseNode" })
const map = node("Map", "set", 3.4, { value: "a" })
const ok = node("Ok", "respondToWebhook", 1.1, { respondWith: "json", responseBody: "={{ $json }}" })
const http = node("Send", "httpRequest", 4.2, { url: "https://shop.example" })

const chained = (nodes: ReadonlyArray<Obj>, more: Obj = {}): N8nApi.Workflow => ({
  id: "w1",
  name: "Orders",
  active: true,
  nodes,
  connections: Object.fromEntries(
    nodes.slice(1).map((each, index) => [String(nodes[index]?.["name"]), main(String(each["name"]))])
  ),
  settings: {},
  ...more
})

let count = 0

/** Runs all nodes of a chain; a Set node returns its value, which `$workflow` and `now` complete. */
const run = (workflow: N8nApi.Workflow, hours = ""): N8nApi.NewExecution => {
  const id = String(5_000 + count++)
  const items: { [name: string]: ReadonlyArray<Obj> } = {}
  let last: ReadonlyArray<Obj> = [{ body: { no: 1 } }]
  for (const each of arr(workflow["nodes"]).map(obj)) {
    const { disabled, name, parameters, type } = each ?? {}
    const { fails, value } = obj(parameters) ?? {}
    if (fails === true) return failedExecution({ workflow, items, node: String(name), message: "no email" })
    if (type === "n8n-nodes-base.set" && disabled !== true) {
      const text = String(value).replace("$workflow.name", workflow.name).replace("$workflow.id", workflow.id)
        .replace("$now", `2026-01-01T00:00:${String(10 + count++ % 50)}Z`).replace("$hour", hours).replace(
          "$execution.id",
          id
        )
      last = [{ value: text }]
    }
    items[String(name)] = last
  }
  return succeededExecution({ id, workflow, items })
}

const hourOf = (workflow: N8nApi.Workflow) => String(obj(workflow["settings"])?.["timezone"] ?? "UTC")

const runs = (copy: N8nApi.Workflow) => run(copy, hourOf(copy))

const recorded = (workflow: N8nApi.Workflow, runs = 2): ReadonlyArray<N8nApi.NewExecution> =>
  Array.from({ length: runs }, (_, index) => ({
    ...run(workflow, hourOf(workflow)),
    id: String(101 + index),
    startedAt: `2026-01-01T00:00:0${index}.000Z`,
    mode: "webhook"
  }))

const proving = (draft: N8nApi.Workflow, then: N8nApi.Workflow, options: Partial<Proof.Options> = {}) =>
  inMemory(function*() {
    return yield* prove(options)
  }, { seed: { workflows: [draft], executions: recorded(then) }, runs })

const before = chained([hook, map, ok])
const sending = chained([hook, map, http])
const early = { ...ok, name: "Early", id: "early" }
const [answers, sends] = ["2 clients get another answer", "2 runs send something else"]

describe("a proof finds", () => {
  it.effect.each<readonly [string, N8nApi.Workflow, N8nApi.Workflow, string, string]>([
    ["a removed answer", before, chained([hook, map]), "Ok", answers],
    ["a new answer before it", before, chained([hook, early, map, ok]), "Early", answers],
    ["a removed sender", sending, chained([hook, map]), "Send", sends]
  ])("%s", ([, then, draft, name, words]) =>
    Effect.gen(function*() {
      const { compared, groups, same, verdict } = yield* proving(draft, then)
      assert.strictEqual(same, 0)
      assert.strictEqual(groups[0]?.node, name)
      assert.include(verdict, words)
      assert.match(compared ?? "", /^outputs of \d nodes?.*, the answer$/)
    }))

  it.effect("a new sender though nothing is recorded of it", () =>
    Effect.gen(function*() {
      const { groups, verdict } = yield* proving(chained([hook, map, http]), chained([hook, map]))
      assert.deepInclude(groups[0], { node: "Send", paths: ["ran"] })
      assert.include(verdict, "2 runs send something else")
    }))

  it.effect("nothing in a disabled node that is new", () =>
    Effect.gen(function*() {
      const lonely = { ...node("Lonely", "noOp"), disabled: true }
      const { notReplayed, verdict } = yield* proving({ ...before, nodes: [...arr(before["nodes"]), lonely] }, before)
      assert.deepStrictEqual([notReplayed, verdict], [[], "2 same"])
    }))
})

describe("a caller that gets the last node's items", () => {
  const last = { ...hook, parameters: { path: "orders", httpMethod: "POST", responseMode: "lastNode" } }
  const value = (name: string, text: string) => node(name, "set", 3.4, { value: text })
  const before = chained([last, map, value("End", "b")])

  it.effect.each<readonly [string, N8nApi.Workflow, number]>([
    ["other ones where the last node is gone", chained([last, map]), 0],
    ["other ones where a new node changes them", chained([last, map, value("End", "b"), value("New", "c")]), 0],
    ["the same where a new node passes them on", chained([last, map, value("End", "b"), node("New", "noOp")]), 2],
    ["the same where another node makes them", chained([last, value("End", "b")]), 2]
  ])("gets %s", ([, draft, expected]) =>
    Effect.gen(function*() {
      const { groups, same, verdict } = yield* proving(draft, before)
      assert.strictEqual(same, expected)
      if (expected > 0) return
      assert.include(verdict, "2 clients get another answer")
      assert.include(JSON.stringify(groups), "answer.value")
    }))
})

describe("settings", () => {
  const at = (settings: Obj, value = "a") => chained([hook, { ...map, parameters: { value } }, ok], { settings })

  it.effect("that a replay shows are those of either version", () =>
    Effect.gen(function*() {
      const [utc, tokyo] = [at({ timezone: "UTC" }, "$hour"), at({ timezone: "Asia/Tokyo" }, "$hour")]
      const { groups, notReplayed, same } = yield* proving(tokyo, utc)
      assert.deepStrictEqual([same, notReplayed], [0, []])
      assert.deepInclude(groups[0], { node: "Map", values: [{ path: "value", before: "UTC", after: "Asia/Tokyo" }] })
      assert.deepInclude(yield* proving(tokyo, tokyo), { same: 2, notReplayed: [] })
    }))

  it.effect.each(
    [
      [{ errorWorkflow: "w9" }, "settings.errorWorkflow: not set → \"w9\": no replay shows it"],
      [{ executionTimeout: 1 }, "settings.executionTimeout: -1 → 1: no replay shows it"],
      [{ callerPolicy: "none" }, "settings.callerPolicy: \"workflowsFromSameOwner\" → \"none\": no replay shows it"]
    ] as const
  )("that it does not show are named: %j", ([settings, why]) =>
    Effect.gen(function*() {
      const { notReplayed, same, verdict } = yield* proving(at(settings), at({}))
      assert.deepStrictEqual([same, notReplayed, verdict], [
        2,
        [{ why }],
        "2 same; 1 change in no replay (notReplayed)"
      ])
      assert.deepStrictEqual((yield* proving(at({ callerPolicy: "workflowsFromSameOwner" }), at({}))).notReplayed, [])
    }))
})

it.effect("a workflow that reads its own name and id is the same on a copy", () =>
  Effect.gen(function*() {
    const own = chained([hook, { ...map, parameters: { value: "Run of $workflow.name / $workflow.id" } }, ok])
    assert.deepInclude(yield* proving(own, own), { same: 2, groups: [] })
    const long = { ...own, name: "注文 \"a\" ".repeat(14).trim() }
    assert.deepInclude(yield* proving(long, long), { same: 2, groups: [] })
    const other = chained([hook, { ...map, parameters: { value: "Run of $workflow.name" } }, ok])
    assert.deepInclude((yield* proving(other, own)).groups[0]?.values?.[0], {
      before: "Run of Orders / w1",
      after: "Run of Orders"
    })
  }))

it.effect("a run that names its own execution is the same, and one that names another is not", () =>
  Effect.gen(function*() {
    const named = (value: string) => chained([hook, { ...map, parameters: { value } }, ok])
    const of = (value: string) => ({
      seed: {
        workflows: [named(value)],
        executions: [101, 102].map((id) =>
          ({ ...recorded(named(`Run ${id}.`), 1)[0], id: String(id) }) as N8nApi.NewExecution
        )
      },
      runs
    })
    const proof = function*() {
      return yield* prove()
    }
    assert.deepInclude(yield* inMemory(proof, of("Run $execution.id.")), { same: 2, verdict: "2 same" })
    assert.deepInclude(yield* inMemory(proof, of("Run 7.")), { same: 0 })
  }))

it.effect("a disabled trigger is a difference", () =>
  Effect.gen(function*() {
    const { verdict } = yield* proving(chained([{ ...hook, disabled: true }, map, ok]), before)
    assert.match(verdict, /^0 same; 2 gain `disabled` at 'Hook'; all would start differently/)
  }))

it.effect("a volatile value that becomes a constant is a difference, another time is not", () =>
  Effect.gen(function*() {
    const timed = (value: string) => chained([hook, { ...map, parameters: { value } }, ok])
    const [then, constant] = [timed("$now"), timed("x")]
    assert.deepInclude(yield* proving(then, then), { same: 2, verdict: "2 same; 1 volatile value compared by shape" })
    const { groups, same } = yield* proving(constant, then)
    assert.strictEqual(same, 0)
    assert.strictEqual(groups[0]?.values?.[0]?.after, "x")
  }))

describe("code that a replay does not run", () => {
  const code = (jsCode: string, more: Obj = { jsCode }) => chained([hook, node("Count", "code", 2, more), ok])
  const counting =
    "const data = $getWorkflowStaticData('global'); data.n = (data.n ?? 0) + 1; return [{ json: { n: data.n } }]"
  const python = (pythonCode: string) => code("", { language: "python", pythonCode })

  it.effect.each<readonly [string, N8nApi.Workflow, N8nApi.Workflow]>([
    ["JavaScript that keeps state", code(counting), code(`// counts\n${counting}`)],
    ["Python", python("return _input.all()"), python("# all\nreturn _input.all()")],
    [
      "SQL",
      chained([hook, node("Db", "postgres", 2.6, { operation: "executeQuery", query: "SELECT 1" }), ok]),
      chained([hook, node("Db", "postgres", 2.6, { operation: "executeQuery", query: "-- one\nSELECT\n  1" }), ok])
    ]
  ])("is the same but for comments and layout: %s", ([, then, draft]) =>
    Effect.gen(function*() {
      assert.deepInclude(yield* proving(draft, then), { same: 2, groups: [], verdict: "2 same" })
    }))

  it.effect("cannot be compared when it changes and only keeps state", () =>
    Effect.gen(function*() {
      for (
        const [then, draft] of [
          [code(counting), code(counting.replace("+ 1", "+ 2"))],
          [python("return _input.all()"), python("return []")]
        ] as const
      ) {
        const { groups, verdict } = yield* proving(draft, then)
        assert.match(
          verdict,
          /^0 same; 2 cannot be compared after 'Count': its code was changed, and a replay does not run/
        )
        assert.notInclude(verdict, "send")
        assert.lengthOf(groups, 1)
      }
    }))
})

describe("a failed run", () => {
  const throwing = { ...map, parameters: { fails: true } }
  const failing = chained([hook, throwing])

  it.effect("that no longer fails is an improvement, with the items that it makes now", () =>
    Effect.gen(function*() {
      const { fixed, groups, same, verdict } = yield* proving(chained([hook, map]), failing)
      assert.deepStrictEqual([fixed, same], [2, 0])
      assert.strictEqual(verdict, "0 same; 2 no longer fail at 'Map'; 2 failed runs fixed, nothing else changed")
      assert.deepInclude(groups[0]?.values?.[0], { before: "no email", after: { value: "a" } })
    }))

  it.effect("is not called fixed where it would send what no record answers", () =>
    Effect.gen(function*() {
      const { fixed, verdict } = yield* proving(sending, chained([hook, throwing, http]))
      assert.isUndefined(fixed)
      assert.include(verdict, "2 runs send something else")
    }))

  it.effect("of an older version is judged by the version before the change, not by its record", () =>
    Effect.gen(function*() {
      const published = chained([hook, map, ok])
      const versions = { versionId: "v3", activeVersionId: "v2", activeVersion: { versionId: "v2", ...published } }
      const old = recorded(chained([hook, throwing, ok])).map((each) => ({ ...each, workflowVersionId: "v1" }))
      const proof = (nodes: ReadonlyArray<Obj>) =>
        inMemory(function*() {
          return yield* prove()
        }, { seed: { workflows: [{ ...chained(nodes), ...versions }], executions: old as never }, runs })
      assert.deepInclude(yield* proof([hook, map, ok, node("Done", "noOp")]), { same: 2 })
      const again = yield* proof([hook, throwing, ok])
      assert.deepInclude(again, { same: 0 })
      assert.match(again.verdict, /^0 same; 2 fail at 'Map'; 2 clients get another answer/)
      const other = yield* proof([hook, map, {
        ...ok,
        parameters: { ...ok["parameters"] as Obj, options: { responseCode: 422 } }
      }])
      assert.match(other.verdict, /^0 same; 2 change `sent.status` at 'Ok'; 2 clients get another answer/)
    }))
})
