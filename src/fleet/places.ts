/** Places at which two states of a workflow differ: what a change is, wherever else the workflow differs. Pure. */
import * as Difference from "../base/Difference.ts"
import { sha256 } from "../base/Hash.ts"
import { canonical, equals, type Obj, obj, str } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Connections from "../n8n/model/Connections.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"

/** Length of two values in one line. */
const room = 120

/** Place at which a workflow differs. */
export interface Place {
  /** Steps to it in any state: `node` with an id or name, and steps in it; `link` with both ends; or steps from the workflow. */
  readonly at: JsonPath.Path
  /** Name of its node after the change, and before it that of a removed node. */
  readonly node: string | undefined
  /** Kind of the place, equal in all workflows: `httpRequest url`, `connection added`. */
  readonly kind: string
  /** Path in the node, from a parameter on. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  /** Both values in one line, redacted: `"a" → "b"`. */
  readonly values: () => string
}

const idOf = (node: Obj) => str(node["id"]) ?? Workflow.nameOf(node)

/** Node with the fields that a write does not change on its own. */
export const nodeOf = ({ createdAt: _, disabled, updatedAt: __, ...rest }: Obj): Obj =>
  disabled === true ? { ...rest, disabled } : rest

/** Node without its position: where a node stands does not matter to a change. */
const contentOf = (node: Obj): Obj => {
  const { position: _, ...rest } = nodeOf(node)
  return rest
}

const linkOf = (link: Connections.Link) => {
  const port = (of: Connections.Port) => Connections.isPlain(link) ? "" : `${Connections.portLabel(of)} `
  return `'${link.from}' ${port(link.output)}→ ${port(link.input)}'${link.to}'`
}

const below = (steps: JsonPath.Path) => steps[0] === "parameters" && steps.length > 1 ? steps.slice(1) : steps

const differences = (before: unknown, after: unknown) => {
  const [then, now] = [Redact.whole(before), Redact.whole(after)]
  return Difference.between(before, after).map((difference) => ({
    ...difference,
    values: () => {
      const [old, next] = [
        difference.before === undefined ? undefined : then.at(difference.former),
        difference.after === undefined ? undefined : now.at(difference.steps)
      ]
      return equals(old, next)
        ? WorkflowDiff.around(Redact.marker, Redact.marker)
        : WorkflowDiff.around(old, next, room)
    }
  }))
}

/** Places at which two states of a workflow differ, without those of n8n's own and where nodes stand. */
export const between = (before: Obj, after: Obj, isOwn: (setting: string) => boolean = () => true) => {
  const byId = (workflow: Obj) => new Map(Workflow.namedNodes(workflow).map((node) => [idOf(node), node]))
  const [then, now] = [byId(before), byId(after)]
  const nodes = [...new Set([...then.keys(), ...now.keys()])].flatMap((id): ReadonlyArray<Place> => {
    const [a, b] = [then.get(id), now.get(id)]
    const node = Workflow.nameOf(b ?? a ?? {})
    const type = NodeType.shortName(Workflow.typeOf(b ?? a ?? {}))
    if (a === undefined || b === undefined) {
      const change = a === undefined ? "added" : "removed"
      return [{
        at: ["node", id],
        node,
        kind: `${type} ${change}`,
        path: "",
        before: a && contentOf(a),
        after: b && contentOf(b),
        values: () => Rows.quote(node)
      }]
    }
    return differences(contentOf(a), contentOf(b)).map(({ steps, ...change }) => {
      const path = JsonPath.print(below(steps))
      return {
        at: ["node", id, ...steps],
        node,
        kind: path === "name" ? `${type} renamed` : `${type} ${JsonPath.general(path)}`,
        path,
        ...change
      }
    })
  })
  const names = new Map(
    [...then].map(([id, node]) => [Workflow.nameOf(node), Workflow.nameOf(now.get(id) ?? node)])
  )
  const nameOf = (name: string) => names.get(name) ?? name
  // A renamed node is renamed in its connections too.
  const linksThen = new Set(
    Connections.links(before["connections"]).map((link) =>
      linkOf({ ...link, from: nameOf(link.from), to: nameOf(link.to) })
    )
  )
  const linksNow = new Set(Connections.links(after["connections"]).map(linkOf))
  const link = (label: string, change: "added" | "removed"): Place => ({
    at: ["link", label],
    node: undefined,
    kind: `connection ${change}`,
    path: "",
    before: change === "removed",
    after: change === "added",
    values: () => label
  })
  const own = ({ name, settings }: Obj): Obj => ({
    name,
    settings: Object.fromEntries(Object.entries(obj(settings) ?? {}).filter(([key]) => isOwn(key)))
  })
  return [
    ...nodes,
    ...[...linksNow].filter((label) => !linksThen.has(label)).map((label) => link(label, "added")),
    ...[...linksThen].filter((label) => !linksNow.has(label)).map((label) => link(label, "removed")),
    ...differences(own(before), own(after)).map(({ steps, ...change }): Place => ({
      at: steps,
      node: undefined,
      kind: JsonPath.general(JsonPath.print(steps)),
      path: JsonPath.print(steps),
      ...change
    }))
  ]
}

/** Value at a place in a state of the workflow, and as readers see it. */
export const valueAt = (workflow: Obj, [top, key, ...steps]: JsonPath.Path) => {
  if (top === "link") {
    const value = Connections.links(workflow["connections"]).some((link) => linkOf(link) === key)
    return { value, shown: value ? "connected" : "not connected", node: undefined }
  }
  if (top !== "node") {
    const path = [top ?? "", ...key === undefined ? [] : [key], ...steps]
    return { value: JsonPath.get(workflow, path), shown: JsonPath.get(Redact.redact(workflow), path), node: undefined }
  }
  const node = Workflow.namedNodes(workflow).find((each) => idOf(each) === key)
  if (node === undefined) return { value: undefined, shown: undefined, node: undefined }
  const own = contentOf(node)
  return {
    value: steps.length === 0 ? own : JsonPath.get(own, steps),
    shown: steps.length === 0 ? Workflow.nameOf(node) : JsonPath.get(Redact.redact(own), steps),
    node: Workflow.nameOf(node)
  }
}

/** Digest of a value at a place. */
export const digest = (value: unknown): string => sha256(canonical(value ?? null)).slice(0, 16)

/** Path of a place as readers know it: in its node from a parameter on. */
export const pathOf = ([top = "", key, ...steps]: JsonPath.Path): string =>
  top === "node"
    ? JsonPath.print(below(steps))
    : top === "link"
    ? "the connection"
    : JsonPath.print([top, key ?? [], steps].flat())

/** A redacted value in one line. */
export const brief = (value: unknown): string =>
  value === undefined
    ? "none"
    : Visible.label(typeof value === "string" ? JSON.stringify(value) : canonical(value), room / 2)
