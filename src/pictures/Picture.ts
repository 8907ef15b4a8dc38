/**
 * A picture of a workflow: what is drawn, and what a reader is told of each node. Pure.
 *
 * **Details**
 *
 * {@link make} looks at a workflow, with a run of it, another state of it or its problems on top. All text in a picture
 * is safe to show: secrets are redacted, and characters that hide text are escaped. `Layout.place` gives nodes without
 * a place one, `Svg.render` draws it, `Page.html` makes a page of it.
 */
import { arr, defined, num, type Obj, obj, str } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import type { MissingCredential, Problem } from "../base/Problem.ts"
import * as Execution from "../executions/Execution.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Comparison from "../workflows/diff/Comparison.ts"
import * as WorkflowDiff from "../workflows/diff/WorkflowDiff.ts"
import * as details from "./details.ts"
import * as geometry from "./geometry.ts"
import { type Glyph, glyphOf } from "./glyphs.ts"
import * as Look from "./Look.ts"

export { type Section } from "./details.ts"
export { type Point } from "./geometry.ts"
export { type Glyph } from "./glyphs.ts"
export { type Look, type LookOf } from "./Look.ts"

/**
 * A workflow of any origin; what cannot be read of it is not drawn.
 *
 * @category models
 * @since 0.1.0
 */
export type Document = Obj

/**
 * What lies on top of the workflow.
 *
 * @category models
 * @since 0.1.0
 */
export type Overlay =
  | { readonly _tag: "Execution"; readonly execution: Execution.Execution }
  /** The workflow as it was before. */
  | { readonly _tag: "Difference"; readonly before: Document }
  | {
    readonly _tag: "Problems"
    readonly problems: ReadonlyArray<Problem>
    readonly missingCredentials?: ReadonlyArray<MissingCredential>
  }

/**
 * What became of a node; `idle` in an execution is one that did not run.
 *
 * @category models
 * @since 0.1.0
 */
export type Status =
  | "success"
  | "error"
  | "waiting"
  | "running"
  | "idle"
  | "added"
  | "removed"
  | "changed"
  | "renamed"
  | "warning"

/**
 * A node.
 *
 * @category models
 * @since 0.1.0
 */
export interface Node extends geometry.Shape {
  /** Its key in the picture. */
  readonly id: string
  readonly name: string
  /** What people call its type. */
  readonly label: string
  readonly glyph: Glyph
  readonly place: geometry.Point | undefined
  readonly status?: Status
  /** The status in words, for those who cannot see it. */
  readonly statusText?: string
  /** What it does, below its name. */
  readonly subtitle?: string
  /** Items and time of a run. */
  readonly figures?: string
  readonly formerName?: string
  /** Where it was before. */
  readonly formerPlace?: geometry.Point
  readonly isDisabled: boolean
  readonly isPinned: boolean
  readonly isSubWorkflow: boolean
  readonly inputs: ReadonlyArray<Port>
  readonly outputs: ReadonlyArray<Port>
  readonly sections: ReadonlyArray<details.Section>
}

/**
 * An input or output.
 *
 * @category models
 * @since 0.1.0
 */
export interface Port extends Connections.Port {
  readonly name?: string
  readonly required?: boolean
}

/**
 * A link between two nodes of the picture, by their ids.
 *
 * @category models
 * @since 0.1.0
 */
export interface Link {
  readonly from: string
  readonly output: Connections.Port
  readonly to: string
  readonly input: Connections.Port
  readonly status?: "ran" | "idle" | "added" | "removed"
  /** Items that went through. */
  readonly items?: number
}

/**
 * A sticky note.
 *
 * @category models
 * @since 0.1.0
 */
export interface Note extends geometry.Box {
  readonly text: string
  /** 1 to 7, as n8n counts its colours. */
  readonly colour: number
}

/**
 * A picture.
 *
 * @category models
 * @since 0.1.0
 */
export interface Picture {
  readonly title: string
  /** What lies on top, in a line. */
  readonly subtitle: string
  readonly overlay: Overlay["_tag"] | undefined
  readonly nodes: ReadonlyArray<Node>
  readonly links: ReadonlyArray<Link>
  readonly notes: ReadonlyArray<Note>
  /** What concerns no node: problems of the workflow, changes of its settings. */
  readonly sections: ReadonlyArray<details.Section>
  /** The node that a reader wants to see first. */
  readonly focus?: string
}

/**
 * How a picture is made.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly overlay?: Overlay | undefined
  /** What is known of the types; see `Looks.forWorkflows`. */
  readonly lookOf?: Look.LookOf
  /** Secrets are shown as they are. */
  readonly showsSecrets?: boolean | undefined
}

const noteType = "n8n-nodes-base.stickyNote"

/** Types that run another workflow. */
const callers = /\.(executeWorkflow|toolWorkflow|retrieverWorkflow)$/

/** Beyond, numbers have no room for a step. */
const farthest = 1e7

const pointOf = (value: unknown): geometry.Point | undefined => {
  const [x, y] = arr(value).map(num)
  return x === undefined || y === undefined || Math.max(Math.abs(x), Math.abs(y)) > farthest ? undefined : { x, y }
}

const nodesOf = (workflow: Document): ReadonlyArray<Obj> =>
  arr(workflow["nodes"]).flatMap((node) => typeof obj(node)?.["name"] === "string" ? [obj(node) ?? {}] : [])

const isNote = ({ type }: Obj) => type === noteType

const nameOf = (node: Obj) => str(node["name"]) ?? ""

/** Ports that links use, and all before them. */
const usedPorts = (ports: ReadonlyArray<Connections.Port>): ReadonlyArray<Port> =>
  [...Map.groupBy(ports, ({ type }) => type)].flatMap(([type, all]) =>
    // A hostile file may name any index.
    Array.from(
      { length: Math.min(64, 1 + Math.max(...all.map(({ index }) => index))) },
      (_, index) => ({ type, index })
    )
  )

/** What the editor calls a port of sub-nodes: `ai_languageModel` is a Model, `ai_outputParser` an Output Parser. */
const wordsOf = (type: string) =>
  type === "ai_languageModel"
    ? "Model"
    : type.replace(/^ai_/, "").replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ").replace(
      /^\p{Ll}/u,
      (first) => first.toUpperCase()
    )

/** Those that the type declares, with others that links use. */
const portsOf = (
  declared: ReadonlyArray<Port> | undefined,
  links: ReadonlyArray<Connections.Port>,
  text: (value: string) => string
) => {
  const known = (declared ?? []).map(({ index, name, required, type }): Port =>
    defined({ type, index, name: name === undefined ? undefined : text(name), required })
  )
  const missing = usedPorts(links).filter((port) => !known.some((each) => Connections.samePort(each, port)))
  return [...known, ...missing].map((port) =>
    port.type === "main" || port.name !== undefined ? port : { ...port, name: text(wordsOf(port.type)) }
  )
}

/** A node of the workflow or, in a difference, of its state before. */
interface Source {
  readonly id: string
  readonly json: Obj
  readonly state: "before" | "after"
}

const linksBetween = (
  links: ReadonlyArray<Connections.Link>,
  idOf: (name: string) => string | undefined,
  more: (link: Connections.Link) => Pick<Link, "items" | "status">
): ReadonlyArray<Link> =>
  links.flatMap((link) => {
    const [from, to] = [idOf(link.from), idOf(link.to)]
    return from === undefined || to === undefined
      ? []
      : [{ from, output: link.output, to, input: link.input, ...more(link) }]
  })

/** The first node of each name, as n8n has it. */
const idsByName = (sources: ReadonlyArray<Source>): (name: string) => string | undefined => {
  const ids = new Map(sources.map(({ id, json }) => [nameOf(json), id] as const).toReversed())
  return (name) => ids.get(name)
}

interface Overlaid {
  readonly sources: ReadonlyArray<Source>
  readonly links: ReadonlyArray<Link>
  readonly subtitle: string
  readonly of: (source: Source) => Partial<Node> & { readonly sections: ReadonlyArray<details.Section> }
  readonly sections?: ReadonlyArray<details.Section>
  readonly focus?: string | undefined
}

const sourcesOf = (workflow: Document, state: Source["state"] = "after", prefix = "n"): ReadonlyArray<Source> =>
  nodesOf(workflow).filter((node) => !isNote(node))
    .map((json, index) => ({ id: `${prefix}${index}`, json, state }))

const plain = (workflow: Document, show: details.Show): Overlaid => {
  const sources = sourcesOf(workflow)
  return {
    sources,
    links: linksBetween(Connections.links(workflow["connections"]), idsByName(sources), () => ({})),
    subtitle: counted(sources.length, "node"),
    of: ({ json }) => ({ sections: details.ofNode(json, show) })
  }
}

const millis = (time: number) => time < 1_000 ? `${Math.round(time)} ms` : `${(time / 1_000).toFixed(1)} s`

const statusWords: { readonly [status: string]: string } = {
  success: "ran",
  error: "failed",
  idle: "did not run",
  waiting: "waits",
  running: "runs"
}

const runStatus = (status: string): Status =>
  status === "success" || status === "error" || status === "waiting" || status === "running" ? status : "idle"

const ofExecution = (workflow: Document, execution: Execution.Execution, show: details.Show): Overlaid => {
  const base = plain(workflow, show)
  const names = new Set(base.sources.map(({ json }) => nameOf(json)))
  const ran = [...execution.runs.keys()].filter((name) => names.has(name)).length
  const failed = Execution.failure(execution)?.node
  const idOf = idsByName(base.sources)
  const itemsOf = ({ from, output }: Connections.Link) =>
    (execution.runs.get(from) ?? []).flatMap(({ outputs }) => outputs)
      .reduce((sum, each) => sum + (Connections.samePort(each, output) ? each.count : 0), 0)
  const time = execution.duration === undefined ? [] : [millis(execution.duration)]
  return {
    ...base,
    links: linksBetween(Connections.links(workflow["connections"]), idOf, (link) => {
      const items = itemsOf(link)
      return items > 0 ? { items, status: "ran" } : { status: "idle" }
    }),
    subtitle: [
      `Execution ${execution.id}: ${execution.status}`,
      ...time,
      `${ran} of ${counted(base.sources.length, "node")} ran`
    ].join(" · "),
    of: ({ json }) => {
      const runs = execution.runs.get(nameOf(json)) ?? []
      const status = runs.length === 0 ? "idle" : runStatus(Execution.nodeStatus(runs))
      const items = Execution.itemCount(runs)
      const figures = [
        counted(items, "item"),
        millis(runs.reduce((sum, run) => sum + run.executionTime, 0)),
        ...(runs.length > 1 ? [counted(runs.length, "run")] : [])
      ].join(" · ")
      return defined({
        status,
        statusText: [statusWords[status] ?? status, ...(runs.length === 0 ? [] : [figures])].join(", "),
        figures: runs.length === 0 ? undefined : figures,
        sections: details.ofRun(json, execution, show)
      })
    },
    focus: failed === undefined ? undefined : idOf(failed)
  }
}

const changeOf = (node: WorkflowDiff.NodeDiff): Status | undefined => node.change === "moved" ? undefined : node.change

const ofDifference = (
  before: Document,
  after: Document,
  show: details.Show,
  namesOf: Connections.OutputNames
): Overlaid => {
  const diff = WorkflowDiff.make(before, after)
  const view = Comparison.make(before, after, { namesOf, showsSecrets: show.showsSecrets })
  const changes = new Map(
    diff.nodes.flatMap((node) => node.change === "removed" ? [] : [[node.name, node] as const])
  )
  const views = new Map(view.nodes.map((each) => [`${each.change === "removed"} ${each.node}`, each]))
  const removedNames = new Set(diff.nodes.flatMap(({ change, name }) => change === "removed" ? [name] : []))
  const there = sourcesOf(after)
  const gone = sourcesOf(before, "before", "r").filter(({ json }) => removedNames.has(nameOf(json)))
  const [nowId, goneId] = [idsByName(there), idsByName(gone)]
  // A node that is gone may have the name of one that is there: links of the former say so.
  const formerId = (name: string) => {
    const plainName = WorkflowDiff.plainName(name)
    return plainName === name ? nowId(name) ?? goneId(name) : goneId(plainName)
  }
  const isAdded = (link: Connections.Link) => diff.links.added.some((each) => Connections.sameLink(each, link))
  const notes = new Set([before, after].flatMap(nodesOf).flatMap((node) => isNote(node) ? [nameOf(node)] : []))
  const ofNodes = diff.nodes.filter(({ name }) => !notes.has(name))
  const count = (changes: ReadonlyArray<WorkflowDiff.NodeDiff>, what: string) =>
    changes.length === 0 ? [] : [`${changes.length} ${what}`]
  const links = view.connections.added.length + view.connections.removed.length
  const parts = [
    ...(["added", "removed", "changed", "renamed"] as const).flatMap((change) =>
      count(ofNodes.filter((node) => node.change === change), change)
    ),
    ...(links === 0 ? [] : [counted(links, "connection")]),
    ...count(ofNodes.filter(({ change, position }) => position !== undefined && change !== "added"), "moved"),
    ...(diff.nodes.length === ofNodes.length ? [] : [counted(diff.nodes.length - ofNodes.length, "note")])
  ]
  return {
    sources: [...there, ...gone],
    links: [
      ...linksBetween(
        Connections.links(after["connections"]),
        nowId,
        (link) => isAdded(link) ? { status: "added" } : {}
      ),
      ...linksBetween(diff.links.removed, formerId, () => ({ status: "removed" }))
    ],
    subtitle: parts.length === 0 ? "Nothing differs" : parts.join(" · "),
    of: ({ json, state }) => {
      const name = nameOf(json)
      const change = state === "after" ? changes.get(name) : undefined
      const status = state === "before" ? "removed" as const : change && changeOf(change)
      const place = change?.position === undefined ? undefined : pointOf(formerPosition(before, change))
      return defined({
        status,
        statusText: status ?? (place === undefined ? undefined : "moved"),
        formerName: change?.formerName === undefined ? undefined : show.line(change.formerName),
        formerPlace: place,
        sections: details.ofChange(json, views.get(`${state === "before"} ${name}`), show)
      })
    },
    sections: details.ofWhole(view, show),
    focus: undefined
  }
}

const formerPosition = (before: Document, { formerName, name }: WorkflowDiff.NodeDiff) =>
  nodesOf(before).find((node) => nameOf(node) === (formerName ?? name))?.["position"]

const ofProblems = (
  workflow: Document,
  { missingCredentials = [], problems: found }: Overlay & { readonly _tag: "Problems" },
  show: details.Show
): Overlaid => {
  const base = plain(workflow, show)
  const problems: ReadonlyArray<Problem> = [
    ...found,
    ...missingCredentials.map(({ node, type }) => ({
      severity: "warning" as const,
      node,
      path: `credentials.${type}`,
      message: "This credential is still to be set."
    }))
  ]
  const byNode = Map.groupBy(problems, ({ node }) => node ?? "")
  const errors = found.filter(({ severity }) => severity === "error").length
  const idOf = idsByName(base.sources)
  const focus = problems.map(({ node }) => node === undefined ? undefined : idOf(node)).find((id) => id !== undefined)
  const names = new Set(base.sources.map(({ json }) => nameOf(json)))
  return {
    ...base,
    subtitle: [
      counted(errors, "error"),
      counted(found.length - errors, "warning"),
      ...(missingCredentials.length === 0 ? [] : [`${counted(missingCredentials.length, "credential")} missing`])
    ].join(" · "),
    of: ({ json }) => {
      const own = byNode.get(nameOf(json)) ?? []
      const worst: Status | undefined = own.some(({ severity }) => severity === "error")
        ? "error"
        : own.length > 0
        ? "warning"
        : undefined
      return defined({
        status: worst,
        statusText: worst === undefined ? undefined : counted(own.length, "problem"),
        sections: [...details.ofProblems(own, show), ...details.ofNode(json, show)]
      })
    },
    sections: details.ofProblems(problems.filter(({ node }) => node === undefined || !names.has(node)), show),
    focus
  }
}

const namesBy = (lookOf: Look.LookOf): Connections.OutputNames => (node) => {
  const names = lookOf({ ...node })?.outputs?.flatMap((port) => port.type === "main" ? [port.name] : [])
  return names?.length === 1 ? [undefined] : names
}

const overlaid = (workflow: Document, overlay: Overlay | undefined, show: details.Show, lookOf: Look.LookOf) => {
  switch (overlay?._tag) {
    case undefined:
      return plain(workflow, show)
    case "Execution":
      return ofExecution(workflow, overlay.execution, show)
    case "Difference":
      return ofDifference(overlay.before, workflow, show, namesBy(lookOf))
    case "Problems":
      return ofProblems(workflow, overlay, show)
  }
}

/** Before any catalogue is asked, names tell what triggers. */
const soundsLikeTrigger = (type: string) => /(trigger|\.webhook|\.start|\.cron|\.interval)$/i.test(type)

const noteOf = (node: Obj, show: details.Show): ReadonlyArray<Note> => {
  const place = pointOf(node["position"])
  const { color, content, height, width } = obj(node["parameters"]) ?? {}
  const length = (value: unknown, usual: number) => Math.min(farthest, Math.max(16, num(value) ?? usual))
  return place === undefined ? [] : [{
    ...place,
    width: length(width, 240),
    height: length(height, 160),
    text: show.text(str(content) ?? ""),
    colour: Math.min(7, Math.max(1, Math.round(num(color) ?? 1)))
  }]
}

/**
 * The picture of a workflow, with what lies on top of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  workflow: Document,
  { lookOf = Look.unknown, overlay, showsSecrets = false }: Options = {}
): Picture => {
  const show = details.show(showsSecrets)
  const parts = overlaid(workflow, overlay, show, lookOf)
  const pinned = obj(workflow["pinData"]) ?? {}
  const bySource = Map.groupBy(parts.links, ({ from }) => from)
  const byTarget = Map.groupBy(parts.links, ({ to }) => to)
  const nodes = parts.sources.map((source): Node => {
    const { id, json } = source
    const type = str(json["type"]) ?? ""
    const look = lookOf(json)
    const [out, into] = [bySource.get(id) ?? [], byTarget.get(id) ?? []]
    const inputs = portsOf(look?.inputs, into.map(({ input }) => input), show.line)
    const outputs = portsOf(look?.outputs, out.map(({ output }) => output), show.line)
    const isSub = outputs.length > 0 && outputs.every((port) => port.type !== "main")
    const isTrigger = look?.isTrigger ?? soundsLikeTrigger(type)
    const label = show.line(look?.label ?? (type.slice(type.lastIndexOf(".") + 1) || "Unknown"))
    return {
      id,
      name: show.line(nameOf(json)),
      label,
      kind: isSub ? "sub" : isTrigger ? "trigger" : inputs.some((port) => port.type !== "main") ? "root" : "action",
      glyph: glyphOf(type, label),
      place: pointOf(json["position"]),
      isDisabled: json["disabled"] === true,
      isPinned: source.state === "after" && arr(pinned[nameOf(json)]).length > 0,
      isSubWorkflow: callers.test(type),
      inputs,
      outputs,
      ...(look?.subtitle === undefined ? {} : { subtitle: show.line(look.subtitle) }),
      ...parts.of(source)
    }
  })
  return defined({
    title: show.line(str(workflow["name"]) ?? "") || "Workflow",
    subtitle: show.line(parts.subtitle),
    overlay: overlay?._tag,
    nodes,
    links: parts.links,
    notes: nodesOf(workflow).filter(isNote).flatMap((node) => noteOf(node, show)),
    sections: parts.sections ?? [],
    focus: parts.focus
  }) as Picture
}
