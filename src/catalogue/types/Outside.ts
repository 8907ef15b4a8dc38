/** Detection of nodes that reach outside the workflow or keep state, which a rehearsal must not run. */
import type { Parse } from "../../base/JavaScript.ts"
import { type Obj, obj } from "../../base/Json.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as Fence from "../code/Fence.ts"
import * as Reach from "../code/Reach.ts"
import * as ParameterRules from "../parameters/ParameterRules.ts"
import * as ParameterValues from "../parameters/ParameterValues.ts"
import * as NodeType from "./NodeType.ts"

/** Type of the node that answers the caller of a webhook. */
export const respond = "n8n-nodes-base.respondToWebhook"

const answering = new Set([respond, "n8n-nodes-base.form", "@n8n/n8n-nodes-langchain.chat"])

/** Whether a node answers the workflow's own caller: with a response, a form page or a message of a chat. */
export const answers = ({ type }: Pick<Node, "type">): boolean => answering.has(type)

/** Node that starts GraphicsMagick, which loads files and URLs that images refer to. */
const editImage = "n8n-nodes-base.editImage"

const removeDuplicates = "n8n-nodes-base.removeDuplicates"

const isOfN8n = (type: string) => /^(?:n8n-nodes-base|@n8n\/n8n-nodes-langchain)\./.test(type)

const listed = (record: unknown, key: string): ReadonlyArray<string> => {
  const value = obj(record)?.[key]
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : []
}

/** Whether n8n classifies the node as one that only changes or routes items. */
const staysInside = ({ codex, group }: NodeType.Description): boolean => {
  const core = listed(codex?.subcategories, "Core Nodes")
  if (core.includes("Data Transformation")) return true
  if (core.includes("Flow") && !core.includes("Helpers")) return true
  if (group.includes("organization") && !core.includes("Flow")) return true
  return (codex?.categories ?? []).includes("AI") && !listed(codex?.subcategories, "AI").includes("Tools")
}

/** Whether the node calls another workflow or agent, or is an agent's tool. */
const callsAnother = ({ descriptions }: NodeType.NodeType): boolean =>
  descriptions.some(({ outputs, properties }) =>
    properties.some(({ type }) => type === "workflowSelector" || type === "agentSelector") ||
    Array.isArray(outputs) && outputs.some((port) => (typeof port === "string" ? port : port.type) === "ai_tool")
  )

const needsCredential = (description: NodeType.Description, version: number, node: Node): boolean => {
  const set = obj(node.credentials) ?? {}
  const scope = ParameterRules.scopeOf(description, { typeVersion: version, parameters: obj(node.parameters) ?? {} })
  return (description.credentials ?? []).some(({ displayOptions, name, required }) =>
    Object.hasOwn(set, name) || required === true && ParameterRules.isShown(displayOptions, scope)
  )
}

/** Whether the node keeps data in n8n's own process (memories, vector stores) or in the history of duplicates. */
const keepsState = ({ codex }: NodeType.Description, node: Node): boolean => {
  const ai = listed(codex?.subcategories, "AI")
  const operation = obj(node.parameters)?.["operation"] ?? "removeDuplicateInputItems"
  return ai.includes("Memory") || ai.includes("Vector Stores") ||
    node.type === removeDuplicates && operation !== "removeDuplicateInputItems"
}

/** Whether the node's code is in Python, which n8n gives no way to keep from reaching outside, or may be. */
const runsPython = ({ language }: Obj): boolean => language !== undefined && language !== "javaScript"

/**
 * Whether a node sends something that others receive: it reaches outside, or it answers the caller. Every rule about what
 * a change does to others asks this; only what must not run in a rehearsal asks {@link reachesOutside} alone.
 */
export const sends = (nodeType: NodeType.NodeType | undefined, node: Node, parse: Parse): boolean =>
  answers(node) || reachesOutside(nodeType, node, parse)

/**
 * Whether a node's output depends on more than its input, or its run has an effect: it needs or has a credential, keeps
 * state of earlier executions, or is not one that n8n's packages classify as transforming or routing items (HTTP,
 * files, commands, other workflows, waiting for a person or a time). So do unknown types, types of other packages, and
 * code that does not certainly only compute. The sub-nodes of an AI node are checked separately.
 */
export const reachesOutside = (nodeType: NodeType.NodeType | undefined, node: Node, parse: Parse): boolean => {
  if (nodeType === undefined || !isOfN8n(node.type)) return true
  const version = node.typeVersion ?? NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, version) ?? nodeType.descriptions[0]
  if (description === undefined || needsCredential(description, version, node)) return true
  if (node.type === respond) return false
  if (callsAnother(nodeType) || !staysInside(description) || node.type === editImage) return true
  const parameters = obj(node.parameters) ?? {}
  return keepsState(description, node) || runsPython(parameters) ||
    ParameterValues.places(description, parameters).some(({ path, property, value }) => {
      const extension = ParameterValues.codeExtension(property)
      // Code in the other language of a node does not run.
      if (extension === "py") return false
      const { outside, state } = Reach.of(extension, value, parse)
      return outside || state || extension === "js" && !Fence.isFenceable(node.type, path.join("."))
    })
}
