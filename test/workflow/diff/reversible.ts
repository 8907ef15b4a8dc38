/** The property that nothing is lost in a difference: applied to the first state it gives the second. */
import { assert } from "@effect/vitest"
import type * as Difference from "../../../src/base/Difference.ts"
import { arr, defined, type Obj, obj } from "../../../src/base/Json.ts"
import * as Connections from "../../../src/n8n/model/Connections.ts"
import * as WorkflowDiff from "../../../src/workflow/diff/WorkflowDiff.ts"

type Names = ReadonlyMap<string, string>

const nodesOf = (workflow: WorkflowDiff.Document): ReadonlyArray<Obj> =>
  arr(workflow["nodes"]).map((node) => obj(node) ?? {})
const nameOf = (node: Obj) => String(node["name"])
const linksOf = (workflow: WorkflowDiff.Document) =>
  Connections.links(workflow["connections"] as Connections.Connections)

const key = ({ from, input, output, to }: Connections.Link) =>
  JSON.stringify([from, output.type, output.index, to, input.type, input.index])

const rename = (names: Names) => (link: Connections.Link): Connections.Link => ({
  ...link,
  from: names.get(link.from) ?? link.from,
  to: names.get(link.to) ?? link.to
})

/** Everything but nodes and connections; an empty value equals a missing one. */
const rest = (workflow: WorkflowDiff.Document, names: Names): Obj =>
  Object.fromEntries(
    ["name", "description", "settings", "pinData", "staticData", "nodeGroups"].flatMap((key) => {
      const value = workflow[key]
      if (value === undefined || value === null || typeof value === "object" && Object.keys(value).length === 0) {
        return []
      }
      return [[
        key,
        key === "pinData"
          ? Object.fromEntries(Object.entries(value).map(([node, items]) => [names.get(node) ?? node, items]))
          : value
      ]]
    })
  )

const below = (differences: ReadonlyArray<Difference.Difference>) =>
  differences.map((each) => ({ ...each, former: each.former.slice(1), steps: each.steps.slice(1) }))

/** Applies differences, by their definition. */
export const applyAll = (value: unknown, differences: ReadonlyArray<Difference.Difference> = []): unknown => {
  const whole = differences.find(({ steps }) => steps.length === 0)
  if (whole !== undefined) return whole.after
  if (differences.length === 0) return value
  const isAlone = (side: "before" | "after") => (each: Difference.Difference) =>
    each.steps.length === 1 && each[side] === undefined
  if (Array.isArray(value)) {
    const [added, rest] = [
      differences.filter(isAlone("before")),
      differences.filter((each) => !isAlone("before")(each))
    ]
    const list = value.flatMap((element: unknown, index) => {
      const own = rest.filter(({ former }) => former[0] === index)
      return own.some(isAlone("after")) ? [] : [applyAll(element, below(own))]
    })
    for (const { after, steps } of added.toSorted((a, b) => Number(a.steps[0]) - Number(b.steps[0]))) {
      list.splice(Number(steps[0]), 0, after)
    }
    return list
  }
  const entries = new Map(Object.entries(obj(value) ?? {}))
  for (const [key = "", own] of Map.groupBy(differences, ({ steps }) => steps[0])) {
    const next = applyAll(entries.get(String(key)), below(own))
    if (next === undefined) entries.delete(String(key))
    else entries.set(String(key), next)
  }
  return Object.fromEntries(entries)
}

/** Applies a difference, by its definition. */
const apply = (workflow: Obj, diff: WorkflowDiff.WorkflowDiff) => {
  const removed = diff.nodes.flatMap(({ change, name }) => change === "removed" ? [name] : [])
  const renamed = diff.nodes.flatMap(({ formerName, name }) =>
    formerName === undefined ? [] : [[formerName, name] as const]
  )
  const marked = new Map(
    diff.links.removed.flatMap(({ from, to }) =>
      [from, to].map((name) => [WorkflowDiff.plainName(name), name] as const)
    )
  )
  const taken = new Set(renamed.map(([, name]) => name))
  const names: Names = new Map([
    ...removed.flatMap((name) => taken.has(name) ? [[name, marked.get(name) ?? `\u0000${name}`] as const] : []),
    ...renamed
  ])
  const byName = new Map(
    diff.nodes.flatMap((node) => node.change === "added" ? [] : [[node.formerName ?? node.name, node] as const])
  )
  const gone = new Set(diff.links.removed.map(key))
  return {
    nodes: [
      ...nodesOf(workflow).flatMap((node) => {
        const change = byName.get(nameOf(node))
        if (change === undefined) return [node]
        if (change.change === "removed") return []
        const { name: _, position, ...content } = node
        return [defined({
          ...obj(applyAll(content, change.value)),
          name: change.name,
          position: applyAll(position, change.position)
        })]
      }),
      ...diff.nodes.flatMap(({ change, value }) => change === "added" ? [obj(applyAll(undefined, value)) ?? {}] : [])
    ],
    links: [...linksOf(workflow).map(rename(names)).filter((link) => !gone.has(key(link))), ...diff.links.added],
    rest: applyAll(rest(workflow, names), diff.rest)
  }
}

/** Equal whatever the order of nodes and links. */
const normalize = (
  { links, nodes, rest }: { nodes: ReadonlyArray<Obj>; links: ReadonlyArray<Connections.Link>; rest: unknown }
) => ({
  nodes: nodes.toSorted((a, b) => nameOf(a) < nameOf(b) ? -1 : 1),
  links: [...new Set(links.map(key))].toSorted(),
  rest
})

const state = (workflow: Obj) =>
  normalize({ nodes: nodesOf(workflow), links: linksOf(workflow), rest: rest(workflow, new Map()) })

const withoutPositions = (workflow: Obj) => {
  const { nodes, ...others } = state(workflow)
  return { ...others, nodes: nodes.map(({ position: _, ...node }) => node) }
}

const isEqual = (a: unknown, b: unknown) => {
  try {
    assert.deepStrictEqual(a, b)
    return true
  } catch {
    return false
  }
}

/** The difference makes the second state from the first, and the reverse difference the first from the second. */
export const isReversible = (a: Obj, b: Obj) => {
  const diff = WorkflowDiff.make(a, b)
  assert.deepStrictEqual(normalize(apply(a, diff)), state(b))
  assert.deepStrictEqual(normalize(apply(b, WorkflowDiff.make(b, a))), state(a))
  assert.strictEqual(WorkflowDiff.view(diff).same, isEqual(withoutPositions(a), withoutPositions(b)))
}
