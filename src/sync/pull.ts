/** Writes n8n's changes into a folder. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Struct from "effect/Struct"
import * as Batch from "../base/Batch.ts"
import type * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { defined, obj } from "../base/Json.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as LiteralSecrets from "../workflow/LiteralSecrets.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import { keepFile } from "../workflows/store/Snapshots.ts"
import * as content from "./content.ts"
import * as FolderComparison from "./folderComparison.ts"
import * as Locals from "./locals.ts"
import { entryOf, nonEmpty, Options, type Outcome, reportOf, select } from "./outcomes.ts"

/** Side that wins conflicts. */
export const Resolve = Schema.Literals(["here", "there"])

const PullOptions = Options.mapFields(Struct.assign({
  /** Removes unchanged files whose workflow no longer exists on n8n. */
  deletes: Schema.optional(Schema.Boolean),
  /** Side that wins conflicts: `there` writes n8n's state into the file, also one that is gone; `here` lets a push write the file. */
  resolve: Schema.optional(Resolve),
  dryRun: Schema.optional(Schema.Boolean),
  onStep: Schema.optional(Schema.Unknown)
}))

const check = Input.decoder(PullOptions)

/** Options of a pull. */
export interface PullOptions<R = never> extends Omit<typeof PullOptions.Type, "onStep"> {
  /** Hears of each workflow that was written, removed or refused, with the literal secrets in it. */
  readonly onStep?: ((outcome: Outcome) => Effect.Effect<void, never, R>) | undefined
}

/** Entry of the state; `undefined` removes it. */
type Noted = readonly [id: string, base: Locals.Base | undefined]

type Task =
  & { readonly item: FolderComparison.Item; readonly base?: Noted }
  & (
    | {
      readonly kind: "write"
      readonly file: string
      readonly workflow: Workflow.Workflow
      readonly warnings: ReadonlyArray<string>
    }
    /** Has literal secrets, and they are refused. */
    | { readonly kind: "refuse"; readonly file: string; readonly warnings: ReadonlyArray<string> }
    | { readonly kind: "remove"; readonly local: Locals.Local }
    | { readonly kind: "leave" }
  )

const operation = "sync_pull"

const saveEvery = 250

/** Whether parts of unchanged workflows are moved between files, too. */
const movesParts = ({ secrets, splitsCode }: Pick<PullOptions, "secrets" | "splitsCode">) =>
  splitsCode !== undefined || secrets === "allow" || secrets === "extract"

const plan = Effect.fnUntraced(function*(
  { scope, secrets: mode }: FolderComparison.Comparison,
  item: FolderComparison.Item,
  file: string,
  { deletes, resolve, secrets, splitsCode }: Pick<PullOptions, "deletes" | "resolve" | "secrets" | "splitsCode">
) {
  const { base, local, remote, status } = item
  const noted = (workflow: Workflow.Workflow): Noted => [workflow.id, FolderComparison.baseOf(file, workflow, scope)]
  const isExtracted = mode === "extract" || mode === undefined && local?.hasSecrets === true
  const write = (there: FolderComparison.Remote) =>
    Effect.map(FolderComparison.whole(there), (workflow): Task => {
      const warnings = isExtracted ? [] : LiteralSecrets.warnings(content.of(workflow, scope))
      return secrets === "refuse" && warnings.length > 0
        ? { kind: "refuse", item, file, warnings }
        : { kind: "write", item, base: noted(workflow), file, workflow, warnings }
    })
  const note = (there: FolderComparison.Remote) =>
    Effect.map(FolderComparison.whole(there), (workflow): Task => ({ kind: "leave", item, base: noted(workflow) }))
  const gone: Noted = [item.id ?? "", undefined]
  const leave: Task = { kind: "leave", item }
  const remove: Task = local === undefined ? leave : { kind: "remove", item, base: gone, local }
  const task = Effect.fnUntraced(function*(): Effect.fn.Return<Task, Errors.N8nError, N8nClient> {
    if (status === "new there" || status === "changed there") return remote === undefined ? leave : yield* write(remote)
    if (status === "gone here" && resolve === "there" && remote !== undefined) return yield* write(remote)
    if (status === "gone there") return deletes === true ? remove : leave
    if (status === "same") {
      if (remote === undefined || local === undefined) return leave
      if (local.id !== remote.id || movesParts({ secrets, splitsCode })) return yield* write(remote)
      return base?.hash === local.hash && base.file === file ? leave : yield* note(remote)
    }
    if (status === "both") {
      if (resolve === "there") return remote === undefined ? remove : yield* write(remote)
      if (resolve !== "here") return leave
      return remote === undefined ? { kind: "leave", item, base: gone } : yield* note(remote)
    }
    return leave
  })
  const planned = yield* task()
  // Secrets that a file has already are refused, too.
  const { refused: warnings = [] } = local ?? {}
  return planned.kind !== "leave" || status === "invalid" || warnings.length === 0
    ? planned
    : { ...planned, kind: "refuse" as const, file, warnings }
})

const writeFile = Effect.fnUntraced(function*(
  comparison: FolderComparison.Comparison,
  { file, item: { local }, workflow }: Task & { readonly kind: "write" }
) {
  const { folder, scope } = comparison
  const files = yield* WorkflowFiles
  const there = content.of(workflow, scope)
  const options = yield* FolderComparison.partOptions(comparison, workflow)
  if (local === undefined) {
    const text = JSON.stringify(content.toFile(workflow, there, undefined, scope), null, 2)
    yield* files.create(`${folder.path}/${file}`, `${text}\n`, options)
    return
  }
  yield* files.update(
    local.path,
    ({ rewriting, value }) => {
      const now = obj(value) ?? {}
      return Effect.andThen(
        Locals.unchanged(`File '${file}'`, now, local.hash, scope),
        rewriting(content.toFile(workflow, there, now, scope))
      )
    },
    keepFile(operation),
    options
  )
})

const write = Effect.fnUntraced(function*(
  comparison: FolderComparison.Comparison,
  task: Task & { readonly kind: "write" },
  dryRun: boolean
) {
  const { file, item, warnings, workflow } = task
  const { folder, scope } = comparison
  const isSame = item.status === "same"
  const before = isSame || item.local === undefined ? undefined : yield* Locals.read(item.local, scope)
  const textBefore = isSame ? yield* folder.read(file) : undefined
  if (!dryRun) yield* writeFile(comparison, task)
  // The content is the same: at most, code moved between files.
  if (isSame && (dryRun || (yield* folder.read(file)) === textBefore)) return entryOf(item)
  return defined({
    ...entryOf(item),
    id: workflow.id,
    file,
    action: item.local === undefined ? "created" as const : "updated" as const,
    changed: before && content.changedLine(before, content.of(workflow, scope)),
    warnings: nonEmpty(warnings)
  })
})

const perform = Effect.fnUntraced(function*(comparison: FolderComparison.Comparison, task: Task, dryRun: boolean) {
  const { base, item } = task
  const entry = entryOf(item)
  if (task.kind === "write") return { outcome: yield* write(comparison, task, dryRun), base }
  if (task.kind === "refuse") {
    return { outcome: { ...entry, refused: true as const, warnings: task.warnings }, ...defined({ base }) }
  }
  if (task.kind === "remove") {
    const { file, hash, path } = task.local
    const removing = WorkflowFiles.use((files) =>
      files.remove(
        path,
        ({ text, value }) =>
          Effect.andThen(
            Locals.unchanged(`File '${file}'`, obj(value) ?? {}, hash, comparison.scope),
            keepFile(operation)(text, path)
          )
      )
    )
    if (!dryRun) yield* removing
    return { outcome: { ...entry, action: "removed" as const }, base }
  }
  // A conflict that is resolved for the file leaves it for a push.
  const isResolved = item.status === "both" && base !== undefined
  return { outcome: isResolved ? { ...entry, action: "kept" as const } : entry, base }
})

/**
 * Writes new and changed workflows of n8n into the folder, and leaves those that changed on both sides. They are read
 * and written a few at a time, and the state is saved now and then: before a call's deadline it leaves the rest to the
 * next call. A file is stored as a snapshot before it changes, and keeps its layout and its other content. An
 * interrupted pull leaves whole files, and the next one continues.
 */
export const pull = Effect.fn("Sync.pull")(function*<R = never>(userPath: string, options: PullOptions<R> = {}) {
  yield* check(options)
  const { dryRun = false, onStep = () => Effect.void } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const comparison = yield* FolderComparison.make(userPath, options)
    const { scope } = comparison
    const pairs = yield* select(comparison, options)
    let { state, stateText } = comparison
    const noted = new Map<string, Locals.Base | undefined>()
    const turn = yield* Semaphore.make(1)
    const save = turn.withPermit(Effect.gen(function*() {
      if (dryRun) return
      const workflows = Record.filter({ ...state.workflows, ...Object.fromEntries(noted) }, Predicate.isNotUndefined)
      state = { ...state, workflows }
      noted.clear()
      stateText = yield* Locals.writeState(folder, state, stateText)
    }))
    const nameOf = yield* folder.namer(Object.values(state.workflows).map(({ file }) => file))
    const files = new Map(pairs.map((pair) => [pair, pair.file ?? nameOf(pair.name)]))
    const outcomes = new Map<FolderComparison.Pair, Outcome>()
    const one = Effect.fnUntraced(function*(pair: FolderComparison.Pair) {
      const item = yield* FolderComparison.compare(pair, scope, true)
      if (item === undefined) return
      const task = yield* plan(comparison, item, files.get(pair) ?? "", options)
      const { base, outcome }: { readonly outcome: Outcome; readonly base?: Noted | undefined } = yield* Effect.catch(
        perform(comparison, task, dryRun),
        (error) => Effect.succeed({ outcome: { ...entryOf(item), error } })
      )
      outcomes.set(pair, outcome)
      if (task.kind === "write" || task.kind === "remove" || task.kind === "refuse") yield* onStep(outcome)
      if (base !== undefined) noted.set(...base)
      if (noted.size >= saveEvery) yield* save
    })
    const takesTime = (pair: FolderComparison.Pair) => movesParts(options) || FolderComparison.isOpen(pair)
    yield* Effect.forEach(pairs.filter((pair) => !takesTime(pair)), one, { concurrency: Locals.concurrency })
    const { fault, left } = yield* Batch.run(pairs.filter(takesTime), FolderComparison.reading, one)
    yield* save
    if (fault !== undefined) return yield* Effect.fail(fault)
    return reportOf(pairs.flatMap((pair) => outcomes.get(pair) ?? []), left.length)
  }))
})
