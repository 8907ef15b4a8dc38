/**
 * Picture of a workflow: its drawing and the details of each node. Pure.
 *
 * **Details**
 *
 * {@link make} takes a workflow with an overlay: one of its executions, an earlier state or its problems. All text in a
 * picture is safe to show: secrets are redacted, and invisible characters are escaped. `Layout.place` adds missing
 * positions, `Svg.render` draws the picture, `Page.html` makes a page of it.
 */
import { arr, defined, num, type Obj, obj, str } from "../base/Json.ts"
import type { MissingCredential, Problem } from "../base/Problem.ts"
import type * as Ports from "../catalogue/types/Ports.ts"
import type * as Execution from "../executions/Execution.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import * as Graph from "../workflow/Graph.ts"
import { isCaller } from "../workflow/References.ts"
import * as details from "./details.ts"
import type * as geometry from "./geometry.ts"
import { type Glyph, glyphOf } from "./glyphs.ts"
import { farthest, overlaid, pointOf } from "./overlays.ts"

export { type Section } from "./details.ts"
export { type Point } from "./geometry.ts"
export { type Glyph } from "./glyphs.ts"

/** Workflow of any origin; malformed parts are not drawn. */
export type Document = Obj

/** Appearance of a node, from its type. */
export interface Look {
  /** Display name of the type, such as `HTTP Request`. */
  readonly label: string
  readonly isTrigger: boolean
  /** Declared ports, if known. */
  readonly inputs: ReadonlyArray<Ports.Port> | undefined
  readonly outputs: ReadonlyArray<Ports.Port> | undefined
  /** Operation of the node, such as `post: message`. */
  readonly subtitle?: string
}

/** Appearance of a node, or `undefined` if its type is unknown. */
export type LookOf = (node: Obj) => Look | undefined

/** Information drawn on top of the workflow. */
export type Overlay =
  | { readonly _tag: "Execution"; readonly execution: Execution.Execution }
  /** Difference from an earlier state. */
  | { readonly _tag: "Difference"; readonly before: Document }
  | {
    readonly _tag: "Problems"
    readonly problems: ReadonlyArray<Problem>
    readonly missingCredentials?: ReadonlyArray<MissingCredential>
  }

/** Status of a node in the overlay; `idle` did not run in the execution. */
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
  /** Without a credential. */
  | "incomplete"

/** Node of a picture. */
export interface Node extends geometry.Shape {
  readonly id: string
  readonly name: string
  readonly label: string
  readonly glyph: Glyph
  readonly place: geometry.Point | undefined
  readonly status?: Status
  readonly statusText?: string
  /** Short description below the name, such as its operation. */
  readonly subtitle?: string
  readonly figures?: string
  readonly formerName?: string
  readonly formerPlace?: geometry.Point
  readonly isDisabled: boolean
  readonly isPinned: boolean
  readonly isSubWorkflow: boolean
  readonly inputs: ReadonlyArray<Port>
  readonly outputs: ReadonlyArray<Port>
  readonly sections: ReadonlyArray<details.Section>
}

/** Input or output of a node. */
export interface Port extends Connections.Port {
  readonly name?: string
  readonly required?: boolean
}

/** Link between two nodes of the picture, by their ids. */
export interface Link {
  readonly from: string
  readonly output: Connections.Port
  readonly to: string
  readonly input: Connections.Port
  readonly status?: "ran" | "idle" | "added" | "removed"
  readonly items?: number
}

/** Sticky note. */
export interface Note extends geometry.Box {
  readonly text: string
  /** n8n's colour number, 1 to 7. */
  readonly colour: number
}

/** Picture of a workflow. */
export interface Picture {
  readonly title: string
  readonly subtitle: string
  readonly overlay: Overlay["_tag"] | undefined
  readonly nodes: ReadonlyArray<Node>
  readonly links: ReadonlyArray<Link>
  readonly notes: ReadonlyArray<Note>
  /** Details that belong to no node, such as changes of settings. */
  readonly sections: ReadonlyArray<details.Section>
  /** Id of the most relevant node, such as the one that failed. */
  readonly focus?: string
}

/** Options of a picture. */
export interface Options {
  readonly overlay?: Overlay | undefined
  /** Appearance by node type. */
  readonly lookOf?: LookOf
  /** Whether secrets are shown unredacted. */
  readonly showsSecrets?: boolean | undefined
}

const usedPorts = (ports: ReadonlyArray<Connections.Port>): ReadonlyArray<Port> =>
  [...Map.groupBy(ports, ({ type }) => type)].flatMap(([type, all]) =>
    // A hostile file may name any index.
    Array.from(
      { length: Math.min(64, 1 + Math.max(...all.map(({ index }) => index))) },
      (_, index) => ({ type, index })
    )
  )

const wordsOf = (type: string) =>
  type === "ai_languageModel"
    ? "Model"
    : type.replace(/^ai_/, "").replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ").replace(
      /^\p{Ll}/u,
      (first) => first.toUpperCase()
    )

const portsOf = (
  declared: ReadonlyArray<Port> | undefined,
  links: ReadonlyArray<Connections.Port>,
  text: (value: string) => string
) => {
  const declaredPorts = (declared ?? []).map(({ index, name, required, type }): Port =>
    defined({ type, index, name: name === undefined ? undefined : text(name), required })
  )
  const missing = usedPorts(links).filter((port) => !declaredPorts.some((each) => Connections.samePort(each, port)))
  return [...declaredPorts, ...missing].map((port) =>
    port.type === "main" || port.name !== undefined ? port : { ...port, name: text(wordsOf(port.type)) }
  )
}

const noteOf = (node: Obj, show: details.Show): ReadonlyArray<Note> => {
  const place = pointOf(node["position"])
  const { color, content, height, width } = Workflow.parametersOf(node)
  const length = (value: unknown, usual: number) => Math.min(farthest, Math.max(16, num(value) ?? usual))
  return place === undefined ? [] : [{
    ...place,
    width: length(width, 240),
    height: length(height, 160),
    text: show.text(str(content) ?? ""),
    colour: Math.min(7, Math.max(1, Math.round(num(color) ?? 1)))
  }]
}

/** Picture of a workflow with an overlay. */
export const make = (
  workflow: Document,
  { lookOf = () => undefined, overlay, showsSecrets = false }: Options = {}
): Picture => {
  const show = details.show(showsSecrets)
  const parts = overlaid(workflow, overlay, show, lookOf)
  const pinned = obj(workflow["pinData"]) ?? {}
  const graph = Graph.of(parts.links)
  const nodes = parts.sources.map((source): Node => {
    const { id, json } = source
    const type = Workflow.typeOf(json)
    const look = lookOf(json)
    const [outgoing, incoming] = [graph.out(id), graph.into(id)]
    const inputs = portsOf(look?.inputs, incoming.map(({ input }) => input), show.line)
    const outputs = portsOf(look?.outputs, outgoing.map(({ output }) => output), show.line)
    const isSub = outputs.length > 0 && outputs.every((port) => port.type !== "main")
    const isTrigger = look?.isTrigger ?? Workflow.isTrigger({ type })
    const label = show.line(look?.label ?? (type.slice(type.lastIndexOf(".") + 1) || "Unknown"))
    return {
      id,
      name: show.line(Workflow.nameOf(json)),
      label,
      kind: isSub ? "sub" : isTrigger ? "trigger" : inputs.some((port) => port.type !== "main") ? "root" : "action",
      glyph: glyphOf(type, label),
      place: pointOf(json["position"]),
      isDisabled: json["disabled"] === true,
      isPinned: source.state === "after" && arr(pinned[Workflow.nameOf(json)]).length > 0,
      isSubWorkflow: isCaller(type),
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
    notes: Workflow.namedNodes(workflow).filter(Workflow.isNote).flatMap((node) => noteOf(node, show)),
    sections: parts.sections ?? [],
    focus: parts.focus
  }) as Picture
}
