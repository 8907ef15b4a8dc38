/** Comparison of replayed runs with their records, as text for people and as JUnit entries. Pure. */
import * as Result from "effect/Result"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as Drill from "../../trials/drill/Drill.ts"
import type * as Effects from "../../trials/proof/Effects.ts"
import * as Groups from "../../trials/proof/Groups.ts"
import type * as Proofs from "../../trials/proof/Proofs.ts"
import type * as JUnit from "./JUnit.ts"
import * as Layout from "./Layout.ts"

const value = (json: unknown) => json === undefined ? "nothing" : Visible.text(JSON.stringify(json))

const bothSides = (values: Groups.Group["values"] = []) =>
  values.slice(0, 6).flatMap((
    { after, before, path }
  ) => [`    ${path}`, `    - ${value(before)}`, `    + ${value(after)}`])

const groupLines = ({ also, executions, node, paths, runs, values }: Groups.Group, isCause: boolean) => [
  `  '${node}': ${Rows.listed(paths, 6)}  (${counted(runs, "run")}: ${Rows.listed(executions, 3)})`,
  ...(isCause ? bothSides(values) : []),
  ...(also === undefined ? [] : [`    and ${counted(also.length, "later node")}: ${Rows.names(also, 3)}`])
]

const list = (title: string, lines: ReadonlyArray<string>) =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)]

const colours = [32, 31, 33] as const
const marks = ["✓", "✗", "≠"] as const

export const markOf = (code: 0 | 1 | 2, isColoured: boolean) => Layout.paint(marks[code], colours[code], isColoured)

/** Whole report: the verdict first, then the cause with both sides of its differences. */
export const text = (result: Groups.Result, isColoured: boolean, allowsFixed = false): string => {
  const { compared, groups, ignored, notReplayed, verdict } = result
  const lines = [
    `${markOf(Groups.exitCode(result, allowsFixed), isColoured)} ${verdict}`,
    ...(compared === undefined ? [] : [`  compared: ${compared}`]),
    ...(groups.length === 0 ? [] : ["", ...groups.flatMap((group, index) => groupLines(group, index === 0))]),
    ...list(
      "ignored",
      ignored.map(({ also, node, paths, why }) =>
        `'${node}'${also === undefined ? "" : ` and ${counted(also, "later node")}`}: ${Rows.listed(paths, 6)}${
          why === undefined ? "" : ` (${why})`
        }`
      )
    ),
    ...list(
      "not replayed",
      notReplayed.map(({ execution, node, runs, why }) =>
        [...(node === undefined ? [] : [`'${node}'`]), ...(execution === undefined ? [] : [execution])]
          .join(" in ").concat(`: ${why}${runs === undefined ? "" : ` (${counted(runs, "run")})`}`)
      )
    )
  ]
  return Rows.listed(lines, 29, "\n")
}

/** Replayed run, for one entry of a JUnit document. */
export interface Run extends Groups.Run {
  readonly milliseconds: number
  readonly effects?: Pick<Effects.Effects, "isFixed">
}

/** An entry for each execution; those that were not replayed are errors. */
export const junit = (
  workflow: string,
  runs: ReadonlyArray<Run>,
  notReplayed: ReadonlyArray<Groups.NotReplayed>,
  allowsFixed = false
): ReadonlyArray<JUnit.Case> => [
  ...runs.map((run): JUnit.Case => {
    const entry = { name: run.execution, classname: workflow, milliseconds: run.milliseconds }
    if (run.differences.length === 0 || allowsFixed && run.effects?.isFixed === true) return entry
    const own = Groups.group([run], [], [])
    const message = own.groups.map(({ node, paths }) => `'${node}': ${paths.join(", ")}`).join("; ")
    return { ...entry, problem: { kind: "failure", type: "Difference", message, text: text(own, false) } }
  }),
  ...notReplayed.flatMap(({ execution, node, why }): ReadonlyArray<JUnit.Case> =>
    execution === undefined || node !== undefined ? [] : [{
      name: execution,
      classname: workflow,
      problem: { kind: "error", type: "NotReplayed", message: why, text: why }
    }]
  )
]

/** Groups and what says nothing of a proof of several workflows. */
export const manyLines = ({ groups, notReplayed }: Proofs.Proofs) => [
  ...groups.flatMap(({ example: shown, names, nodes, paths }, index) => [
    `  differ: ${Rows.names(nodes, 3)} ${Rows.listed(paths, 3)} in ${Rows.names(names, 5, 200)}`,
    ...(index === 0 && shown !== undefined ? bothSides([shown]) : [])
  ]),
  ...notReplayed.map(({ names, why }) => `  not proven: ${Visible.label(why, 200)}: ${Rows.names(names, 5, 200)}`)
]

/** Report of a proof of several workflows: the verdict, then its groups. */
export const ofMany = (result: Proofs.Proofs, isColoured: boolean): string =>
  [
    `${markOf(Groups.exitCode(result), isColoured)} ${result.verdict}`,
    ...manyLines(result)
  ].join("\n")

/** An entry for each run of a workflow with its proof; one for a workflow that was not proven. */
export const junitOf = ({ id, name, proof }: Proofs.Proven): ReadonlyArray<JUnit.Case> =>
  Result.isSuccess(proof)
    ? junit(name, proof.success.outcomes, proof.success.notReplayed)
    : junit(name, [], [{ execution: id, why: proof.failure.message }])

/** Report of a drill: the verdicts in a line, then each node. */
export const drill = (result: Drill.Drill, isColoured: boolean): string => {
  const { notDrilled, note, rows } = result
  return [
    `${markOf(Drill.exitCode(result), isColoured)} ${Drill.verdictOf(rows, note)}`,
    ...(rows.length === 0 ? [] : [""]),
    ...rows.flatMap((
      { failures, node, verdict, why }
    ) => [`  '${node}': ${verdict} (${failures.join(", ")})`, `    ${why}`]),
    ...list("not drilled", notDrilled.map(({ node, why }) => `'${node}': ${why}`))
  ].map((line) => Visible.text(line)).join("\n")
}

/** An entry for each verdict of a drill. */
export const drillCases = (result: Drill.Drill): ReadonlyArray<JUnit.Case> =>
  result.rows.map((row): JUnit.Case => {
    const entry = { name: `${row.node}: ${row.failures.join(", ")}`, classname: result.workflow.name }
    return Drill.isFine(row)
      ? entry
      : { ...entry, problem: { kind: "failure", type: row.verdict, message: row.why, text: row.why } }
  })
