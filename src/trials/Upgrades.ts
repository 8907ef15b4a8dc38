/** Upgrades of many workflows, each proven on its recorded runs: nothing is published, and nothing is sent. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient, writesDrafts } from "../n8n/N8nClient.ts"
import * as Upgrade from "../workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import { WorkflowStore } from "../workflows/store/WorkflowStore.ts"
import { patchOf } from "../workflows/WorkflowEdit.ts"
import * as Workflows from "../workflows/Workflows.ts"
import * as Groups from "./proof/Groups.ts"
import * as Proof from "./proof/Proof.ts"

export interface Options {
  /** Release whose node types the upgrade may use; default: that of the connected n8n, else the newest known. */
  readonly to?: string | undefined
  readonly dryRun?: boolean | undefined
  /** Number of recorded runs to replay for each workflow. */
  readonly last?: number | undefined
  readonly timeout: number
  readonly redacts: boolean
  readonly onDone?: (done: number, total: number) => Effect.Effect<void>
}

export interface Subject {
  readonly workflow: string
  readonly name: string
}

/** Comparison of an upgraded workflow's recorded runs with their replays. */
export interface Proven extends Subject, Pick<Groups.Result, "groups" | "runs" | "same" | "verdict"> {}

export type Report = Effect.Success<ReturnType<typeof run>>

/** Exit code of a command: 0 everything is at its newest version, 2 something was left or differs, 1 a failure. */
export const exitCode = ({ different, failed, left }: Report): 0 | 1 | 2 =>
  failed.length > 0 ? 1 : left.length + different.length > 0 ? 2 : 0

const withoutDrafts = Errors.invalid(
  "workflowId",
  "It is published, and this n8n has no drafts: the upgrade would take effect before its proof",
  "Pull it into a folder, upgrade it there, prove the file, and push it."
)

const upgradeOne = (workflow: Obj, release: string | undefined) =>
  Effect.map(
    NodeLookups.make(Upgrade.types(workflow), release),
    (lookups) => Upgrade.upgrade(workflow, undefined, lookups)
  )

/** Upgrades workflows by reference, ids on n8n or paths of files, one after the other. */
export const run = Effect.fn("Upgrades.run")(function*(references: ReadonlyArray<string>, options: Options) {
  const n8n = yield* N8nClient
  const connected = yield* n8n.release
  const release = options.to ?? connected
  const upgraded: Array<Subject & Upgrade.Upgraded> = []
  const left: Array<Subject & Upgrade.Left> = []
  /** Workflows that could not be read or written; nothing of them has changed. */
  const failed: Array<Subject & { readonly error: Errors.N8nError }> = []
  /** Upgraded workflows without a proof, and upgraded nodes that no replayed run reached. */
  const notProven: Array<Subject & { readonly error: Errors.N8nError | string }> = []
  /** Workflows on n8n that had unpublished changes before: publishing the upgrade publishes these too. */
  const waiting: Array<Subject> = []
  /** Workflows on n8n whose draft an earlier upgrade made: it is proven again. */
  const drafts: Array<Subject> = []
  const different: Array<Proven> = []
  const proven = { runs: 0, same: 0, differ: 0 }

  const isUpgradedDraft = Effect.fnUntraced(function*(workflow: Obj) {
    const published = obj(workflow["activeVersion"])
    if (published === undefined || !Workflow.hasDraft(workflow as Workflow.Workflow)) return false
    const { connections, nodes } = published
    return (yield* upgradeOne({ ...workflow, nodes, connections }, release)).upgraded.length > 0
  })

  const write = Effect.fnUntraced(function*(reference: string) {
    const { place, value } = yield* Workflows.open(reference)
    const workflow = obj(value) ?? {}
    const subject: Subject = { workflow: reference, name: str(workflow["name"]) ?? reference }
    const planned = yield* upgradeOne(workflow, release)
    left.push(...planned.left.map((each) => ({ ...subject, ...each })))
    const isLive = place.kind === "n8n"
    if (planned.upgraded.length === 0) {
      if (!isLive || !(yield* isUpgradedDraft(workflow))) return
      drafts.push(subject)
      return subject
    }
    if (isLive && workflow["active"] === true && !writesDrafts(connected)) {
      failed.push({ ...subject, error: withoutDrafts })
      return
    }
    if (isLive && Workflow.hasDraft(workflow as Workflow.Workflow)) waiting.push(subject)
    if (options.dryRun !== true) {
      yield* WorkflowStore.use((store) =>
        store.write(
          place,
          (before: Obj) => Effect.map(upgradeOne(before, release), ({ workflow }) => patchOf(before, workflow)),
          { operation: "upgrade", publish: "draft", problems: "none" }
        )
      )
    }
    upgraded.push(...planned.upgraded.map((each) => ({ ...subject, ...each })))
    return subject
  })

  const prove = Effect.fnUntraced(function*(subject: Subject) {
    if (options.dryRun === true || connected === undefined) return
    const proof = yield* Effect.result(
      Proof.prove(subject.workflow, { last: options.last, timeout: options.timeout, redacts: options.redacts })
    )
    if (Result.isFailure(proof)) {
      notProven.push({ ...subject, error: proof.failure })
      return
    }
    const { groups, notReplayed, runs, same, verdict } = proof.success
    const nodes = new Set(upgraded.flatMap((each) => each.workflow === subject.workflow ? [each.node] : []))
    const unreached = notReplayed.flatMap(({ node }) => node !== undefined && nodes.has(node) ? [`'${node}'`] : [])
    if (runs === 0) notProven.push({ ...subject, error: verdict })
    else if (unreached.length > 0) {
      notProven.push({ ...subject, error: `No run reaches ${[...new Set(unreached)].join(", ")}.` })
    }
    if (same < runs) different.push({ ...subject, groups, runs, same, verdict })
    proven.runs += runs
    proven.same += same
    proven.differ += runs - same
  })

  let done = 0
  for (const reference of references) {
    const subject = yield* Effect.result(write(reference))
    if (Result.isFailure(subject)) {
      failed.push({ workflow: reference, name: reference, error: subject.failure })
    } else if (subject.success !== undefined) yield* prove(subject.success)
    done++
    yield* options.onDone?.(done, references.length) ?? Effect.void
  }
  return { workflows: references.length, upgraded, left, failed, proven, waiting, drafts, different, notProven }
})
