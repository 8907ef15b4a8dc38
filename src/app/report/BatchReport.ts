/** Batches of changes, as text for people and as JSON. Pure. */
import * as Struct from "effect/Struct"
import { arr } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Fleet from "../../fleet/Fleet.ts"
import * as batches from "../../tools/shared/Batches.ts"
import type * as BatchProof from "../../trials/proof/BatchProof.ts"
import { manyLines, markOf } from "./ProofReport.ts"

const text = (value: string) => Visible.label(value, 200)

/** Numbers of workflows by what became of them; `refused` were left out. */
export interface Outcome {
  readonly done?: number
  readonly restored?: number
  readonly notDone?: number
  readonly stopped?: string
  readonly refused?: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly warnings?: ReadonlyArray<string>
}

const leftOut = (refused: Outcome["refused"] = []) =>
  refused.map(({ why, workflows }) =>
    `  left out: ${Rows.listed(arr(workflows).map((each) => text(String(each))), 5)}: ${text(String(why))}`
  )

const changeLines = (changes: Fleet.Plan["changes"]) =>
  changes.flatMap(({ change, names, nodes, values = [], workflows }) => [
    `${text(change)}: ${nodes === undefined ? "" : `${counted(nodes, "place")} in `}${counted(workflows, "workflow")}`,
    ...values.slice(0, 5).map(({ count, insideWord, values }) =>
      `  ${count} × ${text(values)}${insideWord === true ? " (inside a longer word)" : ""}`
    ),
    `  ${Rows.listed(names.map(text), 5)}`
  ])

const leftLines = (left: Fleet.Plan["left"] = []) =>
  left.flatMap(({ choices = [], decision, names, nodes, type, why }) => [
    `left ${counted(nodes, "node")} of ${text(type)}: ${text(why)} ${text(decision)}`,
    ...choices.map(({ does, key }) => `  accept ${key}: ${text(does)}`),
    `  ${Rows.names(names, 5, 200)}`
  ])

/** Changes that a plan makes, and what it leaves. */
export const planLines = (
  { changes, entries, left, refused }: Pick<Fleet.Plan, "changes" | "entries" | "left" | "refused">,
  unchanged: number
): ReadonlyArray<string> => {
  const published = entries.filter(({ active }) => active).length
  return [
    ...changeLines(changes),
    ...leftLines(left),
    ...leftOut(batches.grouped(refused)),
    `${counted(entries.length, "workflow")} would change${published === 0 ? "" : `, ${published} of them published`}${
      unchanged === 0 ? "" : `; ${unchanged} unchanged`
    }`
  ]
}

/** Numbers of a batch, and the workflows that it left out. */
export const outcomeLines = ({ done, notDone, refused, restored, stopped, warnings = [] }: Outcome) => [
  ...leftOut(refused),
  ...warnings.map((warning) => `  ${text(warning)}`),
  [
    ...(restored === undefined ? [`${done ?? 0} changed`] : [`${restored} restored`]),
    ...(notDone === undefined ? [] : [`${notDone} not done${stopped === undefined ? "" : ` (${text(stopped)})`}`]),
    ...(refused === undefined ? [] : [`${refused.flatMap(({ workflows }) => arr(workflows)).length} left out`])
  ].join(", ")
]

/** Upgrade of many workflows: what it changed and left, and what its recorded runs prove. */
export interface Upgrade extends Outcome {
  readonly plan: Fleet.Plan
  readonly unchanged: number
  readonly proof?: BatchProof.BatchProof
}

/** Exit code of an upgrade: 0 everything is at its newest version, 2 something was left or differs, 1 a failure. */
export const exitCode = ({ notDone = 0, plan: { left = [] }, proof, refused = [] }: Upgrade): 0 | 1 | 2 =>
  refused.length + notDone > 0 ? 1 : left.length > 0 || proof !== undefined && proof.same < proof.runs ? 2 : 0

/** Upgrade as JSON: its plan, for `edit --restore`, and workflows without what only the server needs. */
export const upgradeJson = ({ plan, ...rest }: Upgrade) => ({
  plan: plan.id,
  workflows: plan.entries.map(({ id, name }) => ({ id, name })),
  ...Struct.pick(plan, ["changes", "left"]),
  ...rest
})

/** Report of an upgrade. */
export const upgradeLines = (upgrade: Upgrade, isDryRun: boolean, isColoured: boolean): ReadonlyArray<string> => {
  const { plan, proof, unchanged } = upgrade
  const shown = { ...plan, left: [] }
  return [
    ...changeLines(plan.changes),
    ...leftLines(plan.left),
    ...isDryRun ? leftOut(upgrade.refused) : outcomeLines(upgrade),
    ...proof === undefined ? [] : [
      proof.verdict,
      ...manyLines(proof)
    ],
    // Nodes that are left were outdated before.
    `${markOf(exitCode({ ...upgrade, plan: shown }), isColoured)} ${isDryRun ? "Would upgrade" : "Upgraded"} ${
      counted(plan.entries.length, "workflow")
    }${unchanged === 0 ? "" : `; ${unchanged} unchanged`}`
  ]
}
