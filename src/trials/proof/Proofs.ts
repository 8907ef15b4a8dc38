/** Proofs of several workflows as one: equal differences are one group. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Batch from "../../base/Batch.ts"
import * as Errors from "../../base/Errors.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Groups from "./Groups.ts"
import type * as Proof from "./Proof.ts"

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

/** Proof of several workflows; counts are those of the workflows of this call. */
export interface Proofs {
  readonly verdict: string
  readonly workflows: number
  readonly runs: number
  readonly same: number
  readonly groups: ReadonlyArray<typeof Group.Type>
  /** Workflows, nodes and runs that say nothing, by the reason. */
  readonly notReplayed: ReadonlyArray<typeof Reason.Type>
  readonly proofs: ReadonlyArray<Proven>
}

/** Workflow, as it is named in answers. */
export interface Named {
  readonly id: string
  readonly name: string
}

/** Workflow with its proof. */
export interface Proven extends Named {
  readonly proof: Result.Result<Proof.Proof, Errors.N8nError>
}

const namesOf = (all: ReadonlyArray<Named>) => {
  const names = new Map(all.map(({ id, name }) => [id, name]))
  return { workflows: names.size, names: [...new Set(names.values())] }
}

const byWorkflows = (a: { readonly workflows: number }, b: { readonly workflows: number }) => b.workflows - a.workflows

const groupsOf = (all: ReadonlyArray<Proven>): Proofs["groups"] => {
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

const reasonsOf = (all: ReadonlyArray<Proven>, others: ReadonlyArray<Unproven>): Proofs["notReplayed"] => {
  const own: ReadonlyArray<Unproven> = all.flatMap(({ id, name, proof }) =>
    Result.isFailure(proof)
      ? [{ id, name, why: reasonOf(proof.failure) }]
      : [
        ...proof.success.notReplayed.map(({ why }) => ({ id, name, why })),
        ...proof.success.left.length === 0 ? [] : [{ id, name, why: "no time was left for all runs" }]
      ]
  )
  return Rows.grouped([...own, ...others], ({ why }) => why).map(({ first: { why }, rows }) => ({
    why,
    ...namesOf(rows)
  }))
    .toSorted(byWorkflows)
}

/** Workflow, some of which says nothing. */
export interface Unproven extends Named {
  readonly why: string
}

/** Number of runs of which nothing could be compared from some node on. */
export const unknownRuns = ({ outcomes }: Proof.Proof) =>
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

/** Proofs as one; `others` are workflows that were left out. */
export const of = (all: ReadonlyArray<Proven>, others: ReadonlyArray<Unproven> = []): Proofs => {
  const sum = (of: (proof: Proof.Proof) => number) =>
    all.reduce((sum, { proof }) => sum + (Result.isSuccess(proof) ? of(proof.success) : 0), 0)
  const runs = sum((proof) => proof.runs)
  return {
    verdict: verdictOf(all, runs),
    workflows: all.length,
    runs,
    same: sum((proof) => proof.same),
    groups: groupsOf(all),
    notReplayed: reasonsOf(all, others),
    proofs: all
  }
}

/** Proves workflows in order within the time of the call; the next call continues with those `after` that one. */
export const each = Effect.fnUntraced(
  function*<A extends Named, R>(
    entries: ReadonlyArray<A>,
    prove: (entry: A) => Effect.Effect<Proof.Proof, Errors.N8nError, R>
  ) {
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
        const proof = yield* Effect.result(prove(entry))
        return { id: entry.id, name: entry.name, proof } satisfies Proven
      })
    )
    const firstOpen = entries.findIndex((entry) => !done.has(entry))
    const begun = firstOpen === -1 ? entries : entries.slice(0, firstOpen)
    return {
      all: begun.flatMap((entry) => done.get(entry) ?? []),
      after: begun.length < entries.length ? begun.at(-1)?.id : undefined
    }
  }
)
