/** Differences between two states of a workflow, in one line or a few. */
import * as Difference from "../../base/Difference.ts"
import { equals } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import { namedNodes, nameOf } from "../../n8n/model/Workflow.ts"
import { content, type Document, make, type NodeDiff, relevant, steps, type WorkflowDiff } from "./changes.ts"
import * as TextDiff from "./TextDiff.ts"

const fieldNames = (differences: NodeDiff["value"]) => [
  ...new Set(
    relevant(differences ?? []).map(({ path }) => {
      const [top = "", key = top] = JsonPath.parse(path) ?? []
      return top === "parameters" ? key : top
    })
  )
]

const fieldsBetween = (before: unknown, after: unknown, path: string) =>
  Difference.fields(Difference.between(before, after), path)

/** Changed fields of the workflow itself, not redacted; each setting by itself, also if there were none. */
export const restFields = ({ rest }: Pick<WorkflowDiff, "rest">): ReadonlyArray<Difference.Field> =>
  Difference.fields(rest ?? []).flatMap((field) =>
    field.path === "settings" ? fieldsBetween(field.before ?? {}, field.after ?? {}, "settings") : [field]
  )

/** Parts of the workflow itself that differ, each setting by itself: `name`, `settings.timezone`, `tags`. */
export const parts = (diff: Pick<WorkflowDiff, "rest">): ReadonlyArray<string> => [
  ...new Set(
    restFields(diff).map(({ path }) => {
      const [top = path, key = ""] = JsonPath.parse(path) ?? []
      return top === "settings" ? JsonPath.member(top, key) : String(top)
    })
  )
]

/** Whether anything differs that n8n's versions hold: nodes, connections, node groups. */
export const isOfVersion = (diff: WorkflowDiff): boolean =>
  diff.nodes.length + diff.links.added.length + diff.links.removed.length > 0 || parts(diff).includes("nodeGroups")

/** Names of the first changed fields of a node. */
const fieldsOf = ({ value }: NodeDiff) => fieldNames(value).slice(0, 3).join(", ")

/**
 * Differences in one line, such as `added 'Slack', changed 'Net amount' (jsCode), 2 connections`, or `nothing`. More
 * than `most` nodes with the same kind of change are counted.
 */
export const line = (diff: WorkflowDiff, most = 3, about = fieldsOf): string => {
  const { links, nodes } = diff
  const named = (change: NodeDiff["change"]) => nodes.filter((node) => node.change === change)
  const changed = named("changed").filter(({ value }) => fieldNames(value).length > 0)
  const count = links.added.length + links.removed.length
  const all = [
    ...(["added", "removed"] as const).flatMap((change) => {
      const those = named(change)
      return those.length === 0 ? [] : [`${change} ${Rows.names(those.map(({ name }) => name), most)}`]
    }),
    ...named("renamed").slice(0, most).map(({ formerName, name }) => `renamed '${formerName}' to '${name}'`),
    ...changed.length === 0 ? [] : changed.length > most
      ? [`changed ${changed.length} nodes`]
      : changed.map((node) => `changed '${node.name}' (${about(node)})`),
    ...count === 0 ? [] : [counted(count, "connection")],
    ...parts(diff)
  ]
  const moved = named("moved").length
  return all.length > 0 ? all.join(", ") : moved > 0 ? `moved ${counted(moved, "node")}` : "nothing"
}

const asText = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value) ?? ""

/** Text in quotes that it does not contain, so that JSON need not escape them. */
const inQuotes = (text: string) => {
  const quote = ["\"", "'", "`"].find((each) => !text.includes(each)) ?? "\""
  return quote + text.replaceAll(/\r?\n/g, "⏎") + quote
}

const inLine = (value: unknown, excerpt: string) =>
  value === undefined ? "none" : typeof value === "string" ? inQuotes(excerpt) : excerpt

/** Change of a value in one line: excerpts around the difference, before and after. */
export const around = (before: unknown, after: unknown, room = 160): string => {
  if (before === Redact.marker && after === Redact.marker) return `${Redact.marker} → ${Redact.marker}`
  for (let piece = Math.floor((room - 8) / 2);; piece -= 8) {
    const [from, to] = TextDiff.excerpts(asText(before), asText(after), piece)
    const text = `${inLine(before, from)} → ${inLine(after, to)}`
    // Values other than texts may be longer.
    if (text.length <= room || piece <= 16) return text
  }
}

/** Changed fields of two values by path; of what is redacted it shows only that it differs. */
const shownFields = (before: unknown, after: unknown, path: string): ReadonlyArray<Difference.Field> =>
  Difference.changes(Redact.whole(before), Redact.whole(after), path).map(({ path, shown }) => {
    const [old, now] = [shown("before"), shown("after")]
    return equals(old, now) ? { path, before: Redact.marker, after: Redact.marker } : { path, before: old, after: now }
  })

/** Differences between two values, one per line: `options.timeout: 1 → none`; redacted here, by their paths. */
export const lines = (before: unknown, after: unknown, path = "", room?: number): ReadonlyArray<string> =>
  shownFields(before, after, path).map(({ after, before, path }) => `${path}: ${around(before, after, room)}`)

const nodeIn = (workflow: Document, name: string) => namedNodes(workflow).find((node) => nameOf(node) === name) ?? {}

/** Changed fields of a node, redacted by their paths. */
export const changedFields = (before: Document, after: Document, { formerName, name }: NodeDiff) =>
  shownFields(content(nodeIn(before, formerName ?? name)), content(nodeIn(after, name)), "")

const detail = (before: Document, after: Document, { formerName, name }: NodeDiff) => {
  const all = lines(content(nodeIn(before, formerName ?? name)), content(nodeIn(after, name)))
  return { first: (all[0] ?? "").replace(/^parameters\./, ""), count: all.length }
}

/** The {@link line} of two versions, with an excerpt if a single value of one node differs. */
export const step = (before: Document, after: Document): string => Turn.finish(lineSteps(before, after))

/** {@link step} in steps: a pair of nodes each. @internal */
export const lineSteps = function*(before: Document, after: Document): Turn.Steps<string> {
  const diff = yield* steps(before, after, false)
  const [only, ...others] = diff.nodes.filter(({ change }) => change !== "moved")
  const isOne = only?.change === "changed" && others.length === 0 && diff.rest === undefined &&
    diff.links.added.length + diff.links.removed.length === 0
  const { count, first } = isOne ? detail(before, after, only) : { count: 0, first: "" }
  return isOne && count === 1 ? `changed '${only.name}' (${first})` : line(diff)
}

/** The {@link line} with the first difference of the first nodes: `changed 'Price' (jsCode: "net" → "net * 2")`. */
export const summary = (before: Document, after: Document): string => {
  const diff = make(before, after)
  const texts = new Map(
    diff.nodes.filter(({ change, value }) => value !== undefined && (change === "changed" || change === "renamed"))
      .slice(0, 3).map((node) => [node, detail(before, after, node).first])
  )
  const text = line(diff, undefined, (node) => {
    const first = texts.get(node)
    texts.delete(node)
    const others = fieldNames(node.value).slice(0, 3).filter((name) => !first?.startsWith(String(name)))
    return first === undefined || first === "" ? fieldsOf(node) : [first, ...others].join(", ")
  })
  // Those of nodes that the line does not name with their fields.
  return [text, ...[...texts].map(([{ name }, first]) => `${name}: ${first}`)].join("; ")
}
