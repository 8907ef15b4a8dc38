/** Proofs of all workflows that a batch of changes has written: equal differences are one group. */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj, str } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Fleet from "../../fleet/Fleet.ts"
import * as Plans from "../../fleet/Plans.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as Replays from "../Replays.ts"
import * as Proof from "./Proof.ts"
import * as Proofs from "./Proofs.ts"

export type Options = Pick<Proof.Options, "ignore" | "last" | "redacts" | "timeout">

/** Proof of a batch. */
export interface BatchProof extends Proofs.Proofs {
  /** `batch` of the call that continues. */
  readonly next?: string
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
        { _tag: "WriteBatch", plan: id }
      )
    }
    const start = after === undefined ? 0 : written.findIndex(({ id }) => id === after) + 1
    const entries = written.slice(start)
    const { after: lastProven, all } = yield* Proofs.each(
      entries,
      Effect.fnUntraced(function*(entry) {
        // Read first: what is written meanwhile has another version, and is not published as proven.
        const { value } = yield* Workflows.open(entry.id)
        const now = obj(value) ?? {}
        const proof = yield* Proof.prove(entry.id, { ...options, last })
        const { runs, same } = proof
        const unknown = Proofs.unknownRuns(proof)
        const missed = unreached(entry, proof, Workflow.nodes(now))
        const untested = proof.triggers.flatMap(({ faults, node, versions, why = faults.values().next().value }) =>
          why === undefined ? [] : [`${Rows.quote(node)} ${versions} could not be tested: ${why}`]
        )
        const proven = defined({
          versionId: str(now["versionId"]),
          runs,
          same,
          unknown: unknown === 0 ? undefined : unknown,
          unreached: missed.length === 0 ? undefined : missed,
          untested: untested.length === 0 ? undefined : untested
        })
        const outcome = outcomes.get(entry.id)
        if (outcome !== undefined) yield* Plans.record(plan.id, entry.id, { ...outcome, proven })
        return proof
      })
    )
    return defined({
      ...Proofs.of(all),
      next: lastProven && `${id}@${lastProven}`
    }) satisfies BatchProof
  }
)
