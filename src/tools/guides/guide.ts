/** Guides and the parts of their workflows. */
import type { Obj } from "../../base/Json.ts"

/** Workflow as tools accept it: without ids and positions, which they fill in. */
export interface GuideWorkflow {
  readonly nodes: ReadonlyArray<GuideNode>
  readonly connections: Obj
}

interface GuideNode {
  readonly name: string
  readonly type: string
  readonly typeVersion: number
  readonly parameters: Obj
  readonly [setting: string]: unknown
}

/** Guide to one topic. */
export interface Guide {
  /** Last part of its URI. */
  readonly topic: string
  readonly title: string
  readonly description: string
  /** Markdown of at most 1,000 tokens. */
  readonly text: string
  /** Workflows that the text shows. */
  readonly workflows: ReadonlyArray<GuideWorkflow>
}

/** Makes a node of n8n's base package. */
export const node = (
  name: string,
  type: string,
  typeVersion: number,
  parameters: Obj,
  settings: Obj = {}
): GuideNode => ({
  name,
  type: type.includes(".") ? type : `n8n-nodes-base.${type}`,
  typeVersion,
  parameters,
  ...settings
})

/** Makes a node of n8n's AI package. */
export const aiNode = (name: string, type: string, typeVersion: number, parameters: Obj): GuideNode =>
  node(name, `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters)

/** Manual trigger. */
export const start = node("Start", "manualTrigger", 1, {})

/** Makes a Set node with one field. */
export const set = (name: string, field: string, value: string, type = "string"): GuideNode =>
  node(name, "set", 3.4, { assignments: { assignments: [{ id: "1", name: field, type, value }] } })

/** Makes the connections from the outputs of nodes, in order. */
export const links = (
  outputs: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>>,
  type = "main"
): Obj =>
  Object.fromEntries(
    Object.entries(outputs).map(([from, targets]) => [
      from,
      { [type]: targets.map((names) => names.map((name) => ({ node: name, type, index: 0 }))) }
    ])
  )

/** Shows a workflow in a guide. */
export const json = (workflow: GuideWorkflow): string => `\`\`\`json\n${JSON.stringify(workflow)}\n\`\`\``
