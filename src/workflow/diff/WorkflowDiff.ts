/**
 * Differences between two states of a workflow. Pure. {@link make} recognises renamed nodes (same id, or same type,
 * parameters and links) and ignores the order of nodes, links and keys; nothing is lost. {@link view} is the form for
 * readers, {@link line} and {@link summary} are one line.
 */
import * as Difference from "../../base/Difference.ts"
import { defined, equals, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { namedNodes, nameOf } from "../../n8n/model/Workflow.ts"
import {
  content,
  type Document,
  make,
  type NodeDiff,
  plainName,
  relevant,
  steps,
  type WorkflowDiff
} from "./changes.ts"
import * as TextDiff from "./TextDiff.ts"
export type { Difference, Field } from "../../base/Difference.ts"
export { type Document, make, type NodeDiff, plainName, type WorkflowDiff } from "./changes.ts"
export { unchanged } from "./changes.ts"
/** @internal */
export { steps } from "./changes.ts"

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

/** One changed value: before and after, shortened around the change, or the hunks of a unified diff for a long text. */
export interface FieldView {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly diff?: string
}

/** Change of a node, for readers. */
export interface NodeView {
  readonly node: string
  readonly change: "added" | "removed" | "changed" | "renamed"
  readonly formerName?: string
  readonly type?: string
  readonly fields?: ReadonlyArray<FieldView>
}

/** Differences, for readers. */
export interface View {
  /** Whether nothing but positions differs. */
  readonly same: boolean
  readonly moved: number
  readonly nodes: ReadonlyArray<NodeView>
  /** Links such as `If.true → Slack`. */
  readonly connections: { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> }
  readonly settings?: ReadonlyArray<FieldView>
  readonly name?: { readonly before: unknown; readonly after: unknown }
  /** Pinned data, static data, groups and description. */
  readonly other?: ReadonlyArray<FieldView>
}

/** Name in the editor of the output that a link starts from, such as `true` of an If, if it has one. */
export type PortName = (
  link: Connections.Link,
  state: "before" | "after"
) => string | undefined

const end = (node: string, port: Connections.Port, name?: string) => {
  if (name !== undefined) return `${node}.${name}`
  return port.type === "main" && port.index === 0 ? node : `${node}.${Connections.portLabel(port)}`
}

const linkView = (link: Connections.Link, state: "before" | "after", portName: PortName) =>
  `${end(plainName(link.from), link.output, portName(link, state))} → ${end(plainName(link.to), link.input)}`

/** A link whose port only changed its index has the same names on both sides and is omitted. */
const linksView = ({ added, removed }: WorkflowDiff["links"], portName: PortName): View["connections"] => {
  const appeared = added.map((link) => linkView(link, "after", portName))
  const disappeared = removed.map((link) => linkView(link, "before", portName))
  const [before, after] = [new Set(disappeared), new Set(appeared)]
  return {
    added: appeared.filter((link) => !before.has(link)),
    removed: disappeared.filter((link) => !after.has(link))
  }
}

const fieldView = (isWhole: boolean) => ({ after, before, path }: Difference.Field): FieldView => {
  if (typeof before === "string" && typeof after === "string") {
    if (/\n/.test(before) || /\n/.test(after)) return { path, diff: TextDiff.hunks(before, after) }
    if (!isWhole && before.length + after.length > 2 * TextDiff.longText) {
      const [from, to] = TextDiff.excerpts(before, after, TextDiff.longText)
      return { path, before: from, after: to }
    }
  }
  return defined({ path, before, after })
}

/** The fields of an added node that decide what it does. */
const wholeView = ({ id: _, name: __, position: ___, type: ____, webhookId: _____, ...rest }: Obj) =>
  Object.entries(rest).flatMap(([path, after]): ReadonlyArray<FieldView> => equals(after, {}) ? [] : [{ path, after }])

/** Differences for readers; `portName` has the editor's names of ports, `node` shows one node in full. */
export const view = (
  diff: WorkflowDiff,
  options: { readonly node?: string | undefined; readonly portName?: PortName } = {}
): View => Turn.finish(viewSteps(diff, options))

/** {@link view} in steps: a node each. @internal */
export const viewSteps = function*(
  { links, nodes, rest }: WorkflowDiff,
  { node, portName = () => undefined }: NonNullable<Parameters<typeof view>[1]>
): Turn.Steps<View> {
  const shown = nodes.filter(({ change, formerName, name }) =>
    change !== "moved" && (node === undefined || name === node || formerName === node)
  )
  const touches = ({ from, to }: Connections.Link) =>
    node === undefined || plainName(from) === node || plainName(to) === node
  const restFields = Difference.fields(rest ?? [])
  const isSetting = ({ path }: Difference.Field) => /^settings(?![\p{ID_Continue}$])/u.test(path)
  const settings = restFields.filter(isSetting)
  const name = restFields.find(({ path }) => path === "name")
  const other = restFields.filter((field) => field !== name && !settings.includes(field))
  return defined({
    same: nodes.every(({ change }) => change === "moved") && links.added.length + links.removed.length === 0 &&
      rest === undefined,
    moved: nodes.filter(({ position }) => position !== undefined).length,
    nodes: yield* Turn.flatMap(shown, ({ change, formerName, name, value }): ReadonlyArray<NodeView> => {
      const only = value?.[0]
      const whole = only?.steps.length === 0 ? obj(only.after) ?? obj(only.before) : undefined
      const fields = value === undefined || whole !== undefined && node === undefined
        ? change === "added" ? wholeView(whole ?? {}) : undefined
        : relevant(value).map(fieldView(node !== undefined))
      return [defined({
        node: name,
        change: change === "moved" ? "changed" as const : change,
        formerName,
        type: str(whole?.["type"]),
        fields
      })]
    }),
    connections: linksView({ added: links.added.filter(touches), removed: links.removed.filter(touches) }, portName),
    settings: settings.length === 0 || node !== undefined ? undefined : settings.map(fieldView(false)),
    name: name === undefined || node !== undefined ? undefined : { before: name.before, after: name.after },
    other: other.length === 0 || node !== undefined ? undefined : other.map(fieldView(false))
  })
}

/** Whether both states are equal apart from the positions of nodes. */
export const isSame = (before: Document, after: Document): boolean => view(make(before, after)).same
