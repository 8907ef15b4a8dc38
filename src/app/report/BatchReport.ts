/** Batches of changes as judgments: what they change, and what they leave or left out. Pure. */
import type * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { arr, defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Fleet from "../../fleet/Fleet.ts"
import type * as Finding from "../../fleet/inspection/Finding.ts"
import type * as batches from "../../tools/shared/Batches.ts"
import type * as BatchProof from "../../trials/proof/BatchProof.ts"
import * as ProofReport from "./ProofReport.ts"
import * as Writer from "./Writer.ts"

const text = (value: string) => Visible.label(value, 200)

/** Numbers of workflows by what became of them; `refused` were left out. */
type Outcome = Schema.Struct.Type<typeof batches.fields>

const changeLines = (changes: Fleet.Plan["changes"]) =>
  changes.flatMap(({ change, names, nodes, values = [], workflows }) => [
    `${text(change)}: ${nodes === undefined ? "" : `${counted(nodes, "place")} in `}${counted(workflows, "workflow")}`,
    ...values.slice(0, 5).map(({ count, insideWord, values }) =>
      `  ${count} × ${text(values)}${insideWord === true ? " (inside a longer word)" : ""}`
    ),
    `  ${Rows.listed(names.map(text), 5)}`
  ])

/** Nodes that a batch leaves as they are, workflows that it leaves out, and its warnings. */
const findings = (
  { refused = [], warnings = [] }: Pick<Outcome, "refused" | "warnings">,
  left: Fleet.Plan["left"] = []
): ReadonlyArray<Finding.Finding> => [
  ...left.map(({ choices = [], decision, names, nodes, type, why }): Finding.Finding => ({
    rule: "not-upgraded",
    severity: "warning",
    message: `${counted(nodes, "node")} of ${type}: ${why} ${decision}`,
    details: [...choices.map(({ does, key }) => `accept ${key}: ${text(does)}`), Rows.names(names, 5, 200)]
  })),
  ...refused.map(({ why, workflows }): Finding.Finding => ({
    rule: "left-out",
    severity: "error",
    message: String(why),
    details: [Rows.listed(arr(workflows).map((each) => text(String(each))), 5)]
  })),
  ...warnings.map((message): Finding.Finding => ({ rule: "batch", severity: "note", message }))
]

const base = { isByRule: true, isFailing: ({ severity }: Finding.Finding) => severity !== "note" }

/** Plan of changes that a person looks at before it is applied. */
export const plan = (
  { changes, entries }: Fleet.Plan,
  json: Outcome & { readonly unchanged?: number }
): Writer.Judgment => {
  const published = entries.filter(({ active }) => active).length
  const { unchanged = 0 } = json
  return {
    ...base,
    json,
    exit: 0,
    verdict: `${counted(entries.length, "workflow")} would change${
      published === 0 ? "" : `, ${published} of them published`
    }${unchanged === 0 ? "" : `; ${unchanged} unchanged`}`,
    about: changeLines(changes),
    findings: findings(json)
  }
}

/** Batch that was applied or taken back; exit status 1 if it did not end, 2 if it left workflows out. */
export const outcome = (json: Outcome): Writer.Judgment => {
  const { done = 0, notDone, refused, restored, stopped } = json
  return {
    ...base,
    json,
    exit: notDone !== undefined ? 1 : refused !== undefined ? 2 : 0,
    verdict: [
      restored === undefined ? `${done} changed` : `${restored} restored`,
      ...(notDone === undefined ? [] : [`${notDone} not done${stopped === undefined ? "" : ` (${text(stopped)})`}`]),
      ...(refused === undefined ? [] : [`${refused.flatMap(({ workflows }) => arr(workflows)).length} left out`])
    ].join(", "),
    findings: findings(json)
  }
}

/** Upgrade of many workflows: what it changed and left, and what its recorded runs prove. */
export interface Upgrade extends Outcome {
  readonly plan: Fleet.Plan
  readonly unchanged: number
  readonly proof?: BatchProof.BatchProof
}

/**
 * An upgrade; its JSON has the plan's id, for `edit --restore`, and workflows without what only the server needs. Exit
 * status 0 if everything is at its newest version, 2 if something was left or differs, 1 if workflows were left out.
 */
export const upgrade = ({ plan, proof, ...rest }: Upgrade, isDryRun: boolean): Writer.Judgment => {
  const { changes, entries, id, left = [] } = plan
  const { notDone = 0, refused = [], unchanged } = rest
  const proven = proof && ProofReport.many(proof)
  const own = findings(rest, left)
  return {
    ...base,
    json: {
      plan: id,
      workflows: entries.map(({ id, name }) => ({ id, name })),
      ...Struct.pick(plan, ["changes", "left"]),
      ...rest,
      ...defined({ proof: proven?.json })
    },
    exit: refused.length + notDone > 0 ? 1 : left.length > 0 || proof !== undefined && proof.same < proof.runs ? 2 : 0,
    verdict: `${isDryRun ? "Would upgrade" : "Upgraded"} ${counted(entries.length, "workflow")}${
      unchanged === 0 ? "" : `; ${unchanged} unchanged`
    }`,
    about: [
      ...changeLines(changes),
      ...isDryRun ? [] : [outcome(rest).verdict ?? ""],
      ...proven ? [proven.verdict] : []
    ],
    findings: [...own, ...proven?.findings ?? []],
    subjects: [...Writer.subjectsOf(own), ...proven?.subjects ?? []]
  }
}
