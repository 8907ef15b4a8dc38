/** What programs call refuses what the tools refuse of models: as a `ValidationError`, before anything is sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../src/base/Errors.ts"
import * as library from "../src/index.ts"
import { N8nClient } from "../src/n8n/N8nClient.ts"
import { WorkflowStore } from "../src/workflows/store/WorkflowStore.ts"
import { node, workflow } from "./support/workflows.ts"
import { inMemory, inWorld, type Needs } from "./support/world.ts"

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

/** Calls of a method of a service. */
const of = <I extends Needs, S>(
  service: Context.Service<I, S>,
  ...calls: ReadonlyArray<(service: S) => Call>
) => calls.map((call): Call => Effect.flatMap(service, call))

/** Blank ids, and what is none. */
const blank = ["", "  "]

const someEdits: { readonly [name: string]: ReadonlyArray<object> } = {
  addNode: [{}, { type: "" }, { type: 1 }],
  updateNode: [{}, { node: 1 }, { node: "A", parameters: "x" }],
  setParameter: [{ node: "A" }, { node: "A", path: 1, value: 1 }],
  replaceText: [{ node: "A", path: "a" }, { node: "A", path: "a", find: "", with: "" }],
  replaceNode: [{ node: "A" }, { node: "A", type: 1 }],
  renameNode: [{ node: "A" }, { node: "A", to: 1 }],
  removeNode: [{}, { node: 1 }],
  enableNode: [{}, { node: 1 }],
  disableNode: [{}, { node: 1 }],
  moveNode: [{ node: "A" }, { node: "A", position: "x" }],
  connect: [{ from: "A" }, { from: 1, to: "A" }],
  disconnect: [{ from: "A" }, { from: 1, to: "A" }],
  settings: [{}, { settings: "x" }],
  name: [{}, { name: 1 }, { name: " " }],
  tidy: [{ unknown: true }],
  upgrade: [{ node: 1 }, { accept: "x" }],
  extract: [{}, { nodes: "x" }, { nodes: [] }]
}

const sync = [
  { only: "a" },
  { only: [1] },
  { among: "a" },
  { extras: ["everything"] },
  { secrets: "show" },
  { splitsCode: "yes" },
  { dryrun: true }
]

const test = { mode: "copy", timeout: 1_000 }

const promotion = (options: object) =>
  N8nClient.use((n8n) => library.Sync.promote(".", { from: "folder", to: n8n, ...options } as never))

/** Exported functions of the modules that programs import, and methods of services, with what a tool refuses. */
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
  ...Object.fromEntries((["get", "keep", "failure", "version", "origin"] as const).map((name) => [
    `Executions.${name}`,
    ["", "abc", "../1"].map((id) => Effect.flatMap(Executions.Executions, (executions): Call => executions[name](id)))
  ])),
  "Versions.read": blank.map((id) => Versions.Versions.use(({ read }) => read(id, "published"))),
  "Versions.changed": blank.map((id) => Versions.Versions.use(({ changed }) => changed(id, "a", "b"))),
  "WorkflowEdit.operations": [
    { op: "nonsense" },
    { op: "rename", node: "A" },
    { op: "set", node: "A", path: 1, value: 1 }
  ].map((operation) => WorkflowEdit.operations(operation as never)({ nodes: [] })),
  ...Object.fromEntries(
    Object.entries(someEdits).map(([name, all]) => [
      `WorkflowEdit.${name}`,
      all.map((fields): Call =>
        (WorkflowEdit[name as "addNode"])(fields as never)({ nodes: [node("A", "noOp")], connections: {} })
      )
    ])
  ),
  "WorkflowStore.write": [
    ...blank.map((id) => WorkflowStore.use(({ write }) => write({ kind: "n8n", id }, {}))),
    ...[
      { name: 5 },
      { name: "" },
      { nodes: "x" },
      { connections: "x" },
      { settings: 1 },
      { tags: "x" },
      { tags: [""] },
      { tags: [1] }
    ].flatMap((patch) => [
      WorkflowStore.use(({ write }) => write({ kind: "n8n", id: "w" }, patch as never)),
      WorkflowStore.use(({ write }) =>
        write({ kind: "new" }, { name: "New", nodes: [], connections: {}, ...patch } as never)
      )
    ]),
    WorkflowStore.use(({ write }) => write({ kind: "n8n", id: "w" }, {}, { publish: "x" as never })),
    WorkflowStore.use(({ write }) => write({ kind: "new" }, { name: "New", nodes: [] }, { publish: "x" as never }))
  ],
  "WorkflowStore.remove": blank.map((id) => WorkflowStore.use(({ remove }) => remove(id))),
  "WorkflowStore.archive": blank.map((id) => WorkflowStore.use(({ archive }) => archive(id))),
  "Documents.collection": of(
    library.Documents.Documents,
    ...["", ".", "..", "../a", "a/b", "a\\b", undefined as never].flatMap((name) => [
      ({ collection }: typeof library.Documents.Documents.Service) => collection("c", "o").read(name),
      ({ collection }: typeof library.Documents.Documents.Service) =>
        collection("c", "o").write(name, new Uint8Array()),
      ({ collection }: typeof library.Documents.Documents.Service) => collection("c", "o").add(name),
      ({ collection }: typeof library.Documents.Documents.Service) => collection("c", "o").remove(name),
      ({ collection }: typeof library.Documents.Documents.Service) => collection(name, "o").list
    ])
  ),
  "NodeCatalogue.get": of(library.NodeCatalogue.NodeCatalogue, ({ get }) => get("")),
  "NodeCatalogue.search": of(
    library.NodeCatalogue.NodeCatalogue,
    ...[
      {},
      { limit: 0 },
      { limit: 51 },
      { limit: 1.5 },
      { limit: 5, keyword: 1 },
      { limit: 5, category: "nonsense" },
      { limit: 5, words: "slack" }
    ].map((query) => ({ search }: typeof library.NodeCatalogue.NodeCatalogue.Service) => search(query as never))
  ),
  "Sync.status": sync.map((options) => library.Sync.status(".", options as never)),
  "Sync.diff": [...sync, { showsSecrets: "yes" }].map((options) => library.Sync.diff(".", options as never)),
  "Sync.pull": [...sync, { resolve: "mine" }, { dryRun: "yes" }, { deletes: 1 }].map((options) =>
    library.Sync.pull(".", options as never)
  ),
  "Sync.push": [...sync, { publishes: "all" }, { dryRun: "yes" }, { deletes: 1 }].map((options) =>
    library.Sync.push(".", options as never)
  ),
  "Sync.promote": [
    { only: "a" },
    { except: [1] },
    { bindings: { credentials: "x" } },
    { bindings: { nonsense: {} } },
    { extras: ["everything"] },
    { publishes: "yes" },
    { overwrites: 1 },
    { dryrun: true }
  ].map(promotion),
  "WorkflowFiles.list": of(
    library.WorkflowFiles.WorkflowFiles,
    ...[{ limit: 0 }, { limit: 1.5 }, { offset: -1 }, { offset: NaN }].map(
      (page) => ({ list }: typeof library.WorkflowFiles.WorkflowFiles.Service) => list(".", page)
    )
  ),
  ...Object.fromEntries(
    (["read", "workflow", "locate", "folder", "paths"] as const).map((name) => [
      `WorkflowFiles.${name}`,
      of(
        library.WorkflowFiles.WorkflowFiles,
        ...["", "../a.json", "/etc/a.json"].filter((path) => path !== "" || name !== "folder" && name !== "paths").map(
          (path) => (files: typeof library.WorkflowFiles.WorkflowFiles.Service) => files[name](path)
        )
      )
    ])
  ),
  "WorkflowFiles.create": of(
    library.WorkflowFiles.WorkflowFiles,
    ...["", "a.txt", "../a.json"].map((path) => (files: typeof library.WorkflowFiles.WorkflowFiles.Service) =>
      files.create(path, "{}")
    )
  ),
  "WorkflowFiles.update": of(
    library.WorkflowFiles.WorkflowFiles,
    ...["", "a.txt", "../a.json"].map((path) => (files: typeof library.WorkflowFiles.WorkflowFiles.Service) =>
      files.update(path, () => Effect.undefined)
    )
  ),
  "WorkflowFiles.save": of(
    library.WorkflowFiles.WorkflowFiles,
    ...["", "a.txt", "../a.json"].map((path) => (files: typeof library.WorkflowFiles.WorkflowFiles.Service) =>
      files.save(path, () => Effect.succeed("{}"))
    )
  ),
  "WorkflowFiles.remove": of(
    library.WorkflowFiles.WorkflowFiles,
    ...["", "a.txt", "../a.json"].map((path) => (files: typeof library.WorkflowFiles.WorkflowFiles.Service) =>
      files.remove(path, () => Effect.void)
    )
  ),
  "WorkflowFiles.presence": of(
    library.WorkflowFiles.WorkflowFiles,
    (files) => files.presence("../..", ["w"])
  ),
  "WorkflowTesting.run": [
    { mode: "auto" },
    { timeout: 0 },
    { timeout: 999 },
    { timeout: 3_600_001 },
    { timeout: NaN },
    { startNode: 1 },
    { pins: "x" },
    { pins: { A: "skip" } },
    { pins: { A: [() => 1] } },
    { replay: "" },
    { replay: "abc" },
    { testdata: {} }
  ].map((options): Call => library.WorkflowTesting.run("w", { ...test, ...options } as never)).concat(
    blank.map((id): Call => library.WorkflowTesting.run(id, test as never))
  ),
  "WorkflowValidation.validate": [
    ...[undefined, null, "x", 5, []].map((input) => library.WorkflowValidation.validate(input)),
    ...["", "newest", "0.1", "99"].map((to) =>
      library.WorkflowValidation.validate(workflow("a", []), undefined, { to })
    )
  ],
  "WorkflowValidation.validateConnected": [
    ...[undefined, null, "x", 5, []].map((input) =>
      library.WorkflowValidation.validateConnected(input, { isStored: false })
    ),
    ...["", "newest", "0.1", "99"].map((to) =>
      library.WorkflowValidation.validateConnected(workflow("a", []), { isStored: false, to })
    )
  ]
}

/** Modules whose exports take no input of a caller's that a tool would refuse, and why. */
const others: { readonly [module: string]: string } = {
  CallContext: "references, whose values are typed",
  Errors: "constructors and readers of errors",
  Hints: "words of errors",
  N8nClient: "predicates and layers; its methods have rows above",
  Redact: "takes any value",
  Services: "layers: options of the process, which the command decodes",
  Tool: "makes tools, whose input it decodes",
  Truncated: "takes any answer",
  prompts: "decoded by the server",
  resources: "decoded by the server",
  skills: "decoded by the server",
  tools: "decode their input"
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
  "Executions.layer": "options in bytes",
  "Documents.defaultFolder": "takes an environment",
  "Documents.layerFolder": "takes a folder of the process",
  "NodeCatalogue.dataFile": "internal",
  "NodeCatalogue.findAll": "types that do not exist are undefined",
  "NodeCatalogue.find": "a type that does not exist is none",
  "NodeCatalogue.layer": "files of the process, and an unreadable one fails the layer",
  "Pictures.make": "draws every document",
  "Policy.layer": "rules of the operator, which the command decodes",
  "Snapshots.damaged": "internal",
  "Snapshots.keepFile": "names an operation",
  "Snapshots.layer": "takes an effect",
  "Snapshots.list": "any id may have snapshots",
  "Snapshots.ownerOf": "internal",
  "Snapshots.pack": "internal",
  "Snapshots.read": "any id may have snapshots",
  "Snapshots.save": "stores what n8n returned",
  "WorkflowEdit.all": "takes edits, which refuse their own fields",
  "WorkflowEdit.apply": "internal",
  "WorkflowEdit.patchOf": "internal",
  "WorkflowFiles.codePlaces": "places of any object",
  "WorkflowFiles.createDraft": "makes a name of any text",
  "WorkflowFiles.inspect": "a file that cannot be read is broken, and no error",
  "WorkflowFiles.isIgnored": "judges any name",
  "WorkflowFiles.layer": "each use checks the roots",
  "WorkflowFiles.noWorkflows": "makes an error",
  "WorkflowFiles.secretPlaces": "places of any object",
  "WorkflowTesting.open": "internal",
  "WorkflowValidation.added": "judges what a write stored",
  "WorkflowValidation.explained": "words of an error",
  "WorkflowValidation.faults": "judges what a write stored",
  "WorkflowValidation.inWords": "words of problems",
  "WorkflowValidation.layerRules": "rules of the application",
  "WorkflowValidation.warnings": "takes messages",
  "WriteGuard.preview": "internal",
  "WriteGuard.puttingBack": "internal"
}

const seed = { workflows: [workflow("w", [node("A", "noOp")])], executions: [] }

/** Functions that look at a workflow, or at n8n's release, before they refuse its change. */
const reads = /^Workflow(Edit|Store|Validation)\./

const refuses = (name: string, call: Call, sends = false) =>
  inWorld(function*({ api }) {
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
      Effect.forEach(calls, (call, index) => refuses(`${name}, ${index}`, call, reads.test(name)), {
        discard: true
      }))
  }

  it.effect("has its row here, or its reason", () =>
    inMemory(function*() {
      const names: Array<string> = []
      for (const [module, values] of Object.entries(library)) {
        if (Object.hasOwn(others, module)) continue
        for (const [name, value] of Object.entries(values)) {
          if (Context.isKey(value)) {
            const service = name === module && !Context.isReference(value)
              ? yield* value as never as Effect.Effect<object, never, Needs>
              : {}
            names.push(
              ...Object.entries(service).flatMap(([method, each]) =>
                typeof each === "function" ? `${module}.${method}` : []
              )
            )
          } else if (typeof value === "function" && !Schema.isSchema(value)) names.push(`${module}.${name}`)
        }
      }
      const rows = { ...refused, ...exceptions }
      assert.deepStrictEqual(names.filter((name) => !Object.hasOwn(rows, name)), [])
      assert.deepStrictEqual(Object.keys(rows).filter((name) => !names.includes(name)), [])
      assert.deepStrictEqual(Object.keys(others).filter((module) => !Object.hasOwn(library, module)), [])
    }))

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
