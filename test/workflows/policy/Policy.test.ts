import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { N8nClient } from "../../../src/n8n/N8nClient.ts"
import { WriteGuard } from "../../../src/n8n/WriteGuard.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { main as link, node, workflow } from "../../support/workflows.ts"
import { inWorld, type Needs } from "../../support/world.ts"

const hook = node("Hook", "webhook", 1, { path: "in" })
const ssh = node("Shell", "ssh")
const end = node("End", "noOp")

/** `clean` keeps every rule but has a version that does not; `dirty` does not keep it; `prod` is protected. */
const seed = {
  workflows: [
    workflow("clean", [hook, ssh, end], { active: true }),
    workflow("dirty", [hook, ssh, end]),
    workflow("prod", [node("Hook", "webhook", 1, { path: "prod" }), end], {
      active: true,
      tags: [{ id: "t1", name: "Prod" }]
    }),
    workflow("prod-off", [hook, end], { tags: [{ id: "t1", name: "Prod" }] })
  ],
  executions: []
}

const connections = { Hook: link("End") }

/** Failed runs: of `clean` when it had a banned node, and of `dirty` when it had none. */
const executions = [
  workflow("clean", [hook, ssh, end], { connections }),
  workflow("dirty", [hook, end], { connections })
].map((workflow, index) => ({
  ...FakeN8n.failedExecution({
    workflow,
    id: String(index + 1),
    startedAt: "2026-11-01T03:00:00.000Z",
    node: "End",
    message: "no",
    items: { Hook: [{}] }
  }),
  mode: "webhook"
}))

const rules: Policy.Rules = { bannedNodes: ["n8n-nodes-base.ssh"], protectedTags: ["prod"] }

const banned = JSON.stringify(workflow("x", [hook, ssh]))

/** Calls that would write something, each of which the policy forbids. */
const writes: Readonly<
  Record<string, (files: { readonly folder: string; readonly version: string }) => ReadonlyArray<Obj>>
> = {
  create_workflow: () => [{ name: "New", nodes: [hook, ssh], connections: {} }],
  update_workflow: () => [
    { id: "clean", nodes: [hook, ssh] },
    { id: "dirty", name: "Renamed" },
    { id: "prod", name: "Renamed" },
    { id: "prod", tags: [] },
    { id: "prod", active: false },
    { id: "prod-off", active: true }
  ],
  delete_workflow:
    () => [{ id: "prod", confirm: true }, { id: "prod-off", confirm: true }, { id: "prod", archive: true }],
  activate_workflow: () => [{ id: "dirty" }, { id: "prod-off" }],
  deactivate_workflow: () => [{ id: "prod" }],
  create_workflow_from_file: () => [{ filePath: "banned.json" }],
  replace_workflow_from_file: () => [
    { id: "clean", filePath: "banned.json", confirm: true },
    { id: "prod", filePath: "good.json", confirm: true }
  ],
  workflow_restore: ({ version }) => [{ id: "clean", version, confirm: true }, { id: "clean", version, dryRun: true }],
  node_add: () => [{ workflowId: "clean", nodeType: "n8n-nodes-base.ssh" }, {
    workflowId: "prod",
    nodeType: "n8n-nodes-base.noOp"
  }],
  node_replace: () => [
    { workflowId: "clean", targetNodeId: "End", newNodeType: "n8n-nodes-base.ssh" },
    { workflowId: "prod", targetNodeId: "End", newNodeType: "n8n-nodes-base.set" }
  ],
  connection_create: () => [
    { workflowId: "dirty", sourceNodeId: "Hook", targetNodeId: "End" },
    { workflowId: "prod", sourceNodeId: "Hook", targetNodeId: "End" }
  ],
  workflow_edit: () =>
    [false, true].flatMap((dryRun) => [
      { workflowId: "clean", operations: [{ op: "add", type: "n8n-nodes-base.ssh" }], dryRun },
      { workflowId: "prod", operations: [{ op: "rename", node: "End", to: "Stop" }], dryRun }
    ]),
  bulk_edit: () =>
    [false, true].flatMap((dryRun) => [
      { select: { ids: ["clean"] }, operations: [{ op: "add", type: "n8n-nodes-base.ssh" }], dryRun },
      { select: { ids: ["prod"] }, operations: [{ op: "disable", node: "End" }], dryRun }
    ]),
  retry_execution: () =>
    [false, true].flatMap((dryRun) => [
      { id: "1", dryRun },
      { id: "2", latest: true, dryRun },
      { id: "2", from: "start", dryRun }
    ]),
  test_workflow: () => [{ workflowId: "dirty", startNode: "Shell", testData: {} }],
  sync_push: () => [{ folder: "sync" }, { folder: "sync", dryRun: true }]
}

/** They change no workflow of n8n. */
const others = [
  "workflow_create",
  "workflow_save",
  "sync_pull",
  "stop_execution",
  "credential_create",
  "table_write",
  "workflow_prove"
]

/** They write several workflows. */
const several = new Set(["sync_push", "bulk_edit"])

const isWrite = ({ method, url }: { readonly method: string; readonly url: string }) =>
  method !== "GET" && method !== "OPTIONS" && url.includes("/api/")

type World = Parameters<Parameters<typeof inWorld>[0]>[0]

/** Runs a generator with an n8n in memory under a policy. */
const under = <A>(
  policy: Policy.Rules,
  use: (here: World) => Generator<Effect.Effect<unknown, unknown, Needs | FileSystem.FileSystem>, A, never>,
  options: Parameters<typeof inWorld>[1] = { seed }
) => inWorld((here) => Effect.gen(() => use(here)).pipe(Effect.provide(Policy.layer(policy))), options)

describe("a policy", () => {
  it("is tried with every tool that writes", () => {
    const writing = tools.all.filter(({ annotations }) => !annotations.readOnlyHint).map(({ name }) => name)
    assert.sameMembers([...Object.keys(writes), ...others], writing)
  })

  for (const version of ["2", "1"] as const) {
    for (const tool of tools.all) {
      const calls = writes[tool.name]
      if (calls === undefined || version === "1" && tool.name === "workflow_restore") continue
      it.effect(`blocks ${tool.name} on ${version}: nothing reaches n8n, and the rule is named`, () =>
        inWorld(function*({ api, folder }) {
          const fs = yield* FileSystem.FileSystem
          yield* fs.makeDirectory(`${folder}/sync`)
          yield* fs.writeFileString(`${folder}/banned.json`, banned)
          yield* fs.writeFileString(`${folder}/sync/banned.json`, banned)
          yield* fs.writeFileString(`${folder}/good.json`, JSON.stringify(workflow("y", [hook])))
          const n8n = yield* N8nClient
          const { versionId } = yield* n8n.getWorkflow("clean")
          yield* api.edit("clean", (stored) => ({ ...stored, nodes: [hook, end] }))
          const before = JSON.stringify(yield* api.workflows)
          const run = (args: unknown): Effect.Effect<unknown, unknown, Needs> => tool.run(args)
          for (const args of calls({ folder, version: versionId ?? "" })) {
            const outcome = yield* Effect.result(run(args)).pipe(Effect.provide(Policy.layer(rules)))
            const text = JSON.stringify(outcome)
            // They go on with the others, and say of each what came of it.
            assert.strictEqual(outcome._tag, several.has(tool.name) ? "Success" : "Failure", text)
            assert.match(
              text,
              /The policy forbids it\. (bannedNodes: 'n8n-nodes-base\.ssh'|protectedTags: workflow)/,
              text
            )
          }
          const sent = (yield* api.requests).filter(isWrite)
          assert.deepStrictEqual(sent.map(({ method, url }) => `${method} ${url}`), [])
          assert.strictEqual(JSON.stringify(yield* api.workflows), before)
        }, { seed: { ...seed, executions }, version }))
    }
  }

  it.effect("lets through what keeps it, and what leaves the rule by the write", () =>
    under(rules, function*({ api }) {
      yield* tools.updateWorkflow.run({ id: "dirty", nodes: [hook, end] })
      yield* tools.createWorkflow.run({ name: "New", nodes: [hook, end], connections: {}, tags: ["prod"] })
      yield* tools.deactivateWorkflow.run({ id: "clean" })
      yield* tools.deleteWorkflow.run({ id: "clean", confirm: true })
      yield* tools.activateWorkflow.run({ id: "dirty" })
      const names = (yield* api.workflows).map(({ name }) => name)
      assert.sameMembers(names, ["dirty", "prod", "prod-off", "New"])
    }))

  it.effect("calls no live webhook of a workflow with a banned node", () =>
    under(rules, function*({ api }) {
      const live = tools.testWorkflow.run({ workflowId: "clean", mode: "live", testData: {} })
      assert.include((yield* Effect.flip(live)).message, "bannedNodes: 'n8n-nodes-base.ssh'")
      assert.isTrue((yield* api.requests).every(({ method }) => method === "GET"))
    }))

  it.effect("retries what has no banned node, as n8n would run it, and nothing that cannot be checked", () =>
    under(rules, function*({ api }) {
      const n8n = yield* N8nClient
      yield* tools.retryExecution.call({ id: "2", latest: false, dryRun: false })
      yield* api.edit("clean", (stored) => ({ ...stored, nodes: [hook, end] }))
      yield* tools.retryExecution.call({ id: "1", latest: true, dryRun: false })
      const error = yield* Effect.flip(n8n.request("POST", "/Executions/%31/Retry", { body: {} }))
      assert.include(error.message, "bannedNodes: 'n8n-nodes-base.ssh'")
      const { check } = yield* WriteGuard
      const read = () => Effect.succeed({ id: 1, workflowId: "clean" })
      const unseen = yield* Effect.flip(check({ method: "POST", path: "/executions/1/retry", read }))
      assert.include(unseen.message, "cannot be checked")
      yield* check({ method: "POST", path: "/executions/1/stop", read })
    }, { seed: { ...seed, executions } }))

  it.effect.each(["/workflows/dirty/publish", "/Workflows/dirty/Activate", "/workflows/dirty/%70ublish"] as const)(
    "sees through the spelling of %s",
    (path) =>
      under(rules, function*({ api }) {
        const error = yield* Effect.flip(N8nClient.use((n8n) => n8n.request("POST", path, { body: {} })))
        assert.include(error.message, "bannedNodes: 'n8n-nodes-base.ssh'")
        assert.isTrue((yield* api.requests).every(({ method }) => method === "GET"))
      })
  )

  it.effect("writes nothing of which it cannot see what it changes, and starts nothing with a banned node", () =>
    under(rules, function*() {
      const { check, checkTest } = yield* WriteGuard
      const read = () => Effect.succeed({ id: "t1", name: "PROD", nodes: [ssh] })
      const forbidden = "POST /n8n-packages/import|POST /source-control/pull|DELETE /projects/p1|DELETE /tags/t1|" +
        "POST /N8N-packages/%49mport|POST /Source-Control/PULL|DELETE /Tags/t1|PUT /tags/t1|POST /workflows/x/test-runs"
      const allowed = "POST /executions/12/stop|POST /projects/p1/folders|POST /workflows/x/test-runs/1/cancel"
      const ask = (request: string) => {
        const [method = "", path = ""] = request.split(" ")
        return check({ method: method as "POST", path, read })
      }
      for (const each of forbidden.split("|")) {
        assert.match((yield* Effect.flip(ask(each))).message, /The policy forbids it/, each)
      }
      for (const each of allowed.split("|")) yield* ask(each)
      // A test's copy may consist of anything else.
      yield* checkTest([end])
      assert.strictEqual((yield* Effect.flip(checkTest([ssh])))._tag, "ValidationError")
    }))
})

const faults = (rules: Policy.Rules, ...nodes: ReadonlyArray<Obj>) =>
  inWorld(() =>
    WriteGuard.use((guard) => guard.faults(workflow("w", nodes), () => Effect.die("it names none"))).pipe(
      Effect.map((all) => all.map(({ message }) => message)),
      Effect.provide(Policy.layer(rules))
    )
  )

describe("bannedNodes", () => {
  const found = (type: string, entry: string, parameters: Obj = {}) =>
    faults({ bannedNodes: [entry] }, node("N", type, 1, parameters))

  it.effect("accepts a type with or without its package, in any case, and its tool", () =>
    Effect.gen(function*() {
      for (const [type, entry] of [["ssh", "ssh"], ["ssh", "N8N-nodes-base.SSH"], ["sshTool", "ssh"]] as const) {
        assert.lengthOf(yield* found(type, entry), 1, `${type} ${entry}`)
      }
      assert.lengthOf(yield* found("sshd", "ssh"), 0)
    }))

  it.effect("checks workflows inside a node, and refuses those it cannot read", () =>
    Effect.gen(function*() {
      const inner = (workflowJson: string) => ({ source: "parameter", workflowJson })
      const [within] = yield* found("executeWorkflow", "ssh", inner(banned))
      assert.include(within, "'Shell' is one")
      assert.lengthOf(yield* found("executeWorkflow", "ssh", inner(JSON.stringify(workflow("x", [end])))), 0)
      const shell = { type: "n8n-nodes-base.ssh" }
      const unreadable = [
        ...["={{ $json }}", "", "{", "[]", "null", "{}"].map(inner),
        ...[{ 0: shell }, null, "x", [[shell]], [null], [{ ...shell, type: [shell.type] }]]
          .map((nodes) => inner(JSON.stringify({ nodes }))),
        { source: "parameter", workflowJson: { nodes: [shell] } },
        ...["url", "localFile", "={{ 'parameter' }}", ["parameter"], null].map((source) => ({ source }))
      ]
      for (const parameters of unreadable) {
        for (const type of ["executeWorkflow", "toolWorkflow"]) {
          const [reason] = yield* found(type, "ssh", parameters)
          assert.include(reason, "cannot be checked", JSON.stringify(parameters))
        }
      }
      assert.lengthOf(yield* found("executeWorkflow", "ssh", { workflowId: "1" }), 0)
    }))
})

describe("minScheduleMinutes", () => {
  const interval = (...rules: ReadonlyArray<Obj>) => node("Clock", "scheduleTrigger", 1, { rule: { interval: rules } })
  const cron = (expression: string) => interval({ field: "cronExpression", expression })
  const poll = (rule: Obj) => node("Mail", "gmailTrigger", 1, { pollTimes: { item: [rule] } })

  const cases: ReadonlyArray<readonly [string, Obj, string | undefined]> = [
    ["minutes", interval({ field: "minutes", minutesInterval: 1 }), "after 1 minute"],
    ["minutes by default", interval({ field: "minutes" }), undefined],
    ["seconds", interval({ field: "seconds", secondsInterval: 20 }), "after 20 seconds"],
    ["no rule", node("Clock", "scheduleTrigger"), undefined],
    ["cron", cron("*/2 * * * *"), "after 2 minutes"],
    ["cron of weekdays", cron("0 9-17 * * mon-fri"), undefined],
    ["an expression", cron("={{ $json.when }}"), "cannot be checked"],
    [
      "many rules",
      interval(...[0, 2].map((triggerAtMinute) => ({ field: "hours", triggerAtMinute }))),
      "after 2 minutes"
    ],
    ["the old Cron", node("Clock", "cron", 1, { triggerTimes: { item: [{ mode: "everyMinute" }] } }), "after 1 minute"],
    ["the old Interval", node("Clock", "interval", 1, { interval: 10 }), "after 10 seconds"],
    ["a polling trigger by default", node("Mail", "gmailTrigger"), "after 1 minute"],
    [
      "every X",
      node("Mail", "gmailTrigger", 1, { pollTimes: { item: [{ mode: "everyX", value: 3, unit: "minutes" }] } }),
      "after 3 minutes"
    ],
    ["every 59 minutes, and at the full hour", poll({ mode: "everyX", value: 59, unit: "minutes" }), "after 1 minute"],
    ["every 58 minutes", poll({ mode: "everyX", value: 58, unit: "minutes" }), "after 2 minutes"],
    [
      "an unknown trigger that polls",
      node("Feed", "n8n-nodes-acme.feedTrigger", 1, { pollTimes: { item: [{ mode: "everyMinute" }] } }),
      "after 1 minute"
    ],
    ["one that is switched off", { ...interval({ field: "seconds" }), disabled: true }, undefined],
    ["a webhook", hook, undefined]
  ]

  for (const [name, given, fault] of cases) {
    it.effect(`judges ${name}`, () =>
      Effect.gen(function*() {
        const all = yield* faults({ minScheduleMinutes: 5 }, given)
        assert.lengthOf(all, fault === undefined ? 0 : 1)
        if (fault !== undefined) assert.include(all[0], fault)
      }))
  }
})

describe("requireErrorWorkflow", () => {
  const create = (settings: Obj, nodes: ReadonlyArray<Obj> = [hook]) =>
    tools.createWorkflow.run({ name: "New", nodes, connections: {}, settings })

  const trigger = node("On error", "errorTrigger")
  const named = [
    workflow("e1", [trigger]),
    workflow("away", [trigger], { isArchived: true }),
    workflow("plain", [hook]),
    workflow("off", [{ ...trigger, disabled: true }])
  ]

  it.effect("blocks a workflow without one, except error workflows", () =>
    under({ requireErrorWorkflow: true }, function*({ api }) {
      const error = yield* Effect.flip(create({}))
      assert.deepInclude(error, { _tag: "ValidationError", field: "settings.errorWorkflow" })
      for (
        const [errorWorkflow, reason] of [
          [" ", "names no workflow"],
          ["={{ $json.id }}", "names no workflow"],
          ["gone", "names 'gone', which does not exist"],
          ["away", "names 'away', which is archived"],
          ["plain", "names 'plain', which has no enabled Error Trigger"],
          ["off", "names 'off', which has no enabled Error Trigger"]
        ] as const
      ) {
        assert.include(String(yield* Effect.flip(create({ errorWorkflow }))), reason)
      }
      const off = [node("On error", "errorTrigger", 1, {}, { disabled: true })]
      assert.include(String(yield* Effect.flip(create({}, off))), "names no workflow")
      yield* create({}, [node("On error", "errorTrigger")])
      const { data } = yield* create({ errorWorkflow: "e1" })
      // What a change leaves out stays as it is.
      yield* tools.updateWorkflow.run({ id: String(obj(data)?.["id"]), name: "Still" })
      const operations = [{ op: "settings", settings: { errorWorkflow: "gone" } }]
      const dry = { workflowId: String(obj(data)?.["id"]), operations, dryRun: true }
      assert.include(String(yield* Effect.flip(tools.workflowEdit.run(dry))), "does not exist")
      yield* tools.workflowEdit.run({ ...dry, operations: [{ op: "name", name: "Still there" }] })
      assert.lengthOf(yield* api.workflows, 2 + named.length)
    }, { seed: { workflows: named, executions: [] } }))
})
