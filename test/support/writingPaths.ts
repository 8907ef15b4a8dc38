/** Every path by which a workflow is written, as a call of its tool. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Services from "../../src/app/Services.ts"
import * as Errors from "../../src/base/Errors.ts"
import { arr, type Obj, obj, str } from "../../src/base/Json.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as tools from "../../src/tools/index.ts"
import { Snapshots } from "../../src/workflows/store/Snapshots.ts"
import { main, node } from "./workflows.ts"

/** A part of a workflow, by the path that answers name it with. */
export type Part = "nodes" | "settings.timezone" | "settings.callerPolicy" | "tags" | "pinData" | "name"

/** Zone that a change sets; before, none is set. */
const zone = "Asia/Tokyo"

/** Tag that a change sets. */
export const tag = "writing-path"

const say = (word: string) => `={{ { word: "${word}", zone: $now.zoneName, name: $workflow.name } }}`

const saying = (name: string, word: string) => node(name, "set", 3.4, { mode: "raw", jsonOutput: say(word) })

/** A workflow whose webhook answers with a word, its time zone and its name. */
export const base = (name: string, hook: string, word = "one") => ({
  name,
  nodes: [
    node("Hook", "webhook", 2, { path: hook, httpMethod: "POST", responseMode: "lastNode" }, { webhookId: hook }),
    saying("Say", word)
  ],
  connections: { Hook: main("Say") },
  settings: { executionOrder: "v1" }
})

/** Word that nodes answer with. */
export const wordIn = (nodes: unknown): string | undefined =>
  arr(nodes).flatMap((each) => {
    const code = str(obj(obj(each)?.["parameters"])?.["jsonOutput"])
    return code === undefined ? [] : [/word: "(\w*)"/.exec(code)?.[1] ?? code]
  }).at(-1)

const withWord = (nodes: unknown, word: string) =>
  arr(nodes).map((each) => obj(each)?.["name"] === "Say" ? { ...obj(each), ...saying("Say", word) } : { ...obj(each) })

/** Settings that a change of these parts sets; before, none is set. */
const settingsOf = (parts: ReadonlyArray<Part>): Obj => ({
  ...(parts.includes("settings.timezone") ? { timezone: zone } : {}),
  ...(parts.includes("settings.callerPolicy") ? { callerPolicy: "any" } : {})
})

const hasSettings = (parts: ReadonlyArray<Part>) => parts.some((part) => part.startsWith("settings."))

/** A workflow with these parts changed, as a file has it. */
const altered = (workflow: Obj, parts: ReadonlyArray<Part>): Obj => ({
  ...workflow,
  ...(parts.includes("nodes") ? { nodes: withWord(workflow["nodes"], "two") } : {}),
  ...(hasSettings(parts) ? { settings: { ...obj(workflow["settings"]), ...settingsOf(parts) } } : {}),
  ...(parts.includes("name") ? { name: `${str(workflow["name"])}, renamed` } : {}),
  ...(parts.includes("tags") ? { tags: [tag] } : {}),
  ...(parts.includes("pinData") ? { pinData: { Say: [{ json: { word: "pinned" } }] } } : {})
})

type Needs = N8nClient | Services.Services | FileSystem.FileSystem

type Step<A> = Effect.Effect<A, unknown, Needs>

/** A workflow, a folder of its own below the files root, and the parts to change. */
export interface Cell {
  /** Empty where the path creates the workflow. */
  readonly id: string
  readonly name: string
  readonly hook: string
  readonly root: string
  readonly folder: string
  readonly parts: ReadonlyArray<Part>
}

/** A path by which a workflow is written. */
export interface Path {
  readonly name: string
  readonly parts: ReadonlyArray<Part>
  /** Whether the workflow does not exist before. */
  readonly creates?: boolean
  /** Whether the workflow is gone afterwards. */
  readonly deletes?: boolean
  /** Whether it was told to publish. */
  readonly publishes?: boolean
  /** Whether it leaves what runs alone: always, or only while a draft waits. */
  readonly promises?: "always" | "draft"
  /** Whether a published workflow waits as a draft afterwards. */
  readonly drafts?: boolean
  /** Whether it may refuse a workflow of which a draft waits. */
  readonly refusesDrafts?: boolean
  /** Whether the workflow is afterwards as it was before `prepare`. */
  readonly undoes?: boolean
  /** Whether its answer counts workflows and names none of their parts. */
  readonly counts?: boolean
  /** Whether it takes all nodes from a version, which has nothing else. */
  readonly ofVersion?: boolean
  /** Whether it is meant for n8ns that write drafts. */
  readonly needsDrafts?: boolean
  /** Steps before somebody's draft; returns what the call needs, such as a version. */
  readonly prepare?: (cell: Cell) => Step<string>
  /** Steps after it, which write nothing on n8n. */
  readonly ready?: (cell: Cell) => Step<void>
  readonly call: (cell: Cell, prepared: string) => Step<Obj>
  /** Writes with the publication what the call held back. */
  readonly publish?: (cell: Cell, prepared: string) => Step<Obj>
  /** Continues after an answer that was not all. */
  readonly resume?: (answer: Obj) => Step<Obj>
}

const all: ReadonlyArray<Part> = ["nodes", "settings.timezone", "tags", "pinData", "name"]

const restorable: ReadonlyArray<Part> = [...all, "settings.callerPolicy"]

const answer = <R>(
  tool: { readonly run: (args: unknown) => Effect.Effect<{ readonly data: unknown }, Errors.N8nError, R> },
  args: Obj
) => Effect.map(tool.run(args), ({ data }) => obj(data) ?? {})

const now = (id: string): Effect.Effect<Obj, unknown, N8nClient> =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(Effect.map((workflow) => ({ ...workflow })))

/** Arguments that change these parts. */
const argumentsOf = (workflow: Obj, parts: ReadonlyArray<Part>): Obj => {
  const { name, nodes, tags } = altered(workflow, parts)
  return {
    ...(parts.includes("nodes") ? { nodes } : {}),
    ...(hasSettings(parts) ? { settings: settingsOf(parts) } : {}),
    ...(parts.includes("name") ? { name } : {}),
    ...(parts.includes("tags") ? { tags } : {})
  }
}

const operations = ({ name, parts }: Cell) => [
  ...(parts.includes("nodes") ? [{ op: "set", node: "Say", path: "jsonOutput", value: say("two") }] : []),
  ...(hasSettings(parts) ? [{ op: "settings", settings: settingsOf(parts) }] : []),
  ...(parts.includes("name") ? [{ op: "name", name: `${name}, renamed` }] : [])
]

const save = (cell: Cell, workflow: Obj) =>
  FileSystem.FileSystem.use((fs) =>
    Effect.andThen(
      fs.makeDirectory(`${cell.root}/${cell.folder}`, { recursive: true }),
      fs.writeFileString(`${cell.root}/${cell.folder}/file.json`, JSON.stringify(workflow))
    )
  )

const fileOf = ({ folder }: Cell) => `${folder}/file.json`

const bulk = Effect.fnUntraced(function*(cell: Cell, publish: "keep" | "draft") {
  const select = { select: { ids: [cell.id] }, operations: operations(cell), publish }
  const planned = yield* answer(tools.bulkEdit, { ...select, dryRun: true })
  if (planned["plan"] === undefined) return planned
  const applied = yield* answer(tools.bulkEdit, { plan: planned["plan"], confirm: true })
  return { changes: planned["changes"], ...applied }
})

const resume = ({ plan }: Obj) => answer(tools.bulkEdit, { plan, confirm: true })

/** Makes a snapshot of the workflow, then the change on n8n itself, which publishes what is published. */
const changed = Effect.fnUntraced(function*({ id, parts }: Cell) {
  const n8n = yield* N8nClient
  const workflow = yield* n8n.getWorkflow(id)
  const { version } = yield* Snapshots.use((snapshots) => snapshots.save(n8n.instance, workflow, "test"))
  const { connections, name, nodes } = workflow
  // n8n 1.x refuses settings that it has itself.
  const { tags, ...next } = altered({ name, nodes, connections, settings: { executionOrder: "v1" } }, parts)
  if (parts.some((part) => part !== "tags")) yield* n8n.putWorkflow(id, next)
  if (parts.includes("tags")) yield* n8n.setWorkflowTags(id, arr(tags).map(String))
  if (workflow.active) yield* n8n.publishWorkflow(id)
  return { version, versionId: workflow.versionId ?? "" }
})

const extras = (parts: ReadonlyArray<Part>) => parts.includes("pinData") ? { extras: ["pinData" as const] } : {}

const pulled = Effect.fnUntraced(function*({ folder, id, parts, root }: Cell) {
  yield* FileSystem.FileSystem.use((fs) => fs.makeDirectory(`${root}/${folder}`, { recursive: true }))
  yield* Sync.pull(folder, { only: [id], ...extras(parts) })
  return ""
})

/** Pulls again, since somebody's draft may be newer, and changes the file. */
const edited = Effect.fnUntraced(function*(cell: Cell) {
  const { folder, name, parts, root } = cell
  const fs = yield* FileSystem.FileSystem
  yield* pulled(cell)
  const file = (yield* fs.readDirectory(`${root}/${folder}`)).find((name) => /^\w.*\.json$/.test(name)) ?? ""
  const path = `${root}/${folder}/${file}`
  const workflow = obj(JSON.parse(yield* fs.readFileString(path))) ?? {}
  yield* fs.writeFileString(path, JSON.stringify(altered({ ...workflow, name }, parts)))
})

const outcomeOf = ([entry]: ReadonlyArray<unknown>): Obj => {
  const { action, changed, detail, error, held, status } = obj(entry) ?? {}
  const isSilent = action === undefined && changed === undefined && held === undefined && status !== "same"
  const why = Errors.isN8nError(error)
    ? Errors.inOneLine(error)
    : str(error) ?? (isSilent ? str(detail) ?? str(status) : undefined)
  return { ...obj(entry), error: why }
}

const pushPublished = ({ folder, id }: Cell) =>
  Effect.map(Sync.push(folder, { only: [id], publishes: true }), ({ entries }) => outcomeOf(entries))

const restore = (cell: Cell, version: string, more: Obj = {}) =>
  answer(tools.workflowRestore, { id: cell.id, version, confirm: true, ...more })

/** The paths; a call of one is repeated with the same arguments. */
export const paths: ReadonlyArray<Path> = [
  {
    name: "create_workflow",
    creates: true,
    parts: ["settings.timezone", "tags", "name"],
    call: ({ hook, name, parts }) => {
      const { pinData: _, ...workflow } = altered(base(name, hook), parts)
      return answer(tools.createWorkflow, workflow)
    }
  },
  {
    name: "create_workflow active",
    creates: true,
    publishes: true,
    parts: ["settings.timezone", "tags", "name"],
    call: ({ hook, name, parts }) => answer(tools.createWorkflow, { ...altered(base(name, hook), parts), active: true })
  },
  {
    name: "create_workflow_from_file",
    creates: true,
    parts: ["settings.timezone", "name", "pinData"],
    ready: (cell) => save(cell, altered(base(cell.name, cell.hook), cell.parts)),
    call: (cell) => answer(tools.createWorkflowFromFile, { filePath: fileOf(cell) })
  },
  {
    name: "update_workflow",
    parts: ["nodes", "settings.timezone", "tags", "name"],
    call: ({ id, name, parts }) =>
      Effect.flatMap(
        now(id),
        (workflow) => answer(tools.updateWorkflow, { id, ...argumentsOf({ ...workflow, name }, parts) })
      )
  },
  {
    name: "workflow_edit draft",
    drafts: true,
    parts: ["nodes", "settings.timezone", "name"],
    call: (cell) => answer(tools.workflowEdit, { workflowId: cell.id, operations: operations(cell) })
  },
  {
    name: "workflow_edit publish",
    publishes: true,
    refusesDrafts: true,
    parts: ["nodes", "settings.timezone", "name"],
    call: (cell) => answer(tools.workflowEdit, { workflowId: cell.id, operations: operations(cell), publish: true })
  },
  {
    name: "node_add",
    drafts: true,
    parts: ["nodes"],
    call: ({ id }) =>
      answer(tools.nodeAdd, {
        workflowId: id,
        nodeType: "n8n-nodes-base.set",
        name: "Last",
        parameters: { mode: "raw", jsonOutput: say("two") },
        after: "Say"
      })
  },
  {
    name: "replace_workflow_from_file",
    promises: "draft",
    parts: ["nodes", "settings.timezone", "pinData", "name"],
    ready: (cell) =>
      Effect.flatMap(now(cell.id), (workflow) => save(cell, altered({ ...workflow, name: cell.name }, cell.parts))),
    call: (cell) => answer(tools.replaceWorkflowFromFile, { id: cell.id, filePath: fileOf(cell), confirm: true })
  },
  {
    name: "workflow_restore snapshot",
    promises: "always",
    undoes: true,
    parts: restorable,
    prepare: (cell) => Effect.map(changed(cell), ({ version }) => version),
    call: restore,
    publish: (cell, version) => restore(cell, version, { publish: true })
  },
  {
    name: "workflow_restore snapshot publish",
    publishes: true,
    undoes: true,
    parts: restorable,
    prepare: (cell) => Effect.map(changed(cell), ({ version }) => version),
    call: (cell, version) => restore(cell, version, { publish: true })
  },
  {
    name: "workflow_restore version",
    needsDrafts: true,
    promises: "always",
    ofVersion: true,
    parts: ["nodes", "settings.timezone"],
    prepare: (cell) => Effect.map(changed(cell), ({ versionId }) => versionId),
    call: restore
  },
  {
    name: "bulk_edit keep",
    refusesDrafts: true,
    parts: ["nodes", "settings.timezone"],
    call: (cell) => bulk(cell, "keep"),
    resume
  },
  {
    name: "bulk_edit draft",
    needsDrafts: true,
    drafts: true,
    refusesDrafts: true,
    parts: ["nodes", "settings.timezone"],
    call: (cell) => bulk(cell, "draft"),
    resume
  },
  {
    name: "workflow_restore batch",
    counts: true,
    refusesDrafts: true,
    undoes: true,
    parts: ["nodes", "settings.timezone", "settings.callerPolicy"],
    prepare: (cell) => Effect.map(bulk(cell, "keep"), ({ plan }) => str(plan) ?? ""),
    call: (_, batch) => answer(tools.workflowRestore, { batch, confirm: true })
  },
  {
    name: "workflow_restore batch of drafts",
    needsDrafts: true,
    counts: true,
    drafts: true,
    refusesDrafts: true,
    undoes: true,
    parts: ["nodes", "settings.timezone", "settings.callerPolicy"],
    prepare: (cell) => Effect.map(bulk(cell, "draft"), ({ plan }) => str(plan) ?? ""),
    call: (_, batch) => answer(tools.workflowRestore, { batch, confirm: true })
  },
  {
    name: "sync_push",
    promises: "always",
    parts: all,
    prepare: pulled,
    ready: edited,
    call: ({ folder, id }) =>
      Effect.map(answer(tools.syncPush, { folder, only: [id] }), (said) => {
        const [row = {}] = [said["updated"], said["held"]].flatMap(arr).map(obj)
        const [fault] = [said["failed"], said["conflict"], said["broken"]].flatMap(arr).map(obj)
        const published = arr(said["published"]).length > 0 ? true : arr(said["drafts"]).length > 0 ? false : undefined
        return {
          changed: row["detail"],
          held: row["held"],
          published,
          warnings: said["warnings"],
          error: fault?.["detail"]
        }
      }),
    publish: pushPublished
  },
  {
    name: "sync_push publish",
    publishes: true,
    parts: all,
    prepare: pulled,
    ready: edited,
    call: pushPublished
  },
  {
    name: "activate_workflow",
    publishes: true,
    parts: [],
    call: ({ id }) => answer(tools.activateWorkflow, { id })
  },
  {
    name: "deactivate_workflow",
    parts: [],
    call: ({ id }) => answer(tools.deactivateWorkflow, { id })
  },
  {
    name: "delete_workflow",
    deletes: true,
    parts: [],
    call: ({ id }) => answer(tools.deleteWorkflow, { id, confirm: true })
  },
  {
    name: "workflow_restore deleted",
    creates: true,
    parts: [],
    prepare: Effect.fnUntraced(function*({ hook, name }) {
      const n8n = yield* N8nClient
      const { id } = yield* n8n.createWorkflow(base(name, hook) as never)
      yield* answer(tools.deleteWorkflow, { id, confirm: true })
      const [snapshot] = yield* Snapshots.use((snapshots) => snapshots.list(n8n.instance, id))
      return `${id}@${snapshot?.version}`
    }),
    call: (_, prepared) => {
      const [id, version] = prepared.split("@")
      return answer(tools.workflowRestore, { id, version, confirm: true })
    }
  }
]

/** The changes of a path: each of its parts alone, and nodes with a setting. */
export const changesOf = ({ creates, ofVersion, parts }: Path): ReadonlyArray<ReadonlyArray<Part>> => {
  const both: ReadonlyArray<ReadonlyArray<Part>> = parts.includes("nodes") && parts.includes("settings.timezone")
    ? [["nodes", "settings.timezone"]]
    : []
  if (ofVersion === true) return [["nodes"], ...both]
  const single = parts.map((part): ReadonlyArray<Part> => [part])
  return parts.length === 0 ? [[]] : creates === true ? [[], ...single] : [...single, ...both]
}

/** Part that a line of what was held back begins with: `tags` of `tags[0]: none → "new"`. */
export const heldPart = (line: string): string => /^settings\.\w+|^\w+/.exec(line)?.[0] ?? line

/** Names of a workflow's tags. */
export const tagsOf = (workflow: Obj) => [...Workflow.tagNames(workflow)].toSorted()
