/** A group of nodes that can become a sub-workflow: one entry, at most one exit, and one node that ends last. */
import * as Result from "effect/Result"
import type { Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Turn from "../../base/Turn.ts"
import type { Link } from "../../n8n/model/Connections.ts"
import { parametersOf } from "../../n8n/model/Workflow.ts"
import * as Checked from "../check/CheckedWorkflow.ts"
import * as Expressions from "../check/Expressions.ts"
import * as Graph from "../Graph.ts"
import { literal, unique } from "./rename.ts"
import * as Step from "./step.ts"

type Nodes = ReadonlyMap<string, Checked.Node>

export interface Group {
  /** In the order of the workflow, with the sub-nodes that serve only them. */
  readonly members: Nodes
  readonly rest: ReadonlyArray<Checked.Node>
  readonly entry: string
  readonly exit: string | undefined
  readonly inner: Graph.Graph
  readonly into: ReadonlyArray<Link>
  readonly out: ReadonlyArray<Link>
  readonly after: ReadonlySet<string>
  readonly isBefore: (name: string) => boolean
  /** Whether each item that leaves the group comes from one item that entered it, as far as n8n can follow. */
  readonly isStraight: boolean
}

const base = "n8n-nodes-base."
const waits = "waits for or answers a request of this workflow"

/** Types whose run ends or pauses elsewhere, or whose state belongs to the workflow. */
const bound: ReadonlyMap<string, string> = new Map([
  [`${base}respondToWebhook`, waits],
  [`${base}form`, waits],
  [`${base}wait`, waits],
  [`${base}respondToChat`, waits],
  ["@n8n/n8n-nodes-langchain.chat", waits],
  [`${base}executionData`, "stores data with the execution of this workflow"]
])

const joining = new Set(
  ["aggregate", "summarize", "merge", "itemLists", "compareDatasets", "convertToFile", "function", "splitInBatches"]
    .map((type) => base + type)
)

const joins = ({ json, parameters, type }: Checked.Node) =>
  joining.has(type) || json["executeOnce"] === true ||
  type === `${base}code` && /pairedItem/.test(String(parameters["jsCode"]))

const portsOf = (links: ReadonlyArray<Link>, side: "from" | "to") => [
  ...new Set(links.map((link) => `'${link[side]}' ${(side === "from" ? link.output : link.input).index}`))
]

const cannotMove = (message: string, hint = "Leave it out of the group.") => Step.refuse("nodes", message, hint)

const movable = ({ description, json, name, parameters, type }: Checked.Node): Step.Attempt<void> => {
  const { operation } = parameters
  const reason = description?.group.includes("trigger") === true || description?.polling === true
    ? "is a trigger"
    : json["type"] === undefined
    ? "has no type"
    : operation === "removeItemsSeenInPreviousExecutions"
    ? "remembers the runs of this workflow"
    : bound.get(type) ?? (operation === "sendAndWait" ? waits : undefined)
  return reason === undefined
    ? Result.void
    : cannotMove(`'${name}' ${reason}, so it cannot move to a sub-workflow.`)
}

/** Members with the sub-nodes that serve only them; refuses those that also serve others. */
const withSubNodes = (names: ReadonlySet<string>, graph: Graph.Graph): Step.Attempt<ReadonlySet<string>> => {
  const members = Graph.withSubNodes(graph, names)
  const shared = graph.links.find((link) => !Graph.isMain(link) && members.has(link.from) && !members.has(link.to))
  return shared === undefined
    ? Result.succeed(members)
    : cannotMove(
      `'${shared.from}' serves '${shared.to}', which would stay in this workflow.`,
      `Name '${shared.to}' too, or give it a sub-node of its own.`
    )
}

/** Refuses a group in which a node other than its exit might run last: n8n returns the items of the last node. */
const endsAt = (exit: string, flow: ReadonlyArray<string>, inner: Graph.Graph, members: Nodes): Step.Attempt<void> => {
  if (Graph.next(inner, exit).length > 0) {
    return cannotMove(`The items of '${exit}' go both to nodes of the group and out of it.`, "End the group there.")
  }
  for (const name of flow) {
    if (name !== exit && Graph.next(inner, name, 0).length === 0) {
      return cannotMove(
        `'${name}' can be the last to run, but a sub-workflow returns the items of the node that runs last, ` +
          `and the group's items leave at '${exit}'.`,
        `Leave it out of the group, or connect its first output to what leads to '${exit}'.`
      )
    }
    if (members.get(name)?.parameters["mode"] === "chooseBranch") {
      return cannotMove(`'${name}' waits for all of its inputs, so the group may end before it.`)
    }
  }
  return Result.void
}

const isStraight = (flow: ReadonlyArray<string>, inner: Graph.Graph, members: Nodes) =>
  flow.every((name) => {
    const node = members.get(name)
    return node !== undefined && !joins(node) &&
      Math.max(Graph.next(inner, name).length, Graph.previous(inner, name).length) <= 1
  })

export const find = (workflow: Obj, words: ReadonlyArray<string>, lookups: Step.Lookups): Step.Attempt<Group> =>
  Result.gen(function*() {
    const { byName, graph, nodes } = Turn.finish(Checked.make(workflow, lookups))
    const named = new Set<string>()
    for (const [index, word] of words.entries()) {
      const { name, node } = yield* Step.locate(workflow, word, JsonPath.member("nodes", index), lookups)
      if (byName.get(name)?.json !== node || nodes.filter((each) => each.name === name).length > 1) {
        return yield* cannotMove(`'${name}' is not the only node of its name.`, "Rename it first.")
      }
      named.add(name)
    }
    const all = yield* withSubNodes(named, graph)
    const members: Nodes = new Map(nodes.flatMap((node) => all.has(node.name) ? [[node.name, node]] : []))
    for (const node of members.values()) yield* movable(node)
    const items = graph.links.filter(Graph.isMain)
    const inner = Graph.of(graph.links.filter(({ from, to }) => all.has(from) && all.has(to)))
    const into = items.filter(({ from, to }) => !all.has(from) && all.has(to))
    const out = items.filter(({ from, to }) => all.has(from) && !all.has(to))
    const [entries, exits] = [portsOf(into, "to"), portsOf(out, "from")]
    const [entry] = into
    if (entry === undefined || entries.length > 1 || entry.input.index > 0) {
      return yield* cannotMove(
        entries.length === 0
          ? "Nothing leads into the group."
          : `Items enter the group at ${entries.join(", ")}, and a sub-workflow has one entry, input 0 of a node.`,
        "Choose nodes that follow one another from one entry to one exit."
      )
    }
    if (exits.length > 1 || out[0] !== undefined && out[0].output.index > 0) {
      return yield* cannotMove(
        `Items leave the group at ${exits.join(", ")}, and a sub-workflow returns the first output of one node.`,
        "Include the nodes that join these branches, or end the group before they part."
      )
    }
    const [start, exit] = [entry.to, out[0]?.from]
    const reached = Graph.after(inner, [start])
    const flow = [...members.values()].flatMap((node) => Checked.isSubNode(node) || node.isNote ? [] : [node.name])
    const loose = flow.find((name) => !reached.has(name))
    if (loose !== undefined) return yield* cannotMove(`'${loose}' does not follow '${start}' within the group.`)
    const looping = Graph.looping(inner)
    for (const name of flow) {
      if (looping.has(name)) {
        return yield* cannotMove(`'${name}' is in a loop.`, "Choose the nodes between two turns of the loop.")
      }
      if (Graph.isFedTwice(inner, name)) {
        return yield* cannotMove(
          `'${name}' can run more than once, and a sub-workflow returns the items of the last run only.`,
          "Join the branches before it with a Merge node first, or leave it out of the group."
        )
      }
    }
    if (exit !== undefined) yield* endsAt(exit, flow, inner, members)
    const starts = nodes.flatMap(({ isNote, name }) => isNote || Graph.previous(graph, name).length > 0 ? [] : [name])
    return {
      members,
      rest: nodes.filter(({ name }) => !all.has(name)),
      entry: start,
      exit,
      inner,
      into,
      out,
      after: Graph.after(graph, out.map(({ to }) => to)),
      isBefore: (name) => !Graph.after(graph, starts, name).has(start),
      isStraight: isStraight(flow, inner, members)
    }
  })

/** Whether a node of the group comes after one that makes one item of several, so that its items have no single source. */
export const isJoined = ({ inner, members }: Group, name: string): boolean => {
  const users = new Set([name])
  for (const each of users) for (const user of Graph.served(inner, each)) users.add(user)
  const sources = [...users].flatMap((each) => Graph.previous(inner, each))
  return [...Graph.before(inner, sources)].some((each) => {
    const node = members.get(each)
    return node !== undefined && joins(node)
  })
}

export interface Input {
  readonly name: string
  readonly value: string
}

export const wholeItem = "item"

/** Variables with another value in a sub-workflow. */
const ownVariable =
  /\$(?:runIndex|prevNode|execution|executionId|workflow|resumeWebhookUrl|getPairedItem|item)\b|\$input\s*\.\s*(?:params|context)\b|getWorkflowStaticData/

/** Python code that names nodes; it is not parsed. */
const pythonRead = /\b_(?:\(|node\b|items\b|execution|workflow|getWorkflowStaticData)/

const refuse = (name: string, why: string, hint: string) => Step.refuse("nodes", `${why}, in '${name}'.`, hint)

const outside = "Put the value into a field of the items before the group, and read it from $json."

/** References in a text; refuses a text whose nodes are not certain. */
export const referencesIn = (text: Expressions.Text, name: string, { parse }: Step.Lookups) => {
  const { isOpen, references } = Expressions.inText(text, parse)
  return isOpen || references.some(({ isGuess }) => isGuess)
    ? refuse(name, `${text.path} names a node in a way that cannot be followed`, "Write $('Name').")
    : Result.succeed(references)
}

export const lift = (
  group: Group,
  trigger: string,
  lookups: Step.Lookups,
  names: ReadonlyArray<string> = []
): Step.Attempt<{ readonly parameters: ReadonlyMap<string, Obj>; readonly inputs: ReadonlyArray<Input> }> =>
  Result.gen(function*() {
    const inputs = new Map<string, Input>()
    const parameters = new Map<string, Obj>()
    const source = `$(${literal(trigger, "'")})`
    for (const [name, node] of group.members) {
      const changed = new Map<string, string>()
      if (pythonRead.test(String(node.parameters["pythonCode"] ?? ""))) {
        return yield* refuse(name, "The Python code reads other nodes", outside)
      }
      for (const text of Expressions.texts(parametersOf(node.json))) {
        const variable = text.kind === "unmarked" ? null : ownVariable.exec(text.text)
        if (variable !== null) {
          return yield* refuse(name, `${variable[0]} has another value in a sub-workflow: ${text.path}`, outside)
        }
        let next = text.text
        const references = yield* referencesIn(text, name, lookups)
        for (const { name: other, read } of references.toSorted((a, b) => b.start - a.start)) {
          if (read === undefined || group.members.has(other)) continue
          const code = text.text.slice(read.start, read.end)
          const isOfItem = read.via === "item" || read.via === "node"
          if (!read.isJson || !isOfItem && read.via !== "first" && read.via !== "last") {
            return yield* refuse(name, `${text.path} reads more of '${other}' than fields of one item`, outside)
          }
          if (read.via === "node" && name !== group.entry) {
            return yield* refuse(name, `${text.path} reads '${other}' by index`, `Write $('${other}').item first.`)
          }
          if (!group.isBefore(other)) {
            return yield* refuse(name, `${text.path} reads '${other}', which does not always run before`, outside)
          }
          if (read.via === "item" && isJoined(group, name)) {
            return yield* refuse(
              name,
              `${text.path} reads the item of '${other}' after a node that joins items`,
              `Write $('${other}').first() if there is only one.`
            )
          }
          const taken = new Set([wholeItem, ...[...inputs.values()].map((input) => input.name)])
          const input = inputs.get(code) ?? {
            name: names[inputs.size] ?? unique((read.key || other).replaceAll(/[^\p{L}\p{N}_$-]+/gu, "_"), taken),
            value: `={{ ${code} }}`
          }
          inputs.set(code, input)
          const replacement = JsonPath.member(`${source}.${isOfItem ? "item" : "first()"}.json`, input.name)
          next = next.slice(0, read.start) + replacement + next.slice(read.end)
        }
        if (next !== text.text) changed.set(text.path, next)
      }
      const own = parametersOf(node.json)
      parameters.set(
        name,
        changed.size === 0 ? own : Expressions.mapTexts(own, ({ path, text }) => changed.get(path) ?? text)
      )
    }
    const declared = inputs.size === 0 ? [] : [{ name: wholeItem, value: "={{ $json }}" }, ...inputs.values()]
    return { parameters, inputs: declared }
  })
