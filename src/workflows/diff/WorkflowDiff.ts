/**
 * What differs between two states of a workflow. Pure.
 *
 * **Details**
 *
 * {@link make} knows renamed nodes (same id, or same type, parameters and links), pays no heed to the order of nodes,
 * links and keys, and loses nothing: {@link apply} makes the second state of the first, {@link invert} leads back.
 * {@link view} is what a reader is shown of it.
 */
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { marker, redact } from "../../base/Redact.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import * as TextDiff from "./TextDiff.ts"
import * as valueDiff from "./valueDiff.ts"

export type { ArrayChange, Change, ElementChange, ObjectChange, Replace } from "./valueDiff.ts"

/**
 * A workflow of any origin; what does not fit is not compared.
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly [key: string]: unknown
}

/**
 * What became of one node. A node that only moved is `moved`.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeDiff {
  /** Its name after the change; of one that was removed, before. */
  readonly name: string
  readonly change: "added" | "removed" | "changed" | "renamed" | "moved"
  /** The name before, of a renamed one. */
  readonly formerName?: string
  /** Everything but name and position; of an added or removed one the whole node. */
  readonly value?: valueDiff.Change
  readonly position?: valueDiff.Change
}

/**
 * The differences; nothing in it is cut.
 *
 * @category models
 * @since 0.1.0
 */
export interface WorkflowDiff {
  readonly nodes: ReadonlyArray<NodeDiff>
  /** With the names that nodes have after the change; of removed nodes, before, see {@link plainName}. */
  readonly links: { readonly added: ReadonlyArray<Connections.Link>; readonly removed: ReadonlyArray<Connections.Link> }
  /** The name, settings and what else belongs to the whole workflow. */
  readonly rest?: valueDiff.Change
}

/** What is compared besides nodes and connections; the rest of what n8n answers says when and by whom. */
const restKeys = ["name", "description", "settings", "pinData", "staticData", "nodeGroups"] as const

const nodesOf = (workflow: Document): ReadonlyArray<Obj> =>
  arr(workflow["nodes"]).flatMap((node) => typeof obj(node)?.["name"] === "string" ? [obj(node) ?? {}] : [])

const nameOf = (node: Obj) => str(node["name"]) ?? ""

const content = ({ name: _, position: __, ...rest }: Obj): Obj => rest

const linksOf = (workflow: Document): ReadonlyArray<Connections.Link> =>
  Connections.links(readable(workflow["connections"]))

/** The connections without what is none. */
const readable = (connections: unknown): Connections.Connections =>
  Object.fromEntries(
    Object.entries(obj(connections) ?? {}).map(([from, byType]) => [
      from,
      Object.fromEntries(
        Object.entries(obj(byType) ?? {}).map(([type, outputs]) => [
          type,
          arr(outputs).map((targets) =>
            arr(targets).flatMap((target) => {
              const { index, node, type } = obj(target) ?? {}
              return typeof node === "string"
                ? [defined({
                  node,
                  type: str(type),
                  index: typeof index === "number" ? index : undefined
                })]
                : []
            })
          )
        ])
      )
    ])
  )

const linkKey = ({ from, input, output, to }: Connections.Link) =>
  JSON.stringify([from, output.type, output.index, to, input.type, input.index])

// ---- which node is which

type Pair = readonly [before: Obj, after: Obj]

const uniqueBy = (nodes: ReadonlyArray<Obj>, key: (node: Obj) => string | undefined): ReadonlyMap<string, Obj> => {
  const byKey = Map.groupBy(nodes, (node) => key(node) ?? "")
  return new Map(
    [...byKey].flatMap(([text, [only, ...others]]) =>
      text !== "" && only !== undefined && others.length === 0 ? [[text, only]] : []
    )
  )
}

/** The nodes of both sides that stand for each other by `key`, and those that are left. */
const pairBy = (
  before: ReadonlyArray<Obj>,
  after: ReadonlyArray<Obj>,
  key: (node: Obj, side: "before" | "after") => string | undefined
) => {
  const there = uniqueBy(after, (node) => key(node, "after"))
  const here = uniqueBy(before, (node) => key(node, "before"))
  const pairs = [...here].flatMap(([text, node]): ReadonlyArray<Pair> => {
    const other = there.get(text)
    return other === undefined ? [] : [[node, other]]
  })
  const paired = new Set(pairs.flat())
  return {
    pairs,
    before: before.filter((node) => !paired.has(node)),
    after: after.filter((node) => !paired.has(node))
  }
}

/** A node by its links, under names that hold on both sides. */
const neighbours = (workflow: Document, translate: (name: string) => string) => {
  const byNode = new Map<string, Array<Connections.Link>>()
  for (const link of linksOf(workflow)) {
    for (const name of new Set([link.from, link.to])) {
      const own = byNode.get(name)
      if (own === undefined) byNode.set(name, [link])
      else own.push(link)
    }
  }
  return (name: string) =>
    (byNode.get(name) ?? []).map((link) =>
      linkKey({
        ...link,
        from: link.from === name ? "" : translate(link.from),
        to: link.to === name ? "" : translate(link.to)
      })
    ).toSorted()
}

const match = (before: Document, after: Document) => {
  const byId = pairBy(nodesOf(before), nodesOf(after), (node) => str(node["id"]))
  const byName = pairBy(byId.before, byId.after, nameOf)
  const pairs = [...byId.pairs, ...byName.pairs]
  const former = new Map(pairs.map(([a, b]) => [nameOf(a), nameOf(b)]))
  const around = {
    before: neighbours(before, (name) => former.get(name) ?? name),
    after: neighbours(after, (name) => name)
  }
  const byContent = pairBy(byName.before, byName.after, (node, side) =>
    JSON.stringify([
      node["type"],
      valueDiff.canonical(node["parameters"]),
      around[side](nameOf(node))
    ]))
  return {
    pairs: [...pairs, ...byContent.pairs],
    removed: byContent.before,
    added: byContent.after
  }
}

const rename = (links: ReadonlyArray<Connections.Link>, names: ReadonlyMap<string, string>) =>
  names.size === 0
    ? links
    : links.map((link) => ({ ...link, from: names.get(link.from) ?? link.from, to: names.get(link.to) ?? link.to }))

const renameKeys = (value: unknown, names: ReadonlyMap<string, string>): unknown => {
  const object = obj(value)
  return object === undefined || names.size === 0
    ? value
    : Object.fromEntries(Object.entries(object).map(([key, inner]) => [names.get(key) ?? key, inner]))
}

/** `null`, `{}` and `[]` say no more than a key that is not there: n8n writes one or the other. */
const isNothing = (value: unknown) =>
  value === undefined || value === null || typeof value === "object" && Object.keys(value).length === 0

const pick = (workflow: Document, names: ReadonlyMap<string, string>): Obj =>
  Object.fromEntries(
    restKeys.flatMap((key) =>
      isNothing(workflow[key])
        ? []
        : [[key, key === "pinData" ? renameKeys(workflow[key], names) : workflow[key]]]
    )
  )

const without = (links: ReadonlyArray<Connections.Link>, others: ReadonlyArray<Connections.Link>) => {
  const keys = new Set(others.map(linkKey))
  return [...new Map(links.map((link) => [linkKey(link), link])).values()].filter((link) => !keys.has(linkKey(link)))
}

const nodeDiff = ([before, after]: Pair): NodeDiff | undefined => {
  const name = nameOf(after)
  const value = valueDiff.diff(content(before), content(after))
  const position = valueDiff.diff(before["position"], after["position"])
  const isRenamed = nameOf(before) !== name
  if (!isRenamed && value === undefined && position === undefined) return undefined
  return defined({
    name,
    change: isRenamed ? "renamed" as const : value === undefined ? "moved" as const : "changed" as const,
    formerName: isRenamed ? nameOf(before) : undefined,
    value,
    position
  })
}

/** Before the name of a removed node that another one has now. */
const removedMark = "\u0000"

/**
 * The name of a link's end as a reader knows it: of a node that is gone, though another has its name now.
 *
 * @category functions
 * @since 0.1.0
 */
export const plainName = (name: string): string => name.startsWith(removedMark) ? name.slice(1) : name

const formerNames = (nodes: ReadonlyArray<NodeDiff>) => nodes.flatMap(({ formerName }) => formerName ?? [])

const namesOf = (nodes: ReadonlyArray<NodeDiff>, change: NodeDiff["change"]) =>
  nodes.flatMap((node) => node.change === change ? [node.name] : [])

/** What nodes are called in the differences, by their names before. */
const newNames = (nodes: ReadonlyArray<NodeDiff>): ReadonlyMap<string, string> => {
  const taken = new Set(namesOf(nodes, "renamed"))
  return new Map([
    ...namesOf(nodes, "removed").flatMap((name) => taken.has(name) ? [[name, removedMark + name] as const] : []),
    ...nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[formerName, name] as const])
  ])
}

/** What they are called in the differences the other way round, by what they are called in these. */
const namesBack = (nodes: ReadonlyArray<NodeDiff>): ReadonlyMap<string, string> => {
  const taken = new Set(formerNames(nodes))
  return new Map([
    ...namesOf(nodes, "added").flatMap((name) => taken.has(name) ? [[name, removedMark + name] as const] : []),
    ...namesOf(nodes, "removed").map((name) => [removedMark + name, name] as const),
    ...nodes.flatMap(({ formerName, name }) => formerName === undefined ? [] : [[name, formerName] as const])
  ])
}

/** The change of what belongs to the whole workflow, with its pinned items under other names. */
const renamePins = (change: valueDiff.Change, names: ReadonlyMap<string, string>): valueDiff.Change => {
  if (change._tag !== "Object") return change
  const pins = (inner: valueDiff.Change): valueDiff.Change => {
    switch (inner._tag) {
      case "Replace":
        return { ...inner, before: renameKeys(inner.before, names), after: renameKeys(inner.after, names) }
      case "Object":
        return { ...inner, keys: inner.keys.map(([key, each]) => [names.get(key) ?? key, each] as const) }
      case "Array":
        return inner
    }
  }
  return { ...change, keys: change.keys.map(([key, inner]) => [key, key === "pinData" ? pins(inner) : inner] as const) }
}

/**
 * The differences from `before` to `after`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (before: Document, after: Document): WorkflowDiff => {
  const { added, pairs, removed } = match(before, after)
  const nodes = [
    ...removed.map((node): NodeDiff => ({
      name: nameOf(node),
      change: "removed",
      value: { _tag: "Replace", before: node, after: undefined }
    })),
    ...pairs.flatMap((pair) => nodeDiff(pair) ?? []),
    ...added.map((node): NodeDiff => ({
      name: nameOf(node),
      change: "added",
      value: { _tag: "Replace", before: undefined, after: node }
    }))
  ]
  const names = newNames(nodes)
  const [old, now] = [rename(linksOf(before), names), linksOf(after)]
  return defined({
    nodes,
    links: { added: without(now, old), removed: without(old, now) },
    rest: valueDiff.diff(pick(before, names), pick(after, new Map()))
  })
}

// ---- there and back

const inverse: { readonly [Change in NodeDiff["change"]]: NodeDiff["change"] } = {
  added: "removed",
  removed: "added",
  changed: "changed",
  renamed: "renamed",
  moved: "moved"
}

const maybeInvert = (change: valueDiff.Change | undefined) =>
  change === undefined ? undefined : valueDiff.invert(change)

/**
 * The differences the other way round.
 *
 * @category functions
 * @since 0.1.0
 */
export const invert = (diff: WorkflowDiff): WorkflowDiff => {
  const back = namesBack(diff.nodes)
  return defined({
    nodes: diff.nodes.map(({ change, formerName, name, position, value }): NodeDiff =>
      defined({
        name: formerName ?? name,
        change: inverse[change],
        formerName: formerName === undefined ? undefined : name,
        value: maybeInvert(value),
        position: maybeInvert(position)
      })
    ),
    links: { added: rename(diff.links.removed, back), removed: rename(diff.links.added, back) },
    rest: diff.rest === undefined ? undefined : renamePins(valueDiff.invert(diff.rest), back)
  })
}

/** By way of maps: nodes may bear names that objects have, such as `constructor`. */
const connect = (links: ReadonlyArray<Connections.Link>): Obj =>
  Object.fromEntries(
    [...Map.groupBy(links, ({ from }) => from)].map(([from, out]) => [
      from,
      Object.fromEntries(
        [...Map.groupBy(out, ({ output }) => output.type)].map(([type, ofType]) => {
          const outputs = Array.from(
            { length: 1 + Math.max(...ofType.map(({ output }) => output.index)) },
            (): Array<Obj> => []
          )
          for (const { input, output, to } of ofType) {
            outputs[output.index]?.push({ node: to, type: input.type, index: input.index })
          }
          return [type, outputs]
        })
      )
    ])
  )

const applyToNode = (node: Obj, { name, position, value }: NodeDiff): Obj => {
  const next = obj(value === undefined ? content(node) : valueDiff.apply(content(node), value)) ?? {}
  const at = position === undefined ? node["position"] : valueDiff.apply(node["position"], position)
  return defined({ ...next, name, position: at })
}

/**
 * The workflow with the differences made; its nodes keep their order, added ones come last.
 *
 * @category functions
 * @since 0.1.0
 */
export const apply = (workflow: Document, diff: WorkflowDiff): Document => {
  const names = newNames(diff.nodes)
  const byName = new Map(
    diff.nodes.flatMap((node) => node.change === "added" ? [] : [[node.formerName ?? node.name, node]])
  )
  const added = diff.nodes.flatMap(({ change, value }) =>
    change === "added" && value !== undefined ? [valueDiff.apply(undefined, value)] : []
  )
  const nodes = nodesOf(workflow).flatMap((node) => {
    const change = byName.get(nameOf(node))
    return change === undefined ? [node] : change.change === "removed" ? [] : [applyToNode(node, change)]
  })
  const kept = without(rename(linksOf(workflow), names), diff.links.removed)
  const rest = diff.rest === undefined ? pick(workflow, names) : valueDiff.apply(pick(workflow, names), diff.rest)
  return {
    ...Object.fromEntries(Object.entries(workflow).filter(([key]) => !restKeys.some((each) => each === key))),
    ...obj(rest),
    nodes: [...nodes, ...added],
    connections: connect([...kept, ...diff.links.added])
  }
}

// ---- what a reader is shown

/**
 * One place that changed: the values, shortened around the change, or for a long text the hunks of a unified diff.
 *
 * @category models
 * @since 0.1.0
 */
export interface FieldView {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly diff?: string
}

/**
 * What became of a node, readable.
 *
 * @category models
 * @since 0.1.0
 */
export interface NodeView {
  readonly node: string
  readonly change: "added" | "removed" | "changed" | "renamed"
  readonly formerName?: string
  readonly type?: string
  readonly fields?: ReadonlyArray<FieldView>
}

/**
 * The differences, readable.
 *
 * @category models
 * @since 0.1.0
 */
export interface View {
  /** Nothing differs, or positions alone. */
  readonly same: boolean
  /** How many nodes stand elsewhere. */
  readonly moved: number
  readonly nodes: ReadonlyArray<NodeView>
  /** Such as `If.true → Slack`. */
  readonly connections: { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> }
  readonly settings?: ReadonlyArray<FieldView>
  readonly name?: { readonly before: unknown; readonly after: unknown }
  /** Pinned data, static data, groups and description. */
  readonly other?: ReadonlyArray<FieldView>
}

/**
 * What a person calls the output that a link starts from, such as `true` of an If; the index where it has no name.
 *
 * @category models
 * @since 0.1.0
 */
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

/** What is gone and come under the same names is a link of a port that has another index now: a person sees no change. */
const linksView = ({ added, removed }: WorkflowDiff["links"], portName: PortName): View["connections"] => {
  const come = added.map((link) => linkView(link, "after", portName))
  const gone = removed.map((link) => linkView(link, "before", portName))
  return { added: come.filter((link) => !gone.includes(link)), removed: gone.filter((link) => !come.includes(link)) }
}

const asText = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value) ?? ""

/** An id that one side does not have says nothing: files that people write have none. */
const isTold = ({ after, before, path }: valueDiff.FieldChange) =>
  path !== "id" || before !== undefined && after !== undefined

const fieldView = (isWhole: boolean) => ({ after, before, path }: valueDiff.FieldChange): FieldView => {
  if (typeof before === "string" && typeof after === "string") {
    if (/\n/.test(before) || /\n/.test(after)) return { path, diff: TextDiff.hunks(before, after) }
    if (!isWhole && before.length + after.length > 2 * TextDiff.longText) {
      const [from, to] = TextDiff.excerpts(before, after, TextDiff.longText)
      return { path, before: from, after: to }
    }
  }
  return defined({ path, before, after })
}

/**
 * The differences as a reader wants them.
 *
 * **Details**
 *
 * `portName` names ports as a person sees them. With `node` only that node is shown, its long texts whole.
 *
 * @category functions
 * @since 0.1.0
 */
export const view = (
  { links, nodes, rest }: WorkflowDiff,
  { node, portName = () => undefined }: { readonly node?: string | undefined; readonly portName?: PortName } = {}
): View => {
  const shown = nodes.filter(({ change, formerName, name }) =>
    change !== "moved" && (node === undefined || name === node || formerName === node)
  )
  const touches = ({ from, to }: Connections.Link) =>
    node === undefined || plainName(from) === node || plainName(to) === node
  const restFields = rest === undefined ? [] : valueDiff.fields(rest)
  const isSetting = ({ path }: valueDiff.FieldChange) => /^settings(?![\p{ID_Continue}$])/u.test(path)
  const settings = restFields.filter(isSetting)
  const name = restFields.find(({ path }) => path === "name")
  const other = restFields.filter((field) => field !== name && !settings.includes(field))
  return defined({
    same: nodes.every(({ change }) => change === "moved") && links.added.length + links.removed.length === 0 &&
      rest === undefined,
    moved: nodes.filter(({ position }) => position !== undefined).length,
    nodes: shown.map(({ change, formerName, name, value }): NodeView => {
      const whole = value?._tag === "Replace" ? obj(value.after) ?? obj(value.before) : undefined
      const fields = value === undefined || whole !== undefined && node === undefined
        ? undefined
        : valueDiff.fields(value).filter(isTold).map(fieldView(node !== undefined))
      return defined({
        node: name,
        change: change === "moved" ? "changed" as const : change,
        formerName,
        type: str(whole?.["type"]),
        fields
      })
    }),
    connections: linksView(
      { added: links.added.filter(touches), removed: links.removed.filter(touches) },
      portName
    ),
    settings: settings.length === 0 || node !== undefined ? undefined : settings.map(fieldView(false)),
    name: name === undefined || node !== undefined ? undefined : { before: name.before, after: name.after },
    other: other.length === 0 || node !== undefined ? undefined : other.map(fieldView(false))
  })
}

const few = (names: ReadonlyArray<string>) =>
  names.length <= 3 ? names.map((name) => `'${name}'`).join(", ") : `${names.length} nodes`

const fieldNames = (change: valueDiff.Change | undefined) => [
  ...new Set(
    (change === undefined ? [] : valueDiff.fields(change)).map(({ path }) =>
      path.replace(/^parameters\./, "").replace(/[.[].*$/, "")
    )
  )
]

/**
 * In one line, such as `added 'Slack'; 'Net amount': jsCode; 2 connections; settings`; `nothing` where all is equal.
 *
 * @category functions
 * @since 0.1.0
 */
export const line = ({ links, nodes, rest }: WorkflowDiff): string => {
  const named = (change: NodeDiff["change"]) => nodes.filter((node) => node.change === change)
  const changed = named("changed")
  const count = links.added.length + links.removed.length
  const parts = [
    ...["added", "removed"].flatMap((change) => {
      const those = named(change as NodeDiff["change"])
      return those.length === 0 ? [] : [`${change} ${few(those.map(({ name }) => name))}`]
    }),
    ...named("renamed").slice(0, 3).map(({ formerName, name }) => `renamed '${formerName}' to '${name}'`),
    ...changed.length === 0 ? [] : changed.length > 3
      ? [`changed ${changed.length} nodes`]
      : changed.map(({ name, value }) => `changed '${name}' (${fieldNames(value).slice(0, 3).join(", ")})`),
    ...count === 0 ? [] : [counted(count, "connection")],
    ...fieldNames(rest)
  ]
  const moved = named("moved").length
  return parts.length > 0 ? parts.join(", ") : moved > 0 ? `moved ${counted(moved, "node")}` : "nothing"
}

/** The text in quotes that are not in it, for JSON would escape escapes again. */
const inQuotes = (text: string) => {
  const quote = ["\"", "'", "`"].find((each) => !text.includes(each)) ?? "\""
  return quote + text.replaceAll(/\r?\n/g, "⏎") + quote
}

const inLine = (value: unknown, excerpt: string) =>
  value === undefined ? "none" : typeof value === "string" ? inQuotes(excerpt) : excerpt

/**
 * A change of a value in one line: what stands around it, before and after.
 *
 * @category functions
 * @since 0.1.0
 */
export const around = (before: unknown, after: unknown, room = 160): string => {
  for (let piece = Math.floor((room - 8) / 2);; piece -= 8) {
    const [from, to] = TextDiff.excerpts(asText(before), asText(after), piece)
    const text = `${inLine(before, from)} → ${inLine(after, to)}`
    // A value that is not a text takes what it takes.
    if (text.length <= room || piece <= 16) return text
  }
}

/** More lines than these are counted. */
const mostLines = 8

const fieldsBetween = (before: unknown, after: unknown, path: string) => {
  const change = valueDiff.diff(before, after)
  return change === undefined ? [] : valueDiff.fields(change, path)
}

/**
 * What differs between two values, a line each, such as `options.timeout: 1 → none`; `path` is that of the values.
 *
 * **Details**
 *
 * Secrets are redacted by where they stand, which a line alone does not tell.
 *
 * @category functions
 * @since 0.1.0
 */
export const lines = (before: unknown, after: unknown, path = "", room = 160): ReadonlyArray<string> => {
  const visible = fieldsBetween(redact(before), redact(after), path)
  const paths = new Set(visible.map(({ path }) => path))
  const hidden = fieldsBetween(before, after, path).filter(({ path }) => !paths.has(path))
  const all = [
    ...visible.map(({ after, before, path }) => `${path}: ${around(before, after, room)}`),
    ...hidden.map(({ path }) => `${path}: ${marker} → ${marker}`)
  ]
  return all.length > mostLines ? [...all.slice(0, mostLines), `and ${all.length - mostLines} more`] : all
}

/** Nodes whose change is shown, beyond its name. */
const mostDetails = 3

const nodeIn = (workflow: Document, name: string) => nodesOf(workflow).find((node) => nameOf(node) === name) ?? {}

const detail = (before: Document, after: Document, { formerName, name }: NodeDiff, room?: number) => {
  const all = lines(content(nodeIn(before, formerName ?? name)), content(nodeIn(after, name)), "", room)
  return { first: (all[0] ?? "").replace(/^parameters\./, ""), count: all.length }
}

/** Room of the one change that a line shows. */
const lineRoom = 100

/**
 * The {@link line} of two versions; where one value of one node differs, with what stands around it.
 *
 * @category functions
 * @since 0.1.0
 */
export const step = (before: Document, after: Document): string => {
  const diff = make(before, after)
  const [only, ...others] = diff.nodes.filter(({ change }) => change !== "moved")
  const isOne = only?.change === "changed" && others.length === 0 && diff.rest === undefined &&
    diff.links.added.length + diff.links.removed.length === 0
  const { count, first } = isOne ? detail(before, after, only, lineRoom) : { count: 0, first: "" }
  return isOne && count === 1 ? `changed '${only.name}' (${first})` : line(diff)
}

/**
 * The {@link line} with what differs in the first nodes, such as `…; Price: jsCode: "net" → "net * 2"`.
 *
 * @category functions
 * @since 0.1.0
 */
export const summary = (before: Document, after: Document): string => {
  const diff = make(before, after)
  const details = diff.nodes.flatMap((node) =>
    node.value !== undefined && (node.change === "changed" || node.change === "renamed")
      ? [`${node.name}: ${detail(before, after, node).first}`]
      : []
  )
  return [line(diff), ...details.slice(0, mostDetails)].join("; ")
}

/**
 * Whether both states are equal but for the places of nodes.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSame = (before: Document, after: Document): boolean => view(make(before, after)).same

/**
 * For a test of equality that pays no heed to order: the nodes by name, the links sorted, the rest.
 *
 * @category functions
 * @since 0.1.0
 */
export const normalize = (workflow: Document) => ({
  nodes: nodesOf(workflow).toSorted((a, b) => nameOf(a) < nameOf(b) ? -1 : 1),
  links: [...new Set(linksOf(workflow).map(linkKey))].toSorted(),
  rest: pick(workflow, new Map())
})
