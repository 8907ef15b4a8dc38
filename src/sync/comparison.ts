/** Comparison of a folder with n8n. */
import * as Effect from "effect/Effect"
import * as Errors from "../base/Errors.ts"
import { arr, defined, equals, type Obj, obj, own, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, type Service, writesDrafts } from "../n8n/N8nClient.ts"
import { isWorkflow, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
import * as NodeParameters from "../workflows/NodeParameters.ts"
import * as content from "./content.ts"
import * as State from "./state.ts"

/** Status of a workflow. `both`: changed on both sides, or changed on one and removed on the other. `invalid`: a bad file. */
export type Status =
  | "same"
  | "changed here"
  | "changed there"
  | "both"
  | "new here"
  | "new there"
  | "gone here"
  | "gone there"
  | "invalid"

export interface Local {
  /** Relative to the folder, with slashes. */
  readonly file: string
  readonly path: string
  readonly value: Obj
  readonly content: Obj
  readonly hash: string
  /** Whether its secrets are in the file that git ignores. */
  readonly hasSecrets: boolean
  /** Code files that it refers to, relative to the folder. */
  readonly beside: ReadonlyArray<string>
}

export interface Remote {
  readonly id: string
  readonly name: string
  readonly tags: Workflow.Listed["tags"] | undefined
  readonly hash: string
  readonly active: boolean
  readonly awaitsPublishing: boolean
  /** Absent if the list of workflows shows that it has not changed. */
  readonly workflow?: Workflow.Workflow
}

export interface Item {
  readonly status: Status
  readonly id?: string
  readonly name: string
  readonly file?: string
  readonly detail?: string
  readonly local?: Local
  readonly remote?: Remote
  readonly base?: State.Base
}

/** Whether parts are moved into files beside the workflows, back into them, or not at all. */
type Mode = "split" | "join" | "stay"

/** How a pull treats literal secrets: it writes no file with them, moves them into a file that git ignores, or neither. */
export type Secrets = "refuse" | "extract" | "allow"

export interface Comparison {
  readonly folder: WorkflowFolder
  readonly state: State.State
  readonly stateText: string | undefined
  readonly scope: content.Scope
  readonly code: Mode
  readonly secrets: Mode
  readonly items: ReadonlyArray<Item>
}

export interface Options {
  /** Parts to sync as well, from now on. */
  readonly extras?: ReadonlyArray<content.Extra> | undefined
  /** Moves long code into files beside the workflows, from now on; `false` moves it back. */
  readonly splitsCode?: boolean | undefined
  /** `extract` holds from now on; `allow` moves the values back into the files. Default: as before. */
  readonly secrets?: Secrets | undefined
  /** Reports the number of changed workflows that were read, and their total. */
  readonly onRead?: ((count: number, total: number) => Effect.Effect<void>) | undefined
}

const concurrency = 8
const maxFiles = 20_000
const maxWorkflows = 9_900

const slashes = (path: string) => path.replaceAll("\\", "/")

/** Common state of n8n and a file from now on. */
export const baseOf = (file: string, workflow: Workflow.Workflow, scope: content.Scope): State.Base => {
  const tags = Workflow.tagNames(workflow).toSorted()
  return defined({
    file,
    versionId: workflow.versionId ?? undefined,
    updatedAt: workflow.updatedAt,
    hash: content.hash(content.of(workflow, scope)),
    tags: tags.length === 0 ? undefined : tags
  })
}

const invalid = (file: string, detail: string): Item => ({ status: "invalid", name: file, file, detail })

export const readLocals = Effect.fnUntraced(
  function*(folder: WorkflowFolder, userPath: string, state: State.State, scope: content.Scope) {
    if (!folder.exists) return { locals: [], faults: [] }
    const files = yield* WorkflowFiles
    const { unreadable, unreadableCount, workflows } = yield* files.list(userPath, { limit: maxFiles })
    const relative = (path: string) => slashes(path.slice(folder.path.length).replace(/^[\\/]/, ""))
    /** Names an unreadable file by its place in the folder, like all others. */
    const fault = (path: string, reason: string) =>
      files.locate(path).pipe(
        Effect.map((real) => invalid(relative(real), reason)),
        Effect.orElseSucceed(() => invalid(slashes(path), reason))
      )
    const [locals, faults] = yield* Effect.partition(workflows, ({ path }) =>
      files.read(path).pipe(
        Effect.catch(({ reason }) => Effect.flip(fault(path, reason))),
        Effect.flatMap((file): Effect.Effect<Local, Item> => {
          const name = relative(file.path)
          const value = obj(file.value)
          if (value === undefined || !isWorkflow(value) || str(value["name"]) === undefined) {
            return Effect.fail(invalid(name, "Not a workflow: a name and nodes are required."))
          }
          const ours = content.of(value, scope)
          const folder = name.slice(0, name.lastIndexOf("/") + 1)
          const beside = [...file.beside?.files.keys() ?? []].map((each) => `${folder}${each}`)
          const hasSecrets = file.beside?.hasSecrets === true
          return Effect.succeed({
            file: name,
            path: file.path,
            value,
            content: ours,
            hash: content.hash(ours),
            hasSecrets,
            beside
          })
        })
      ), { concurrency })
    const others = yield* Effect.forEach(unreadable, ({ path, reason }) => fault(path, reason))
    const seen = new Set([...locals, ...faults, ...others].map(({ file }) => file))
    // A damaged file must not count as deleted.
    const broken = yield* Effect.forEach(
      Object.values(state.workflows).filter(({ file }) => !seen.has(file)),
      ({ file }) =>
        Effect.map(folder.read(file), (text) => text === undefined ? [] : [invalid(file, "No longer a workflow.")]),
      { concurrency }
    )
    const more = unreadableCount - unreadable.length
    return {
      locals,
      faults: [
        ...faults,
        ...broken.flat(),
        ...others,
        ...(more > 0 ? [invalid(`${more} more files`, "They cannot be read.")] : [])
      ]
    }
  }
)

const isAsBase = (listed: Workflow.Listed, base: State.Base, scope: content.Scope) =>
  scope.extras.length === 0 && base.updatedAt !== undefined && listed.updatedAt === base.updatedAt &&
  (listed.versionId ?? undefined) === base.versionId &&
  equals(Workflow.tagNames(listed).toSorted(), base.tags ?? [])

/** Lists all workflows of an n8n; fails if they are too many, since those left out would count as gone. */
export const listAll = (n8n: Service) =>
  Effect.flatMap(
    n8n.listWorkflows({ archived: true, limit: maxWorkflows }),
    ({ nextCursor, workflows }) =>
      nextCursor === undefined
        ? Effect.succeed(workflows)
        : Errors.invalid(
          "folder",
          `${n8n.instance.url} has over ${maxWorkflows.toLocaleString("en")} workflows`,
          "Nothing was written. Use an API key that sees fewer workflows, such as that of a member of one project."
        )
  )

const readRemotes = Effect.fnUntraced(function*(
  state: State.State,
  scope: content.Scope,
  onRead: NonNullable<Options["onRead"]>
) {
  const n8n = yield* N8nClient
  const workflows = yield* listAll(n8n)
  const live = workflows.filter(({ isArchived }) => isArchived !== true)
  const known = new Map(
    live.flatMap((listed) => {
      const base = state.workflows[listed.id]
      return base !== undefined && isAsBase(listed, base, scope) ? [[listed.id, base] as const] : []
    })
  )
  const total = live.length - known.size
  let count = 0
  const remotes = yield* Effect.forEach(live, (listed) => {
    const { active, id, name, tags } = listed
    const base = known.get(id)
    const head = { id, name, tags, active, awaitsPublishing: Workflow.awaitsPublishing(listed) }
    if (base !== undefined) return Effect.succeed<ReadonlyArray<Remote>>([{ ...head, hash: base.hash }])
    return n8n.getWorkflow(id).pipe(
      Effect.map((workflow) => [{ ...head, hash: content.hash(content.of(workflow, scope)), workflow }]),
      // Deleted since it was listed.
      Effect.catchTag("NotFoundError", () => Effect.succeed<ReadonlyArray<Remote>>([])),
      Effect.tap(() => onRead(++count, total))
    )
  }, { concurrency })
  return {
    remotes: remotes.flat(),
    archived: new Set(workflows.flatMap(({ id, isArchived }) => isArchived === true ? [id] : []))
  }
})

const paired = (local: Local, remote: Remote, base: State.Base | undefined): Status => {
  if (local.hash === remote.hash) return "same"
  if (base === undefined) return "both"
  return local.hash === base.hash ? "changed there" : remote.hash === base.hash ? "changed here" : "both"
}

export const nodeIds = (workflow: unknown) => arr(own(workflow, "nodes")).map((node) => own(node, "id"))

/** Whether an interrupted push created the workflow from this file. */
const isBegun = ({ creating = [] }: State.State, { content, file }: Local, { workflow }: Remote) =>
  creating.includes(file) && workflow !== undefined && equals(nodeIds(content), nodeIds(workflow))

const unique = <A>(values: ReadonlyArray<A>, keyOf: (value: A) => string) =>
  new Map(
    [...Map.groupBy(values, keyOf)].flatMap(([key, all]) => all.length === 1 ? [[key, all[0] as A] as const] : [])
  )

/** Pairs files with workflows: by the id in the file, by the recorded file, by a name that is unique on both sides. */
const match = (
  locals: ReadonlyArray<Local>,
  remotes: ReadonlyArray<Remote>,
  state: State.State,
  archived: ReadonlySet<string>
) => {
  const isKnown = (id: string) => byId.has(id) || archived.has(id) || Object.hasOwn(state.workflows, id)
  const byId = new Map(remotes.map((remote) => [remote.id, remote]))
  const idOf = new Map<Local, string>()
  const taken = new Set<string>()
  const pair = (local: Local, id: string) => {
    idOf.set(local, id)
    taken.add(id)
  }
  for (const local of locals) {
    const id = str(local.value["id"])
    if (id !== undefined && isKnown(id)) pair(local, id)
  }
  const byFile = new Map(Object.entries(state.workflows).map(([id, { file }]) => [file, id]))
  for (const local of locals) {
    const id = byFile.get(local.file)
    if (!idOf.has(local) && id !== undefined && !taken.has(id)) pair(local, id)
  }
  const free = unique(
    remotes.filter(({ id }) => !taken.has(id) && !Object.hasOwn(state.workflows, id)),
    ({ name }) => name
  )
  for (
    const [name, local] of unique(locals.filter((each) => !idOf.has(each)), ({ content }) => String(content["name"]))
  ) {
    const remote = free.get(name)
    if (remote !== undefined) pair(local, remote.id)
  }
  return { byId, idOf }
}

/** Status of a workflow without a file: gone only if none of the unreadable files may be its own. */
const missing = (faults: ReadonlyArray<Item>, remote: Remote, base: State.Base): Pick<Item, "status" | "detail"> => {
  const own = faults.find(({ file }) => file === base.file)
  const [other] = faults
  if (own !== undefined) return { status: "invalid", ...defined({ detail: own.detail }) }
  if (other !== undefined) {
    return {
      status: "invalid",
      detail: `No readable file contains it, and '${other.name}' may be its file: fix that first.`
    }
  }
  return remote.hash === base.hash
    ? { status: "gone here", detail: "Its file is gone." }
    : { status: "both", detail: "Its file is gone, and it changed on n8n." }
}

const itemsOf = (
  locals: ReadonlyArray<Local>,
  faults: ReadonlyArray<Item>,
  remotes: ReadonlyArray<Remote>,
  state: State.State,
  archived: ReadonlySet<string>
): ReadonlyArray<Item> => {
  const { byId, idOf } = match(locals, remotes, state, archived)
  const doubles = new Set(
    [...Map.groupBy(idOf.keys(), (local) => idOf.get(local))].flatMap(([id, all]) => all.length > 1 ? [id] : [])
  )
  const here = locals.map((local): Item => {
    const id = idOf.get(local)
    const { file } = local
    const name = String(local.content["name"])
    if (id === undefined) return { status: "new here", name, file, local }
    const base = state.workflows[id]
    const remote = byId.get(id)
    const known = { id, name, file, local, ...defined({ base, remote }) }
    if (doubles.has(id)) {
      return { ...known, status: "invalid", detail: `Several files have the id '${id}': remove it from the copies.` }
    }
    if (remote !== undefined) {
      const isOurs = base === undefined && local.hash !== remote.hash && isBegun(state, local, remote)
      const status = isOurs ? "changed here" : paired(local, remote, base)
      const isUnmet = status === "both" && base === undefined
      return {
        ...known,
        status,
        ...(isUnmet ? { detail: "Exists on both sides, differs, and was never synced." } : {})
      }
    }
    return local.hash === base?.hash
      ? { ...known, status: "gone there", detail: "Deleted or archived on n8n." }
      : { ...known, status: "both", detail: "Changed here, and deleted or archived on n8n." }
  })
  const matched = new Set(idOf.values())
  const doubtful = [...faults, ...here.filter(({ status }) => status === "invalid")]
  const there = remotes.filter(({ id }) => !matched.has(id)).map((remote): Item => {
    const { id, name } = remote
    const base = state.workflows[id]
    return base === undefined
      ? { status: "new there", id, name, remote }
      : { id, name, file: base.file, remote, base, ...missing(doubtful, remote, base) }
  })
  const known = new Set(there.map(({ file }) => file))
  return [...here, ...there, ...faults.filter(({ file }) => !known.has(file))]
}

const placeOf = ({ file, id = "", name }: Item) => `${file ?? name}\0${id}`

export const make = Effect.fn("Sync.compare")(
  function*(userPath: string, { extras = [], onRead = () => Effect.void, secrets, splitsCode }: Options = {}) {
    const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
    const { state, text } = yield* State.read(folder)
    const asked = (["pinData", "staticData"] as const).filter((key) => state[key] === true || extras.includes(key))
    const release = yield* (yield* N8nClient).release
    const scope: content.Scope = { extras: asked, isV1: isV1(release), writesDrafts: writesDrafts(release) }
    const { archived, remotes } = yield* readRemotes(state, scope, onRead)
    const { faults, locals } = yield* readLocals(folder, userPath, state, scope)
    const items = itemsOf(locals, faults, remotes, state, archived)
    const { extractSecrets: wasExtracted = false, splitCode: wasSplit = false, ...rest } = state
    const isSplit = splitsCode ?? wasSplit
    const isExtracted = secrets === "extract" || wasExtracted && secrets !== "allow"
    const comparison: Comparison = {
      folder,
      state: {
        ...rest,
        ...(isSplit ? { splitCode: true } : {}),
        ...(isExtracted ? { extractSecrets: true } : {}),
        ...Object.fromEntries(asked.map((key) => [key, true]))
      },
      stateText: text,
      scope,
      code: isSplit ? "split" : splitsCode === false ? "join" : "stay",
      secrets: isExtracted ? "split" : secrets === "allow" ? "join" : "stay",
      items: items.toSorted((a, b) => placeOf(a) < placeOf(b) ? -1 : 1)
    }
    return comparison
  }
)

export const whole = (remote: Remote) =>
  remote.workflow === undefined ? N8nClient.use((n8n) => n8n.getWorkflow(remote.id)) : Effect.succeed(remote.workflow)

/** Options for a workflow's file: which of its parts are in files beside it. */
export const partOptions = ({ code, secrets }: Comparison, workflow: Obj) =>
  Effect.gen(function*() {
    return defined({
      code: code === "split" ? yield* NodeParameters.codePlaces(workflow) : code === "join" ? code : undefined,
      secrets: secrets === "split" ? "extract" as const : secrets === "join" ? secrets : undefined
    })
  })

export const movedOn = (what: string) =>
  Errors.invalid("folder", `${what} changed while it was being synced`, "It was not overwritten: sync again.")
