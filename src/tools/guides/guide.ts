/** What a guide is made of. */
import type { Obj } from "../../base/Json.ts"

/** A workflow as a tool takes it: without ids and positions, which n8n needs and we fill in. */
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

/** One guide. */
export interface Guide {
  /** The last part of its URI. */
  readonly topic: string
  readonly title: string
  readonly description: string
  /** Markdown, in at most 1,000 tokens. */
  readonly text: string
  /** The workflows that the text shows. */
  readonly workflows: ReadonlyArray<GuideWorkflow>
}

/** A node of n8n's base package. */
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

/** A node of n8n's AI package. */
export const aiNode = (name: string, type: string, typeVersion: number, parameters: Obj): GuideNode =>
  node(name, `@n8n/n8n-nodes-langchain.${type}`, typeVersion, parameters)

/** The start of workflows that a person or a test starts. */
export const start = node("Start", "manualTrigger", 1, {})

/** A Set node with one field. */
export const set = (name: string, field: string, value: string, type = "string"): GuideNode =>
  node(name, "set", 3.4, { assignments: { assignments: [{ id: "1", name: field, type, value }] } })

/** Links from the outputs of a node, in their order. */
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

/** The workflow as the guide shows it. */
export const json = (workflow: GuideWorkflow): string => `\`\`\`json\n${JSON.stringify(workflow)}\n\`\`\``
