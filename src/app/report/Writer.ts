/** Writer of every judgment: text, JSON, JUnit, SARIF 2.1.0 as GitHub's code scanning reads it, commands of GitHub. Pure. */
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import { version } from "../../base/Version.ts"
import * as Visible from "../../base/Visible.ts"
import { xml } from "../../base/Xml.ts"
import * as Finding from "../../fleet/inspection/Finding.ts"
import * as Layout from "./Layout.ts"

/** 0 done, 1 an error or something not done, 2 something was found. */
type Exit = 0 | 1 | 2

export interface Report {
  /** Value that `--json` prints. */
  readonly json: unknown
  /** Lines for a person; a terminal breaks the long ones between words. */
  readonly text: (screen: Layout.Screen) => ReadonlyArray<string>
  /** Advice below the lines, on stderr. */
  readonly advice?: ReadonlyArray<string>
  /** Default 0. */
  readonly exit?: Exit
}

/** Thing that was judged, an entry of a JUnit document: a file, a workflow, a case, a run, a node. */
export interface Subject {
  readonly name: string
  /** Group of entries in CI systems, such as a workflow's name or a folder; the command by default. */
  readonly group?: string
  readonly file?: string
  readonly milliseconds?: number
  /** False if it could not be judged, for the reasons that its findings name. */
  readonly isJudged?: boolean
  readonly findings: ReadonlyArray<Finding.Finding>
}

/** Report of a command that judges something: the writer makes each of its formats. */
export interface Judgment extends Pick<Report, "advice" | "exit"> {
  /** Data besides the findings that `--json` prints. */
  readonly json: unknown
  readonly findings: ReadonlyArray<Finding.Finding>
  /** Whether a finding fails the command, which then exits with 2; by default an error does. */
  readonly isFailing?: (finding: Finding.Finding) => boolean
  /** By default the places of the findings. */
  readonly subjects?: ReadonlyArray<Subject>
  /** First line of the text, after a mark. */
  readonly verdict?: string
  /** Lines between the verdict and the findings. */
  readonly about?: ReadonlyArray<string>
  /** Whether findings that many places share are one group with its places. */
  readonly isByRule?: boolean
  /** Last line of the text; it gets the numbers of findings, in words. */
  readonly summary?: (counts: string) => string
  /** Lines instead of those of the writer. */
  readonly text?: Report["text"]
}

export const formats = ["text", "json", "junit", "sarif", "github"] as const
export type Format = typeof formats[number]

const severities = ["error", "warning", "note"] as const

const failing = ({ isFailing = ({ severity }) => severity === "error" }: Judgment) => isFailing

export const exitOf = (judgment: Judgment): Exit => judgment.exit ?? (judgment.findings.some(failing(judgment)) ? 2 : 0)

/** Number of findings of each severity, `{errors, warnings, notes}`. */
export const tally = (findings: ReadonlyArray<Finding.Finding>) =>
  Object.fromEntries(
    severities.map((each) => [`${each}s`, findings.filter(({ severity }) => severity === each).length])
  )

export const json = (judgment: Judgment): object => ({
  ok: exitOf(judgment) === 0,
  ...judgment.json as object,
  findings: judgment.findings
})

const label = (text: string) => Visible.label(text, 1_000)

/** File, or name and id of a workflow; empty if it has no place. */
export const titleOf = (finding: Finding.Finding): string =>
  "file" in finding
    ? Visible.label(finding.file, 300)
    : "workflow" in finding
    ? Visible.label(finding.name, 128) + (finding.workflow === "" ? "" : ` (${Visible.label(finding.workflow)})`)
    : ""

/** The message, with its node unless it is named there. */
const sentence = ({ message, node }: Finding.Judged) =>
  node === undefined || message.includes(`'${node}'`) ? label(message) : `${Rows.quote(node, 128)}: ${label(message)}`

const detailsOf = ({ details = [] }: Finding.Judged) => details.flatMap((each) => Visible.text(each).split(/\r\n?|\n/))

/** Everything about a finding except its place. */
const whole = (finding: Finding.Judged) => {
  const text = sentence(finding)
  const { fix } = finding
  const advised = fix === undefined ? text : `${text.replace(/[^.!?:…]$/, "$&.")} ${label(fix)}`
  return [advised, ...detailsOf(finding)].join("\n")
}

const isMany = ({ path, rule, severity }: Finding.Finding) =>
  path !== undefined && severity === "note" || rule === "unreachable-node"

/** Findings of rules that concern many nodes of a place as one. */
const merged = (findings: ReadonlyArray<Finding.Finding>): ReadonlyArray<Finding.Finding> =>
  Rows.grouped(findings, (each) => isMany(each) ? [Finding.placeOf(each), each.rule, each.severity] : each).flatMap(
    ({ count, first: { fix, node: _, ...first }, rows }) => {
      if (count === 1) return rows
      const names = Rows.names(rows.flatMap(({ node }) => node ?? []), 5, 40)
      const message = `${Finding.ruleOf(first.rule).name} (${count})${names && `: ${names}`}.`
      return [{ ...first, message, ...(rows.every((each) => each.fix === fix) ? defined({ fix }) : {}) }]
    }
  )

const colours = { error: 31, warning: 33, note: undefined } as const

const severityOf = ({ severity }: Finding.Finding, width: number, { isColoured }: Layout.Screen) =>
  Layout.paint(severity.padEnd(width), colours[severity], isColoured)

/** Line and column of what is at a place in a file. */
const positionOf = (finding: Finding.Finding) =>
  "file" in finding && finding.path !== undefined ? `${finding.line}:${finding.column}` : ""

const titleLines = (finding: Finding.Finding, indent = "") => {
  const title = titleOf(finding)
  return title === "" ? [] : [`${indent}${title}`]
}

const byPlace = (findings: ReadonlyArray<Finding.Finding>, screen: Layout.Screen) =>
  Rows.grouped(findings, Finding.placeOf).flatMap(({ first, rows }) => {
    const width = Math.max(...rows.map((each) => positionOf(each).length))
    const indent = " ".repeat(width === 0 ? 11 : width + 13)
    const fixes = new Set<string | undefined>()
    return [
      ...titleLines(first),
      ...rows.flatMap((finding) => {
        const { fix, rule } = finding
        const isNew = !fixes.has(fix)
        fixes.add(fix)
        const position = width === 0 ? "" : `${positionOf(finding).padEnd(width)}  `
        return [
          `  ${position}${severityOf(finding, 7, screen)}  ${sentence(finding)}  [${rule}]`,
          ...(fix !== undefined && isNew ? [`${indent}→ ${label(fix)}`] : []),
          ...detailsOf(finding).map((line) => `${indent}│ ${line}`)
        ]
      }),
      ""
    ]
  })

/** Places of notes that a terminal lists; of more it shows their number. */
const maxNotes = 5

const byRule = (findings: ReadonlyArray<Finding.Finding>, screen: Layout.Screen) =>
  Rows.grouped(findings, ({ fix, message, node, rule, severity }) => [rule, severity, node, message, fix]).flatMap(
    ({ first, rows }) => {
      const places = rows.filter((each) => titleOf(each) !== "")
      const isCounted = screen.width !== Infinity && first.severity === "note" && places.length > maxNotes
      return [
        `${severityOf(first, 0, screen)} ${first.rule}${places.length > 0 ? ` (${places.length})` : ""}: ${
          sentence(first)
        }`,
        ...(isCounted
          ? [`  ${counted(places.length, "place")}: --json lists them, and a pipe`]
          : rows.flatMap((each) => [...titleLines(each, "  "), ...detailsOf(each).map((line) => `    │ ${line}`)])),
        ...(first.fix === undefined ? [] : [`  → ${label(first.fix)}`]),
        ""
      ]
    }
  )

/** Numbers of findings in words, and of the lines that show them if there are fewer. */
const counts = (findings: ReadonlyArray<Finding.Finding>, lines = findings) => {
  const [all, shown] = [tally(findings), tally(lines)]
  return severities.flatMap((severity) => {
    const [count = 0, line = 0] = [all[`${severity}s`], shown[`${severity}s`]]
    return count === 0 ? [] : `${counted(count, severity)}${line < count ? ` (${counted(line, "line")})` : ""}`
  }).join(", ")
}

const marks = [["✓", 32], ["✗", 31], ["≠", 33]] as const

export const text = (judgment: Judgment, screen: Layout.Screen): ReadonlyArray<string> => {
  const { about = [], findings, isByRule = false, summary, verdict } = judgment
  if (judgment.text !== undefined) return judgment.text(screen)
  const [mark, colour] = marks[exitOf(judgment)]
  const head = [
    ...(verdict === undefined ? [] : [`${Layout.paint(mark, colour, screen.isColoured)} ${label(verdict)}`]),
    ...about.map((line) => Visible.text(line).replace(/[\r\n]+/g, " "))
  ]
  const rows = isByRule ? findings : merged(findings)
  const lines = isByRule ? byRule(rows, screen) : byPlace(rows, screen)
  return [
    ...head,
    ...(head.length > 0 && lines.length > 0 ? [""] : []),
    ...(summary === undefined ? lines.slice(0, -1) : [...lines, summary(counts(findings, rows))])
  ]
}

const data = (value: string) => value.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A")

const property = (value: string) => data(value).replaceAll(":", "%3A").replaceAll(",", "%2C")

const commands = { error: "error", warning: "warning", note: "notice" } as const

/** Commands for the log of GitHub Actions, errors first: GitHub shows ten of each kind. */
export const github = ({ findings }: Judgment): ReadonlyArray<string> =>
  severities.flatMap((severity) => findings.filter((each) => each.severity === severity)).map((finding) => {
    const properties = {
      ...("file" in finding ? { file: finding.file, line: finding.line, col: finding.column } : {}),
      title: Finding.ruleOf(finding.rule).name
    }
    const written = Object.entries(properties).map(([key, value]) => `${key}=${property(String(value))}`).join(",")
    const where = "workflow" in finding ? `${titleOf(finding)}: ` : ""
    return Visible.text(`::${commands[finding.severity]} ${written}::${data(`${where}${whole(finding)}`)}`)
  })

/** The text's first or last line, without its mark. */
export const conclusion = ({ findings, summary = (counts) => counts, verdict }: Judgment): string =>
  Visible.line(verdict ?? summary(counts(findings)))

/** Readers convert these characters to spaces or line feeds. */
const coded = (text: string, characters: RegExp) =>
  xml(text).replace(characters, (character) => `&#${character.codePointAt(0)};`)

const element = (name: string, attributes: Readonly<Record<string, string | number>>, inner = "") => {
  const written = Object.entries(attributes)
    .map(([key, value]) => ` ${key}="${coded(String(value), /[\t\n\r]/g)}"`).join("")
  return inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`
}

const seconds = (milliseconds = 0) => (milliseconds / 1_000).toFixed(3)

/** Places of findings as things that were judged, and others without findings. */
export const subjectsOf = (
  findings: ReadonlyArray<Finding.Finding>,
  others: ReadonlyArray<Omit<Subject, "findings">> = []
): ReadonlyArray<Subject> => [
  ...Rows.grouped(findings, (each) => Finding.placeOf(each) || titleOf(each) || each.message).map((
    { first, rows }
  ) => ({
    name: titleOf(first) || label(first.message),
    ...("file" in first ? { file: first.file } : {}),
    findings: rows
  })),
  ...others.map((each) => ({ ...each, findings: [] }))
]

export interface Times {
  readonly milliseconds: number
  /** Epoch milliseconds. */
  readonly startedAt: number
}

/** JUnit document: an entry for each thing that was judged, which fails by the findings that fail the command. */
export const junit = (judgment: Judgment, command: string, { milliseconds, startedAt }: Times): string => {
  const isFailing = failing(judgment)
  const cases = (judgment.subjects ?? subjectsOf(judgment.findings)).map((subject) => {
    const { file, group = command, isJudged = true, milliseconds, name } = subject
    const findings = isJudged ? subject.findings.filter(isFailing) : subject.findings
    const [first] = findings
    const kind = first === undefined ? undefined : isJudged ? "failure" : "error"
    const lines = findings.map((finding) => `${positionOf(finding)} ${finding.rule} ${whole(finding)}`.trim())
    return {
      kind,
      xml: element(
        "testcase",
        { name, classname: group, ...defined({ file }), time: seconds(milliseconds) },
        first === undefined || kind === undefined
          ? ""
          : element(kind, { type: first.rule, message: sentence(first) }, coded(lines.join("\n"), /\r/g))
      )
    }
  })
  const numbers = {
    tests: cases.length,
    failures: cases.filter(({ kind }) => kind === "failure").length,
    errors: cases.filter(({ kind }) => kind === "error").length,
    time: seconds(milliseconds)
  }
  const suite = element(
    "testsuite",
    { name: "n8n workflows", ...numbers, skipped: 0, timestamp: new Date(startedAt).toISOString().slice(0, 19) },
    `\n${cases.map((each) => `    ${each.xml}\n`).join("")}  `
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${
    element("testsuites", { name: "effect-n8n-mcp", ...numbers }, `\n  ${suite}\n`)
  }\n`
}

const pascal = (id: string) => id.replace(/(?:^|\W)(\w)/g, (_, letter: string) => letter.toUpperCase())

const locationsOf = (finding: Finding.Finding) => {
  const { node } = finding
  const workflow = "workflow" in finding ? finding.workflow : undefined
  const inside = workflow === undefined ? "" : `${workflow}/`
  const logical = [
    ...(node === undefined ? [] : [{ name: node, fullyQualifiedName: `${inside}${node}`, kind: "node" }]),
    ...("workflow" in finding ? [{ name: finding.name, fullyQualifiedName: workflow, kind: "workflow" }] : [])
  ]
  const physicalLocation = "file" in finding
    ? {
      artifactLocation: { uri: finding.file.split("/").map(encodeURIComponent).join("/") },
      region: { startLine: finding.line, startColumn: finding.column }
    }
    : undefined
  const logicalLocations = logical.length === 0 ? undefined : logical
  return physicalLocation ?? logicalLocations ? [defined({ physicalLocation, logicalLocations })] : []
}

/** SARIF document of a run; a finding is recognised by its fingerprint when lines shift. */
export const sarif = ({ findings }: Judgment) => {
  const ids = [...new Set(findings.map(({ rule }) => rule))].toSorted()
  const keys = Finding.keysOf(findings)
  const rules = ids.map((id) => {
    const { help, name } = Finding.ruleOf(id)
    return { id, name: pascal(id), shortDescription: { text: name }, help: { text: help } }
  })
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "effect-n8n-mcp", version, rules } },
      columnKind: "utf16CodeUnits",
      results: findings.map((finding, index) => ({
        ruleId: finding.rule,
        ruleIndex: ids.indexOf(finding.rule),
        level: finding.severity,
        message: { text: whole(finding) },
        locations: locationsOf(finding),
        partialFingerprints: { "n8nFinding/v1": Finding.fingerprint(keys[index] ?? []) }
      }))
    }]
  }
}
