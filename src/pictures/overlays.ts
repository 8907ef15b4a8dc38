/** Overlays of a picture: an execution, a difference or problems, as statuses of nodes and links. Pure. */
import { arr, defined, num, type Obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Execution from "../executions/Execution.ts"
import * as Connections from "../n8n/model/Connections.ts"
import { isNote, namedNodes, nameOf } from "../n8n/model/Workflow.ts"
import * as ReadableDiff from "../workflow/diff/ReadableDiff.ts"
import * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import * as details from "./details.ts"
import type * as geometry from "./geometry.ts"
import type { Document, Link, LookOf, Node, Overlay, Status } from "./Picture.ts"

/** Labels of statuses whose names do not explain themselves. */
export const statusWords: { readonly [S in Status]?: string } = {
  success: "ran",
  error: "failed",
  idle: "did not run",
  waiting: "waits",
  running: "runs",
  incomplete: "credential missing"
}

/** Largest coordinate; beyond it floating-point steps get too coarse. */
export const farthest = 1e7

export const pointOf = (value: unknown): geometry.Point | undefined => {
  const [x, y] = arr(value).map(num)
  return x === undefined || y === undefined || Math.max(Math.abs(x), Math.abs(y)) > farthest ? undefined : { x, y }
}

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

/** Id of the first node with a name, as n8n resolves duplicates. */
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
  namedNodes(workflow).filter((node) => !isNote(node))
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
      `Run ${execution.id}: ${execution.status}`,
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
  const view = ReadableDiff.make(before, after, { namesOf, showsSecrets: show.showsSecrets })
  const changes = new Map(diff.nodes.flatMap((node) => node.change === "removed" ? [] : [[node.name, node] as const]))
  const views = new Map(view.nodes.map((each) => [`${each.change === "removed"} ${each.node}`, each]))
  const removedNames = new Set(diff.nodes.flatMap(({ change, name }) => change === "removed" ? [name] : []))
  const present = sourcesOf(after)
  const removed = sourcesOf(before, "before", "r").filter(({ json }) => removedNames.has(nameOf(json)))
  const [presentId, removedId] = [idsByName(present), idsByName(removed)]
  // A removed node may have the name of another node: its links carry a mark.
  const formerId = (name: string) => {
    const plainName = WorkflowDiff.plainName(name)
    return plainName === name ? presentId(name) ?? removedId(name) : removedId(plainName)
  }
  const added = new Set(diff.links.added.map(Connections.linkKey))
  const notes = new Set([before, after].flatMap(namedNodes).flatMap((node) => isNote(node) ? [nameOf(node)] : []))
  const ofNodes = diff.nodes.filter(({ name }) => !notes.has(name))
  const count = (changes: ReadonlyArray<WorkflowDiff.NodeDiff>, what: string) =>
    changes.length === 0 ? [] : [`${changes.length} ${what}`]
  const connections = (links: ReadonlyArray<string>, what: string) =>
    links.length === 0
      ? []
      : [`${counted(links.length, "connection")} ${what}${links.length === 1 ? `: ${links.join("")}` : ""}`]
  const parts = [
    ...(["added", "removed", "changed", "renamed"] as const).flatMap((change) =>
      count(ofNodes.filter((node) => node.change === change), change)
    ),
    ...connections(view.connections.added, "added"),
    ...connections(view.connections.removed, "removed"),
    ...count(ofNodes.filter(({ change, position }) => position !== undefined && change !== "added"), "moved"),
    ...(diff.nodes.length === ofNodes.length ? [] : [counted(diff.nodes.length - ofNodes.length, "note")])
  ]
  return {
    sources: [...present, ...removed],
    links: [
      ...linksBetween(
        Connections.links(after["connections"]),
        presentId,
        (link) => added.has(Connections.linkKey(link)) ? { status: "added" } : {}
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
  namedNodes(before).find((node) => nameOf(node) === (formerName ?? name))?.["position"]

const ofProblems = (
  workflow: Document,
  { missingCredentials = [], problems: faults }: Overlay & { readonly _tag: "Problems" },
  show: details.Show
): Overlaid => {
  const base = plain(workflow, show)
  const byNode = Map.groupBy(faults, ({ node }) => node ?? "")
  const missingBy = Map.groupBy(missingCredentials, ({ node }) => node)
  const errors = faults.filter(({ severity }) => severity === "error").length
  const missing = (count: number) => count === 0 ? [] : [`${counted(count, "credential")} missing`]
  const idOf = idsByName(base.sources)
  const focus = faults.map(({ node }) => node === undefined ? undefined : idOf(node)).find((id) => id !== undefined)
  const names = new Set(base.sources.map(({ json }) => nameOf(json)))
  return {
    ...base,
    subtitle: [
      counted(errors, "error"),
      counted(faults.length - errors, "warning"),
      ...missing(missingCredentials.length)
    ].join(" · "),
    of: ({ json }) => {
      const own = byNode.get(nameOf(json)) ?? []
      const types = missingBy.get(nameOf(json)) ?? []
      const worst: Status | undefined = own.some(({ severity }) => severity === "error")
        ? "error"
        : own.length > 0
        ? "warning"
        : types.length > 0
        ? "incomplete"
        : undefined
      return defined({
        status: worst,
        statusText: worst === undefined
          ? undefined
          : [...(own.length === 0 ? [] : [counted(own.length, "problem")]), ...missing(types.length)].join(" · "),
        sections: [
          ...details.ofProblems(own, show),
          ...types.map(({ type }) => ({ title: "Missing credential", text: show.line(type) })),
          ...details.ofNode(json, show)
        ]
      })
    },
    sections: details.ofProblems(faults.filter(({ node }) => node === undefined || !names.has(node)), show),
    focus
  }
}

const namesBy = (lookOf: LookOf): Connections.OutputNames => (node) => {
  const names = lookOf({ ...node })?.outputs?.flatMap((port) => port.type === "main" ? [port.name] : [])
  return names?.length === 1 ? [undefined] : names
}

export const overlaid = (workflow: Document, overlay: Overlay | undefined, show: details.Show, lookOf: LookOf) => {
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
