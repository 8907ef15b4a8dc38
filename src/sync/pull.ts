/** Writes n8n's changes into a folder. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type * as Errors from "../base/Errors.ts"
import { defined, obj, str } from "../base/Json.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as JsonText from "../workflows/files/JsonText.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as LiteralSecrets from "../workflows/LiteralSecrets.ts"
import { keepFile } from "../workflows/Workflows.ts"
import * as Compare from "./comparison.ts"
import * as content from "./content.ts"
import { changedLine, entryOf, nonEmpty, type Options, type Outcome, reportOf, select, type Step } from "./report.ts"
import * as State from "./state.ts"

/** Options of a pull. */
export interface PullOptions<R = never> extends Options {
  /** Removes unchanged files whose workflow no longer exists on n8n. */
  readonly deletes?: boolean | undefined
  /** Side that wins conflicts: `there` writes n8n's state into the file; `here` lets a push write the file. */
  readonly resolve?: "here" | "there" | undefined
  readonly dryRun?: boolean | undefined
  readonly onStep?: ((step: Step) => Effect.Effect<void, never, R>) | undefined
}

/** Entry of the state; `undefined` removes it. */
type Noted = readonly [id: string, base: State.Base | undefined]

type Task =
  & { readonly item: Compare.Item; readonly base?: Noted }
  & (
    | {
      readonly kind: "write"
      readonly file: string
      readonly workflow: Workflow.Workflow
      readonly warnings: ReadonlyArray<string>
    }
    /** Has literal secrets, and they are refused. */
    | { readonly kind: "refuse"; readonly file: string; readonly warnings: ReadonlyArray<string> }
    | { readonly kind: "remove"; readonly local: Compare.Local }
    /** Writes no file: at most, the state changes. */
    | { readonly kind: "leave" }
  )

const operation = "sync_pull"

const concurrency = 8

/** Plans the task of each item, in order, before anything is written. */
const plan = Effect.fnUntraced(function*(
  { folder, scope, secrets: mode, state }: Compare.Comparison,
  items: ReadonlyArray<Compare.Item>,
  { deletes, resolve, secrets, splitsCode }: Pick<PullOptions, "deletes" | "resolve" | "secrets" | "splitsCode">
) {
  const taken = new Set([...yield* folder.names, ...Object.values(state.workflows).map(({ file }) => file)])
  const freeName = (name: string) => {
    const file = folder.freeName(name, taken)
    taken.add(file)
    return file
  }
  const files = new Map(items.map((item) => [item, item.local?.file ?? item.file ?? freeName(item.name)]))
  const tasks = yield* Effect.forEach(items, (item): Effect.Effect<Task, Errors.N8nError, N8nClient> => {
    const { base, local, remote, status } = item
    const file = files.get(item) ?? ""
    const noted = (workflow: Workflow.Workflow): Noted => [workflow.id, Compare.baseOf(file, workflow, scope)]
    const isExtracted = mode === "split" || mode === "stay" && local?.hasSecrets === true
    const write = (there: Compare.Remote) =>
      Effect.map(Compare.whole(there), (workflow): Task => {
        const warnings = isExtracted ? [] : LiteralSecrets.warnings(content.of(workflow, scope))
        return secrets === "refuse" && warnings.length > 0
          ? { kind: "refuse", item, file, warnings }
          : { kind: "write", item, base: noted(workflow), file, workflow, warnings }
      })
    const note = (there: Compare.Remote) =>
      Effect.map(Compare.whole(there), (workflow): Task => ({ kind: "leave", item, base: noted(workflow) }))
    const isMoving = secrets === "allow" || secrets === "extract"
    const gone: Noted = [item.id ?? "", undefined]
    const leave = Effect.succeed<Task>({ kind: "leave", item })
    const remove = local === undefined ? leave : Effect.succeed<Task>({ kind: "remove", item, base: gone, local })
    if (status === "new there" || status === "changed there") return remote === undefined ? leave : write(remote)
    if (status === "gone there") return deletes === true ? remove : leave
    if (status === "same") {
      if (remote === undefined || local === undefined) return leave
      if (str(local.value["id"]) !== remote.id || splitsCode !== undefined || isMoving) return write(remote)
      return base?.hash === local.hash && base.file === file ? leave : note(remote)
    }
    if (status === "both") {
      if (resolve === "there") return remote === undefined ? remove : write(remote)
      if (resolve !== "here") return leave
      return remote === undefined ? Effect.succeed<Task>({ kind: "leave", item, base: gone }) : note(remote)
    }
    return leave
  }, { concurrency })
  if (secrets !== "refuse") return tasks
  // Secrets that a file has already are refused, too.
  return tasks.map((task): Task => {
    const { item: { local, status }, kind } = task
    if (kind !== "leave" || local === undefined || local.hasSecrets || status === "invalid") return task
    const warnings = LiteralSecrets.warnings(local.content)
    return warnings.length === 0 ? task : { ...task, kind: "refuse", file: local.file, warnings }
  })
})

const writeFile = Effect.fnUntraced(function*(
  comparison: Compare.Comparison,
  { file, item: { local }, workflow }: Task & { readonly kind: "write" }
) {
  const { folder, scope } = comparison
  const files = yield* WorkflowFiles
  const there = content.of(workflow, scope)
  const options = yield* Compare.partOptions(comparison, workflow)
  if (local === undefined) {
    const text = JSON.stringify(content.toFile(workflow.id, there, undefined, scope), null, 2)
    yield* files.create(`${folder.path}/${file}`, `${text}\n`, options)
    return
  }
  yield* files.update(
    local.path,
    ({ text, value }) => {
      const now = obj(value) ?? {}
      return content.hash(content.of(now, scope)) === local.hash
        ? Effect.succeed(JsonText.rewrite(text, content.toFile(workflow.id, there, now, scope)))
        : Compare.movedOn(`File '${file}'`)
    },
    keepFile(operation),
    options
  )
})

const write = Effect.fnUntraced(function*(
  comparison: Compare.Comparison,
  task: Task & { readonly kind: "write" },
  dryRun: boolean
) {
  const { file, item, warnings, workflow } = task
  const { folder, scope } = comparison
  const isSame = item.status === "same"
  const textBefore = isSame ? yield* folder.read(file) : undefined
  if (!dryRun) yield* writeFile(comparison, task)
  // The content is the same: at most, code moved between files.
  if (isSame && (dryRun || (yield* folder.read(file)) === textBefore)) return entryOf(item)
  return defined({
    ...entryOf(item),
    id: workflow.id,
    file,
    action: item.local === undefined ? "created" as const : "updated" as const,
    changed: isSame || item.local === undefined
      ? undefined
      : changedLine(item.local.content, content.of(workflow, scope)),
    warnings: nonEmpty(warnings)
  })
})

/**
 * Writes new and changed workflows of n8n into the folder, and leaves those that changed on both sides. Everything is
 * read before anything is written. A file is stored as a snapshot before it changes, and keeps its layout and its other
 * content. An interrupted pull leaves whole files, and the next one continues.
 */
export const pull = Effect.fn("Sync.pull")(function*<R = never>(userPath: string, options: PullOptions<R> = {}) {
  const { dryRun = false, onStep = () => Effect.void } = options
  const files = yield* WorkflowFiles
  const folder = yield* files.folder(userPath)
  return yield* folder.exclusively(Effect.gen(function*() {
    const comparison = yield* Compare.make(userPath, options)
    const { scope, state } = comparison
    const items = yield* select(comparison, options)
    const tasks = yield* plan(comparison, items, options)
    for (const task of tasks) {
      if (task.kind !== "write" && task.kind !== "refuse" || task.warnings.length === 0) continue
      yield* onStep({ _tag: "Secrets", file: task.file, warnings: task.warnings })
    }

    const perform = Effect.fnUntraced(function*(task: Task) {
      const { base, item } = task
      const entry = entryOf(item)
      if (task.kind === "write") return { outcome: yield* write(comparison, task, dryRun), base }
      if (task.kind === "refuse") {
        return { outcome: { ...entry, refused: true as const, warnings: task.warnings }, ...defined({ base }) }
      }
      if (task.kind === "remove") {
        const { file, hash, path } = task.local
        const removing = files.remove(
          path,
          ({ text, value }) =>
            content.hash(content.of(obj(value) ?? {}, scope)) === hash
              ? keepFile(operation)(text, path)
              : Compare.movedOn(`File '${file}'`)
        )
        if (!dryRun) yield* removing
        return { outcome: { ...entry, action: "removed" as const }, base }
      }
      // A conflict that is resolved for the file leaves it for a push.
      const isResolved = item.status === "both" && base !== undefined
      return { outcome: isResolved ? { ...entry, action: "kept" as const } : entry, base }
    })

    const total = tasks.filter(({ kind }) => kind !== "leave" && kind !== "refuse").length
    let count = 0
    const all = yield* Effect.forEach(tasks, (task) =>
      Effect.gen(function*() {
        const performed: { readonly outcome: Outcome; readonly base?: Noted | undefined } = yield* Effect.catch(
          perform(task),
          (error) => Effect.succeed({ outcome: { ...entryOf(task.item), error } })
        )
        if (task.kind !== "leave" && task.kind !== "refuse") {
          yield* onStep({ _tag: "Done", outcome: performed.outcome, count: ++count, total })
        }
        return performed
      }), { concurrency })
    if (!dryRun) {
      const noted = Object.fromEntries(all.flatMap(({ base }) => base === undefined ? [] : [base]))
      const workflows = Record.filter({ ...state.workflows, ...noted }, Predicate.isNotUndefined)
      yield* State.write(comparison.folder, { ...state, workflows }, comparison.stateText)
    }
    return reportOf(all.map(({ outcome }) => outcome))
  }))
})
