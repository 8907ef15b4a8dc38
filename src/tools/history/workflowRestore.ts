import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined, type Obj, obj, str, without } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import { preview } from "../../n8n/WriteGuard.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Publication from "../../workflows/Publication.ts"
import * as Reference from "../../workflows/Reference.ts"
import { formerSettings } from "../../workflows/store/FormerSettings.ts"
import { cleared, type Options, type Patch } from "../../workflows/store/Outcome.ts"
import { keepFile, Snapshots } from "../../workflows/store/Snapshots.ts"
import { Versions } from "../../workflows/store/Versions.ts"
import { WorkflowStore } from "../../workflows/store/WorkflowStore.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as batches from "../shared/Batches.ts"
import * as differences from "../shared/Differences.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const partsOf = (snapshot: Obj) => {
  const { connections, description, name, nodeGroups, nodes, pinData, settings, staticData } = snapshot
  return defined({
    name: str(name),
    description: str(description),
    nodes,
    connections,
    settings,
    nodeGroups,
    pinData: pinData ?? undefined,
    staticData: staticData ?? undefined
  })
}

const recreate = Effect.fnUntraced(function*(id: string, snapshot: Obj) {
  const parts = partsOf(snapshot)
  const { name = id } = parts
  const written = yield* (yield* WorkflowStore).write(
    { kind: "new" },
    {
      ...parts,
      name: TestMark.isTaken(name) ? `Restored ${TestMark.originalName(name)}` : name,
      tags: Workflow.tagNames(snapshot)
    } as Patch,
    { operation: "workflow_restore", source: "stored" }
  )
  const to = written.workflow.id
  const recreated = `'${id}' was deleted; it was recreated, unpublished, as '${to}'`
  const dependents = yield* Publication.dependents(id)
  // n8n 1 also runs an unpublished workflow for its callers.
  const first = isV1(yield* N8nClient.use((n8n) => n8n.release)) ? "" : `activate_workflow(id: '${to}'), then `
  const callers = dependents?.length === 0 ? [] : [
    `${
      writing.dependentsHint(dependents)
    } ${first}bulk_edit(select: {uses: '${id}'}, operations: [{op: 'calls', from: '${id}', to: '${to}'}]) makes them call the new id`
  ]
  return { ...written, warnings: [recreated, ...callers, ...written.warnings] }
})

/** Writes the parts of a version; a snapshot also has the parts that n8n's versions lack. */
const write = Effect.fnUntraced(function*(
  id: string,
  version: string,
  former: Workflow.Workflow,
  options: Pick<Options, "dryRun" | "publish">
) {
  const isFirst = isV1(yield* N8nClient.use((n8n) => n8n.release))
  const notes: Array<string> = []
  const written = yield* WorkflowStore.use((store) =>
    store.write({ kind: "n8n", id }, (current) => {
      const { connections, nodeGroups, nodes } = former
      if (!Reference.isSnapshot(version)) return Effect.succeed(defined({ nodes, connections, nodeGroups }) as Patch)
      const { settings, warnings } = formerSettings(current.settings, former["settings"], isFirst)
      notes.splice(0, notes.length, ...warnings)
      return Effect.succeed({
        // Parts that the snapshot does not have are removed.
        ...without(cleared, (_, key) => !current[key]),
        ...partsOf(former),
        settings,
        tags: Workflow.tagNames(former)
      } as Patch)
    }, { operation: "workflow_restore", ...options })
  )
  return { ...written, warnings: [...written.warnings, ...notes] }
})

const whole = (id: string, version: string) =>
  Hints.call("workflow_diff", { a: id, b: Reference.format(id, version), node: "*" })

const restoreOnN8n = Effect.fnUntraced(function*(
  id: string,
  version: string,
  { confirm, dryRun, publish }: { readonly confirm: boolean; readonly dryRun: boolean; readonly publish: boolean }
) {
  const { workflow: former } = yield* Versions.use((versions) => versions.read(id, version))
  const current = yield* N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.catchTag("NotFoundError", () => Effect.undefined)
  )
  const { name } = current ?? former
  const options = { dryRun, publish: publish ? "now" : "hold" } as const
  if (dryRun && current === undefined) {
    const after = partsOf(former)
    yield* preview({ after }, (yield* N8nClient).getWorkflow)
    return {
      id,
      name,
      active: false,
      hint: "Nothing was written. The workflow was deleted: restoring recreates it, unpublished.",
      difference: yield* differences.view({ name, nodes: [], connections: {} }, after)
    }
  }
  if (dryRun) {
    const outcome = yield* write(id, version, former, options)
    return {
      ...writing.summarize(outcome, false, {
        isDry: true,
        hint: `Nothing was written. ${writing.hintOf(outcome, { isDry: true }) ?? ""}`
      }),
      difference: yield* differences.view(
        publish ? Workflow.running(outcome.before) ?? outcome.before : outcome.before,
        outcome.workflow
      )
    }
  }
  yield* writing.requireConsent(confirm, `Restore version ${version} of workflow ${id} ('${Visible.label(name)}')?`)
  const restoring = current === undefined ? recreate(id, former) : write(id, version, former, options)
  const publishing = `${Hints.call("workflow_restore", { id, version, publish: true })}`
  return writing.summarize(yield* writing.withUrl(restoring), false, { publishing, isWhole: true })
})

const restoreFile = Effect.fnUntraced(function*(
  id: string,
  path: string,
  version: string,
  confirm: boolean,
  dryRun: boolean
) {
  const files = yield* WorkflowFiles
  if (Reference.fileOf(path) !== path) {
    return yield* parameters.invalid(
      "id",
      "A version of a file is the whole file",
      `Restore '${Reference.fileOf(path)}'.`
    )
  }
  const located = yield* files.locate(path)
  const { workflow } = yield* Snapshots.use((snapshots) => snapshots.read(files.instance, located, version))
  const text = str(obj(workflow)?.["text"]) ?? ""
  if (dryRun) {
    const [before, after] = yield* Effect.all([
      Workflows.document(id, "id"),
      Workflows.document(Reference.format(id, version), "id")
    ])
    return {
      id,
      name: str(after.workflow["name"]) ?? id,
      active: after.workflow["active"] === true,
      hint: "Nothing was written.",
      difference: yield* differences.view(before.workflow, after.workflow)
    }
  }
  yield* writing.requireConsent(confirm, `Restore version ${version} of the ${Reference.nounOf(located)} ${located}?`)
  yield* files.save(path, () => Effect.succeed(text), keepFile("workflow_restore"))
  const { value } = yield* files.read(path)
  const { active, name } = obj(value) ?? {}
  return { id, name: str(name) ?? id, active: active === true }
})

const invalidBatch = (field: string, reason: string) =>
  parameters.invalid(field, reason, "A batch is restored whole, by the plan's id; a workflow by id and version.")

const restoreBatch = Effect.fnUntraced(function*(batch: string, confirm: boolean, dryRun: boolean) {
  const before = yield* Fleet.previewRestore(batch)
  const done = [...before.outcomes.values()].filter(({ state }) => state === "done").length
  const live = before.plan.entries.filter(({ active, hasDraft, id }) =>
    active && !hasDraft && before.outcomes.get(id)?.state === "done"
  ).length
  if (dryRun) {
    return {
      state: before,
      hint: `Nothing was written. ${counted(done, "workflow")} would be restored${
        live === 0 ? "" : `, and ${live} of them run immediately as before`
      }.`
    }
  }
  if (done > 1) {
    const name = Rows.listed(
      before.plan.changes.map(({ change }) =>
        Visible.label(change, 70)
      ),
      3,
      "; "
    )
    yield* writing.requireConsent(confirm, `Take back the change of ${counted(done, "workflow")}: ${name}?`)
  }
  const state = yield* Fleet.restore(batch)
  const isOpen = state.stopped !== undefined
  const made = (state.plan.created ?? []).flatMap(({ id, workflow }) =>
    id
      ? [`The sub-workflow ${Rows.quote(String(workflow["name"]))} stays: ${Hints.call("delete_workflow", { id })}.`]
      : []
  )
  return {
    state,
    hint: isOpen
      ? `workflow_restore(batch: '${batch}') continues.`
      : ItemView.joinNotes([
        live > 0 && `${live} of them run as before.`,
        ...made
      ])
  }
})

/** Writes an earlier version; as with every write, the overwritten state becomes a snapshot. */
export const workflowRestore = Tool.make({
  name: "workflow_restore",
  title: "Restore workflow",
  searchHint: "undo, roll back, revert, bring back a deleted workflow",
  description:
    "Restore a version from workflow_history, on n8n 2.40+ as a draft. Snapshots contain all and recreate deleted workflows.",
  // A deleted workflow is created again with each call.
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["workflow:update", "workflow:create", "workflow:read"],
  input: Schema.Struct({
    id: Schema.optionalKey(parameters.anyWorkflowId),
    version: Schema.optionalKey(parameters.required("Version", "From workflow_history.")),
    batch: parameters.optional(Schema.String, "Or plan of bulk_edit."),
    publish: parameters.flag("All of it runs immediately."),
    dryRun: writing.dryRun,
    confirm: writing.confirm
  }),
  output: Schema.Struct({
    // Absent for a batch.
    ...Struct.mapPick(writing.Replaced.fields, ["id", "name", "active"], Schema.optionalKey),
    ...Struct.omit(batches.fields, ["warnings"]),
    /** Changes that restoring would make, in the format of workflow_diff. */
    difference: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  }),
  handler: ({ batch, confirm, dryRun, id, publish, version }) =>
    Effect.gen(function*() {
      if (batch !== undefined) {
        return id === undefined && version === undefined
          ? { batch: yield* restoreBatch(batch, confirm, dryRun) }
          : yield* invalidBatch("batch", "batch cannot be combined with id and version")
      }
      if (id === undefined) return yield* invalidBatch("id", "Workflow ID is required")
      if (version === undefined) return yield* invalidBatch("version", "Version is required")
      const place = Reference.placeOf(id)
      const workflow = place.kind === "n8n"
        ? yield* restoreOnN8n(id, version, { confirm, dryRun, publish })
        : yield* restoreFile(id, place.path, version, confirm, dryRun)
      return { workflow }
    }),
  summarize: ({ batch, workflow }) =>
    batch === undefined ? { ...workflow } : defined({ ...batches.summarize(batch.state), hint: batch.hint }),
  message: ({ done, id, restored = 0 }, { batch, dryRun }) => {
    const what = id === undefined
      ? `${counted(dryRun ? done ?? 0 : restored, "workflow")} of ${batch}`
      : `workflow '${id}'`
    return dryRun
      ? { en: `Would restore ${what}`, ja: "復元の内容を確認しました" }
      : { en: `Restored ${what}`, ja: "ワークフローを復元しました" }
  },
  next: ({ id, version }) => (path) =>
    id === undefined || version === undefined || !path.startsWith("difference") ? undefined : whole(id, version),
  budget: (_, { dryRun }) => dryRun ? differences.budget(2_600, "difference.") : {}
})
