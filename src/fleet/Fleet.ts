/**
 * Changes of many workflows: planned, written and taken back.
 *
 * **Details**
 *
 * A plan has the digest of each workflow before and after its change, and the places that differ. What is written is
 * what was planned: a workflow that has changed elsewhere is still changed, and one that differs at a place of the change
 * is left out. Since the digests say what was done, a batch that ended early can be continued and taken back, whatever it
 * has recorded.
 *
 * **Example** (A new address in all workflows that have the old one)
 *
 * ```ts
 * import { Fleet, Services } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const move = (from: string, to: string, confirm: (changes: Fleet.Plan["changes"]) => Effect.Effect<boolean>) =>
 *   Effect.gen(function*() {
 *     const { plan } = yield* Fleet.plan({ select: { uses: from }, operations: [{ op: "replace", find: from, with: to }] })
 *     if (!(yield* confirm(plan.changes))) return 0
 *     const { outcomes } = yield* Fleet.apply(plan.id) // Fleet.restore(plan.id) takes it back
 *     return outcomes.size
 *   })
 *
 * const node = { name: "Call", type: "n8n-nodes-base.httpRequest", parameters: { url: "https://old.example/a" } }
 * const workflow = { id: "1", name: "Orders", nodes: [node], connections: {} }
 *
 * export const test = move("https://old.example", "https://new.example", () => Effect.succeed(true)).pipe(
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow] }), Services.layerMemory))
 * )
 * ```
 */
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Alias from "../base/Alias.ts"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { defined, type Obj, obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Rows from "../base/Rows.ts"
import * as Turn from "../base/Turn.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import { preview } from "../n8n/WriteGuard.ts"
import * as Upgrade from "../workflow/upgrade/Upgrade.ts"
import { WorkflowFiles } from "../workflows/files/WorkflowFiles.ts"
import { placeOf } from "../workflows/Reference.ts"
import { isLive as isPublished, outside } from "../workflows/store/Outcome.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import {
  type Context,
  contextOf,
  decide,
  fileNow,
  forEach,
  isOfNode,
  isOwnDraft,
  modification,
  nowById,
  obstacle,
  ofFile,
  snapshotWith,
  type State,
  untouched
} from "./batchState.ts"
import * as Change from "./change.ts"
import * as extraction from "./extraction.ts"
import { Operations } from "./Operations.ts"
import type * as places from "./places.ts"
import * as Plans from "./Plans.ts"
import * as swaps from "./swaps.ts"
import * as WorkflowSelection from "./WorkflowSelection.ts"

export { differences, type State } from "./batchState.ts"
export { state } from "./batchState.ts"
export type { Operation } from "./Operations.ts"
export { discard, type Entry, type Outcome, type Plan } from "./Plans.ts"
export { previewRestore, restore } from "./undo.ts"
export type { Select } from "./WorkflowSelection.ts"

/** Workflows to change, and how. */
const Request = Schema.Struct({
  /** Conditions of list_workflows, all met. */
  select: Schema.optional(Schema.Union([WorkflowSelection.Select, Schema.Literal("all")])),
  /** Instead of a selection, files and folders below the files root. */
  files: Schema.optional(Schema.Array(Schema.NonEmptyString)),
  operations: Operations,
  /** `keep` (default): published workflows stay published, with the change; `draft`: changes are drafts only. */
  publish: Schema.optional(Plans.Publish),
  /** Release of n8n whose node types an upgrade may use; default: the connected one, else the newest known. */
  release: Schema.optional(Schema.String.check(Schema.isPattern(/^\d+\.\d+(\.\d+)?$/)))
}).check(
  Schema.makeFilter(({ files, select }) =>
    (files === undefined) !== (select === undefined) || "select is required, or files instead of it"
  )
)
/** Workflows to change, and how. */
export interface Request extends Schema.Schema.Type<typeof Request> {}

const decodeRequest = Input.decoder(Request)

const leftByDecision = (left: ReadonlyArray<Upgrade.Left & { readonly workflow: string }>): ReadonlyArray<Plans.Left> =>
  Rows.grouped(left, ({ choices, decision, type, why }) => [type, why, decision, choices]).map(({ first, rows }) =>
    defined({
      ...Struct.pick(first, ["type", "why", "decision"]),
      choices: first.choices.length === 0 ? undefined : first.choices,
      nodes: rows.length,
      workflows: new Set(rows.map(({ workflow }) => workflow)).size,
      names: rows.map(({ node, workflow }) => `${workflow}: ${node}`)
    }) as Plans.Left
  ).toSorted((a, b) => b.nodes - a.nodes)

/** Change that the operations would make of the version that runs, of a workflow whose draft they do not change. */
const ofRunning = Effect.fnUntraced(function*(workflow: Workflow.Listed, context: Context) {
  const { connections, nodes } = obj(workflow.activeVersion) ?? {}
  if (!Workflow.hasDraft(workflow) || nodes === undefined) return undefined
  const before: Obj & { readonly id: string } = { ...workflow, nodes, connections }
  const changed = yield* Turn.run(() => Change.make(before, context))
  return Result.isSuccess(changed) && changed.success.steps.some(isOfNode)
    ? { before, steps: changed.success.steps }
    : undefined
})

/** Workflows to change: a selection, or those in files. */
const subjectsOf = Effect.fnUntraced(function*({ files, select = {} }: Pick<Request, "files" | "select">) {
  if (files === undefined) {
    if (select !== "all") yield* WorkflowSelection.refuseAll(select)
    const { missing, selected } = yield* WorkflowSelection.all(select === "all" ? {} : select)
    return {
      refused: missing.map(({ id, why }): Plans.Refused => ({ id, name: "", why })),
      workflows: selected.map(({ workflow }) => workflow)
    }
  }
  const listed = yield* Effect.forEach(files, (file) =>
    file.endsWith(".json")
      ? Effect.succeed([file])
      : Effect.map(
        WorkflowFiles.use((all) => all.list(file)),
        ({ unreadable, workflows }) => [...workflows, ...unreadable].map(({ path }) => path)
      ))
  const [workflows, refused] = yield* Effect.partition(
    new Set(listed.flat()),
    (path) => Effect.mapError(fileNow(path), ({ message }): Plans.Refused => ({ id: path, name: "", why: message })),
    { concurrency: 8 }
  )
  return { refused, workflows }
})

/** Top-level keys that an update names; `undefined` for operations that change whatever they need. */
const keysOf = ({ op, parameters, ...rest }: Obj) =>
  op === "update" ? new Set([...Object.keys(rest), ...Object.keys(obj(parameters) ?? {})]) : undefined

/** Values of each step: those that it names, or all that changes in its node and that no other step names. */
const withValues = (
  steps: Change.Changed["steps"],
  all: ReadonlyArray<places.Place>,
  workflow: Obj
): ReadonlyArray<Pick<Plans.Change, "change" | "node" | "values">> => {
  const names = new Map(Workflow.nodes(workflow).map((node) => [node["id"], Workflow.nameOf(node)]))
  const nameOf = ({ operation: { node } }: Change.Changed["steps"][number]) =>
    node === undefined ? undefined : String(names.get(node) ?? node)
  const taken = new Set<places.Place>()
  const take = (step: Change.Changed["steps"][number]) => {
    const [name, keys] = [nameOf(step), keysOf(step.operation)]
    if (step.values !== undefined || name === undefined && step.path === undefined) return []
    const own = all.filter((place) => {
      if (taken.has(place) || place.node !== name) return false
      if (step.path !== undefined) return place.path === step.path
      const [top = ""] = JsonPath.parse(place.path) ?? []
      return keys === undefined ? top !== "typeVersion" && top !== "type" : keys.has(String(top))
    })
    for (const place of own) taken.add(place)
    return own
  }
  // What names its values comes first: an upgrade has the rest.
  const [rest, first] = Arr.partition(
    steps,
    (step) => keysOf(step.operation) === undefined ? Result.fail(step) : Result.succeed(step)
  )
  const own = new Map([...first, ...rest].map((step) => [step, take(step)]))
  return steps.map((step) => ({
    change: step.change,
    node: nameOf(step),
    values: step.values ?? (own.get(step) ?? []).map((place) => ({
      values: step.path === undefined && place.path !== "" ? `${place.path}: ${place.values()}` : place.values()
    }))
  }))
}

/**
 * Plans a change without writing to n8n, and stores the plan; `workflows` has the state of each before and after it. What
 * `bulk_edit` refuses fails with a `ValidationError`.
 */
export const plan = Effect.fn("Fleet.plan")(
  function*(request: Request) {
    const { files, operations, publish = "keep", release, select } = yield* decodeRequest(request)
    const id = yield* Plans.newId
    const { workflows, ...subjects } = yield* subjectsOf({ files, select })
    const draft = defined({ id, operations, publish, release, swaps: yield* Effect.forEach(operations, swaps.resolve) })
    const context = yield* extraction.planned(yield* contextOf(draft, workflows), workflows)
    const { connected } = context
    const digest = Change.digester(context)
    const read = swaps.readOnce((yield* N8nClient).getWorkflow)
    const entries: Array<Plans.Entry> = []
    const states = new Map<string, { readonly before: Obj; readonly after: Obj }>()
    const changes: Array<Plans.Change> = []
    const left: Array<Upgrade.Left & { readonly workflow: string }> = []
    const refused = [...subjects.refused]
    let unchanged = 0
    for (const listed of workflows) {
      yield* Turn.pause
      const { active, name } = listed
      const refuse = (why: string) => refused.push({ id: listed.id, name, why })
      const changed = yield* Turn.run(() => Change.make({ ...listed }, context))
      if (Result.isFailure(changed)) {
        refuse(changed.failure)
        continue
      }
      const { publication, workflow: after } = changed.success
      left.push(...changed.success.left.map((each) => ({ ...each, workflow: name })))
      const hasDraft = Workflow.hasDraft(listed) && !(yield* isOwnDraft(listed))
      const running = changed.success.steps.some(isOfNode) ? undefined : yield* ofRunning(listed, context)
      if (running !== undefined && hasDraft && publish === "keep") {
        refuse("only the published version would change, and a draft waits")
        continue
      }
      // The draft of an earlier batch has the change: it is published, or proven, with the others.
      const { before: workflow, steps } = running === undefined || hasDraft
        ? { before: { ...listed } as Obj & { readonly id: string }, steps: changed.success.steps }
        : running
      if (steps.length === 0) {
        unchanged++
        continue
      }
      const fault = files === undefined
        ? yield* preview({ before: workflow, after }, read).pipe(Effect.flip, Effect.option)
        : undefined
      const why = fault?._tag === "Some"
        ? Errors.reasonOf(fault.value)
        : files !== undefined && publication !== undefined
        ? "a file is not published"
        : obstacle(listed, { publication, steps }, draft, hasDraft, connected)
      if (why !== undefined) {
        refuse(why)
        continue
      }
      const hasNodes = steps.some(isOfNode)
      const places = Change.placesOf(workflow, after, context)
      const immediate = active && (hasDraft || publish === "draft" && hasNodes) ? outside(workflow, after) : []
      entries.push(defined({
        id: listed.id,
        name,
        isFile: files === undefined ? undefined : true,
        active,
        hasDraft,
        hasNodes,
        publication,
        running: active ? listed.activeVersionId ?? undefined : undefined,
        before: digest(workflow),
        after: digest(after),
        inForce: immediate.length === 0 ? undefined : immediate,
        places: places.map((place) => Change.stored(context, place))
      }))
      states.set(listed.id, { before: workflow, after })
      changes.push(...withValues(steps, places, after).map((each) => ({ ...each, id: listed.id, name })))
    }
    const plan: Plans.Plan = {
      ...draft,
      ...context.created === undefined ? {} : { created: context.created },
      createdAt: new Date(yield* Clock.currentTimeMillis).toISOString(),
      entries,
      changes: Plans.grouped(changes),
      refused,
      left: leftByDecision(left)
    }
    yield* Plans.save(plan)
    return { plan, unchanged, workflows: states as ReadonlyMap<string, { readonly before: Obj; readonly after: Obj }> }
  },
  Alias.retry
)

/** Writes the change of a workflow, and publishes it if it was live. */
const write = Effect.fnUntraced(function*(plan: Plans.Plan, entry: Plans.Entry, context: Context) {
  const { result, warnings, workflow, ...written } = yield* WorkflowStore.use((store) =>
    store.write(
      placeOf(entry.id),
      (now: Obj) =>
        decide(plan, entry, entry.isFile === true ? ofFile(entry.id, now) : now as Workflow.Workflow, context),
      { operation: "bulk_edit", problems: "none" }
    )
  )
  if (result.state !== "done") return result
  return defined({
    ...result,
    after: Change.digester(plan)(workflow),
    published: isPublished(written),
    warnings: warnings.length === 0 ? undefined : warnings
  }) satisfies Plans.Outcome as Plans.Outcome
})

/** Publishes the draft that a batch has made: as it wrote it, as its caller has edited it since, or as it was proven. */
const publishDraft = Effect.fnUntraced(
  function*(plan: Plans.Plan, entry: Plans.Entry, outcome: Plans.Outcome, isProven: boolean) {
    const { proven } = outcome
    const after = outcome.after ?? entry.after
    const written = yield* WorkflowStore.use((store) =>
      store.write(
        { kind: "n8n", id: entry.id },
        Effect.fnUntraced(function*(now: Workflow.Workflow) {
          if (!now.active) return untouched("it was unpublished since the batch")
          if (!Workflow.awaitsPublishing(now)) return modification<Plans.Outcome>(outcome, {}, "keep")
          if (isProven) {
            return proven?.versionId === now.versionId
              ? modification<Plans.Outcome>(outcome, {}, "now")
              : untouched("its draft has changed since its proof: prove it again")
          }
          const isAsWritten = Change.digester(plan)(now) === after
          return isAsWritten || (yield* snapshotWith(plan, entry, after)) !== undefined
            ? modification<Plans.Outcome>(outcome, {}, "now")
            : untouched(
              "someone has changed its draft since the batch: publish the workflow itself to publish all of it"
            )
        }),
        { operation: "bulk_edit", problems: "none" }
      )
    )
    const { result: { state, why } } = written
    const isEdited = state === "done" && !isProven && Change.digester(plan)({ ...written.before }) !== after
    const warnings = [
      ...written.warnings,
      ...isEdited ? ["published with what was changed in its draft since the batch"] : []
    ]
    return state !== "done" ? { ...outcome, why } as Plans.Outcome : defined({
      ...outcome,
      published: isPublished(written) ?? true,
      warnings: warnings.length === 0 ? undefined : warnings
    })
  }
)

const decodePublication = Input.decoder(Schema.UndefinedOr(Schema.Literals(["keep", "proven"])))

/** Reason why a batch does not publish a draft as proven. */
const notProven = ({ proven }: Plans.Outcome): string | undefined =>
  proven === undefined
    ? "not proven: prove the batch first"
    : proven.runs === 0
    ? "no recorded run could be replayed: publish the workflow itself"
    : proven.same < proven.runs && proven.same + (proven.unknown ?? 0) === proven.runs
    ? "its runs cannot be compared, since a node has no recorded items: test it, and publish the workflow itself"
    : proven.same < proven.runs
    ? `${proven.runs - proven.same} of ${proven.runs} runs differ: publish the workflow itself if that is right`
    : proven.untested !== undefined
    ? `${Rows.listed(proven.untested, 3, "; ")}: publish the workflow itself if that is right`
    : proven.unreached === undefined
    ? undefined
    : `no recorded run reaches ${Rows.names(proven.unreached)}: publish the workflow itself if that is right`

/**
 * Writes a plan, or continues one; workflows that differ at a place of their change are left out. With `keep`, published
 * workflows are published again, also the drafts that the batch has made, and with `proven` those whose runs proved the
 * same. {@link restore} makes live again what was live before.
 */
export const apply = Effect.fn("Fleet.apply")(function*(id: string, publish?: "keep" | "proven") {
  yield* decodePublication(publish)
  const stored = yield* Plans.read(id)
  const before = yield* Plans.outcomes(stored)
  const isDone = ({ id }: Plans.Entry) => before.get(id)?.state === "done"
  const drafts = publish === undefined
    ? []
    : stored.entries.filter((entry) => isDone(entry) && entry.active && before.get(entry.id)?.published === false)
  const waiting = drafts.flatMap((entry): ReadonlyArray<readonly [string, Plans.Outcome]> => {
    const outcome = before.get(entry.id)
    const why = publish === "proven"
      ? outcome && notProven(outcome)
      : entry.hasDraft
      ? "a draft waited before the batch: publish the workflow itself to publish both"
      : undefined
    return why === undefined || outcome === undefined ? [] : [[entry.id, { ...outcome, why }]]
  })
  const reasons = new Map(waiting)
  const due = drafts.filter(({ id }) => !reasons.has(id))
  const plan: Plans.Plan = { ...stored, isBegun: true, ...publish === "keep" ? { publish } : {} }
  if (plan.publish !== stored.publish || stored.isBegun !== true) yield* Plans.save(plan)
  const open = publish === "proven" ? [] : plan.entries.filter(({ id }) => !before.has(id))
  const now = open.length === 0 ? new Map() : yield* nowById(open)
  const context = yield* contextOf(plan, [...now.values()])
  const ready = open.length === 0 ? { plan, context } : yield* extraction.create(plan, context)
  const { outcomes, stopped, warnings } = yield* forEach(
    [...open, ...due],
    ready.plan,
    (entry) => {
      const outcome = before.get(entry.id)
      return outcome === undefined
        ? write(ready.plan, entry, ready.context)
        : publishDraft(ready.plan, entry, outcome, publish === "proven")
    }
  )
  return {
    plan: ready.plan,
    outcomes: new Map([...before, ...reasons, ...outcomes]),
    stopped,
    warnings
  } satisfies State as State
})
