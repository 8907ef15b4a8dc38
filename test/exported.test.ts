/** What programs call refuses what the tools refuse of models: as a `ValidationError`, before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

import * as Stream from "effect/Stream"
import * as Errors from "../src/base/Errors.ts"
import * as library from "../src/index.ts"
import { N8nClient } from "../src/n8n/N8nClient.ts"
import { WorkflowStore } from "../src/workflows/store/WorkflowStore.ts"
import { node, workflow } from "./support/workflows.ts"
import { inMemory, type Needs } from "./support/world.ts"

type Call = Effect.Effect<unknown, unknown, Needs>

type Client = typeof N8nClient.Service

const asked = (ask: (n8n: Client) => Call): Call => N8nClient.use(ask)

const all = <A, E, R>(stream: Stream.Stream<A, E, R>) => Stream.runDrain(stream)

const { Executions, Fleet, Triage, Versions, WorkflowEdit } = library

const filter = { filters: [{ columnName: "a", condition: "eq", value: 1 }] } as const
const change = { filter, data: { a: 2 } }
const column = { name: "a", type: "string" } as const

/** Each method of the client that takes an id, with an id. */
const byId: { readonly [name: string]: (n8n: Client, id: string) => Call } = {
  getWorkflow: (n8n, id) => n8n.getWorkflow(id),
  workflowName: (n8n, id) => n8n.workflowName(id),
  putWorkflow: (n8n, id) => n8n.putWorkflow(id, workflow("a", [])),
  deleteWorkflow: (n8n, id) => n8n.deleteWorkflow(id),
  archiveWorkflow: (n8n, id) => n8n.archiveWorkflow(id),
  publishWorkflow: (n8n, id) => n8n.publishWorkflow(id),
  unpublishWorkflow: (n8n, id) => n8n.unpublishWorkflow(id),
  setWorkflowTags: (n8n, id) => n8n.setWorkflowTags(id, []),
  workflowHistory: (n8n, id) => n8n.workflowHistory(id),
  workflowVersion: (n8n, id) => n8n.workflowVersion("1", id),
  executionHead: (n8n, id) => n8n.executionHead(id),
  readExecution: (n8n, id) => n8n.readExecution(id, {}, () => Effect.void),
  retryExecution: (n8n, id) => n8n.retryExecution(id, true),
  stopExecution: (n8n, id) => n8n.stopExecution(id),
  credentialSchema: (n8n, id) => n8n.credentialSchema(id),
  deleteCredential: (n8n, id) => n8n.deleteCredential(id),
  testCredential: (n8n, id) => n8n.testCredential(id),
  streamFolders: (n8n, id) => all(n8n.streamFolders(id)),
  getDataTable: (n8n, id) => n8n.getDataTable(id),
  renameDataTable: (n8n, id) => n8n.renameDataTable(id, "b"),
  deleteDataTable: (n8n, id) => n8n.deleteDataTable(id),
  addColumn: (n8n, id) => n8n.addColumn(id, column),
  updateColumn: (n8n, id) => n8n.updateColumn("1", id, { name: "b" }),
  deleteColumn: (n8n, id) => n8n.deleteColumn("1", id),
  listRows: (n8n, id) => n8n.listRows(id, { limit: 1 }),
  streamRows: (n8n, id) => all(n8n.streamRows(id)),
  insertRows: (n8n, id) => n8n.insertRows(id, []),
  updateRows: (n8n, id) => n8n.updateRows(id, change),
  previewRowUpdate: (n8n, id) => n8n.previewRowUpdate(id, change),
  upsertRow: (n8n, id) => n8n.upsertRow(id, change),
  previewRowUpsert: (n8n, id) => n8n.previewRowUpsert(id, change),
  deleteRows: (n8n, id) => n8n.deleteRows(id, filter),
  previewRowDeletion: (n8n, id) => n8n.previewRowDeletion(id, filter),
  clearRows: (n8n, id) => n8n.clearRows(id),
  request: (n8n, id) => n8n.request("PUT /tags/{tagId}", { path: { tagId: id }, body: { name: "b" } })
}

/** Each method of the client that takes a limit, with a limit, and the largest that it takes. */
const byLimit: { readonly [name: string]: readonly [(n8n: Client, limit: number) => Call, most: number] } = {
  listWorkflows: [(n8n, limit) => n8n.listWorkflows({ limit }), 10_000],
  listExecutions: [(n8n, limit) => n8n.listExecutions({ limit }), 250],
  listCredentials: [(n8n, limit) => n8n.listCredentials({ limit }), 250],
  listDataTables: [(n8n, limit) => n8n.listDataTables({ limit }), 250],
  listRows: [(n8n, limit) => n8n.listRows("1", { limit }), 250],
  workflowHistory: [(n8n, limit) => n8n.workflowHistory("1", { limit }), 250]
}

/** Methods of the client without an id or a limit, and who refuses what they are given. */
const unchecked: { readonly [name: string]: string } = {
  instance: "not a function",
  about: "takes nothing",
  release: "takes nothing",
  streamProjects: "takes nothing",
  streamCredentials: "takes nothing",
  streamDataTables: "takes nothing",
  streamWorkflows: "conditions that n8n, or a comparison here, looks at",
  streamExecutions: "conditions that n8n, or a comparison here, looks at",
  stream: "typed by n8n's description, and refused by n8n",
  createWorkflow: "n8n refuses a workflow that is none",
  createCredential: "n8n refuses fields that the type does not have",
  createDataTable: "n8n refuses a name that it does not take",
  audit: "n8n refuses a category that it does not have",
  callWebhook: "a path of the workflow's own",
  listCommunityPackages: "takes nothing",
  webhookAddress: "a path of the workflow's own",
  webhookMethods: "a path of the workflow's own"
}

/** Exported functions of the modules that programs import, with what a tool refuses. */
const refused: { readonly [name: string]: ReadonlyArray<Call> } = {
  "Fleet.plan": [
    { operations: [{ op: "nonsense" }] },
    { operations: [{ op: "replace" }] },
    { operations: [{ op: "replace", find: "", with: "" }] },
    { operations: [{ op: "set", node: "A", path: 1, value: 1 }] },
    { operations: [{ op: "publish", only: { tag: "x" } }] },
    { operations: [] },
    { operations: Array.from({ length: 51 }, () => ({ op: "publish" })) },
    { publish: "x" },
    { select: { ids: [""] } },
    { select: { ids: [] } },
    { select: { uses: "x" } },
    { select: { tag: ["x"] } },
    { select: {} },
    { select: "some" },
    { select: undefined, files: [""] },
    { files: ["."] },
    { release: "newest" },
    { unknown: true }
  ].map((more) => Fleet.plan({ select: { active: true }, operations: [{ op: "publish" }], ...more } as never)),
  "Fleet.apply": [Fleet.apply("plan-20260101000000-abcdef", "x" as never)],
  ...Object.fromEntries(
    (["byFailure", "byNode", "byVersion", "byWorkflow", "list"] as const).map((name) => [
      `Triage.${name}`,
      [
        { last: -1 },
        { last: 0 },
        { last: 1.5 },
        { last: NaN },
        { last: 10_001 },
        { workflowId: "" },
        { cursor: "" },
        {
          workflowName: ""
        },
        { status: "eror" as never },
        { startedAfter: "soon" }
      ].map((query) => Triage[name](query))
    ])
  ),
  "Executions.streamItems": [{ node: "" }, { node: "A", run: -1 }, { node: "A", output: -1 }, {
    node: "A",
    output: 0.5
  }]
    .map((options) => all(Executions.streamItems("1", options))),
  "Executions.Executions": (["get", "keep", "failure", "version", "origin"] as const).flatMap((name) =>
    ["", "abc", "../1"].map((id) => Effect.flatMap(Executions.Executions, (executions): Call => executions[name](id)))
  ),
  "Versions.Versions": ["", " "].map((id) => Versions.Versions.use(({ read }) => read(id, "published"))),
  "WorkflowEdit.operations": [
    { op: "nonsense" },
    { op: "rename", node: "A" },
    { op: "set", node: "A", path: 1, value: 1 }
  ].map((operation) => WorkflowEdit.operations(operation as never)({ nodes: [] })),
  "WorkflowStore.WorkflowStore": [
    ...["", "  "].map((id) => WorkflowStore.use(({ write }) => write({ kind: "n8n", id }, {}))),
    WorkflowStore.use(({ remove }) => remove("")),
    WorkflowStore.use(({ archive }) => archive("")),
    ...[{ name: 5 }, { name: "" }, { nodes: "x" }, { settings: 1 }, { tags: "x" }, { tags: [""] }].map((patch) =>
      WorkflowStore.use(({ write }) => write({ kind: "n8n", id: "w" }, patch as never))
    ),
    WorkflowStore.use(({ write }) => write({ kind: "n8n", id: "w" }, {}, { publish: "x" as never }))
  ]
}

/** Exported functions that take no input of a caller's that a tool would refuse, and why. */
const exceptions: { readonly [name: string]: string } = {
  "Fleet.differences": "takes the result of state",
  "Fleet.discard": "an unknown plan is a NotFoundError, as of the tool",
  "Fleet.restore": "an unknown plan is a NotFoundError, as of the tool",
  "Fleet.previewRestore": "an unknown plan is a NotFoundError, as of the tool",
  "Fleet.state": "an unknown plan is a NotFoundError, as of the tool",
  "Triage.countByWorkflow": "counts what a list returned",
  "Executions.checkNode": "internal",
  "Executions.layer": "options in bytes"
}

const seed = { workflows: [workflow("w", [node("A", "noOp")])], executions: [] }

const refuses = (name: string, call: Call, sends = false) =>
  inMemory(function*(api) {
    const error = yield* Effect.flip(call)
    assert.instanceOf(error, Errors.ValidationError, name)
    const writes = (yield* api.requests).filter(({ method }) => sends ? method !== "GET" : true)
    assert.deepStrictEqual(writes, [], name)
    assert.notInclude((error as Errors.ValidationError).reason, "[object")
  }, { seed })

describe("a method of the client", () => {
  it.effect.each(Object.keys(byId))(
    "refuses a missing id: %s",
    (name) =>
      Effect.forEach(
        ["", "  ", "..", undefined as never],
        (id) => refuses(name, asked((n8n) => byId[name]?.(n8n, id) ?? Effect.void)),
        { discard: true }
      )
  )

  it.effect.each(Object.keys(byLimit))("refuses a limit out of bounds: %s", (name) =>
    Effect.gen(function*() {
      const [ask, most] = byLimit[name] ?? [() => Effect.void, 0]
      for (const limit of [0, -5, 1.5, NaN, Infinity, most + 1]) yield* refuses(name, asked((n8n) => ask(n8n, limit)))
    }))

  it.effect("has its row here, or its reason", () =>
    inMemory(function*() {
      const rows = { ...byId, ...byLimit, ...unchecked }
      assert.deepStrictEqual(Object.keys(yield* N8nClient).filter((name) => !Object.hasOwn(rows, name)), [])
    }))
})

describe("an exported function", () => {
  for (const [name, calls] of Object.entries(refused)) {
    it.effect(`refuses what its tool refuses: ${name}`, () =>
      Effect.forEach(calls, (call, index) => refuses(`${name}, ${index}`, call, name.startsWith("WorkflowStore")), {
        discard: true
      }))
  }

  it("has its row here, or its reason", () => {
    const modules = { Executions, Fleet, Triage }
    const names = Object.entries(modules).flatMap(([module, values]) =>
      Object.entries(values).flatMap(([name, value]) => typeof value === "function" ? `${module}.${name}` : [])
    )
    assert.deepStrictEqual(
      names.filter((name) => !Object.hasOwn(refused, name) && !Object.hasOwn(exceptions, name)),
      []
    )
  })

  it.effect("applies and restores a plan that changes nothing", () =>
    inMemory(function*() {
      const { plan, unchanged } = yield* Fleet.plan({
        select: { ids: ["w"] },
        operations: [{ op: "replace", find: "nowhere", with: "x" }]
      })
      assert.deepStrictEqual([plan.entries, unchanged], [[], 1])
      for (const step of [Fleet.apply(plan.id), Fleet.restore(plan.id), Fleet.state(plan.id)]) {
        const { outcomes, warnings } = yield* step
        assert.deepStrictEqual([outcomes.size, warnings], [0, []])
      }
    }, { seed }))
})

// @ts-expect-error: there is no such operation.
export const nonsense: library.Fleet.Operation = { op: "nonsense" }
