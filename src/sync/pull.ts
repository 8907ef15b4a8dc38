/** From n8n into the folder. */
import * as Effect from "effect/Effect"
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
import { changedLine, entryOf, type Options, type Outcome, reportOf, select, type Step } from "./report.ts"
import * as State from "./state.ts"

/** How a folder is pulled. */
export interface PullOptions<R = never> extends Options {
  /** Removes files whose workflow n8n has no more, unless they changed. */
  readonly deletes?: boolean | undefined
  /**
   * Decides conflicts: `there` writes n8n's state into the file; `here` takes n8n's state for seen, so that the file
   * counts as changed and a push writes it.
   */
  readonly resolve?: "here" | "there" | undefined
  readonly dryRun?: boolean | undefined
  readonly onStep?: ((step: Step) => Effect.Effect<void, never, R>) | undefined
}

type Task =
  | { readonly kind: "write"; readonly item: Compare.Item; readonly file: string; readonly workflow: Workflow.Workflow }
  | { readonly kind: "remove"; readonly item: Compare.Item; readonly local: Compare.Local }
  | { readonly kind: "note"; readonly item: Compare.Item; readonly base: State.Base | undefined }
  | { readonly kind: "leave"; readonly item: Compare.Item }

const operation = "sync_pull"

const atOnce = 8

/** What is to be done about each, in order; nothing is written before all of it is known. */
const plan = Effect.fnUntraced(function*(
  { folder, scope, state }: Compare.Comparison,
  items: ReadonlyArray<Compare.Item>,
  { deletes, resolve, splitsCode }: Pick<PullOptions, "deletes" | "resolve" | "splitsCode">
) {
  const taken = new Set([...yield* folder.names, ...Object.values(state.workflows).map(({ file }) => file)])
  const freeName = (name: string) => {
    const file = folder.freeName(name, taken)
    taken.add(file)
    return file
  }
  const files = new Map(items.map((item) => [
    item,
    item.local?.file ?? item.file ?? freeName(item.name)
  ]))
  return yield* Effect.forEach(items, (item): Effect.Effect<Task, Errors.N8nError, N8nClient> => {
    const { base, local, remote, status } = item
    const file = files.get(item) ?? ""
    const write = (there: Compare.Remote) =>
      Effect.map(Compare.whole(there), (workflow): Task => ({ kind: "write", item, file, workflow }))
    const leave = Effect.succeed<Task>({ kind: "leave", item })
    switch (status) {
      case "new there":
      case "changed there":
        return remote === undefined ? leave : write(remote)
      case "gone there":
        return Effect.succeed<Task>(
          deletes === true && local !== undefined ? { kind: "remove", item, local } : { kind: "leave", item }
        )
      case "same":
        if (remote === undefined || local === undefined) return leave
        if (str(local.value["id"]) !== remote.id || splitsCode !== undefined) return write(remote)
        return base?.hash === local.hash && base.file === file
          ? leave
          : Effect.map(Compare.whole(remote), (workflow): Task => ({
            kind: "note",
            item,
            base: Compare.baseOf(file, workflow, scope)
          }))
      case "both":
        if (resolve === "there") {
          if (remote !== undefined) return write(remote)
          return local === undefined ? leave : Effect.succeed<Task>({ kind: "remove", item, local })
        }
        if (resolve !== "here") return leave
        return remote === undefined
          ? Effect.succeed<Task>({ kind: "note", item, base: undefined })
          : Effect.map(Compare.whole(remote), (workflow): Task => ({
            kind: "note",
            item,
            base: Compare.baseOf(file, workflow, scope)
          }))
      default:
        return leave
    }
  }, { concurrency: atOnce })
})

/** Writes n8n's state into a file, or a new one. */
const writeFile = Effect.fnUntraced(function*(
  comparison: Compare.Comparison,
  { file, item: { local }, workflow }: Task & { readonly kind: "write" }
) {
  const { folder, scope } = comparison
  const files = yield* WorkflowFiles
  const there = content.of(workflow, scope)
  const options = yield* Compare.codeOptions(comparison, workflow)
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
        : Effect.fail(Compare.movedOn(`File '${file}'`))
    },
    keepFile(operation),
    options
  )
})

/**
 * Writes into the folder what is new or changed on n8n, and leaves what changed on both sides.
 *
 * **Details**
 *
 * All is read before anything is written. A file that changes is kept as a snapshot, and keeps its layout and whatever
 * else it holds. Killed at any moment, it leaves whole files, and the next pull goes on.
 */
export const pull = Effect.fn("Sync.pull")(function*<R = never>(userPath: string, options: PullOptions<R> = {}) {
  const { dryRun = false, onStep = () => Effect.void } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const comparison = yield* Compare.make(userPath, options)
    const { scope, state } = comparison
    const items = yield* select(comparison, options)
    const tasks = yield* plan(comparison, items, options)
    const writes = tasks.filter((task) => task.kind === "write")
    const secrets = new Map(
      writes.map((task) => [task.item, LiteralSecrets.warnings(content.of(task.workflow, scope))] as const)
    )
    yield* Effect.forEach(writes, ({ file, item }) => {
      const warnings = secrets.get(item) ?? []
      return warnings.length === 0 ? Effect.void : onStep({ _tag: "Secrets", file, warnings })
    }, { discard: true })

    const bases: { [id: string]: State.Base | undefined } = { ...state.workflows }
    const total = tasks.filter(({ kind }) => kind === "write" || kind === "remove").length
    let count = 0
    const perform = Effect.fnUntraced(function*(task: Task) {
      const { item } = task
      const entry = entryOf(item)
      if (task.kind === "leave") return entry as Outcome
      if (task.kind === "note") {
        if (item.id !== undefined) bases[item.id] = task.base
        // The conflict is settled: the file is what a push writes.
        return (item.status === "both" ? { ...entry, action: "kept" } : entry) as Outcome
      }
      if (task.kind === "remove") {
        const { file, hash, path } = task.local
        if (!dryRun) {
          yield* WorkflowFiles.use((files) =>
            files.remove(path, ({ text, value }) =>
              content.hash(content.of(obj(value) ?? {}, scope)) === hash
                ? keepFile(operation)(text, path)
                : Effect.fail(Compare.movedOn(`File '${file}'`)))
          )
        }
        if (item.id !== undefined) bases[item.id] = undefined
        return { ...entry, action: "removed" } satisfies Outcome
      }
      const textBefore = item.status === "same" ? yield* comparison.folder.read(task.file) : undefined
      if (!dryRun) yield* writeFile(comparison, task)
      // Only its code moves, if anything does.
      const isLeft = item.status === "same" &&
        (dryRun || (yield* comparison.folder.read(task.file)) === textBefore)
      bases[task.workflow.id] = Compare.baseOf(task.file, task.workflow, scope)
      if (isLeft) return entry as Outcome
      const warnings = secrets.get(item) ?? []
      const outcome: Outcome = defined({
        ...entry,
        id: task.workflow.id,
        file: task.file,
        action: item.local === undefined ? "created" as const : "updated" as const,
        changed: item.status === "same"
          ? undefined
          : item.local && changedLine(item.local.content, content.of(task.workflow, scope)),
        warnings: warnings.length === 0 ? undefined : warnings
      })
      return outcome
    })

    const outcomes = yield* Effect.forEach(tasks, (task) =>
      Effect.gen(function*() {
        const outcome = yield* Effect.catch(perform(task), (error) => {
          const failed: Outcome = { ...entryOf(task.item), error }
          return Effect.succeed(failed)
        })
        if (task.kind === "write" || task.kind === "remove") {
          count++
          yield* onStep({ _tag: "Done", outcome, count, total })
        }
        return outcome
      }), { concurrency: atOnce })
    if (!dryRun) {
      const workflows = Object.fromEntries(
        Object.entries(bases).flatMap(([id, base]) => base === undefined ? [] : [[id, base]])
      )
      yield* State.write(comparison.folder, { ...state, workflows }, comparison.stateText)
    }
    return reportOf(outcomes)
  }))
})
