/** What a workflow must be to be stored (2.x) and to be published. */
import type { Major } from "./refusal.ts"
import { type Content, list, type Node, obj } from "./state.ts"

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
  const received = value === null ? "null" : Array.isArray(value) ? "array" : typeof value
  return `${path} (invalid_type): Expected ${kind}, received ${received}`
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

const indexFaults = (index: unknown, path: string) => {
  if (typeof index !== "number") return [expected("number", index, path)]
  if (!Number.isInteger(index)) return [`${path} (invalid_type): Expected integer, received float`]
  return index < 0 ? [`${path} (too_small): Number must be greater than or equal to 0`] : []
}

/** Every link of a workflow, at the path where it stands; or what stands there instead. */
const links = (connections: Content["connections"]) => {
  const faults: Array<string> = []
  const found: Array<{ readonly path: string; readonly node: unknown }> = []
  for (const [source, types] of Object.entries(connections)) {
    if (!isObject(types)) faults.push(expected("object", types, `connections.${source}`))
    for (const [type, outputs] of Object.entries(obj(types))) {
      const path = `connections.${source}.${type}`
      if (!Array.isArray(outputs)) faults.push(expected("array", outputs, path))
      for (const [output, targets] of list(outputs).entries()) {
        const isEmpty = targets === null || targets === undefined
        if (!isEmpty && !Array.isArray(targets)) faults.push(expected("array", targets, `${path}[${output}]`))
        for (const [position, target] of list(targets).entries()) {
          const at = `${path}[${output}][${position}]`
          const { index, node, type: input } = obj(target)
          faults.push(...textFaults(node, `${at}.node`), ...textFaults(input, `${at}.type`))
          faults.push(...indexFaults(index, `${at}.index`))
          found.push({ path: `${at}.node`, node })
        }
      }
    }
  }
  return { faults, found }
}

/** What 2.x finds wrong with nodes and connections that changed, all of it at once. */
export const structureFault = ({ connections, nodes }: Content): string | undefined => {
  const { faults, found } = links(connections)
  const shape = nodes.flatMap((node, index) => [
    ...textFaults(node.name, `nodes[${index}].name`),
    ...textFaults(node.type, `nodes[${index}].type`),
    ...positionFaults(node["position"], `nodes[${index}].position`)
  ]).concat(faults)
  const names = new Set<unknown>(nodes.map(({ name }) => name))
  const twice = nodes.flatMap(({ id, name }, index) => {
    const earlier = nodes.slice(0, index)
    const sameId = earlier.find((node) => node.id === id)
    return [
      ...(sameId === undefined ? [] : [
        `nodes[${index}].id (duplicate_node_id): Nodes "${sameId.name}" and "${name}" share the node ID "${id}"`
      ]),
      ...(earlier.some((node) => node.name === name)
        ? [`nodes[${index}].name (duplicate_node_name): Duplicate node name "${name}"`]
        : [])
    ]
  })
  const lost = Object.keys(connections).flatMap((source) => [
    ...(names.has(source) ? [] : [
      `connections.${source} (unknown_connection_source): ` +
      `Connection source "${source}" does not reference an existing node`
    ]),
    ...found.filter(({ node, path }) => path.startsWith(`connections.${source}.`) && !names.has(node)).map((link) =>
      `${link.path} (unknown_connection_target): Connection target "${link.node}" does not reference an existing node`
    )
  ])
  const all = shape.length > 0 ? shape : [...twice, ...lost]
  return all.length === 0 ? undefined : `Workflow structure is invalid. ${all.join("; ")}`
}

/** What 2.x finds wrong with node groups. That a group must be one connected piece is not looked at. */
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

// ---- node types: what can be told without a catalogue

const ownPackages = /^(n8n-nodes-base|@n8n\/n8n-nodes-langchain)\.\w+$/

/** Only n8n's own packages are installed; what they hold is not looked at. */
export const unknownType = (nodes: ReadonlyArray<Node>): string | undefined =>
  nodes.map((node) => node.type ?? "").find((type) => !ownPackages.test(type))

const shortType = (node: Node) => (node.type ?? "").split(".").at(-1) ?? ""

const startsByHand = new Set(["manualTrigger", "manualChatTrigger", "evaluationTrigger"])
const startedByN8n = new Set(["errorTrigger", "executeWorkflowTrigger"])
const otherTriggers = new Set(["webhook", "cron", "interval", "emailReadImap"])
const waitsForCalls = new Set(["wait", "form"])

const isTrigger = (node: Node) => shortType(node).endsWith("Trigger") || otherTriggers.has(shortType(node))

/** Whether a published workflow could be started by one of its nodes. */
export const canStart = (nodes: ReadonlyArray<Node>, version: Major): boolean =>
  nodes.some((node) => {
    const type = shortType(node)
    if (node["disabled"] === true || startsByHand.has(type)) return false
    if (startedByN8n.has(type)) return version === "2"
    return isTrigger(node) || waitsForCalls.has(type)
  })

/** How many nodes are registered when the workflow is published. */
export const triggerCount = (nodes: ReadonlyArray<Node>): number =>
  nodes.filter((node) => canStart([node], "1") && isTrigger(node)).length

const callable = new Set(["webhook", "formTrigger", "form", "wait", "chatTrigger", "mcpTrigger"])

/** Whether 2.x gives the node a `webhookId` when it has none. Only the most common of 85 types are known here. */
export const wantsWebhookId = (node: Node): boolean => callable.has(shortType(node))
