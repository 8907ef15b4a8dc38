/**
 * Copies of workflows that n8n's public API can run: each is started by a webhook with its own path.
 *
 * A Webhook node, and a Split Out node that turns the request into items, come before the trigger. The trigger itself
 * remains but is disabled: n8n passes items through a disabled node, so that expressions still find its data and
 * parameters under its name. In between, a node immediately answers the webhook with the execution's id; if the
 * workflow itself responds, a Code node stores the id instead, for n8n versions that do not list waiting executions.
 */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import { respond } from "../catalogue/types/Outside.ts"
import * as Connections from "../n8n/model/Connections.ts"
import { nodeIdLength } from "../n8n/model/Limits.ts"
import { isNote, type Node } from "../n8n/model/Workflow.ts"
import * as Graph from "../workflow/Graph.ts"
import { isNull } from "../workflow/repair/Repairs.ts"
import * as pins from "./pins.ts"
import * as TriggerItems from "./TriggerItems.ts"

/** Workflow to copy, as read from n8n or a file. */
export interface Subject {
  readonly name: string
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
  readonly settings?: unknown
  readonly pinData?: unknown
  readonly staticData?: unknown
}

export interface Options extends Omit<TriggerItems.TriggerContext, "timezone"> {
  /** Time zone of n8n, unless the workflow sets another. */
  readonly timezone: string
  readonly testData?: unknown
  readonly startNode?: string | undefined
  readonly endNode?: string | undefined
  /** Items of the start node instead of test data, as n8n stores them. */
  readonly startItems?: ReadonlyArray<unknown> | undefined
  /** Items of other nodes that do not run; they take precedence over the workflow's pinned data. */
  readonly pinOf?: ((node: Node) => pins.Pin | undefined) | undefined
  /** Nodes that replace one, by its name, in spite of its pin; the last of them has the name. */
  readonly rows?: Replacements | undefined
  /** Output of nodes before the start, by name, for the expressions that refer to them. */
  readonly earlier?: ReadonlyMap<string, pins.Earlier> | undefined
  /** Nodes that run in spite of the workflow's pinned data. */
  readonly unpinned?: ReadonlySet<string> | undefined
  /** Nodes whose code must not reach outside where they run, by name. */
  readonly fenced?: ReadonlySet<string> | undefined
  readonly isTrigger: (node: Node) => boolean
  readonly timeout: number
  /** Whether it is for n8n 1.x, which does not list waiting executions nor let nodes read a Code node's output. */
  readonly isV1: boolean
  /** Whether it is for a replay: it answers with the execution's id even if the workflow itself responds. */
  readonly answersFirst?: boolean | undefined
}

/** Rows of nodes that replace one, by its name. */
export type Replacements = ReadonlyMap<string, (node: Node, added: pins.Added) => ReadonlyArray<Node>>

interface Place {
  readonly name: string
  readonly path: string
}

interface Refusal {
  readonly message: string
  readonly field: "workflowId" | "startNode" | "endNode" | "replay"
  readonly hint: string
}

const errorTrigger = "n8n-nodes-base.errorTrigger"

const quoteNames = (nodes: ReadonlyArray<Node>) => Rows.names(nodes.map(({ name }) => name))

const refuse = (message: string, hint: string, field: Refusal["field"] = "workflowId") =>
  Result.fail<Refusal>({ message, hint, field })

/** Disables a node; an Error Trigger is replaced: even a disabled one makes n8n call the workflow on failure. */
const disable = (node: Node): Node => ({
  ...node,
  disabled: true,
  ...(node.type === errorTrigger ? { type: "n8n-nodes-base.noOp", typeVersion: 1 } : {})
})

/** Id of an added node, of at most {@link nodeIdLength} characters. */
const idOf = (path: string, end: string) => `${path.slice(0, nodeIdLength - end.length)}${end}`

export const byNameOrId = (nodes: ReadonlyArray<Node>, nameOrId: string): Node | undefined =>
  nodes.find(({ name }) => name === nameOrId) ?? nodes.find(({ id }) => id === nameOrId)

const nodeOf = (nodes: ReadonlyArray<Node>, nameOrId: string, field: "startNode" | "endNode") => {
  const node = byNameOrId(nodes, nameOrId)
  return node === undefined
    ? refuse(
      `There is no node '${nameOrId}' to ${field === "startNode" ? "start" : "end"} at`,
      `The nodes are ${quoteNames(nodes)}.`,
      field
    )
    : Result.succeed(node)
}

/** Maximum number of triggers of which the one that leads to the most nodes is sought. */
const maxCompared = 50

/** Start node: the requested one, otherwise the enabled trigger that leads to the most nodes. */
const startOf = (nodes: ReadonlyArray<Node>, graph: Graph.Graph, options: Options) => {
  const { isTrigger, startNode } = options
  if (startNode !== undefined) return nodeOf(nodes, startNode, "startNode")
  const triggers = nodes.filter(isTrigger)
  const [best] = triggers.filter((node) => node.disabled !== true).slice(0, maxCompared)
    .map((node) => ({ node, reach: Graph.after(graph, [node.name]).size }))
    .toSorted((a, b) => b.reach - a.reach)
  if (best !== undefined) return Result.succeed(best.node)
  return triggers.length === 0
    ? refuse("Nothing starts the workflow: it has no trigger", "Set startNode to the node to start at.")
    : refuse(
      `Nothing starts the workflow: ${quoteNames(triggers)} is disabled`,
      "Set startNode to it to start there anyway."
    )
}

/** Whether an expression or code in this JSON refers to the node. */
export const mentions = (json: string, name: string) =>
  [`'${name}'`, `\\"${name}\\"`, `\`${name}\``, `$node.${name}`].some((mention) => json.includes(mention))

const freeName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? freeName(`${name}'`, taken) : name

/**
 * Settings of the copy: its run is saved and limited in time, and does not call an error workflow. The workflow's own
 * time limit says nothing of a replay.
 */
export const settingsOf = (
  { settings }: Pick<Subject, "settings">,
  { answersFirst, timeout }: Pick<Options, "answersFirst" | "timeout">,
  hasLoops: boolean
): Obj => {
  const { errorWorkflow: _, timeSavedPerExecution: __, timeSavedMode: ___, ...rest } = obj(settings) ?? {}
  const own = rest["executionTimeout"]
  // The caller stops the execution a moment before, if n8n can stop it.
  const seconds = Math.ceil(timeout / 1000) + 1
  return {
    ...without(rest, (value) => isNull(value) || value === ""),
    executionTimeout: typeof own === "number" && own > 0 && answersFirst !== true ? Math.min(own, seconds) : seconds,
    saveDataSuccessExecution: "all",
    saveDataErrorExecution: "all",
    // n8n saves all data after each node, which is too much in a loop.
    saveExecutionProgress: !hasLoops
  }
}

/** Links of the copy: a disabled trigger passes items on through its first output. */
const linksFrom = (start: Node, startsAtTrigger: boolean, graph: Graph.Graph) => {
  if (!startsAtTrigger) return graph.links
  const used = Math.min(...graph.out(start.name).filter(Graph.isMain).map(({ output }) => output.index))
  return graph.links.flatMap((link) => {
    if (link.to === start.name) return []
    if (link.from !== start.name || !Graph.isMain(link)) return [link]
    return link.output.index === used ? [{ ...link, output: { type: "main", index: 0 } }] : []
  })
}

/** Maximum size of a copy in characters of JSON; n8n accepts 16 MB. */
export const maxChars = 12_000_000

const pinDataOf = ({ pinData }: Subject) => obj(pinData) ?? {}

const pinOf = (subject: Subject, options: Options, node: Node): pins.Pin | undefined => {
  const own = arr(pinDataOf(subject)[node.name])
  return options.pinOf?.(node) ??
    (options.unpinned?.has(node.name) === true || own.length === 0 ? undefined : pins.constant(own))
}

const partOf = (subject: Subject, options: Options) =>
  Result.gen(function*() {
    const { endNode, isTrigger } = options
    const nodes = subject.nodes.filter((node) => !isNote(node))
    const byName = new Map(nodes.map((node) => [node.name, node]))
    const whole = Graph.make(subject.connections)
    const graph = Graph.of(whole.links.filter(({ from, to }) => byName.has(from) && byName.has(to)))
    const start = yield* startOf(nodes, graph, options)
    const end = endNode === undefined ? undefined : yield* nodeOf(nodes, endNode, "endNode")
    const startsAtTrigger = isTrigger(start)
    const part = Graph.of(
      linksFrom(start, startsAtTrigger, graph).filter((link) => link.from !== end?.name || !Graph.isMain(link))
    )
    const reached = Graph.after(part, [start.name])
    if (end !== undefined && !reached.has(end.name)) {
      return yield* refuse(`'${start.name}' does not lead to '${end.name}'`, "Name another startNode.", "endNode")
    }
    const relevant = end === undefined ? reached : Graph.before(part, [end.name])
    // Names of the nodes that items pass.
    const flow = new Set([...reached].filter((name) => relevant.has(name)))
    const main = [...flow].flatMap((name) => byName.get(name) ?? [])
    const enabled = main.filter((node) => node.disabled !== true && !(startsAtTrigger && node === start))
    if (enabled.length === 0) {
      return yield* refuse(
        `No node would run: ${
          flow.size === 1 ? `'${start.name}' leads to no other` : `all after '${start.name}' are disabled`
        }`,
        "Connect or enable one, or name another startNode."
      )
    }
    const pinned = new Map(enabled.flatMap((node) => {
      const pin = pinOf(subject, options, node)
      return pin === undefined ? [] : [[node.name, pin] as const]
    }))
    const running = new Set([...flow, ...Graph.withSubNodes(part, [...flow].filter((name) => !pinned.has(name)))])
    const links = part.links.filter((link) =>
      running.has(link.from) && running.has(link.to) &&
      (Graph.isMain(link) ? flow.has(link.from) : !pinned.has(link.to))
    )
    return { nodes, start, startsAtTrigger, flow, main, enabled, running, graph: Graph.of(links), pinned }
  })

type Part = Result.Result.Success<ReturnType<typeof partOf>>

const earlierOf = (
  { nodes, running, startsAtTrigger }: Part,
  subject: Subject,
  options: Options
): ReadonlyArray<readonly [Node, pins.Earlier]> => {
  if (startsAtTrigger) return []
  const json = JSON.stringify(nodes.filter(({ name }) => running.has(name)).map(({ parameters }) => parameters))
  return nodes.flatMap((node): ReadonlyArray<readonly [Node, pins.Earlier]> => {
    if (running.has(node.name) || !mentions(json, node.name)) return []
    const own = arr(pinDataOf(subject)[node.name])
    const earlier = options.earlier?.get(node.name) ?? (own.length === 0 ? undefined : { items: own })
    return earlier === undefined ? [] : [[node, earlier]]
  })
}

const copiesOf = (
  { graph, main, nodes, pinned, running, start, startsAtTrigger }: Part,
  earlier: ReadonlySet<string>,
  { isTrigger, rows }: Options,
  added: pins.Added
): ReadonlyArray<readonly [name: string, row: ReadonlyArray<Node>]> => {
  const json = JSON.stringify(main.map(({ parameters }) => parameters))
  return nodes.flatMap((node): ReadonlyArray<readonly [string, ReadonlyArray<Node>]> => {
    const { name } = node
    if (earlier.has(name) || !running.has(name) && !isTrigger(node) && !mentions(json, name)) return []
    if (!running.has(name) || isTrigger(node) && (node !== start || startsAtTrigger)) return [[name, [disable(node)]]]
    const pin = pinned.get(name)
    const row = rows?.get(name)?.(node, added)
    return [[
      name,
      row ?? (pin === undefined ? [node] : pins.nodes(node, pin, Graph.outputCount(graph, name), added))
    ]]
  })
}

const timezoneOf = ({ settings }: Subject, { timezone }: Options): string => {
  const own = str(obj(settings)?.["timezone"])
  return own === undefined || own === "" || own === "DEFAULT" ? timezone : own
}

/** Naming of added nodes, each with an unused name and its own id, and the data that they bring along. */
const naming = (nodes: ReadonlyArray<Node>, path: string, isCopied: boolean) => {
  const taken = new Set(nodes.map(({ name }) => name))
  const carried: Array<pins.Carried> = []
  let count = 0
  const next: pins.Naming = (role, end = `-${count++}`) => {
    const name = freeName(`test_workflow ${role}`, taken)
    taken.add(name)
    return { id: idOf(path, end), name }
  }
  const call = next("call", "").name
  return {
    added: Object.assign(next, { isCopied, call, carry: (data: pins.Carried) => carried.push(data) - 1 }),
    carried
  }
}

const bodyOf = (subject: Subject, options: Options, part: Part, { name, path }: Place, reportsIdIn: ReportsIdIn) => {
  const { graph, main, start } = part
  const { added, carried } = naming(part.nodes, path, options.isV1)
  const earlier = earlierOf(part, subject, options)
  const { nodes: entry, sent } = pins.entrance({
    ...part,
    left: Math.min(...main.flatMap(({ position }) => position?.[0] ?? []), start.position?.[0] ?? 0),
    earlier,
    startItems: options.startItems,
    testData: options.testData,
    pinnedItems: part.startsAtTrigger && options.testData === undefined
      ? options.pinOf?.(start)?.runs[0]?.[0] ?? arr(pinDataOf(subject)[start.name])
      : [],
    path,
    context: { ...options, timezone: timezoneOf(subject, options) },
    reportsIdIn,
    added
  })
  const copies = new Map(copiesOf(part, new Set(earlier.map(([{ name }]) => name)), options, added))
  const entranceTo = (name: string) => copies.get(name)?.[0]?.name ?? name
  const body = {
    name,
    nodes: [...entry, ...[...copies.values()].flat()],
    connections: Connections.fromLinks([
      ...Connections.chain([...entry.map(({ name }) => name), entranceTo(start.name)]),
      ...graph.links.map((link) => link.input.type === "main" ? { ...link, to: entranceTo(link.to) } : link),
      ...[...copies.values()].flatMap((row) => Connections.chain(row.map(({ name }) => name)))
    ]),
    settings: settingsOf(subject, options, Graph.looping(graph).size > 0),
    ...(obj(subject.staticData) === undefined ? {} : { staticData: subject.staticData })
  }
  return { body, request: { items: sent, pins: carried }, earlier: earlier.map(([{ name }]) => name), copies }
}

type ReportsIdIn = pins.EntranceOptions["reportsIdIn"]

/** Copy of a workflow and how to run it, or the reason why it cannot be run. */
export const make = (subject: Subject, options: Options) =>
  Result.gen(function*() {
    const part = yield* partOf(subject, options)
    const { enabled, flow, main, pinned, start } = part
    const answers = main.some(({ disabled, name, type }) => type === respond && disabled !== true && !pinned.has(name))
    const responds = answers && options.answersFirst !== true
    const storesId = responds && options.isV1
    const at = (place: Place) =>
      bodyOf(subject, options, part, place, responds ? storesId ? "staticData" : undefined : "response")
    const { body, copies, earlier, request } = at({ name: "", path: "" })
    for (
      const [size, what] of [[body, "copy"], [request, "stored data"]].map(([value, what]) =>
        [JSON.stringify(value).length, what] as const
      )
    ) {
      if (size <= maxChars) continue
      return yield* refuse(
        `its ${what} would be ${Math.ceil(size / 1e6)} MB, over n8n's request limit`,
        "Set pins for the nodes with the largest output, or test a part with startNode and endNode.",
        "replay"
      )
    }
    const fenced = [...part.running].filter((name) =>
      options.fenced?.has(name) === true && !pinned.has(name) && options.rows?.has(name) !== true
    )
    const pinnedNames = [...flow].filter((name) => pinned.has(name))
    const own = new Set(part.nodes.map(({ name }) => name))
    const rows = [...copies].flatMap(([name, row]) => row.map((node) => [node.name, name] as const))
    return {
      shape: JSON.stringify([body, fenced]),
      at: (place: Place) => at(place).body,
      /** Body of the request that starts it: the first items, and those of pinned nodes. */
      request,
      start: start.name,
      /** Names of nodes that return stored items instead of running. */
      pinned: [...earlier, ...pinnedNames.filter((name) => pinned.get(name)?.isMissing !== true)],
      /** Names of nodes that run with their code in a fence. */
      fenced: new Set(fenced) as ReadonlySet<string>,
      /** Names of nodes that do not run because they have no stored items. */
      notRun: pinnedNames.filter((name) => pinned.get(name)?.isMissing === true),
      storedRuns: new Map(
        [...pinned].flatMap(([name, pin]) => pin.repeats || pin.isMissing ? [] : [[name, pin.runs.length] as const])
      ),
      nodeCount: enabled.length + earlier.length,
      nodes: body.nodes,
      addedNodes: new Map(
        body.nodes.flatMap(({ name }) => own.has(name) ? [] : [[name, new Map(rows).get(name)] as const])
      ),
      /** Whether the workflow itself responds; otherwise the response is the execution's id. */
      responds,
      /** Whether it stores the execution's id in its static data. */
      storesId
    }
  })

export type Copy = Result.Result.Success<ReturnType<typeof make>>
