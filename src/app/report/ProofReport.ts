/** Proofs and drills as judgments: differences of replayed runs, the cause first, and what was not replayed. Pure. */
import * as Result from "effect/Result"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import type * as Finding from "../../fleet/inspection/Finding.ts"
import * as Drill from "../../trials/drill/Drill.ts"
import * as Groups from "../../trials/proof/Groups.ts"
import type * as Proof from "../../trials/proof/Proof.ts"
import type * as Proofs from "../../trials/proof/Proofs.ts"
import * as Reference from "../../workflows/Reference.ts"
import type { Judgment, Subject } from "./Writer.ts"

/** Place of a workflow that a person names: a file, or on n8n. */
const placeOf = ({ id, name }: Proofs.Named) =>
  Reference.fileIn(id) === undefined ? { workflow: id, name } : { file: id, line: 1, column: 1 }

const value = (json: unknown) => json === undefined ? "nothing" : JSON.stringify(json)

/** Findings of the proof of a workflow, and an entry for each run; those that were not replayed could not be judged. */
const partsOf = (
  workflow: Proofs.Named,
  { groups, ignored, notReplayed, outcomes }: Pick<Proof.Proof, "groups" | "ignored" | "notReplayed" | "outcomes">,
  allowsFixed = false
) => {
  const place = placeOf(workflow)
  const group = workflow.name
  const fixed = new Set(outcomes.flatMap(({ effects, execution }) => allowsFixed && effects.isFixed ? [execution] : []))
  const differences = (all: typeof groups) =>
    all.map(({ also, executions, node, paths, runs, values = [] }): Finding.Finding => ({
      rule: "difference",
      severity: executions.every((id) => fixed.has(id)) ? "note" : "error",
      ...place,
      node,
      message: Rows.listed(paths, 6),
      details: [
        `${counted(runs, "run")}: ${Rows.listed(executions, 3)}`,
        ...values.slice(0, 6).flatMap(({ after, before, path }) => [path, `- ${value(before)}`, `+ ${value(after)}`]),
        ...(also === undefined ? [] : [`and ${counted(also.length, "later node")}: ${Rows.names(also, 3)}`])
      ]
    }))
  const missing = notReplayed.map(({ execution, node, runs, why }) => {
    const which = execution === undefined ? "" : runs === undefined ? `run ${execution}: ` : `${runs} runs: `
    const message = `${which}${why}`
    const finding: Finding.Finding = {
      rule: "not-replayed",
      severity: "warning",
      ...place,
      ...defined({ node }),
      message
    }
    return { finding, run: node === undefined ? execution : undefined }
  })
  const lines = ignored.map(({ also, node, paths, why }) =>
    `'${node}'${also === undefined ? "" : ` and ${counted(also, "later node")}`}: ${Rows.listed(paths, 6)}${
      why === undefined ? "" : ` (${why})`
    }`
  )
  const message = "These values were not compared."
  const unlike: Finding.Finding = { rule: "ignored", severity: "note", ...place, message, details: lines }
  return {
    differences: differences(groups),
    others: [...lines.length === 0 ? [] : [unlike], ...missing.map(({ finding }) => finding)],
    subjects: [
      ...outcomes.map((run): Subject => {
        const { execution: name, milliseconds } = run
        return { name, group, milliseconds, findings: differences(Groups.group([run], [], []).groups) }
      }),
      ...missing.flatMap(({ finding, run: name }): ReadonlyArray<Subject> =>
        name === undefined ? [] : [{ name, group, isJudged: false, findings: [finding] }]
      )
    ]
  }
}

/** Proof of a workflow; with `allowsFixed`, runs that only no longer fail do not count. */
export const one = (proof: Proof.Proof, allowsFixed = false): Judgment => {
  const { left: _, outcomes: __, triggers: ___, ...json } = proof
  const { differences, others, subjects } = partsOf(json.workflow, proof, allowsFixed)
  return {
    json,
    exit: Groups.exitCode(json, allowsFixed),
    verdict: json.verdict,
    about: json.compared === undefined ? [] : [`  compared: ${json.compared}`],
    findings: [...differences, ...others],
    subjects
  }
}

/** Proof of several workflows: the callers of a changed one, or those of a batch. */
export const many = ({ proofs, ...json }: Proofs.Proofs) => {
  const parts = proofs.map(({ id, name, proof }) => {
    const why = Result.isFailure(proof) ? [{ execution: id, why: proof.failure.message }] : []
    const nothing = { groups: [], ignored: [], notReplayed: why, outcomes: [] }
    return partsOf({ id, name }, Result.getOrElse(proof, () => nothing))
  })
  return {
    json,
    exit: Groups.exitCode(json),
    verdict: json.verdict,
    isByRule: true,
    findings: [
      ...parts.flatMap(({ differences }) => differences),
      ...json.notReplayed.map(({ names, why }): Finding.Finding => ({
        rule: "not-proven",
        severity: "warning",
        message: why,
        details: [Rows.names(names, 5, 200)]
      }))
    ],
    subjects: parts.flatMap(({ subjects }) => subjects)
  } satisfies Judgment
}

export const drill = (result: Drill.Drill): Judgment => {
  const { notDrilled, note, rows, workflow } = result
  const place = placeOf(workflow)
  const subjects = rows.map((row): Subject => {
    const { failures, node, verdict, why } = row
    const kinds = failures.join(", ")
    const severity = Drill.isFine(row) ? "note" as const : "error" as const
    const rule = verdict.replaceAll(" ", "-")
    const finding = { rule, severity, ...place, node, message: `${verdict} (${kinds})`, details: [why] }
    return { name: `${node}: ${kinds}`, group: workflow.name, findings: [finding] }
  })
  return {
    json: result,
    exit: Drill.exitCode(result),
    verdict: Drill.verdictOf(rows, note),
    findings: [
      ...subjects.flatMap(({ findings }) => findings),
      ...notDrilled.map(({ node, why }) => (
        { rule: "not-drilled", severity: "warning" as const, ...place, node, message: why }
      ))
    ],
    subjects
  }
}
