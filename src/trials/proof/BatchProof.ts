/** Proofs of all workflows that a batch of changes has written: equal differences are one group. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Batch from "../../base/Batch.ts"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import * as Plans from "../../fleet/Plans.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as Replays from "../Replays.ts"
import * as Groups from "./Groups.ts"
import * as Proof from "./Proof.ts"

export type Options = Pick<Proof.Options, "ignore" | "last" | "redacts" | "timeout">

const named = { workflows: Schema.Int, names: Schema.Array(Schema.String) }

/** Difference that workflows share. */
const Group = Schema.Struct({
  paths: Schema.Array(Schema.String),
  nodes: Schema.Array(Schema.String),
  ...named,
  runs: Schema.Int,
  example: Schema.optionalKey(
    Schema.Struct({ workflowId: Schema.String, execution: Schema.String, ...Groups.Value.fields })
  )
})

const Reason = Schema.Struct({ why: Schema.String, ...named })

/** Proof of a batch; counts are those of the workflows of this call. */
export interface BatchProof {
  readonly verdict: string
  readonly workflows: number
  readonly runs: number
  readonly same: number
  readonly groups: ReadonlyArray<typeof Group.Type>
  /** Workflows, nodes and runs that say nothing, by the reason. */
  readonly notReplayed: ReadonlyArray<typeof Reason.Type>
  /** `batch` of the call that continues. */
  readonly next?: string
}

interface Proven {
  readonly id: string
  readonly name: string
  readonly proof: Result.Result<Proof.Proof, Errors.N8nError>
}

const namesOf = (all: ReadonlyArray<Pick<Proven, "id" | "name">>) => {
  const names = new Map(all.map(({ id, name }) => [id, name]))
  return { workflows: names.size, names: [...new Set(names.values())] }
}

const byWorkflows = (a: { readonly workflows: number }, b: { readonly workflows: number }) => b.workflows - a.workflows

const groupsOf = (all: ReadonlyArray<Proven>): BatchProof["groups"] => {
  const own = all.flatMap(({ id, name, proof }) =>
    Result.isFailure(proof) ? [] : proof.success.groups.map((group) => ({ id, name, group }))
  )
  return Rows.grouped(own, ({ group }) => group.paths).map((
    { first: { group: { executions: [execution = ""], paths, values: [value] = [] }, id }, rows }
  ) =>
    defined({
      paths,
      nodes: [...new Set(rows.map(({ group }) => group.node))],
      ...namesOf(rows),
      runs: rows.reduce((sum, { group }) => sum + group.runs, 0),
      example: value && { workflowId: id, execution, ...value }
    })
  ).toSorted(byWorkflows)
}

/** Reason in words that are the same for every workflow. */
const reasonOf = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ? `${error.resourceType} not found` : Errors.reasonOf(error)

const reasonsOf = (all: ReadonlyArray<Proven>): BatchProof["notReplayed"] => {
  const own = all.flatMap(({ id, name, proof }) =>
    Result.isFailure(proof)
      ? [{ id, name, why: reasonOf(proof.failure) }]
      : [
        ...proof.success.notReplayed.map(({ why }) => ({ id, name, why })),
        ...proof.success.left.length === 0 ? [] : [{ id, name, why: "no time was left for all runs" }]
      ]
  )
  return Rows.grouped(own, ({ why }) => why).map(({ first: { why }, rows }) => ({ why, ...namesOf(rows) }))
    .toSorted(byWorkflows)
}

/** Number of runs of which nothing could be compared from some node on. */
const unknownRuns = ({ outcomes }: Proof.Proof) =>
  outcomes.filter(({ differences }) => differences.length > 0 && differences.every(({ kind }) => kind === "unknown"))
    .length

const verdictOf = (all: ReadonlyArray<Proven>, runs: number) => {
  const proofs = all.flatMap(({ proof }) => Result.isSuccess(proof) && proof.success.runs > 0 ? [proof.success] : [])
  const same = proofs.filter((proof) => proof.same === proof.runs).length
  const unknown =
    proofs.filter((proof) => proof.same < proof.runs && proof.same + unknownRuns(proof) === proof.runs).length
  return [
    `${same} of ${counted(all.length, "workflow")} the same on ${counted(runs, "recorded run")}`,
    ...proofs.length > same + unknown ? [`${proofs.length - same - unknown} differ`] : [],
    ...unknown > 0 ? [`${unknown} cannot be compared, see groups`] : [],
    ...all.length > proofs.length ? [`${all.length - proofs.length} not proven`] : []
  ].join("; ")
}

/** Nodes that a batch changes in a workflow and that no replayed run reached: nothing is proven of them. */
const unreached = ({ places = [] }: Fleet.Entry, { notReplayed, triggers }: Proof.Proof, nodes: ReadonlyArray<Obj>) => {
  const changed = new Set(places.flatMap(({ at: [top, id] }) => top === "node" ? String(id) : []))
  const names = new Set(
    notReplayed.flatMap(({ node }) => triggers.some((each) => each.node === node) ? [] : node ?? [])
  )
  return nodes.map(Workflow.nameOf).filter((name, index) =>
    names.has(name) && changed.has(String(nodes[index]?.["id"] ?? name))
  )
}

/**
 * Replays the newest recorded runs of each workflow that the batch has written, and compares as `Proof.prove`. The batch
 * is the id of its plan; `PLAN@ID` continues after that workflow. What it proved is recorded with the version that it
 * proved: `Fleet.apply(plan, "proven")` publishes what did the same.
 */
export const prove = Effect.fn("BatchProof.prove")(
  function*(batch: string, { last = Replays.defaultBatchLast, ...options }: Options) {
    const [id = "", after] = batch.split("@")
    const { outcomes, plan } = yield* Fleet.state(id)
    const written = plan.entries.filter(({ id }) => outcomes.get(id)?.state === "done")
    if (written.length === 0) {
      return yield* Errors.invalid(
        "batch",
        "The batch has written no workflow",
        `Write it: bulk_edit(plan: '${id}').`
      )
    }
    const start = after === undefined ? 0 : written.findIndex(({ id }) => id === after) + 1
    const entries = written.slice(start)
    const runner = {
      needs: 26_000,
      grants: 60_000,
      concurrency: 3,
      message: (done: number) => `proved ${done} of ${counted(entries.length, "workflow")}`
    }
    const { done } = yield* Batch.run(
      entries,
      runner,
      Effect.fnUntraced(function*(entry) {
        const { id, name } = entry
        // Read first: what is written meanwhile has another version, and is not published as proven.
        const { value } = yield* Workflows.open(id)
        const now = obj(value) ?? {}
        const proof = yield* Effect.result(Proof.prove(id, { ...options, last }))
        if (Result.isSuccess(proof)) {
          const { runs, same } = proof.success
          const unknown = unknownRuns(proof.success)
          const missed = unreached(entry, proof.success, Workflow.nodes(now))
          const untested = proof.success.triggers.flatMap((
            { faults, node, versions, why = faults.values().next().value }
          ) => why === undefined ? [] : [`${Rows.quote(node)} ${versions} could not be tested: ${why}`])
          const proven = defined({
            versionId: str(now["versionId"]),
            runs,
            same,
            unknown: unknown === 0 ? undefined : unknown,
            unreached: missed.length === 0 ? undefined : missed,
            untested: untested.length === 0 ? undefined : untested
          })
          const outcome = outcomes.get(id)
          if (outcome !== undefined) yield* Plans.record(plan.id, id, { ...outcome, proven })
        }
        return { id, name, proof } satisfies Proven
      }, Effect.result)
    )
    // The next call continues after the last of them.
    const firstOpen = entries.findIndex((entry) => !done.has(entry))
    const begun = firstOpen === -1 ? entries : entries.slice(0, firstOpen)
    const all = begun.flatMap((entry): ReadonlyArray<Proven> => {
      const result = done.get(entry)
      return result === undefined
        ? []
        : [Result.isSuccess(result) ? result.success : { ...entry, proof: Result.fail(result.failure) }]
    })
    const sum = (of: (proof: Proof.Proof) => number) =>
      all.reduce((sum, { proof }) => sum + (Result.isSuccess(proof) ? of(proof.success) : 0), 0)
    const runs = sum((proof) => proof.runs)
    return defined({
      verdict: verdictOf(all, runs),
      workflows: all.length,
      runs,
      same: sum((proof) => proof.same),
      groups: groupsOf(all),
      notReplayed: reasonsOf(all),
      next: begun.length < entries.length ? `${id}@${begun.at(-1)?.id ?? after ?? ""}` : undefined
    }) satisfies BatchProof
  }
)
