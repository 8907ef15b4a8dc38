/** Comparison of a folder with n8n. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Batch from "../base/Batch.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { defined, equals, type Obj } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import * as CodePlaces from "../workflow/CodePlaces.ts"
import { type Other, WorkflowFiles, type WorkflowFolder } from "../workflows/files/WorkflowFiles.ts"
import * as content from "./content.ts"
import * as Locals from "./locals.ts"

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

/** A workflow in n8n's list, without its content. */
export interface Head {
  readonly id: string
  readonly name: string
  readonly tags: Workflow.Listed["tags"] | undefined
  readonly active: boolean
  readonly awaitsPublishing: boolean
  /** Differs for each state of the workflow, pinned data and static data aside. */
  readonly mark: string
  /** Present if the list shows that it has not changed. */
  readonly hash?: string
}

export interface Remote extends Head {
  /** Empty if no status depends on it. */
  readonly hash: string
  /** Present if it was read and is needed. */
  readonly workflow?: Workflow.Workflow
}

/** A workflow on one or both sides, before its contents are compared. */
export interface Pair {
  readonly id?: string
  readonly name: string
  readonly file?: string
  readonly local?: Locals.Local
  readonly head?: Head
  readonly base?: Locals.Base
  readonly fault?: string
}

export interface Item extends Omit<Pair, "head" | "fault"> {
  readonly status: Status
  readonly detail?: string
  readonly remote?: Remote
}

/** Treatment of literal secrets by a pull: it writes no file with them, moves them into a file that git ignores, or neither. */
export const Secrets = Schema.Literals(["refuse", "extract", "allow"])
export type Secrets = typeof Secrets.Type

export interface Comparison {
  readonly folder: WorkflowFolder
  readonly state: Locals.State
  readonly stateText: string | undefined
  readonly scope: content.Scope
  /** Treatment of code and secrets in the files; `undefined` leaves them where they are. */
  readonly code: "split" | "join" | undefined
  readonly secrets: "extract" | "join" | undefined
  readonly pairs: ReadonlyArray<Pair>
  /** Files of the folder that are something else, if none is a workflow. */
  readonly others: ReadonlyArray<Other>
}

export const Options = Schema.Struct({
  /** Parts to sync as well, from now on. */
  extras: Schema.optional(Schema.Array(content.Extra)),
  /** Moves long code into files beside the workflows, from now on; `false` moves it back. */
  splitsCode: Schema.optional(Schema.Boolean),
  /** `extract` holds from now on; `allow` moves the values back into the files. Default: as before. */
  secrets: Schema.optional(Secrets)
})
export interface Options extends Schema.Schema.Type<typeof Options> {}

/** Common state of n8n and a file from now on. */
export const baseOf = (file: string, workflow: Workflow.Workflow, scope: content.Scope): Locals.Base => {
  const tags = Workflow.tagNames(workflow).toSorted()
  return defined({
    file,
    versionId: workflow.versionId ?? undefined,
    updatedAt: workflow.updatedAt,
    hash: content.hash(content.of(workflow, scope)),
    tags: tags.length === 0 ? undefined : tags
  })
}

const isAsBase = (listed: Workflow.Listed, base: Locals.Base | undefined, scope: content.Scope): base is Locals.Base =>
  scope.extras.length === 0 && base?.updatedAt !== undefined && listed.updatedAt === base.updatedAt &&
  (listed.versionId ?? undefined) === base.versionId &&
  equals(Workflow.tagNames(listed).toSorted(), base.tags ?? [])

/** Lists all workflows of n8n and drops their contents, a page at a time. */
const readHeads = Effect.fnUntraced(function*(state: Locals.State, scope: content.Scope) {
  const n8n = yield* N8nClient
  const heads: Array<Head> = []
  const archived = new Set<string>()
  yield* Stream.runForEach(n8n.streamWorkflows({ archived: true }), (listed) =>
    Effect.sync(() => {
      const { active, id, name, tags, updatedAt, versionId } = listed
      if (listed.isArchived === true) {
        archived.add(id)
        return
      }
      const base = state.workflows[id]
      heads.push({
        id,
        name,
        tags,
        active,
        awaitsPublishing: Workflow.awaitsPublishing(listed),
        mark: JSON.stringify([scope.isV1, versionId, updatedAt, Workflow.tagNames(listed)]),
        ...(isAsBase(listed, base, scope) ? { hash: base.hash } : {})
      })
    }))
  return { heads, archived }
})

const unique = <A>(values: ReadonlyArray<A>, keyOf: (value: A) => string) =>
  new Map(
    [...Map.groupBy(values, keyOf)].flatMap(([key, all]) => all.length === 1 ? [[key, all[0] as A] as const] : [])
  )

/** Pairs files with workflows: by the id in the file, by the recorded file, by a name that is unique on both sides. */
const match = (
  locals: ReadonlyArray<Locals.Local>,
  heads: ReadonlyArray<Head>,
  state: Locals.State,
  archived: ReadonlySet<string>
) => {
  const isKnown = (id: string) => byId.has(id) || archived.has(id) || Object.hasOwn(state.workflows, id)
  const byId = new Map(heads.map((head) => [head.id, head]))
  const idOf = new Map<Locals.Local, string>()
  const taken = new Set<string>()
  const pair = (local: Locals.Local, id: string) => {
    idOf.set(local, id)
    taken.add(id)
  }
  for (const local of locals) if (local.id !== undefined && isKnown(local.id)) pair(local, local.id)
  const byFile = new Map(Object.entries(state.workflows).map(([id, { file }]) => [file, id]))
  for (const local of locals) {
    const id = byFile.get(local.file)
    if (!idOf.has(local) && id !== undefined && !taken.has(id)) pair(local, id)
  }
  const free = unique(
    heads.filter(({ id }) => !taken.has(id) && !Object.hasOwn(state.workflows, id)),
    ({ name }) => name
  )
  for (const [name, local] of unique(locals.filter((each) => !idOf.has(each)), ({ name }) => name)) {
    const head = free.get(name)
    if (head !== undefined) pair(local, head.id)
  }
  return { byId, idOf }
}

const pairsOf = (
  { faults, locals, presence }: Effect.Success<ReturnType<typeof Locals.readAll>>,
  heads: ReadonlyArray<Head>,
  state: Locals.State,
  archived: ReadonlySet<string>
): ReadonlyArray<Pair> => {
  const { byId, idOf } = match(locals, heads, state, archived)
  const counts = Map.groupBy(idOf.values(), (id) => id)
  const here = locals.map((local): Pair => {
    const id = idOf.get(local)
    const { file, name } = local
    if (id === undefined) return { name, file, local }
    const isDouble = (counts.get(id) ?? []).length > 1
    return defined({
      id,
      name,
      file,
      local,
      base: state.workflows[id],
      head: byId.get(id),
      fault: isDouble ? `Several files have the id '${id}': remove it from the copies.` : undefined
    })
  })
  const matched = new Set(idOf.values())
  const doubtful = [...faults, ...here.filter(({ fault }) => fault !== undefined)]
  const [other] = doubtful
  const faultOf = new Map(doubtful.map(({ fault, file }) => [file, fault]))
  const doubt = ({ file }: Locals.Base, present: string | undefined) =>
    faultOf.get(file) ??
      (present &&
        `Present in '${present}', which is not its file: store it in a file of its own, or remove its id there.`) ??
      (other && `No readable file contains it, and '${other.name}' may be its file: fix that first.`)
  const there = heads.filter(({ id }) => !matched.has(id)).map((head): Pair => {
    const { id, name } = head
    const base = state.workflows[id]
    const invalid = faults.find(({ ids }) => ids?.has(id) === true)
    return base === undefined
      ? defined({ id, name, head, file: invalid?.file, fault: invalid?.fault })
      : defined({ id, name, file: base.file, head, base, fault: doubt(base, presence.get(id)) })
  })
  const known = new Set(there.map(({ file }) => file))
  return [...here, ...there, ...faults.filter(({ file }) => !known.has(file))]
}

const placeOf = ({ file, id = "", name }: Pair) => `${file ?? name}\0${id}`

export const make = Effect.fn("Sync.compare")(
  function*(
    userPath: string,
    { extras = [], only, secrets, splitsCode }: Options & { readonly only?: ReadonlyArray<string> | undefined } = {}
  ) {
    const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
    const { state, text } = yield* Locals.readState(folder)
    const parts = (["pinData", "staticData"] as const).filter((key) => state[key] === true || extras.includes(key))
    const release = yield* (yield* N8nClient).release
    const scope: content.Scope = { extras: parts, isV1: isV1(release), writesDrafts: writesDrafts(release) }
    const { archived, heads } = yield* readHeads(state, scope)
    const files = yield* Locals.readAll(folder, userPath, state, scope, only, secrets === "refuse")
    const { extractSecrets: wasExtracted = false, splitCode: wasSplit = false, ...rest } = state
    const isSplit = splitsCode ?? wasSplit
    const isExtracted = secrets === "extract" || wasExtracted && secrets !== "allow"
    const comparison: Comparison = {
      folder,
      state: {
        ...rest,
        ...(isSplit ? { splitCode: true } : {}),
        ...(isExtracted ? { extractSecrets: true } : {}),
        ...Object.fromEntries(parts.map((key) => [key, true]))
      },
      stateText: text,
      scope,
      code: isSplit ? "split" : splitsCode === false ? "join" : undefined,
      secrets: isExtracted ? "extract" : secrets === "allow" ? "join" : undefined,
      pairs: pairsOf(files, heads, state, archived).toSorted((a, b) => placeOf(a) < placeOf(b) ? -1 : 1),
      others: files.others
    }
    return comparison
  }
)

const isBegun = ({ base, local }: Pair, { hash, workflow }: Remote) =>
  base === undefined && local?.nodeIds !== undefined && workflow !== undefined && local.hash !== hash &&
  Locals.hasNodes(workflow, local.nodeIds)

/** Whether n8n has the nodes of a push that has not ended. */
const isPushed = ({ base, local }: Pair, { hash, workflow }: Remote, scope: content.Scope) =>
  base?.pushing !== undefined && workflow !== undefined && local?.hash !== base.hash && hash !== base.hash &&
  content.nodesHash(content.of(workflow, scope), scope) === base.pushing

/** Status of a pair whose workflow on n8n is known; `undefined` if it is on neither side. */
const statusOf = (
  pair: Pair,
  remote: Remote | undefined,
  scope: content.Scope
): Pick<Item, "status" | "detail"> | undefined => {
  const { base, fault, id, local } = pair
  if (fault !== undefined) return { status: "invalid", detail: fault }
  if (local === undefined) {
    if (remote === undefined) return undefined
    if (base === undefined) return { status: "new there" }
    return remote.hash === base.hash
      ? { status: "gone here", detail: "Its file is gone." }
      : { status: "both", detail: "Its file is gone, and it changed on n8n." }
  }
  if (id === undefined) return { status: "new here" }
  if (remote === undefined) {
    return local.hash === base?.hash
      ? { status: "gone there", detail: "Deleted or archived on n8n." }
      : { status: "both", detail: "Changed here, and deleted or archived on n8n." }
  }
  if (local.hash === remote.hash) return { status: "same" }
  if (isBegun(pair, remote) || isPushed(pair, remote, scope)) return { status: "changed here" }
  if (base === undefined) return { status: "both", detail: "Exists on both sides, differs, and was never synced." }
  return { status: local.hash === base.hash ? "changed there" : remote.hash === base.hash ? "changed here" : "both" }
}

/** Whether only reading the workflow shows its status. */
export const isOpen = ({ fault, head }: Pick<Pair, "fault" | "head">) =>
  fault === undefined && head !== undefined && head.hash === undefined

export const whole = (remote: Remote) =>
  remote.workflow === undefined ? N8nClient.use((n8n) => n8n.getWorkflow(remote.id)) : Effect.succeed(remote.workflow)

/**
 * Judges a workflow that differs from its file. The version in the record or, without a record, in the file is their
 * common state: if n8n has no other one, or if one side still has its nodes, only the other side changed. A version
 * does not cover settings, name and tags: that they differ is a change of the file, unless the file's `updatedAt` shows
 * that n8n has saved the workflow since.
 */
const judge = Effect.fnUntraced(function*(
  { base, detail, local, remote, status }: Pick<Item, "base" | "detail" | "status"> & {
    readonly local: Locals.Local
    readonly remote: Remote
  },
  scope: content.Scope
) {
  const workflow = yield* whole(remote)
  const [here, there] = [yield* Locals.read(local, scope), content.of(workflow, scope)]
  const withTheirs = content.withRest(here, there, scope)
  const isRestSame = equals(withTheirs, here)
  const version = base?.versionId ?? local.versionId
  if (base === undefined && version !== undefined && version === workflow.versionId) {
    const isUnsaved = (local.updatedAt ?? workflow.updatedAt) === workflow.updatedAt
    if (isRestSame || isUnsaved) return { status: "changed here" as const }
  }
  const before = version === undefined
    ? undefined
    : yield* Effect.option(N8nClient.use((n8n) => n8n.workflowVersion(remote.id, version)))
  if (before === undefined || before._tag === "None") {
    return { status, detail: `${detail ?? ""} From n8n to the file: ${content.changedLine(there, here)}`.trim() }
  }
  const nodes = content.of({ ...before.value }, scope)
  const sides = [here, there].map((now) => ({ old: content.withRest(nodes, now, scope), now }))
  if (base === undefined && isRestSame) {
    const [mine, theirs] = sides.map(({ now, old }) => equals(old, now))
    if (mine || theirs) return { status: theirs ? "changed here" as const : "changed there" as const }
  }
  const [mine, theirs] = sides.map(({ now, old }) => content.changedLine(old, now))
  const rest = isRestSame ? "" : `; not in versions, from n8n to the file: ${content.changedLine(withTheirs, here)}`
  return { status, detail: `Here: ${mine}; on n8n: ${theirs}${rest}` }
})

/** Compares a pair; reads its workflow on n8n if the list does not show that it has not changed. */
export const compare = Effect.fnUntraced(function*(pair: Pair, scope: content.Scope, readsNew: boolean) {
  const { fault, head, ...rest } = pair
  const { local } = pair
  const isNew = local === undefined && pair.base === undefined
  const remote = head === undefined || fault !== undefined
    ? undefined
    : head.hash !== undefined || isNew && !readsNew
    ? { hash: "", ...head }
    : yield* N8nClient.use((n8n) => n8n.getWorkflow(head.id)).pipe(
      Effect.map((workflow): Remote => ({ ...head, hash: content.hash(content.of(workflow, scope)), workflow })),
      // Deleted since it was listed.
      Effect.catchTag("NotFoundError", () => Effect.undefined)
    )
  const status = statusOf(pair, remote, scope)
  if (status?.status !== "both" || local === undefined || remote === undefined) {
    return status && { ...rest, ...status, ...defined({ remote }) }
  }
  // A file that is gone or changes meanwhile stays a conflict.
  const judged = yield* Effect.orElseSucceed(judge({ ...rest, ...status, local, remote }, scope), () => status)
  return { ...rest, ...judged, remote }
})

/** Items of calls with a deadline, by all that they depend on, so that the next call reads other workflows. */
const items = new WeakMap<object, Map<string, Item>>()

const maxItems = 20_000

const itemsOf = Effect.map(N8nClient, (n8n) => {
  const known = items.get(n8n) ?? new Map<string, Item>()
  items.set(n8n, known)
  if (known.size > maxItems) known.clear()
  return known
})

/** Options of a batch that reads workflows. */
export const reading: Batch.Options<unknown, Errors.N8nError> = {
  ...Locals.bounds,
  concurrency: Locals.concurrency,
  stopIf: Errors.inOneLine,
  message: (done, total) => `Read ${done} of ${total} workflows`
}

/** Compares pairs, and drops the workflows that it reads; with the number of those that it read, and that are left. */
export const compareAll = Effect.fnUntraced(function*({ scope }: Comparison, pairs: ReadonlyArray<Pair>) {
  const isBounded = scope.extras.length === 0 && (yield* Deadline.left) < Infinity
  const earlier = isBounded ? yield* itemsOf : undefined
  const keyOf = ({ base, head, local }: Pair) => sha256(JSON.stringify([head?.id, head?.mark, local, base]))
  const results = new Map<Pair, Item | undefined>()
  const unread: Array<Pair> = []
  for (const pair of pairs) {
    const isRead = isOpen(pair) && (pair.local !== undefined || pair.base !== undefined)
    const item = isRead ? earlier?.get(keyOf(pair)) : yield* compare(pair, scope, false)
    if (isRead && item === undefined) unread.push(pair)
    else results.set(pair, item)
  }
  const { done, fault, left } = yield* Batch.run(
    unread,
    reading,
    (pair) =>
      Effect.map(compare(pair, scope, false), (item) => {
        if (item?.remote === undefined) return item
        const { workflow: _, ...remote } = item.remote
        const light: Item = { ...item, remote }
        earlier?.set(keyOf(pair), light)
        return light
      })
  )
  if (fault !== undefined) return yield* Effect.fail(fault)
  return {
    items: pairs.flatMap((pair) => results.get(pair) ?? done.get(pair) ?? []),
    read: done.size,
    remaining: left.length
  }
})

/** Options for a workflow's file: which of its parts are in files beside it. */
export const partOptions = Effect.fnUntraced(function*({ code, secrets }: Comparison, workflow: Obj) {
  return defined({ code: code === "split" ? yield* CodePlaces.codePlaces(workflow) : code, secrets })
})
