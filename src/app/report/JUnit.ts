/** Results of cases as JUnit XML for CI systems. Pure. */
import type * as CaseRun from "../../trials/cases/CaseRun.ts"
import * as CaseReport from "./CaseReport.ts"

/** Characters that XML 1.0 forbids, even escaped. */
const impossible = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  // Readers convert them to spaces in attributes.
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;"
}

const attribute = (text: string) =>
  text.replace(impossible, "\uFFFD").replace(/[&<>"\t\n\r]/g, (character) => entities[character] ?? character)

const content = (text: string) =>
  text.replace(impossible, "\uFFFD").replace(/[&<>\r]/g, (character) => entities[character] ?? character)

const element = (name: string, attributes: Readonly<Record<string, string | number>>, inner = "") => {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${attribute(String(value))}"`).join("")
  return inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(3)

const messageOf = (outcome: CaseRun.Outcome) =>
  outcome._tag === "Error"
    ? CaseReport.details(outcome).split("\n")[0] ?? ""
    : outcome._tag === "Failed"
    ? `Not as expected: ${outcome.differences.map(({ path }) => path).slice(0, 5).join(", ")}`
    : ""

/** Folder of a case as its class name, by which CI systems group. */
const folderOf = (name: string) => name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "."

const testcase = (outcome: CaseReport.Named) => {
  const { _tag, milliseconds, name } = outcome
  const attributes = {
    name: name.slice(name.lastIndexOf("/") + 1),
    classname: folderOf(name),
    file: name,
    time: seconds(milliseconds)
  }
  if (CaseReport.isFine(outcome)) return element("testcase", attributes)
  const kind = _tag === "Error" ? "error" : "failure"
  const type = outcome._tag === "Error" ? outcome.error._tag : "Difference"
  return element(
    "testcase",
    attributes,
    element(kind, { type, message: messageOf(outcome) }, content(CaseReport.details(outcome)))
  )
}

/** Complete document; `startedAt` is in epoch milliseconds. */
export const document = (
  outcomes: ReadonlyArray<CaseReport.Named>,
  { milliseconds, startedAt }: { readonly milliseconds: number; readonly startedAt: number }
): string => {
  const counts = {
    tests: outcomes.length,
    failures: outcomes.filter(({ _tag }) => _tag === "Failed").length,
    errors: outcomes.filter(({ _tag }) => _tag === "Error").length,
    time: seconds(milliseconds)
  }
  const timestamp = new Date(startedAt).toISOString().slice(0, 19)
  const suite = element(
    "testsuite",
    { name: "n8n workflows", ...counts, skipped: 0, timestamp },
    `\n${outcomes.map((outcome) => `    ${testcase(outcome)}\n`).join("")}  `
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${
    element("testsuites", { name: "effect-n8n-mcp", ...counts }, `\n  ${suite}\n`)
  }\n`
}
