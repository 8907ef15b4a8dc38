import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as ItemView from "../../executions/ItemView.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import { Operations } from "../../fleet/Operations.ts"
import * as Plans from "../../fleet/Plans.ts"
import * as WorkflowSelection from "../../fleet/WorkflowSelection.ts"
import * as Deprecated from "../../n8n/Deprecated.ts"
import * as batches from "../shared/Batches.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

const optional = Schema.optionalKey

const inWords = ({ changes, entries, publish }: Plans.Plan) => {
  const published = entries.filter(({ active }) => active).length
  const immediate = [...new Set(entries.flatMap(({ inForce = [] }) => inForce))]
  const live = published === 0
    ? ""
    : publish === "keep"
    ? `, ${published} of which are published again`
    : `, as drafts where published${immediate.length === 0 ? "" : `, but for ${immediate.join(", ")}`}`
  const groups = changes.map(({ change, workflows }) => `${workflows} × ${Visible.label(change, 70)}`)
  return `Change ${counted(entries.length, "workflow")}${live}: ${Rows.listed(groups, 5, "; ")}?`
}

/** Workflows that are left out: by the dry run, which shows them, or since. */
const leftOut = (state: Fleet.State, isPlan: boolean, isShown: boolean) => [
  ...isShown ? [] : state.plan.refused,
  ...isPlan ? [] : batches.leftOut(state)
]

/** Operation that carries out the first choice of each type that an upgrade has left. */
const acceptance = (left: Fleet.Plan["left"] = []) => {
  const choices = Object.fromEntries(
    left.flatMap(({ choices: [first] = [], type }) => first ? [[type, first.key]] : [])
  )
  return Object.keys(choices).length === 0
    ? undefined
    : `accept carries choices out, by type or node: {op: 'upgrade', accept: ${JSON.stringify(choices)}}.`
}

/** Number of nodes that the workflows of a batch change, or have changed. */
const nodesOf = ({ outcomes, plan }: Fleet.State, isPlan: boolean) =>
  plan.entries.filter(({ id }) => isPlan || outcomes.get(id)?.state === "done").reduce(
    (sum, { places = [] }) => sum + new Set(places.flatMap(({ at: [top, id] }) => top === "node" ? id : [])).size,
    0
  )

const Changes = Schema.Array(Schema.Struct({
  ...Plans.Group.fields,
  /** Distinct values, `2 × "a" → "b"`; with `raw` followed by their places: `Workflow: Node`. */
  values: optional(Schema.Array(Schema.String))
}))

const changesOf = (groups: Fleet.Plan["changes"], raw: boolean): typeof Changes.Type =>
  groups.map(({ values, ...group }) =>
    defined({
      ...group,
      values: values?.map(({ at, count, insideWord, values }) =>
        `${count > 1 ? `${count} × ` : ""}${values}${insideWord === true ? " (inside a longer word)" : ""}${
          raw ? `: ${Rows.names(at, Infinity)}` : ""
        }`
      )
    })
  )

export const bulkEdit = Tool.make({
  name: "bulk_edit",
  title: "Edit many workflows",
  searchHint:
    "change, update, replace in all workflows together; migrate a credential, url, sub-workflow, setting; upgrade, extract, publish many; batch",
  description:
    "Change many workflows. dryRun returns changes and a plan that applies them. Undo: workflow_restore(batch).",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: ["workflow:list", "workflow:read", "workflow:update"],
  partialScopes: { "credential:list": "credential" },
  input: Schema.Struct({
    select: parameters.optional(WorkflowSelection.Select, "Like list_workflows."),
    operations: parameters.optional(
      Operations,
      "As in workflow_edit; node also {type?, name?}. replace: find, with, node?, path?, word?; " +
        "credential: from, to, type?; calls (sub-, error ones): from, to; settings: settings, onlyWhereUnset?; " +
        "publish; unpublish. All only?: {active, tags, name, uses}"
    ),
    publish: parameters.optional(
      Schema.Literals([...Plans.Publish.literals, "proven"]),
      "keep (default): published ones again, plan: drafts too. proven: if proved same."
    ),
    plan: parameters.optional(Schema.String, "Of a dry run."),
    discard: parameters.flag("Drop it."),
    dryRun: writing.dryRun,
    confirm: writing.confirm,
    raw: parameters.flag("All rows, with nodes.")
  }),
  output: Schema.Struct({
    plan: Schema.optionalKey(Schema.String),
    workflows: Schema.Int,
    /** Nodes that change, or have. */
    nodes: Schema.optionalKey(Schema.Int),
    /** Published workflows that run with the change, by what n8n has now, or would. */
    published: Schema.optionalKey(Schema.Int),
    /** Published workflows whose change is a draft, or would be. */
    drafts: Schema.optionalKey(Schema.Int),
    /** Parts that take effect immediately, or have, although the nodes of these published workflows wait as drafts. */
    inForce: Schema.optionalKey(Schema.Array(Schema.String)),
    /** Planned changes, or with `plan` and `dryRun` what differs from the workflows before the batch. */
    changes: Schema.optionalKey(Changes),
    /** Sub-workflows that the batch creates, or has: `{name, id?}`. */
    created: Schema.optionalKey(writing.Objects),
    /** Nodes that an upgrade did not change, with the decision that a person has to make. */
    left: Schema.optionalKey(writing.Objects),
    ...batches.fields,
    unchanged: Schema.optionalKey(Schema.Int),
    hint: Schema.optionalKey(Schema.String)
  }),
  handler: ({ confirm, discard, dryRun, operations, plan, publish, select }) =>
    Effect.gen(function*() {
      if (plan !== undefined) {
        if (select !== undefined || operations !== undefined) {
          return yield* parameters.invalid("plan", "plan cannot be combined with select and operations", {
            _tag: "MakePlan",
            maxPlans: Plans.maxPlans
          })
        }
        const stored = yield* Plans.read(plan)
        if (dryRun || discard) {
          const state = yield* Fleet.state(plan)
          if (!discard) return { state, step: "continued" as const, differences: yield* Fleet.differences(state) }
          if ([...state.outcomes.values()].some(({ state }) => state === "done")) {
            return yield* parameters.invalid(
              "discard",
              "The plan was applied",
              `workflow_restore(batch: '${plan}') takes it back.`
            )
          }
          if (!dryRun) yield* Fleet.discard(plan)
          return { state: { ...state, outcomes: new Map() }, step: "discarded" as const }
        }
        if (publish === "draft" && stored.publish !== publish) {
          return yield* parameters.invalid(
            "publish",
            "The plan publishes its changes",
            "Make another with publish: 'draft'."
          )
        }
        const also = publish === "draft" ? undefined : publish
        if (stored.entries.length > 1) {
          yield* writing.requireConsent(
            confirm,
            also === "proven"
              ? `Publish the drafts of ${counted(stored.entries.length, "workflow")} whose runs proved the same?`
              : inWords(also === undefined ? stored : { ...stored, publish: also })
          )
        }
        return { state: yield* Fleet.apply(plan, also), step: "continued" as const }
      }
      if (select === undefined || operations === undefined || publish === "proven") {
        return yield* parameters.invalid(
          select === undefined ? "select" : operations === undefined ? "operations" : "publish",
          publish === "proven"
            ? "Only the plan of an applied batch has proofs"
            : "select and operations are required, or the plan of a dry run",
          "Nothing was written."
        )
      }
      const { plan: made, unchanged } = yield* Fleet.plan({ select, operations, publish: publish ?? "keep" })
      if (made.entries.length === 0) yield* Fleet.discard(made.id)
      if (dryRun || made.entries.length === 0) {
        return { state: { plan: made, outcomes: new Map(), warnings: [] }, unchanged, step: "planned" as const }
      }
      if (made.entries.length > 1) yield* writing.requireConsent(confirm, inWords(made))
      return { state: yield* Fleet.apply(made.id), unchanged, step: "applied" as const }
    }),
  summarize: ({ differences, state, step, unchanged }, { dryRun, publish: asked, raw = false }) => {
    const { changes, created = [], entries, id, left = [], publish } = state.plan
    const isPlan = step === "planned"
    const isUntouched = isPlan || dryRun && ![...state.outcomes.values()].some(({ state }) => state === "done")
    const outcome = batches.summarize(state, leftOut(state, isPlan, step === "continued" && !dryRun))
    const deprecated = Deprecated.hint([...state.outcomes.values()].flatMap(({ deprecated = [] }) => deprecated))
    const isLive = ({ active, hasDraft, hasNodes, id, publication }: Fleet.Entry) =>
      !isPlan
        ? state.outcomes.get(id)?.state === "done" ? state.outcomes.get(id)?.published : undefined
        : publication !== undefined
        ? publication === "publish" || undefined
        : active
        ? !hasDraft && (publish === "keep" || hasNodes === false)
        : undefined
    const published = entries.filter((entry) => isLive(entry) === true).length
    const waiting = entries.filter((entry) => isLive(entry) === false)
    const drafts = waiting.length
    const inForce = [...new Set(waiting.flatMap((entry) => entry.inForce ?? []))]
    const nodes = nodesOf(state, isUntouched)
    const shown = isUntouched ? changes : differences?.groups
    return defined({
      plan: entries.length === 0 || step === "discarded" ? undefined : id,
      workflows: entries.length,
      nodes: nodes === 0 ? undefined : nodes,
      published: published > 0 ? published : undefined,
      drafts: drafts > 0 ? drafts : undefined,
      inForce: inForce.length > 0 ? inForce : undefined,
      changes: shown && step !== "discarded" ? changesOf(shown, raw) : undefined,
      created: created.length === 0 ?
        undefined :
        created.map(({ id, workflow }) =>
          defined({ name: workflow["name"], id: id || undefined, published: true }) as {
            readonly [key: string]: Schema.Json
          }
        ),
      left: left.length === 0 || step === "continued" && !isUntouched ? undefined : left.map((each) => ({ ...each })),
      ...(isPlan ? Struct.pick(outcome, ["refused"]) : step === "discarded" ? {} : outcome),
      unchanged,
      hint: step === "discarded"
        ? undefined
        : isPlan
        ? entries.length === 0
          ? outcome.refused !== undefined
            ? "Nothing was written; see refused."
            : left.length === 0
            ? "Nothing would change."
            : ItemView.joinNotes(["Nothing can be upgraded without a decision; see left.", acceptance(left)])
          : ItemView.joinNotes([
            `Nothing was written. bulk_edit(plan: '${id}') applies exactly this.`,
            acceptance(left),
            published > 0 &&
            `${counted(published, "published workflow")} ${
              published === 1 ? "changes" : "change"
            } immediately; publish: 'draft' makes drafts, for workflow_prove.`
          ])
        : outcome.notDone !== undefined
        ? `bulk_edit(plan: '${id}') continues.`
        : ItemView.joinNotes([
          differences !== undefined && differences.unknown > 0 &&
          `${counted(differences.unknown, "workflow")} cannot be compared: their snapshots are gone.`,
          !dryRun && waiting.some(({ hasDraft }) => !hasDraft) && asked !== "proven" &&
          `workflow_prove(batch: '${id}'), then bulk_edit(plan: '${id}', publish: 'proven') publishes the drafts that did the same; publish: 'keep' all.`,
          !dryRun && batches.leftOut(state).some(({ id }) => state.outcomes.get(id)?.state === "changed") &&
          "For what has changed, make another plan.",
          !dryRun && outcome.done !== undefined && `workflow_restore(batch: '${id}') takes it back.`,
          deprecated !== undefined && Hints.text(deprecated)
        ])
    })
  },
  message: (
    { changes, done = 0, drafts = 0, notDone = 0, published = 0, refused, workflows },
    { discard, dryRun, plan, publish }
  ) => {
    const also = refused === undefined ? "" : "; some were left out"
    if (discard === true) return { en: `${dryRun ? "Would drop" : "Dropped"} the plan`, ja: "計画を破棄しました" }
    if (changes !== undefined && plan === undefined) {
      return { en: `Would change ${counted(workflows, "workflow")}${also}`, ja: "一括編集の内容を確認しました" }
    }
    const en = plan !== undefined && publish === "proven" && !dryRun
      ? `${published} of ${counted(done, "workflow")} of the batch run with the change; ${
        counted(drafts, "draft")
      } left`
      : `Changed ${done} of ${counted(workflows, "workflow")}${notDone === 0 ? "" : `; ${notDone} not done`}${also}${
        dryRun && done > 0 ? "; changes lists all that differs on n8n" : ""
      }`
    return { en, ja: "ワークフローを一括編集しました" }
  },
  budget: (_, { raw }) =>
    raw ? {} : {
      lists: {
        changes: 12,
        left: 12,
        refused: 12,
        warnings: 5,
        "changes[].names": 5,
        "changes[].values": 6,
        "refused[].workflows": 8,
        "left[].names": 5
      },
      rooms: { "refused[].why": 300 }
    },
  next: (_, { plan }) => () => plan === undefined ? undefined : `bulk_edit(plan: '${plan}', dryRun: true, raw: true)`
})
