/** Details of a node for readers: redacted text of bounded length. */
import { type Obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import type { Problem } from "../base/Problem.ts"
import * as Redact from "../base/Redact.ts"
import * as Visible from "../base/Visible.ts"
import type * as Execution from "../executions/Execution.ts"
import * as NodeExecution from "../executions/NodeExecution.ts"
import { nameOf } from "../n8n/model/Workflow.ts"
import type * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import * as References from "../workflow/References.ts"

/** Titled part of a node's details. */
export interface Section {
  readonly title: string
  readonly text: string
  /** Whether lines start with `+` and `-` for new and old ones. */
  readonly isDiff?: boolean
}

export interface Show {
  readonly showsSecrets: boolean
  readonly line: (text: string) => string
  readonly text: (text: string) => string
  /** Value as indented JSON; strings unchanged. */
  readonly value: (value: unknown) => string
  /** Sections of a value: its texts of several lines, such as code, as they are, and the rest as JSON. */
  readonly sections: (title: string, value: unknown, outer?: string) => ReadonlyArray<Section>
}

const [most, mostTexts, mostTitle] = [6_000, 20, 200]

const shortened = (text: string): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…\n(${text.length - most} more characters)`

const section = (title: string, text: string): ReadonlyArray<Section> => text === "" ? [] : [{ title, text }]

const isEmpty = (value: unknown) => value === undefined || value === null || JSON.stringify(value) === "{}"

/** Leaves out the notes to readers of n8n's forms, which n8n stores as empty texts. */
const withoutNotices = (key: string, value: unknown) => value === "" && /notice$/i.test(key) ? undefined : value

export const show = (showsSecrets: boolean): Show => {
  const text = (value: string) => Visible.text(showsSecrets ? value : Redact.redactText(value))
  const safe = (value: unknown) => Visible.json(showsSecrets ? value : Redact.redact(value))
  const print = (value: unknown) =>
    shortened(typeof value === "string" ? value : JSON.stringify(value, withoutNotices, 2) ?? "")
  return {
    showsSecrets,
    text: (value) => shortened(text(value)),
    line: (value) => text(value.slice(0, most)).replace(/\s+/g, " ").trim(),
    value: (value) => print(safe(value)),
    sections: (title, value, outer = "") => {
      const all = safe(value)
      const texts = JsonPath.strings(all).filter(([, text]) => text.includes("\n"))
        .slice(0, mostTexts)
      // From the last, so that the elements of a list before it keep their places.
      const rest = texts.reduceRight((json: unknown, [path]) => JsonPath.modify(json, path, () => undefined), all)
      const json = isEmpty(rest) ? "" : print(rest)
      return [
        ...section(title, json === "{}" ? "" : json),
        ...texts.flatMap(([path, text]) => section(JsonPath.print(path, outer).slice(0, mostTitle), shortened(text)))
      ]
    }
  }
}

export const ofNode = (node: Obj, show: Show): ReadonlyArray<Section> => {
  const credentials = References.ofNode({ credentials: node["credentials"] }).map(({ name, type }) =>
    `${type}: ${name ?? "?"}`
  )
  return [
    ...section("Notes", show.text(str(node["notes"]) ?? "")),
    ...show.sections("Parameters", node["parameters"]),
    ...section("Credentials", show.text(credentials.join("\n"))),
    ...section("On error", show.line(str(node["onError"]) ?? ""))
  ]
}

const shownItems = 3

const items = (title: string, total: number, side: ReadonlyArray<Execution.Item>, show: Show) =>
  total === 0
    ? []
    : section(
      `${title}: ${
        side.length < total ? `the first ${side.length} of ${total} items` : total === 1 ? "1 item" : `${total} items`
      }`,
      show.value(side.map((item) => Object.keys(item).length === 1 ? item.json : item))
    )

const errorText = (error: Execution.ErrorDetail) =>
  [error.message, error.description, ...(error.messages ?? [])].filter((line) => line !== undefined).join("\n")

/** Input, error and output of a node's last run. */
export const ofRun = (node: Obj, execution: Execution.Execution, show: Show): ReadonlyArray<Section> => {
  const nodeName = nameOf(node)
  const { node: run } = NodeExecution.read(
    execution,
    { nodeName, itemOffset: 0, itemLimit: shownItems },
    () => undefined
  )
  const last = run.runCount > 1 ? ` (last of ${run.runCount} runs)` : ""
  const emitted = run.outputs.reduce((sum, output) => sum + output.items, 0)
  const received = run.input.sources.reduce((sum, source) => sum + source.count, 0)
  return [
    ...(run.error === null ? [] : section("Error", show.text(errorText(run.error)))),
    ...section("Run", show.text(run.note ?? "")),
    ...items(`Input${last}`, received, run.input.items, show),
    ...items(`Output${last}`, emitted, run.output.items, show),
    ...ofNode(node, show)
  ]
}

const prefixed = (sign: string, text: string) => text.split("\n").map((line) => `${sign} ${line}`).join("\n")

const fieldSections = ({ after, before, diff, path }: WorkflowDiff.FieldView, show: Show): ReadonlyArray<Section> => {
  const title = show.line(path)
  const sides = [["-", before], ["+", after]] as const
  const isPart = typeof (before ?? after) === "object" && (before === undefined || after === undefined)
  if (diff === undefined && isPart) {
    return sides.flatMap(([sign, value]) =>
      show.sections(title, value, title).map((part) => ({ ...part, text: prefixed(sign, part.text), isDiff: true }))
    )
  }
  const texts = sides.flatMap(([sign, value]) => value === undefined ? [] : [prefixed(sign, show.value(value))])
  return [{ title, text: diff === undefined ? texts.join("\n") : show.text(diff), isDiff: true }]
}

/** Changes of a node; added, removed and unchanged nodes are described in full. */
export const ofChange = (node: Obj, view: WorkflowDiff.NodeView | undefined, show: Show): ReadonlyArray<Section> => [
  ...(view?.formerName === undefined ? [] : section("Former name", show.line(view.formerName))),
  ...(view?.fields ?? []).flatMap((field) => fieldSections(field, show)),
  ...(view?.fields === undefined ? ofNode(node, show) : [])
]

export const ofWhole = ({ connections, name, other = [], settings = [] }: WorkflowDiff.View, show: Show) => [
  ...(name === undefined ? [] : fieldSections({ path: "Name", ...name }, show)),
  ...[...settings, ...other].flatMap((field) => fieldSections(field, show)),
  ...(connections.added.length + connections.removed.length === 0 ? [] : [{
    title: "Connections",
    text: show.text(
      [...connections.removed.map((link) => `- ${link}`), ...connections.added.map((link) => `+ ${link}`)].join("\n")
    ),
    isDiff: true
  }])
]

export const ofProblems = (problems: ReadonlyArray<Problem>, show: Show): ReadonlyArray<Section> =>
  problems.map(({ fix, message, path, severity }) => ({
    title: show.line(path === "" ? severity : `${severity}: ${path}`),
    text: show.text(fix === undefined ? message : `${message}\n${fix}`)
  }))
