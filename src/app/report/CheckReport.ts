/** Findings of `check` as text, JSON, workflow commands of GitHub, and JUnit. Pure. */
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as Finding from "../../fleet/inspection/Finding.ts"
import type * as JUnit from "./JUnit.ts"
import * as Layout from "./Layout.ts"

export interface Report {
  readonly findings: ReadonlyArray<Finding.Finding>
  readonly places: ReadonlyArray<string>
  readonly isOnN8n: boolean
  readonly isStrict: boolean
  /** Number of findings in the baseline. */
  readonly known: number
}

export const isFine = ({ findings, isStrict }: Report): boolean =>
  !findings.some((finding) => Finding.counts(finding, isStrict))

const severities = ["error", "warning", "note"] as const

const tally = ({ findings }: Report) =>
  severities.map((each) => [each, findings.filter(({ severity }) => severity === each).length] as const)

export const json = (report: Report): { readonly [key: string]: unknown } => ({
  ok: isFine(report),
  [report.isOnN8n ? "workflows" : "files"]: report.places.length,
  ...Object.fromEntries(tally(report).map(([severity, count]) => [`${severity}s`, count])),
  known: report.known,
  findings: report.findings
})

/** The message, with its node unless it is named there, and the fix. */
const sentence = ({ fix, message, node }: Omit<Finding.Located, "path">) => {
  const isNamed = node === undefined || message.includes(`'${node}'`)
  const subject = isNamed ? "" : `'${Visible.label(node, 128)}': `
  return [`${subject}${message}`, ...(fix === undefined ? [] : [fix])].join(" ")
}

const placeOf = (finding: Finding.Finding) => "file" in finding ? `${finding.line}:${finding.column}` : ""

const colours = { error: 31, warning: 33, note: undefined } as const

const isMany = ({ rule, severity }: Finding.Finding) => severity === "note" || rule === "unreachable-node"

/** Findings of rules that concern many nodes in one line. */
const merged = (findings: ReadonlyArray<Finding.Finding>): ReadonlyArray<Finding.Finding> =>
  Rows.grouped(findings, (each) => isMany(each) ? [each.rule, each.severity] : each).flatMap(
    ({ count, first: { fix, node: _, ...first }, rows }) => {
      if (count === 1) return rows
      const names = Rows.names(rows.flatMap(({ node }) => node ?? []), 5, 40)
      const message = `${Finding.ruleOf(first.rule).name} (${count})${names && `: ${names}`}.`
      return [{ ...first, message, ...(rows.every((each) => each.fix === fix) ? defined({ fix }) : {}) }]
    }
  )

const titleOf = (finding: Finding.Finding) =>
  "file" in finding ? Visible.label(finding.file, 300) : `${Visible.label(finding.name, 128)} (${finding.workflow})`

const linesOf = (finding: Finding.Finding, width: number, isColoured: boolean, fixes: Set<string>) => {
  const { fix, message, node, rule, severity } = finding
  const shown = Layout.paint(severity.padEnd(7), colours[severity], isColoured)
  const indent = `  ${placeOf(finding).padEnd(width)}  `
  const isNew = fix !== undefined && !fixes.has(fix)
  if (isNew) fixes.add(fix)
  return [
    `${indent}${shown}  ${sentence(defined({ rule, severity, node, message }))}  [${rule}]`,
    ...(isNew ? [`${" ".repeat(indent.length + 9)}→ ${fix}`] : [])
  ]
}

/** Number of findings in a sentence. */
export const summary = (report: Report): string => {
  const counts = tally(report).flatMap(([severity, count]) => count === 0 ? [] : [counted(count, severity)])
  const places = new Set(report.findings.map(Finding.placeOf)).size
  const all = counted(report.places.length, report.isOnN8n ? "workflow" : "file")
  const known = report.known === 0 ? "" : `; ${report.known} known in the baseline`
  return counts.length === 0 ? `${all}, nothing found${known}` : `${counts.join(", ")} in ${places} of ${all}${known}`
}

export const text = (report: Report, isColoured: boolean): ReadonlyArray<string> => [
  ...Rows.grouped(report.findings, Finding.placeOf).flatMap(({ first, rows }) => {
    const shown = merged(rows)
    const width = Math.max(...shown.map((each) => placeOf(each).length))
    const fixes = new Set<string>()
    return [
      titleOf(first),
      ...shown.flatMap((finding) => linesOf(finding, width, isColoured, fixes)),
      ""
    ]
  }),
  summary(report)
]

const property = (value: string) => data(value).replaceAll(":", "%3A").replaceAll(",", "%2C")

const data = (value: string) => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const commands = { error: "error", warning: "warning", note: "notice" } as const

/** Commands for the log of GitHub Actions, errors first: GitHub shows ten of each kind. */
export const github = (report: Report): ReadonlyArray<string> =>
  severities.flatMap((severity) => report.findings.filter((each) => each.severity === severity)).map((finding) => {
    const properties = {
      ...("file" in finding ? { file: finding.file, line: finding.line, col: finding.column } : {}),
      title: Finding.ruleOf(finding.rule).name
    }
    const written = Object.entries(properties).map(([key, value]) => `${key}=${property(String(value))}`).join(",")
    const where = "file" in finding ? "" : `${finding.name} (${finding.workflow}): `
    return Visible.text(`::${commands[finding.severity]} ${written}::${data(`${where}${sentence(finding)}`)}`)
  })

/** A case for each file or workflow, which fails by the findings that fail the check. */
export const junit = (report: Report): ReadonlyArray<JUnit.Case> => {
  const groups = Map.groupBy(report.findings, Finding.placeOf)
  return report.places.map((place) => {
    const findings = groups.get(place) ?? []
    const [first] = findings
    const failing = findings.filter((finding) => Finding.counts(finding, report.isStrict))
    return {
      name: first === undefined ? place : titleOf(first),
      classname: "check",
      ...(report.isOnN8n ? {} : { file: place }),
      ...(failing[0] === undefined ? {} : {
        problem: {
          kind: "failure" as const,
          type: failing[0].rule,
          message: sentence(failing[0]),
          text: failing.map((finding) => `${placeOf(finding)} ${finding.rule} ${sentence(finding)}`.trim()).join("\n")
        }
      })
    }
  })
}
