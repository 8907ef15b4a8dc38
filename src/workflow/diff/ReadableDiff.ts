/** Comparison of two states of a workflow for readers: named ports, redacted secrets. Pure. */
import { str } from "../../base/Json.ts"
import * as Redact from "../../base/Redact.ts"
import * as Turn from "../../base/Turn.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import * as WorkflowDiff from "./WorkflowDiff.ts"

export interface Options {
  /** Name of the only node to show, on either side; its texts are shown in full. */
  readonly node?: string | undefined
  readonly namesOf?: Connections.OutputNames
  readonly showsSecrets?: boolean
  /** Whether these are two different workflows, whose ids and positions do not count. */
  readonly isOther?: boolean
}

const shapesIn = (workflow: WorkflowDiff.Document) => {
  const graph = Graph.make(workflow["connections"])
  return new Map(
    nodes(workflow).flatMap((node) => {
      const [name, type] = [str(node["name"]), str(node["type"])]
      if (name === undefined || type === undefined) return []
      const shape = { ...node, type } as Connections.NodeShape
      return [[name, { shape, count: Graph.outputCount(graph, name) }] as const]
    })
  )
}

/** Adds fields that differ only in redacted values, marked as such. */
const withHidden = (
  visible: ReadonlyArray<WorkflowDiff.NodeView>,
  whole: ReadonlyArray<WorkflowDiff.NodeView>
): ReadonlyArray<WorkflowDiff.NodeView> => {
  const known = new Map(visible.map((view) => [view.node, view]))
  return whole.map((raw) => {
    const view = known.get(raw.node)
    if (raw.fields === undefined || view !== undefined && view.fields === undefined) return view ?? raw
    const fields = view?.fields ?? []
    const paths = new Set(fields.map(({ path }) => path))
    const hidden = raw.fields.filter(({ path }) => !paths.has(path))
    return {
      ...view ?? raw,
      fields: [...fields, ...hidden.map(({ path }) => ({ path, before: Redact.marker, after: Redact.marker }))]
    }
  })
}

export const make = (
  before: WorkflowDiff.Document,
  after: WorkflowDiff.Document,
  options: Options = {}
): WorkflowDiff.View => Turn.finish(steps(before, after, options))

/** {@link make} in steps. */
export const steps = function*(
  before: WorkflowDiff.Document,
  after: WorkflowDiff.Document,
  { isOther = false, namesOf = () => undefined, node, showsSecrets = false }: Options
): Turn.Steps<WorkflowDiff.View> {
  const diff = yield* WorkflowDiff.steps(before, after, isOther)
  const former = new Map(diff.nodes.map(({ formerName, name }) => [name, formerName ?? name]))
  const shapes = { before: shapesIn(before), after: shapesIn(after) }
  const portName: WorkflowDiff.PortName = ({ from, output }, state) => {
    const port = shapes[state].get(state === "before" ? former.get(from) ?? WorkflowDiff.plainName(from) : from)
    return port && Connections.outputName(port.shape, output, namesOf, port.count)
  }
  const whole = yield* WorkflowDiff.viewSteps(diff, { node, portName })
  if (showsSecrets) return whole
  const shown = yield* WorkflowDiff.steps(yield* Redact.steps(before), yield* Redact.steps(after), isOther)
  const clean = yield* WorkflowDiff.viewSteps(shown, { node, portName })
  return { ...clean, same: whole.same, nodes: withHidden(clean.nodes, whole.nodes) }
}
