/** Differences between many workflows and their former states, equal ones as one group. Pure. */
import type { Obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as NodeType from "../catalogue/types/NodeType.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import * as WorkflowDiff from "../workflow/diff/WorkflowDiff.ts"
import * as Plans from "./Plans.ts"

/** Length of an example, which is one line. */
const room = 120

/** Workflow before and after. */
export interface Pair {
  readonly before: Obj
  readonly after: Obj
}

type Field = Omit<Plans.Change, "id" | "name">

const typeIn = (workflow: Obj, name: string) =>
  NodeType.shortName(Workflow.typeOf(Workflow.namedNodes(workflow).find((node) => node["name"] === name) ?? {}))

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
        change: `${type} ${JsonPath.general(path.replace(/^parameters\./, ""))}`,
        node: name,
        example: WorkflowDiff.around(before, after, room)
      }))
    ]
  })
  const links = (["added", "removed"] as const).flatMap((change) =>
    diff.links[change].map(({ from, to }) => ({ change: `connection ${change}`, example: `'${from}' → '${to}'` }))
  )
  const rest = WorkflowDiff.restFields(diff).map(({ after, before, path }) => ({
    change: JsonPath.general(path),
    example: /^(settings|name|description)\b/.test(path) ? WorkflowDiff.around(before, after, room) : undefined
  }))
  return [...nodes, ...links, ...rest]
}

/** Groups the changed fields of workflows. */
export const group = (pairs: ReadonlyArray<Pair>) =>
  Plans.grouped(
    pairs.flatMap((pair) =>
      fieldsOf(pair).map((field) => ({ ...field, id: String(pair.after["id"]), name: String(pair.after["name"]) }))
    )
  )
