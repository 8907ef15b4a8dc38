/** AI Agents: versions 2 and 3 have the Tools Agent alone. */
import { type Obj, obj, without } from "../../base/Json.ts"
import type * as Connections from "../../n8n/model/Connections.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { carry, left, type Mapping, type Old } from "./mapping.ts"

const withOptions = (old: Old, change: (options: Obj) => Obj): ReturnType<Mapping> => {
  const options = old.own["options"] ?? {}
  return obj(options) === undefined
    ? left("Its options are an expression.", "Set the options one by one, then upgrade again.")
    : carry(old, { options: change(obj(options) ?? {}) })
}

/** Before 1.9 the model gets a system message even if the node has none. */
const systemMessage = "You are a helpful assistant"

const toolsOnly: Mapping = (old) => {
  const mode = old.parameters["agent"]
  if (mode !== "toolsAgent" || old.version < 1.6) {
    return left(
      `AI Agent 2 and later are Tools Agents: this one is a ${String(mode)}, which has other prompts.`,
      "Set agent to toolsAgent in version 1.9, compare the model's answers, then upgrade again."
    )
  }
  const steps = obj(old.own["options"])?.["returnIntermediateSteps"] ?? false
  if (steps !== false) {
    return left(
      "From 2 on the model's messages in intermediateSteps have another form.",
      "Change the expressions that read intermediateSteps, then set the version by an update."
    )
  }
  return withOptions(
    { ...old, own: without(old.own, (_, key) => key === "agent") },
    (options) => options["systemMessage"] === undefined && old.version < 1.9 ? { systemMessage, ...options } : options
  )
}

const streams = (node: Obj) => JSON.stringify(Workflow.parametersOf(node)).includes("\"streaming\"")

/** From 2.1 on an agent streams if the trigger does. */
const withoutStreaming: Mapping = (old) =>
  Workflow.nodes(old.workflow).some(streams)
    ? withOptions(old, (options) => ({ ...options, enableStreaming: false }))
    : carry(old)

/** From 3 on tools run as nodes: what a model gets of them, and what memory stores, changes. */
const withoutTools = (linked: (old: Old, type: string) => ReadonlyArray<Connections.Link>): Mapping => (old) =>
  linked(old, "ai_tool").length > 0
    ? left(
      "From 3 on the agent's tools run as nodes: the model gets their results as lists of items, and memory stores them.",
      "Set version 3.1 by an update and compare the model's answers."
    )
    : withOptions(old, (options) => ({ ...options, autoSaveHighlightedData: false }))

export const agent = (linked: (old: Old, type: string) => ReadonlyArray<Connections.Link>) => ({
  2: toolsOnly,
  2.1: withoutStreaming,
  3: withoutTools(linked)
})
