/** Outcomes of cases as text for people and programs. Pure. */
import * as Hints from "../../answer/Hints.ts"
import * as Errors from "../../base/Errors.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import type * as CaseRun from "../../trials/cases/CaseRun.ts"
import type { Difference } from "../../trials/cases/TestCase.ts"
import * as TestCopies from "../../trials/TestCopies.ts"
import * as TextDiff from "../../workflow/diff/TextDiff.ts"
import * as Layout from "./Layout.ts"
import type { Judgment, Subject } from "./Writer.ts"

export type Named = CaseRun.Outcome & { readonly name: string }

export const isFine = ({ _tag }: Pick<CaseRun.Outcome, "_tag">): boolean => _tag === "Passed" || _tag === "Updated"

const maxChars = 2_000

const clip = (text: string) => text.length > maxChars ? `${text.slice(0, maxChars)}…` : text

const lineOf = (value: unknown) => value === undefined ? "nothing" : JSON.stringify(value)

const isContainer = (value: unknown) => typeof value === "object" && value !== null

/** Two values: complete if they are short, otherwise the lines that differ. */
const values = ({ actual, expected }: Pick<Difference, "actual" | "expected">): ReadonlyArray<string> => {
  const lines = [lineOf(expected), lineOf(actual)] as const
  const pair = ([one, other]: readonly [string, string]) => [
    `expected  ${clip(one)}`,
    `actual    ${clip(other)}${one === other ? " (a different one)" : ""}`
  ]
  const hunks = (
    one: string,
    other: string
  ) => ["- expected, + actual", ...clip(TextDiff.hunks(one, other)).split("\n")]
  if (typeof expected === "string" && typeof actual === "string" && !expected.startsWith("/")) {
    if (/\n/.test(expected) || /\n/.test(actual)) return hunks(expected, actual)
    return pair(
      expected.length + actual.length > 2 * TextDiff.longText
        ? TextDiff.excerpts(lines[0], lines[1], TextDiff.longText)
        : lines
    )
  }
  return isContainer(expected) && isContainer(actual) && Math.max(...lines.map(({ length }) => length)) > 80
    ? hunks(JSON.stringify(expected, null, 1), JSON.stringify(actual, null, 1))
    : pair(lines)
}

const failure = ({ error, inputItem, node }: ExecutionSummary.Failure): ReadonlyArray<string> => [
  `${node === undefined ? "It" : `'${Visible.label(node)}'`} failed: ${Redact.redactText(error.message)}`,
  ...[error.description, ...(error.messages ?? [])].flatMap((more) =>
    more === undefined ? [] : [`  ${Redact.redactText(more)}`]
  ),
  ...(inputItem === undefined ? [] : [`  with ${clip(lineOf(inputItem))}`])
]

const errorLines = (error: Errors.N8nError) => {
  const { context, message } = Errors.report(error)
  const details = context["errorDetails"]
  return [
    ...[message, details].flatMap((line) => line === undefined ? [] : [Redact.redactText(line)]),
    `→ ${Hints.text(error.hint)}`
  ]
}

/** Differences and errors of an outcome, without secrets. */
export const details = (outcome: CaseRun.Outcome): string => {
  const lines = outcome._tag === "Error"
    ? errorLines(outcome.error)
    : outcome._tag === "Failed"
    ? [
      ...outcome.differences.flatMap((difference) => [
        Visible.label(difference.path, 200),
        ...values(difference).map((line) => `  ${line}`)
      ]),
      ...(outcome.failure === undefined ? [] : failure(outcome.failure)),
      `execution ${outcome.executionId}`
    ]
    : []
  return Visible.text(lines.join("\n"))
}

/** Nodes that a replay left out or the copy replaced, even if the case passed. */
const notes = (outcome: CaseRun.Outcome) =>
  outcome._tag === "Error"
    ? ""
    : [
      outcome.notRun.length === 0
        ? undefined
        : `not run, nothing is stored for it: ${outcome.notRun.map((name) => Visible.label(name)).join(", ")}`,
      TestCopies.upgradeNote(outcome.upgraded)
    ].flatMap((note) => note === undefined ? [] : `  ${note}`).join("")

const marks = { Passed: "✓", Updated: "↻", Failed: "✗", Error: "✗" } as const

const colours = { Passed: 32, Updated: 33, Failed: 31, Error: 31 } as const

export const text = (outcome: Named, isColoured: boolean): string => {
  const { _tag, milliseconds, name } = outcome
  const mark = Layout.paint(marks[_tag], colours[_tag], isColoured)
  const below = details(outcome)
  return [
    `${mark} ${Visible.label(name, 200)}  ${Math.round(milliseconds)} ms${notes(outcome)}`,
    // The prefix prevents CI runners from interpreting lines of foreign text as commands.
    ...(below === "" ? [] : below.split("\n").map((line) => `  │ ${line}`))
  ].join("\n")
}

export const summary = (outcomes: ReadonlyArray<CaseRun.Outcome>, milliseconds: number): string => {
  const number = (tag: CaseRun.Outcome["_tag"]) => outcomes.filter(({ _tag }) => _tag === tag).length
  const parts = [
    [number("Passed"), "passed"],
    [number("Updated"), "updated"],
    [number("Failed"), "failed"],
    [number("Error"), "could not run"]
  ] as const
  const counts = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return `${counted(outcomes.length, "case")}: ${counts.join(", ")} (${(milliseconds / 1_000).toFixed(1)} s)`
}

export const json = (outcomes: ReadonlyArray<Named>, milliseconds: number) => ({
  passed: outcomes.filter(isFine).length,
  failed: outcomes.filter((outcome) => !isFine(outcome)).length,
  milliseconds: Math.round(milliseconds),
  cases: outcomes.map((outcome) => {
    const { _tag, milliseconds, name } = outcome
    const head = { name, result: _tag.toLowerCase(), milliseconds: Math.round(milliseconds) }
    if (outcome._tag === "Error") {
      return { ...head, error: { ...Errors.report(outcome.error), hint: Hints.text(outcome.error.hint) } }
    }
    const { differences, executionId, failure, notRun, upgraded } = outcome
    return {
      ...head,
      executionId,
      differences,
      ...(failure === undefined ? {} : { failure }),
      notRun,
      ...(upgraded.length === 0 ? {} : { upgraded })
    }
  })
})

/** Case with what is not as expected as a finding, and with its folder as its group. */
const subject = (outcome: Named): Subject => {
  const { _tag, milliseconds, name } = outcome
  const folder = name.lastIndexOf("/")
  const [first = "", ...rest] = details(outcome).split("\n")
  const place = { severity: "error" as const, file: name, line: 1, column: 1 }
  return {
    name: name.slice(folder + 1),
    group: folder < 0 ? "." : name.slice(0, folder),
    file: name,
    milliseconds,
    isJudged: _tag !== "Error",
    findings: isFine(outcome) ? [] : outcome._tag === "Failed"
      ? [{
        ...place,
        rule: "case-failed",
        message: `Not as expected: ${Rows.listed(outcome.differences.map(({ path }) => path), 5)}`,
        details: [first, ...rest]
      }]
      : [{ ...place, rule: "case-error", message: first, details: rest }]
  }
}

/** Cases after each has been printed; exit status 1 if one is not as expected, or could not run. */
export const judgment = (outcomes: ReadonlyArray<Named>, milliseconds: number): Judgment => {
  const subjects = outcomes.map(subject)
  return {
    json: json(outcomes, milliseconds),
    exit: outcomes.every(isFine) ? 0 : 1,
    verdict: summary(outcomes, milliseconds),
    text: () => [`\n${summary(outcomes, milliseconds)}`],
    findings: subjects.flatMap(({ findings }) => findings),
    subjects
  }
}
