/** Which nodes reach outside the workflow, so that a rehearsal must not run them. */
import { type Obj, obj } from "../../base/Json.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as Parameters from "../parameters/Parameters.ts"
import * as NodeType from "./NodeType.ts"

/** The node that answers the workflow's own caller. */
const respond = "n8n-nodes-base.respondToWebhook"

/** Ways out of a Code node. */
const callsOut =
  /\bhelpers\s*\??\.\s*(?:http|request)|\bfetch\s*\(|\bXMLHttpRequest\b|\brequire\s*\(|\bimport\s*\(|^\s*(?:import|from)\s/m

const holdsCode = (parameters: Obj) =>
  ["jsCode", "pythonCode", "functionCode", "code"].map((key) => JSON.stringify(parameters[key] ?? ""))

const listed = (record: unknown, key: string): ReadonlyArray<string> => {
  const value = obj(record)?.[key]
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : []
}

/** By n8n's own classification: it changes or routes items and does nothing else. */
const staysInside = ({ codex, group }: NodeType.Description): boolean => {
  const core = listed(codex?.subcategories, "Core Nodes")
  if (core.includes("Data Transformation")) return true
  if (core.includes("Flow") && !core.includes("Helpers")) return true
  if (group.includes("organization") && !core.includes("Flow")) return true
  return (codex?.categories ?? []).includes("AI") && !listed(codex?.subcategories, "AI").includes("Tools")
}

/** It calls another workflow or agent, or lends itself to an agent as a tool. */
const callsAnother = ({ descriptions }: NodeType.NodeType): boolean =>
  descriptions.some(({ outputs, properties }) =>
    properties.some(({ type }) => type === "workflowSelector" || type === "agentSelector") ||
    Array.isArray(outputs) && outputs.some((port) => (typeof port === "string" ? port : port.type) === "ai_tool")
  )

const needsCredential = (description: NodeType.Description, version: number, node: Node): boolean => {
  const set = obj(node.credentials) ?? {}
  const scope = Parameters.scopeOf(description, { typeVersion: version, parameters: obj(node.parameters) ?? {} })
  return (description.credentials ?? []).some(({ displayOptions, name, required }) =>
    Object.hasOwn(set, name) || required === true && Parameters.isShown(displayOptions, scope)
  )
}

/**
 * Whether a node reaches outside: it needs or has a credential, or is not one of those that n8n's packages class as
 * transforming or routing items (HTTP, files, commands, other workflows, waiting for a person or a time).
 *
 * **Details**
 *
 * A type that is not known does, and so does code that makes requests or loads modules. Whether the sub-nodes of an AI
 * node do is a question to each of them.
 */
export const reachesOutside = (nodeType: NodeType.NodeType | undefined, node: Node): boolean => {
  if (nodeType === undefined) return true
  const version = node.typeVersion ?? NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, version) ?? nodeType.descriptions[0]
  if (description === undefined || needsCredential(description, version, node)) return true
  if (node.type === respond) return false
  if (callsAnother(nodeType) || !staysInside(description)) return true
  return holdsCode(obj(node.parameters) ?? {}).some((code) => callsOut.test(code))
}
