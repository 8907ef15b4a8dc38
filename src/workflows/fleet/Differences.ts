/** Differences between many workflows and their former states, equal ones as one group. Pure. */
import { defined, type Obj } from "../../base/Json.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../diff/WorkflowDiff.ts"
import type * as Plans from "./Plans.ts"

const maxNames = 5
const maxExample = 120

/** Workflow before and after. */
export interface Pair {
  readonly before: Obj
  readonly after: Obj
}

interface Field {
  readonly change: string
  readonly node?: string
  readonly example?: string | undefined
}

const typeIn = (workflow: Obj, name: string) =>
  NodeType.shortName(Workflow.typeOf(Workflow.namedNodes(workflow).find((node) => node["name"] === name) ?? {}))

const withoutIndexes = (path: string) => path.replace(/\[\d+\]/g, "[]")

const fieldsOf = ({ after, before }: Pair): ReadonlyArray<Field> => {
  const diff = WorkflowDiff.make(before, after)
  const nodes = diff.nodes.flatMap((node): ReadonlyArray<Field> => {
    const { change, formerName, name } = node
    const type = typeIn(change === "removed" ? before : after, name)
    if (change === "added" || change === "removed" || change === "moved") {
      return [{ change: `${type} ${change}`, node: name, example: `'${name}'` }]
    }
    return [
      ...formerName === undefined
        ? []
        : [{ change: `${type} renamed`, node: name, example: `'${formerName}' → '${name}'` }],
      ...WorkflowDiff.changedFields(before, after, node).map(({ after, before, path }) => ({
        change: `${type} ${withoutIndexes(path.replace(/^parameters\./, ""))}`,
        node: name,
        example: WorkflowDiff.around(before, after, maxExample)
      }))
    ]
  })
  const links = (["added", "removed"] as const).flatMap((change) =>
    diff.links[change].map(({ from, to }) => ({ change: `connection ${change}`, example: `'${from}' → '${to}'` }))
  )
  const rest = WorkflowDiff.restFields(diff).map(({ after, before, path }) => ({
    change: withoutIndexes(path),
    example: /^(settings|name|description)\b/.test(path) ? WorkflowDiff.around(before, after, maxExample) : undefined
  }))
  return [...nodes, ...links, ...rest]
}

/** Groups the changed fields of workflows, those of most workflows first. */
export const group = (pairs: ReadonlyArray<Pair>): ReadonlyArray<typeof Plans.Group.Type> => {
  const all = pairs.flatMap((pair) =>
    fieldsOf(pair).map((field) => ({ ...field, id: String(pair.after["id"]), name: String(pair.after["name"]) }))
  )
  return [...Map.groupBy(all, ({ change }) => change)].map(([change, same]) => {
    const names = new Map(same.map(({ id, name }) => [id, name]))
    const nodes = new Set(same.flatMap(({ id, node }) => node === undefined ? [] : [JSON.stringify([id, node])])).size
    return defined({
      change,
      workflows: names.size,
      nodes: nodes === 0 ? undefined : nodes,
      names: [...names.values()].slice(0, maxNames),
      example: same.find(({ example }) => example !== undefined)?.example
    })
  }).toSorted((a, b) => b.workflows - a.workflows)
}
