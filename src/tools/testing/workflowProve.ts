import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import type * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import { CallContext } from "../../base/CallContext.ts"
import { arr, defined, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import { checkNode } from "../../executions/Executions.ts"
import * as Modules from "../../trials/Modules.ts"
import type * as Proof from "../../trials/proof/Proof.ts"
import * as Replays from "../../trials/Replays.ts"
import * as conditions from "../shared/Conditions.ts"
import * as parameters from "../shared/Parameters.ts"
import { testWorkflow } from "./testWorkflow.ts"

/** Time limits of one replay in milliseconds, for clients with and without progress. */
const timeouts = { heard: 60_000, silent: 25_000 }

/** Executions of the groups that are left out: their proof shows those. */
const rest = (groups: ReadonlyArray<object>) =>
  [...new Set(groups.flatMap((group) => str(arr(obj(group)?.["executions"])[0]) ?? []))].slice(0, Replays.maxRuns)

const budget: Minimize.Budget = {
  total: 3_600,
  tokens: 900,
  lists: {
    groups: [8, 6, 4, 3, 1],
    shown: [30, 12, 8, 6, 4],
    ignored: [10, 6, 3, 2, 1],
    notReplayed: [10, 6, 3, 2, 1],
    "groups[].paths": [6, 4, 3, 2, 1],
    "groups[].values": [6, 3, 2, 1, 1],
    "groups[].executions": [3, 3, 3, 2, 1],
    "groups[].also": [3, 3, 3, 2, 1],
    "groups[].nodes": 3,
    "groups[].names": [5, 5, 3, 2, 1],
    "ignored[].paths": [6, 4, 3, 2, 1],
    "notReplayed[].names": [5, 5, 3, 2, 1]
  },
  rooms: {
    "drill[].why": [Infinity, 300, 150, 100, 80],
    "shown[].before[]": [Infinity, 300, 150, 80, 40],
    "shown[].after[]": [Infinity, 300, 150, 80, 40],
    "groups[].node": [80, 60, 50, 40, 30],
    "groups[].paths[]": [110, 80, 60, 50, 30],
    "groups[].also[]": [80, 60, 50, 40, 30],
    "groups[].values[].path": [110, 80, 60, 50, 30],
    "groups[].values[].before": [110, 80, 60, 50, 30],
    "groups[].values[].after": [110, 80, 60, 50, 30],
    "groups[].example.path": [110, 80, 60, 50, 30],
    "groups[].example.before": [110, 80, 60, 50, 30],
    "groups[].example.after": [110, 80, 60, 50, 30],
    "ignored[].node": [80, 60, 50, 40, 30],
    "ignored[].paths[]": [110, 80, 60, 50, 30],
    "notReplayed[].node": [80, 60, 50, 40, 30],
    "notReplayed[].why": [200, 160, 120, 80, 40]
  }
}

const rows = Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json)))

const hints = {
  batch: "A batch is proven whole, by the plan's id; a workflow by workflowId.",
  callers: parameters.callTools(
    ["workflow_prove"],
    "Callers are proven on their newest runs: workflow_prove(workflowId, callers: true)."
  )
}

const refuse = (field: keyof typeof hints, reason: string) => parameters.invalid(field, reason, hints[field])

/** Numbers of runs and of items of a node that are shown; get_execution_by_node continues. */
const most = { runs: 3, items: 5 }

/** Items of nodes on both sides, of the runs that differ, or of the newest. */
const shownOf = Effect.fnUntraced(
  function*(outcomes: ReadonlyArray<Proof.Outcome>, nodes: ReadonlyArray<string>, redacts: boolean) {
    const differing = outcomes.filter(({ differences }) => differences.length > 0)
    const itemsOf = (execution: Execution.Execution, node: string) =>
      Execution.slice(
        execution,
        (execution.runs.get(node) ?? []).flatMap((run) => Execution.outputSlots(node, run)),
        0,
        most.items
      ).map(({ json }) => redacts ? Redact.redact(json) : json)
    return yield* Effect.forEach(
      (differing.length > 0 ? differing : outcomes).slice(0, most.runs),
      ({ execution, names, record, replayed: { result } }) =>
        Effect.forEach(nodes, (node) =>
          Effect.map(checkNode(result.execution, node, "show"), () => ({
            execution,
            node,
            before: itemsOf(record, names.get(node) ?? node),
            after: itemsOf(result.execution, node)
          })))
    ).pipe(Effect.map((rows) => rows.flat()))
  }
)

/** Replays recorded runs on a changed workflow, or on those of a batch, and shows what differs. */
export const workflowProve = Tool.make({
  name: "workflow_prove",
  title: "Prove a change on recorded runs",
  searchHint: "is this change safe to publish, also for callers, regression test",
  description: "Does a changed workflow do what its runs did? Replayed on a copy; sends nothing.",
  annotations: Tool.additive,
  scopes: testWorkflow.scopes,
  input: Schema.Struct({
    workflowId: Schema.optionalKey(parameters.reference),
    batch: parameters.optional(Schema.String, "Or bulk_edit's plan."),
    last: parameters.optionalInt(
      "last",
      { minimum: 1, maximum: Replays.maxRuns },
      `Newest runs (${Replays.defaultLast}; batch, callers: ${Replays.defaultBatchLast}).`
    ),
    executions: parameters.executionIds("executions", Replays.maxRuns, "Or these."),
    ignore: conditions.paths("Not compared: email, 'Map'.email."),
    drill: parameters.flag("Instead fail outside nodes: who notices?"),
    show: Schema.optionalKey(Schema.Array(Schema.String).annotate({ description: "Nodes whose items to see." })),
    callers: parameters.flag("Instead its callers' runs."),
    after: parameters.optional(Schema.String, "From next.")
  }),
  output: Schema.Struct({
    verdict: Schema.optionalKey(Schema.String),
    workflows: Schema.optionalKey(Schema.Int),
    runs: Schema.optionalKey(Schema.Int),
    same: Schema.optionalKey(Schema.Int),
    fixed: Schema.optionalKey(Schema.Int),
    compared: Schema.optionalKey(Schema.String),
    /**
     * Equal differences: `{node, paths, runs, executions, values?: [{path, before?, after?}], also?}`, the cause first;
     * those of a batch and of callers are `{paths, nodes, workflows, names, runs, example?}`.
     */
    groups: rows,
    /** Paths that always differ: `{node, path, why?}`. */
    ignored: rows,
    /** Nodes and runs that were left out: `{node?, execution?, why}`, of a batch and callers `{why, workflows, names}`. */
    notReplayed: rows,
    /** First items of the nodes that `show` names, then and now: `{execution, node, before, after}`. */
    shown: rows,
    /** Verdicts of a drill, the worst node first: `{node, verdict, failures, why}`. */
    drill: rows,
    /** Arguments of the call that continues. */
    next: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  }),
  handler: ({ after, batch, callers, drill, executions, show, workflowId, ...input }) =>
    Effect.gen(function*() {
      const { hearsProgress } = yield* CallContext
      const options = {
        ...input,
        timeout: hearsProgress === true ? timeouts.heard : timeouts.silent,
        redacts: yield* Tool.RedactSecrets
      }
      if (batch !== undefined) {
        return workflowId === undefined && executions === undefined && !drill && !callers
          ? { batch: yield* (yield* Modules.batchProof).prove(batch, options) }
          : yield* refuse("batch", "batch cannot be combined with workflowId, executions, drill and callers")
      }
      if (workflowId === undefined) return yield* refuse("batch", "workflowId or batch is required")
      if (callers) {
        return executions === undefined && !drill
          ? { callers: yield* (yield* Modules.callersProof).prove(workflowId, { ...options, after }) }
          : yield* refuse("callers", "callers cannot be combined with executions and drill")
      }
      if (!drill) {
        const proof = yield* (yield* Modules.proof).prove(workflowId, { ...options, executions })
        return { proof, shown: show && (yield* shownOf(proof.outcomes, show, options.redacts)) }
      }
      const Drill = yield* Modules.drill
      const { notDrilled, note, rows } = yield* Drill.drill(workflowId, { ...options, executions })
      return { drill: { notDrilled, verdict: Drill.verdictOf(rows, note), rows: Drill.referring(rows) } }
    }),
  summarize: (result, { callers, drill: _, ...input }) => {
    if ("batch" in result) {
      const { next, proofs: _, ...proof } = result.batch
      return defined({ ...proof, next: next === undefined ? undefined : { ...input, batch: next } })
    }
    if ("callers" in result) {
      const { next: after, proofs: _, ...proof } = result.callers
      return defined({ ...proof, next: after === undefined ? undefined : { ...input, callers, after } })
    }
    if ("drill" in result) {
      const { notDrilled, rows, verdict } = result.drill
      return defined({
        verdict,
        drill: rows,
        notReplayed: notDrilled.length === 0 ? undefined : notDrilled
      })
    }
    const { left, ...proof } = result.proof
    return defined({
      ...Struct.pick(proof, ["verdict", "runs", "same", "fixed", "compared", "groups", "ignored", "notReplayed"]),
      shown: result.shown,
      next: left.length === 0 ? undefined : { ...input, executions: left }
    })
  },
  message: ({ drill, next, runs = 0, verdict = "", workflows }) => {
    const left = next === undefined ? "" : workflows !== undefined
      ? "; next continues with the other workflows"
      : `; ${counted(arr(next["executions"])?.length ?? 0, "run")} left for the next call`
    return {
      en: `${drill === undefined && workflows === undefined ? `${counted(runs, "run")}: ` : ""}${verdict}${left}`,
      ja: drill === undefined
        ? `${runs} 件の実行を再現しました`
        : `${new Set(drill.map(({ node }) => node)).size} 個のノードの障害を試しました`
    }
  },
  next: ({ batch, callers, drill, workflowId, ...input }, { groups = [] }) => (path, count) => {
    const executions = path === "groups" && batch === undefined && !drill && !callers ? rest(groups.slice(count)) : []
    return executions.length === 0
      ? undefined
      : Hints.call("workflow_prove", defined({ workflowId, ignore: input.ignore, executions }))
  },
  // Items that were asked for have room of their own, which those of all nodes share.
  budget: (_, { show = [] }) => show.length === 0 ? budget : { ...budget, total: 9_600, tokens: 2_400 }
})
