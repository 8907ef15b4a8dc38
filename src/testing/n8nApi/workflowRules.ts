/** Rules for storing (2.x) and publishing a workflow. */
import * as Equal from "effect/Equal"
import type { Major } from "./server.ts"
import { type Content, kindOf, list, type Node, obj } from "./world.ts"

const textFaults = (value: unknown, path: string) => {
  if (value === undefined) return [`${path} (invalid_type): Required`]
  return value === "" ? [`${path} (too_small): String must contain at least 1 character(s)`] : []
}

const positionFaults = (position: unknown, path: string) => {
  if (position === undefined) return [`${path} (invalid_type): Required`]
  const count = list(position).length
  if (count < 2) return [`${path} (too_small): Array must contain at least 2 element(s)`]
  return count > 2 ? [`${path} (too_big): Array must contain at most 2 element(s)`] : []
}

const expected = (kind: string, value: unknown, path: string) => {
  if (value === undefined) return `${path} (invalid_type): Required`
  return `${path} (invalid_type): Expected ${kind}, received ${kindOf(value)}`
}

const indexFaults = (index: unknown, path: string) => {
  if (typeof index !== "number") return [expected("number", index, path)]
  if (!Number.isInteger(index)) return [`${path} (invalid_type): Expected integer, received float`]
  return index < 0 ? [`${path} (too_small): Number must be greater than or equal to 0`] : []
}

/** Links of a workflow with their paths, and the faults of malformed ones. */
const links = (connections: Content["connections"]) => {
  const faults: Array<string> = []
  const targets: Array<{ readonly path: string; readonly node: unknown }> = []
  for (const [source, types] of Object.entries(connections)) {
    if (kindOf(types) !== "object") faults.push(expected("object", types, `connections.${source}`))
    for (const [type, outputs] of Object.entries(obj(types))) {
      const path = `connections.${source}.${type}`
      if (!Array.isArray(outputs)) faults.push(expected("array", outputs, path))
      for (const [output, entries] of list(outputs).entries()) {
        const isEmpty = entries === null || entries === undefined
        if (!isEmpty && !Array.isArray(entries)) faults.push(expected("array", entries, `${path}[${output}]`))
        for (const [position, target] of list(entries).entries()) {
          const at = `${path}[${output}][${position}]`
          const { index, node, type: input } = obj(target)
          faults.push(...textFaults(node, `${at}.node`), ...textFaults(input, `${at}.type`))
          faults.push(...indexFaults(index, `${at}.index`))
          targets.push({ path: `${at}.node`, node })
        }
      }
    }
  }
  return { faults, targets }
}

/** 2.x's error for changed nodes and connections, which lists all faults. */
export const structureFault = ({ connections, nodes }: Content): string | undefined => {
  const { faults, targets } = links(connections)
  const shape = nodes.flatMap((node, index) => [
    ...textFaults(node.name, `nodes[${index}].name`),
    ...textFaults(node.type, `nodes[${index}].type`),
    ...positionFaults(node["position"], `nodes[${index}].position`)
  ]).concat(faults)
  const names = new Set<unknown>(nodes.map(({ name }) => name))
  const earlier = { ids: new Map<unknown, (typeof nodes)[number]>(), names: new Set<unknown>() }
  const duplicates = nodes.flatMap((node, index) => {
    const { id, name } = node
    const sameId = earlier.ids.get(id)
    const hasSameName = earlier.names.has(name)
    if (sameId === undefined) earlier.ids.set(id, node)
    earlier.names.add(name)
    return [
      ...(sameId === undefined ? [] : [
        `nodes[${index}].id (duplicate_node_id): Nodes "${sameId.name}" and "${name}" share the node ID "${id}"`
      ]),
      ...(hasSameName
        ? [`nodes[${index}].name (duplicate_node_name): Duplicate node name "${name}"`]
        : [])
    ]
  })
  const lost = targets.filter(({ node }) => !names.has(node))
  const dangling = Object.keys(connections).flatMap((source) => [
    ...(names.has(source) ? [] : [
      `connections.${source} (unknown_connection_source): ` +
      `Connection source "${source}" does not reference an existing node`
    ]),
    ...lost.filter(({ path }) => path.startsWith(`connections.${source}.`)).map((link) =>
      `${link.path} (unknown_connection_target): Connection target "${link.node}" does not reference an existing node`
    )
  ])
  const all = shape.length > 0 ? shape : [...duplicates, ...dangling]
  return all.length === 0 ? undefined : `Workflow structure is invalid. ${all.join("; ")}`
}

/** 2.x's error for node groups. That a group must be connected is not checked. */
export const groupFault = ({ nodeGroups, nodes }: Content): string | undefined => {
  const owners = new Map<unknown, string>()
  const faults = nodeGroups.flatMap(({ id, name, nodeIds }, index) => {
    const earlier = nodeGroups.slice(0, index)
    return [
      ...(earlier.some((group) => group["id"] === id) ? [`Duplicate node group ID "${id}".`] : []),
      ...(earlier.some((group) => group["name"] === name) ? [`Duplicate node group name "${name}".`] : []),
      ...(list(nodeIds).length === 0 ? [`Group "${name}" has no members.`] : []),
      ...list(nodeIds).flatMap((member) => {
        const node = nodes.find((each) => each.id === member)
        const owner = owners.get(member)
        owners.set(member, owner ?? String(name))
        if (node === undefined) {
          return [`Group "${name}" references node ID "${member}" that does not exist in the workflow.`]
        }
        return owner === undefined ? [] : [`Node "${node.name}" belongs to multiple groups: "${owner}" and "${name}".`]
      })
    ]
  })
  const withTriggers = nodeGroups.flatMap(({ name, nodeIds }) => {
    const triggers = nodes.filter((node) => list(nodeIds).includes(node.id) && isTrigger(node))
    return triggers.length === 0
      ? []
      : [`Node group "${name}" cannot contain trigger nodes: ${triggers.map((node) => node.name).join(", ")}.`]
  })
  return [...faults, ...withTriggers][0]
}

/** Types that n8n 2.42.6 is known to mark as deprecated; other hidden types may be created. */
const deprecated = /^(n8n-nodes-base\.function(Item)?|@n8n\/n8n-nodes-langchain\.code)$/

const isDeprecated = (node: Node) => deprecated.test(node.type ?? "")

/** Part of a deprecated node that must not change, in the form in which the editor saves it. */
const frozen = ({ position: _, ...node }: Node) => ({
  ...node,
  parameters: obj(node["parameters"]),
  credentials: obj(node["credentials"]),
  disabled: node["disabled"] === true,
  continueOnFail: node["continueOnFail"] === true,
  onError: node["onError"] ?? "stopWorkflow",
  notes: node["notes"] ?? ""
})

/** Refusal of deprecated nodes that are new or were changed; nodes are matched by id. */
export const deprecationFault = (
  nodes: ReadonlyArray<Node>,
  before: ReadonlyArray<Node> = []
): string | undefined => {
  const stored = new Map(before.filter(isDeprecated).map((node) => [node.id, node]))
  const faults = nodes.filter(isDeprecated).flatMap((node) => {
    const own = node.id === undefined ? undefined : stored.get(node.id)
    return own !== undefined && Equal.equals(frozen(own), frozen(node))
      ? []
      : [
        `Cannot ${own === undefined ? "use" : "modify"} a "${node.type}" node ("${node.name}"): this node type is ` +
        "deprecated. Replace it with a supported alternative or remove it from the workflow."
      ]
  })
  return faults.length === 0 ? undefined : faults.join(" ")
}

const ownPackages = /^(n8n-nodes-base|@n8n\/n8n-nodes-langchain)\.\w+$/

/** First node type outside n8n's own packages; the types in those packages are not checked. */
export const unknownType = (nodes: ReadonlyArray<Node>): string | undefined =>
  nodes.map((node) => node.type ?? "").find((type) => !ownPackages.test(type))

const shortType = (node: Node) => (node.type ?? "").split(".").at(-1) ?? ""

const startsByHand = new Set(["manualTrigger", "manualChatTrigger", "evaluationTrigger"])
const startedByN8n = new Set(["errorTrigger", "executeWorkflowTrigger"])
const otherTriggers = new Set(["webhook", "cron", "interval", "emailReadImap"])
const waitsForCalls = new Set(["wait", "form"])

const isTrigger = (node: Node) => shortType(node).endsWith("Trigger") || otherTriggers.has(shortType(node))

export const canStart = (nodes: ReadonlyArray<Node>, version: Major): boolean =>
  nodes.some((node) => {
    const type = shortType(node)
    if (node["disabled"] === true || startsByHand.has(type)) return false
    if (startedByN8n.has(type)) return version === "2"
    return isTrigger(node) || waitsForCalls.has(type)
  })

export const triggerCount = (nodes: ReadonlyArray<Node>): number =>
  nodes.filter((node) => canStart([node], "1") && isTrigger(node)).length

const callable = new Set(["webhook", "formTrigger", "form", "wait", "chatTrigger", "mcpTrigger"])

/** Whether 2.x adds a missing `webhookId` to the node. Only the most common of 85 types are known here. */
export const wantsWebhookId = (node: Node): boolean => callable.has(shortType(node))
