/** From the folder to n8n. */
import * as Effect from "effect/Effect"
import { defined, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { preview } from "../n8n/WriteGuard.ts"
import * as JsonText from "../workflows/files/JsonText.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import * as LiteralSecrets from "../workflows/LiteralSecrets.ts"
import { WorkflowStore, type Written } from "../workflows/store/WorkflowStore.ts"
import { keepFile } from "../workflows/Workflows.ts"
import * as Compare from "./comparison.ts"
import * as content from "./content.ts"
import { changedLine, entryOf, type Options, type Outcome, reportOf, select, type Step } from "./report.ts"
import * as State from "./state.ts"
import * as writing from "./writing.ts"

/** How a folder is pushed. */
export interface PushOptions<R = never> extends Options {
  /** Publishes what is pushed. Without it, on n8n 2.x, a published workflow goes on running as it was. */
  readonly publishes?: boolean | undefined
  /** Deletes workflows whose file is gone, unless they changed on n8n. */
  readonly deletes?: boolean | undefined
  readonly dryRun?: boolean | undefined
  readonly onStep?: ((step: Step) => Effect.Effect<void, never, R>) | undefined
}

type Task =
  | { readonly kind: "create"; readonly item: Compare.Item; readonly local: Compare.Local }
  | {
    readonly kind: "update"
    readonly item: Compare.Item
    readonly local: Compare.Local
    readonly remote: Compare.Remote
  }
  | { readonly kind: "remove"; readonly item: Compare.Item; readonly remote: Compare.Remote }
  | { readonly kind: "leave"; readonly item: Compare.Item }

const operation = "sync_push"

const stringsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string" ? [value] : typeof value === "object" && value !== null
    ? Object.values(value).flatMap(stringsIn)
    : []

/** Whether publishing is all that is left to do: a draft of what runs, what an earlier push left, or what is named. */
const isToPublish = ({ base, remote }: Compare.Item, { only, publishes }: Pick<PushOptions, "only" | "publishes">) =>
  publishes === true && remote?.awaitsPublishing === true &&
  (remote.active || base?.unpublished === true || only !== undefined)

const taskOf = (item: Compare.Item, options: Pick<PushOptions, "deletes" | "only" | "publishes">): Task => {
  const { local, remote, status } = item
  const { deletes } = options
  if (status === "new here" && local !== undefined) return { kind: "create", item, local }
  const isDue = status === "changed here" || status === "same" && isToPublish(item, options)
  if (remote !== undefined && local !== undefined && isDue) {
    return { kind: "update", item, local, remote }
  }
  return remote !== undefined && status === "gone here" && deletes === true
    ? { kind: "remove", item, remote }
    : { kind: "leave", item }
}

/** Deletes what is still as it was when its file was there, and the code that the file left. */
const remove = Effect.fnUntraced(function*(
  { item, remote }: Task & { readonly kind: "remove" },
  { folder, items, scope }: Compare.Comparison
) {
  const now = yield* N8nClient.use((n8n) => n8n.getWorkflow(remote.id))
  if (content.hash(content.of(now, scope)) !== remote.hash) return yield* Compare.movedOn(`Workflow '${remote.id}'`)
  yield* WorkflowStore.use((store) => store.remove(remote.id))
  if (item.file === undefined) return
  const used = new Set(items.flatMap(({ local }) => local?.beside ?? []))
  const codes = new Set(stringsIn(now.nodes.map(({ parameters }) => parameters)))
  yield* folder.removeCode(item.file, (file, text) => !used.has(file) && codes.has(text))
})

/** The file becomes what n8n made of it: the id, and what it repaired. One that was edited meanwhile is left. */
const follow = Effect.fnUntraced(function*(
  local: Compare.Local,
  workflow: Workflow.Workflow,
  comparison: Compare.Comparison
) {
  const { scope } = comparison
  const there = content.of(workflow, scope)
  const options = yield* Compare.codeOptions(comparison, workflow)
  yield* WorkflowFiles.use((files) =>
    files.update(
      local.path,
      ({ text, value }) => {
        const now = obj(value) ?? {}
        const isAsPushed = content.hash(content.of(now, scope)) === local.hash
        if (!isAsPushed && str(now["id"]) === workflow.id) return Effect.undefined
        const next = isAsPushed ? content.toFile(workflow.id, there, now, scope) : { ...now, id: workflow.id }
        return Effect.succeed(JsonText.rewrite(text, next))
      },
      keepFile(operation),
      options
    )
  )
})

/**
 * Writes to n8n what is new or changed in the folder.
 *
 * **Details**
 *
 * What changed on both sides is never overwritten: one such workflow, or one file that is no workflow, among those that
 * are pushed, and nothing is written. Before each write the workflow is looked at again, and a snapshot is kept. The
 * state is written after each, so that a push that ends halfway goes on where it was. On n8n: `POST /workflows`,
 * `PUT /workflows/{id}`, its tags, `DELETE` and publishing only when asked.
 */
export const push = Effect.fn("Sync.push")(function*<R = never>(userPath: string, options: PushOptions<R> = {}) {
  const { dryRun = false, onStep = () => Effect.void, publishes = false } = options
  const folder = yield* WorkflowFiles.use((files) => files.folder(userPath))
  return yield* folder.exclusively(Effect.gen(function*() {
    const comparison = yield* Compare.make(userPath, options)
    const { scope } = comparison
    const items = yield* select(comparison, options)
    const isBlocked = items.some(({ status }) => status === "both" || status === "invalid")
    const tasks = items.map((item): Task => isBlocked && !dryRun ? { kind: "leave", item } : taskOf(item, options))

    let state = comparison.state
    let text = comparison.stateText
    const note = Effect.fnUntraced(function*(id: string, base: State.Base | undefined) {
      const { [id]: _, ...rest } = state.workflows
      const { creating = [], ...others } = state
      const left = creating.filter((file) => file !== base?.file)
      state = {
        ...others,
        ...(left.length === 0 ? {} : { creating: left }),
        workflows: base === undefined ? rest : { ...rest, [id]: base }
      }
      text = yield* State.write(comparison.folder, state, text)
    })
    const begin = Effect.fnUntraced(function*(file: string) {
      const { workflows, ...others } = state
      state = { ...others, creating: [...new Set([...state.creating ?? [], file])], workflows }
      text = yield* State.write(comparison.folder, state, text)
    })

    const told = Effect.fnUntraced(function*(task: Task & { readonly kind: "create" | "update" }, written: Written) {
      const { workflow } = written
      const isLeft = !publishes && Workflow.awaitsPublishing(workflow)
      yield* note(workflow.id, {
        ...Compare.baseOf(task.local.file, workflow, scope),
        ...(isLeft ? { unpublished: true } : {})
      })
      yield* follow(task.local, workflow, comparison)
      const warnings = [
        ...written.warnings,
        ...writing.settingsKept(task.local.content, workflow, scope),
        ...(!scope.writesDrafts && workflow.active && task.kind === "update" && !publishes ? [writing.noDrafts] : [])
      ]
      return { workflow, warnings }
    })

    const perform = Effect.fnUntraced(function*(task: Task) {
      const { item } = task
      const entry = entryOf(item)
      if (task.kind === "leave") return entry as Outcome
      const n8n = yield* N8nClient
      if (task.kind === "remove") {
        if (dryRun) {
          yield* preview({ before: yield* Compare.whole(task.remote) }, n8n.getWorkflow)
        } else {
          yield* remove(task, comparison)
          yield* note(task.remote.id, undefined)
        }
        return { ...entry, action: "removed" } satisfies Outcome
      }
      const secrets = LiteralSecrets.warnings(task.local.content)
      const action = task.kind === "create" ? "created" as const : "updated" as const
      const changedFrom = (before: Workflow.Workflow | undefined) =>
        before === undefined || item.status === "same"
          ? undefined
          : changedLine(content.of(before, scope), task.local.content)
      if (dryRun) {
        const before = task.kind === "create" ? undefined : yield* Compare.whole(task.remote)
        const after = { ...before, ...task.local.content }
        yield* preview({ after, ...(before === undefined ? {} : { before }) }, n8n.getWorkflow)
        const outcome: Outcome = defined({
          ...entry,
          action,
          changed: item.status === "same" ? "publishes what waits" : changedFrom(before),
          warnings: secrets.length === 0 ? undefined : secrets
        })
        return outcome
      }
      if (task.kind === "create") yield* begin(task.local.file)
      const [written, before] = task.kind === "create"
        ? [yield* writing.create(task.local.content, operation, publishes), undefined] as const
        : yield* Effect.map(
          writing.update(task.remote, task.local.content, {
            expectedHash: task.remote.hash,
            operation,
            publishes,
            scope
          }),
          (modified) => [modified, modified.before] as const
        )
      const { warnings, workflow } = yield* told(task, written)
      const all = [...secrets, ...warnings]
      const outcome: Outcome = defined({
        ...entry,
        id: workflow.id,
        action,
        changed: changedFrom(before),
        published: workflow.active ? !Workflow.hasDraft(workflow) : undefined,
        warnings: all.length === 0 ? undefined : all
      })
      return outcome
    })

    const total = tasks.filter(({ kind }) => kind !== "leave").length
    let count = 0
    let isBroken = false
    const outcomes = yield* Effect.forEach(tasks, (task) =>
      Effect.gen(function*() {
        if (task.kind === "leave" || isBroken) return entryOf(task.item) as Outcome
        const outcome = yield* Effect.catch(perform(task), (error) => {
          // An n8n that does not answer, or knows the key no more, would be asked in vain for all the others.
          isBroken = error._tag === "ApiError" && (error.statusCode === undefined || error.statusCode === 401)
          const failed: Outcome = { ...entryOf(task.item), error }
          return Effect.succeed(failed)
        })
        count++
        yield* onStep({ _tag: "Done", outcome, count, total })
        return outcome
      }))
    return reportOf(outcomes)
  }))
})
