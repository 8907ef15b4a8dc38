/** Tools for AI agents that n8n derives from nodes: `…slackTool`, and `…slackHitlTool`, which asks a person first. */
import { choices, type Description, type NodeType, type Port, type Property } from "./NodeType.ts"

const agentTool: Port = { type: "ai_tool", displayName: "Tool" }

const insert = (properties: ReadonlyArray<Property>, added: ReadonlyArray<Property>) => {
  const from = properties.findLastIndex(({ type }) => type === "callout") + 1
  return properties.toSpliced(from, 0, ...added)
}

const toolDescription = ({ description = "", properties }: Description): ReadonlyArray<Property> => {
  const named = (name: string) => properties.some((property) => property.name === name)
  if (named("toolDescription")) return properties
  const text: Property = {
    displayName: "Description",
    name: "toolDescription",
    type: "string",
    default: description,
    required: true,
    description: "Description that the agent reads"
  }
  if (!named("resource") && !named("operation")) return insert(properties, [text])
  const kind: Property = {
    displayName: "Tool Description",
    name: "descriptionType",
    type: "options",
    noDataExpression: true,
    options: [{ name: "Set Automatically", value: "auto" }, { name: "Set Manually", value: "manual" }],
    default: "auto"
  }
  return insert(properties, [kind, { ...text, displayOptions: { show: { descriptionType: ["manual"] } } }])
}

const tool = (description: Description): Description => {
  const { usableAsTool: _, ...rest } = description
  return {
    ...rest,
    name: `${description.name}Tool`,
    displayName: `${description.displayName} Tool`,
    inputs: [],
    outputs: ["ai_tool"],
    properties: toolDescription(description)
  }
}

const sendAndWait = "sendAndWait"

const isApproval = (property: Property) =>
  property.name === "operation" && choices(property).some(({ value }) => value === sendAndWait)

const hidden = (name: string, value: unknown): Property => ({ displayName: name, name, type: "hidden", default: value })

const approval = (description: Description): Description | undefined => {
  const { properties, webhooks = [] } = description
  const operation = properties.find(isApproval)
  if (operation === undefined || webhooks.length === 0) return undefined
  const [resource] = properties.filter(isApproval).flatMap((each) => each.displayOptions?.show?.["resource"] ?? [])
  const fixed = new Set(["resource", "operation", "message", "responseType"])
  return {
    ...description,
    name: `${description.name}HitlTool`,
    inputs: [{ ...agentTool, required: true }],
    outputs: [{ ...agentTool, displayName: "Human review" }],
    properties: [
      {
        displayName: "Message",
        name: "message",
        type: "string",
        default: "=The agent wants to call {{ $tool.name }}",
        required: true
      },
      ...(resource === undefined ? [] : [hidden("resource", resource)]),
      hidden("operation", sendAndWait),
      hidden("responseType", "approval"),
      ...properties.filter(({ name }) => !fixed.has(name))
    ]
  }
}

const suffixes = [["HitlTool", approval], [
  "Tool",
  (description: Description) => description.usableAsTool ? tool(description) : undefined
]] as const

export const baseOf = (type: string): string | undefined => {
  const entry = suffixes.find(([suffix]) => type.endsWith(suffix))
  return entry === undefined ? undefined : type.slice(0, -entry[0].length)
}

/** Tool variant of a type; `undefined` if n8n does not derive it. */
export const variant = (type: string, base: NodeType): NodeType | undefined => {
  const make = suffixes.find(([suffix]) => type === base.type + suffix)?.[1]
  const descriptions = base.descriptions.flatMap((description) => make?.(description) ?? [])
  return descriptions.length === 0 ? undefined : { type, base: base.type, descriptions }
}
