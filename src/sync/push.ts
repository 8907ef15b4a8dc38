/** Writes a folder's changes to n8n. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Input from "../base/Input.ts"
import { defined, type Obj, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { preview } from "../n8n/WriteGuard.ts"
import * as LiteralSecrets from "../workflow/LiteralSecrets.ts"
import { noWorkflows, WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as ReferenceProblems from "../workflows/ReferenceProblems.ts"
import { isLive } from "../workflows/store/Outcome.ts"
import { together } from "../workflows/store/Publishing.ts"
import { keepFile } from "../workflows/store/Snapshots.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import * as content from "./content.ts"
import * as FolderComparison from "./folderComparison.ts"
import * as Locals from "./locals.ts"
import * as n8nWrites from "./n8nWrites.ts"
import { entryOf, nonEmpty, Options, type Outcome, reportOf, select, withWarnings } from "./outcomes.ts"

const PushOptions = Options.mapFields(Struct.assign({
  /**
   * Publishes the pushed workflows: all (`true`), those that are published (`keep`), or these and the new ones (`new`).
   * Otherwise, on n8n 2.40 and later, what runs stays as it is: nodes become drafts, and all else that would take effect
   * immediately is held back.
   */
  publishes: Schema.optional(Schema.Union([Schema.Boolean, Schema.Literals(["keep", "new"])])),
  deletes: Schema.optional(Schema.Boolean),
  dryRun: Schema.optional(Schema.Boolean),
  onStep: Schema.optional(Schema.Unknown)
}))

const check = Input.decoder(PushOptions)

/** Options of a push. */
export interface PushOptions<R = never> extends Omit<typeof PushOptions.Type, "onStep"> {
  readonly onStep?: ((outcome: Outcome) => Effect.Effect<void, never, R>) | undefined
}

interface WriteTask {
  readonly kind: "write"
  readonly item: FolderComparison.Item
  readonly local: Locals.Local
  readonly remote?: FolderComparison.Remote
}

type Task =
  | WriteTask
  | { readonly kind: "remove"; readonly item: FolderComparison.Item; readonly remote: FolderComparison.Remote }

const operation = "sync_push"

/** Whether a push publishes a workflow; one that an earlier push has created without publication is new. */
const isPublished = (
  publishes: PushOptions["publishes"],
  { base, remote }: Pick<FolderComparison.Item, "base" | "remote">
) =>
  publishes === true || typeof publishes === "string" && remote?.active === true ||
  publishes === "new" && (remote === undefined || base?.unpublished === true)

/** Whether only publishing is left to do: of a published workflow, of an earlier push, or of a workflow named by `only`. */
const isToPublish = (item: FolderComparison.Item, { only, publishes }: Pick<PushOptions, "only" | "publishes">) =>
  isPublished(publishes, item) && item.remote?.awaitsPublishing === true &&
  (item.base?.unpublished === true || publishes === true && (item.remote.active || only !== undefined))

const taskOf = (
  item: FolderComparison.Item,
  options: Pick<PushOptions, "deletes" | "only" | "publishes">
): Task | undefined => {
  const { local, remote, status } = item
  const { deletes } = options
  if (status === "new here" && local !== undefined) return { kind: "write", item, local }
  const isDue = status === "changed here" || status === "same" && isToPublish(item, options)
  if (remote !== undefined && local !== undefined && isDue) return { kind: "write", item, local, remote }
  return remote !== undefined && status === "gone here" && deletes === true
    ? { kind: "remove", item, remote }
    : undefined
}

const remove = Effect.fnUntraced(function*(
  { item, remote }: Task & { readonly kind: "remove" },
  { folder, pairs, scope }: FolderComparison.Comparison
) {
  const now = yield* N8nClient.use((n8n) => n8n.getWorkflow(remote.id))
  yield* Locals.unchanged(`Workflow '${remote.id}'`, now, remote.hash, scope)
  yield* WorkflowStore.use((store) => store.remove(remote.id))
  if (item.file === undefined) return
  const used = new Set(pairs.flatMap(({ local }) => local?.beside ?? []))
  const codes = new Set(JsonPath.strings(now.nodes.map(({ parameters }) => parameters)).map(([, text]) => text))
  yield* folder.removeCode(item.file, (file, text) => !used.has(file) && codes.has(text))
})

const follow = Effect.fnUntraced(function*(
  local: Locals.Local,
  workflow: Workflow.Workflow,
  comparison: FolderComparison.Comparison,
  there: Obj
) {
  const { scope } = comparison
  const options = yield* FolderComparison.partOptions(comparison, workflow)
  yield* WorkflowFiles.use((files) =>
    files.update(
      local.path,
      ({ rewriting, value }) => {
        const now = obj(value) ?? {}
        const isAsPushed = content.hash(content.of(now, scope)) === local.hash
        if (!isAsPushed && str(now["id"]) === workflow.id) return Effect.undefined
        const next = isAsPushed ? content.toFile(workflow, there, now, scope) : { ...now, id: workflow.id }
        return rewriting(next)
      },
      keepFile(operation),
      options
    )
  )
})

/** Changes the folder's state and saves it; the tasks of a push run one after another. */
const recorder = ({ folder, ...before }: FolderComparison.Comparison) => {
  let { state, stateText } = before
  return Effect.fnUntraced(function*(change: (state: Locals.State) => Locals.State) {
    // If writing fails, the next write contains the change.
    state = change(state)
    stateText = yield* Locals.writeState(folder, state, stateText)
  })
}

const withCreating = (file: string) => ({ creating = [], workflows, ...rest }: Locals.State): Locals.State => ({
  ...rest,
  creating: [...new Set([...creating, file])],
  workflows
})

const withBase = (id: string, base?: Locals.Base) => ({ creating = [], workflows, ...rest }: Locals.State) => {
  const { [id]: _, ...others } = workflows
  return defined({
    ...rest,
    creating: nonEmpty(creating.filter((file) => file !== base?.file)),
    workflows: base === undefined ? others : { ...others, [id]: base }
  })
}

interface Context {
  readonly comparison: FolderComparison.Comparison
  /** Workflows that were written, or would be, by their files. */
  readonly contents: Map<string, Obj>
  readonly dryRun: boolean
  readonly publishes: PushOptions["publishes"]
  readonly record: ReturnType<typeof recorder>
}

/** Whether an earlier call began to create the workflow of this new file, and got no answer. */
const isBegun = (task: Task) => task.kind === "write" && task.remote === undefined && task.local.nodeIds !== undefined

const write = Effect.fnUntraced(function*(task: WriteTask, context: Context) {
  const { item, local, remote } = task
  const { comparison, dryRun, record } = context
  const publishes = isPublished(context.publishes, item)
  const { pairs, scope } = comparison
  const target = yield* Locals.read(local, scope)
  const begun = isBegun(task) && !dryRun
    ? yield* n8nWrites.begun(target, (id) => pairs.some((pair) => pair.id === id))
    : undefined
  const existing = remote ?? (begun && { ...begun, hash: content.hash(content.of(begun, scope)) })
  if (existing === undefined && !dryRun) yield* record(withCreating(local.file))
  if (item.base !== undefined && existing !== undefined && !dryRun) {
    yield* record(withBase(existing.id, { ...item.base, pushing: content.nodesHash(target, scope) }))
  }
  const written = existing === undefined
    ? yield* n8nWrites.create(target, { operation, publishes, dryRun })
    : yield* n8nWrites.update(existing.id, target, { expectedHash: existing.hash, operation, publishes, dryRun, scope })
  const { before, held, workflow } = written
  // With its publication, a push also changes what runs by what waited before.
  const former = publishes ? Workflow.running(before) ?? before : before
  const [then, now] = [content.of(former, scope), content.of(workflow, scope)]
  context.contents.set(local.file, workflow)
  if (!dryRun) {
    const isUnpublished = !publishes && Workflow.awaitsPublishing(workflow)
    yield* record(withBase(workflow.id, {
      ...FolderComparison.baseOf(local.file, workflow, scope),
      ...(isUnpublished ? { unpublished: true } : {})
    }))
    // Tags that could not be set stay in the file, and are set by the next push.
    const there = held.length === 0
      ? { ...now, ...target["tags"] === undefined ? {} : { tags: target["tags"] } }
      : content.withRest(now, target, scope)
    yield* follow(local, workflow, comparison, there)
  }
  const isNew = remote === undefined
  const isDone = isNew || item.status === "same" || written.changed !== "nothing"
  return defined({
    ...entryOf(item),
    // An earlier push without an answer has written it.
    status: isDone || held.length > 0 ? item.status : "same" as const,
    id: dryRun ? item.id : workflow.id,
    action: isDone ? isNew ? "created" as const : "updated" as const : undefined,
    changed: isNew
      ? undefined
      : content.changedLine(then, now),
    held: nonEmpty(held),
    published: dryRun && isNew ? publishes || undefined : isDone ? isLive(written) : undefined,
    notPublished: publishes && !dryRun && n8nWrites.isRefused(written, scope) ? true as const : undefined,
    warnings: nonEmpty([
      ...LiteralSecrets.warnings(target),
      ...written.warnings,
      ...n8nWrites.problems(written),
      ...dryRun ? [] : n8nWrites.remarks(target, workflow, scope, { isNew, publishes })
    ])
  })
})

const perform = Effect.fnUntraced(function*(task: Task, context: Context) {
  if (task.kind !== "remove") return yield* write(task, context)
  if (context.dryRun) {
    const n8n = yield* N8nClient
    yield* preview({ before: yield* FolderComparison.whole(task.remote) }, n8n.getWorkflow)
  } else {
    yield* remove(task, context.comparison)
    yield* context.record(withBase(task.remote.id))
  }
  return { ...entryOf(task.item), action: "removed" as const }
})

/**
 * Writes new and changed files of the folder to n8n. Workflows that changed on both sides are left out, as are invalid
 * files; nothing is deleted while a file is invalid. Before each write the workflow is read
 * again and stored as a snapshot. The state is written after each, so that an interrupted push continues where it
 * ended. Before a call's deadline it leaves the rest to the next call, which finds what was created without an answer.
 * Calls `POST /workflows`, `PUT /workflows/{id}`, those of tags and `DELETE`; publishes only when asked.
 */
export const push = Effect.fn("Sync.push")(function*<R = never>(userPath: string, options: PushOptions<R> = {}) {
  yield* check(options)
  const { dryRun = false, onStep = () => Effect.void, publishes = false } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const comparison = yield* FolderComparison.make(userPath, options)
    const isRemoval = options.deletes === true && Object.keys(comparison.state.workflows).length > 0
    if (comparison.others.length > 0 && !isRemoval) {
      return yield* noWorkflows(`'${folder.path}'`, comparison.others)
    }
    const { items, read, remaining } = yield* FolderComparison.compareAll(
      comparison,
      yield* select(comparison, options)
    )
    const planned = items.flatMap((item) => taskOf(item, options) ?? [])
    const context: Context = { comparison, contents: new Map(), dryRun, publishes, record: recorder(comparison) }
    const unrecorded = items.flatMap(({ base, file, id, remote, status }) =>
      status === "same" && base === undefined && id !== undefined && file !== undefined && remote !== undefined
        ? [[id, { file, hash: remote.hash }] as const]
        : []
    )
    if (unrecorded.length > 0 && !dryRun) {
      yield* context.record((state) => ({
        ...state,
        workflows: { ...state.workflows, ...Object.fromEntries(unrecorded) }
      }))
    }
    // What n8n may still be creating has the most time to arrive.
    const tasks = [...planned.filter((task) => !isBegun(task)), ...planned.filter(isBegun)]
    const { result: written, warnings } = yield* together(
      n8nWrites.writeAll(
        tasks,
        { entryOf: ({ item }): Outcome => entryOf(item), isContinued: read > 0, onStep },
        (task) => perform(task, context)
      )
    )
    const due = new Map(planned.map((task) => [task.item, written.outcomes.get(task)]))
    const outcomes = items.flatMap((item) => due.has(item) ? due.get(item) ?? [] : [entryOf(item)])
    // Only now are all there that call each other.
    const faults = yield* ReferenceProblems.warnings([...context.contents.values()], !dryRun)
    const byFile = new Map([...context.contents.keys()].map((file, index) => [file, faults[index] ?? []]))
    return reportOf<Outcome>(
      outcomes.map((outcome) =>
        withWarnings(outcome, [
          ...warnings.get(outcome.id ?? "") ?? [],
          ...byFile.get(outcome.file ?? "") ?? []
        ])
      ),
      remaining + written.remaining
    )
  }))
})
