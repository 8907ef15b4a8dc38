/**
 * A copy of a workflow that n8n's public API can run: what starts it is a webhook on a path of its own.
 *
 * **Details**
 *
 * A Webhook node and a Split Out node, which makes items of what the webhook is sent, come before the trigger. The
 * trigger itself stays, disabled: n8n passes items through a disabled node, so that expressions find its data and its
 * parameters under its name. Between them the webhook is answered with the execution's id at once; where the workflow
 * answers it, a Code node writes the id down for those n8n that do not list an execution which waits.
 */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import { isNull } from "../workflows/repair/Repairs.ts"
import { after, asConnections, before as leadingTo, isCyclic, servants } from "./flow.ts"
import * as pins from "./pins.ts"
import * as TriggerItems from "./TriggerItems.ts"

/** What is copied: a workflow as n8n or a file has it. */
export interface Subject {
  readonly name: string
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
  readonly settings?: unknown
  readonly pinData?: unknown
  readonly staticData?: unknown
}

/** How the copy is made. */
export interface Options extends Omit<TriggerItems.Around, "timezone"> {
  /** Where n8n computes times unless the workflow says otherwise. */
  readonly timezone: string
  readonly testData?: unknown
  /** A node's name or id. */
  readonly startNode?: string | undefined
  /** A node's name or id: nothing after it runs. */
  readonly endNode?: string | undefined
  /** What the start gives instead of test data: items as n8n stores them. */
  readonly startItems?: ReadonlyArray<unknown> | undefined
  /** What other nodes give instead of running; the workflow's own pinned data comes after. */
  readonly pinOf?: ((node: Node) => pins.Pin | undefined) | undefined
  /** Nodes that run although the workflow has pinned data for them. */
  readonly unpinned?: ReadonlySet<string> | undefined
  readonly isTrigger: (node: Node) => boolean
  /** Of the copy. */
  readonly name: string
  /** Of its webhook. */
  readonly path: string
  /** Milliseconds that it may run. */
  readonly timeout: number
  /** Whether n8n lists executions that wait. */
  readonly listsWaiting: boolean
}

/** A copy. */
export interface Copy {
  /** For `POST /workflows`. */
  readonly body: Obj & { readonly name: string; readonly nodes: ReadonlyArray<Node> }
  /** The node that gets the items first, by its name in the workflow. */
  readonly start: string
  /** What the webhook is to be sent as `{items}`. */
  readonly items: ReadonlyArray<Obj>
  /** The nodes that give stored items instead of running, by name. */
  readonly pinned: ReadonlyArray<string>
  /** The nodes that do not run because nothing is stored for them, by name. */
  readonly notRun: ReadonlyArray<string>
  /** How many nodes can run. */
  readonly nodeCount: number
  /** The nodes of ours, by name. */
  readonly added: ReadonlyArray<string>
  /** Whether the workflow answers the call; else the answer is the execution's id. */
  readonly responds: boolean
  /** Whether it writes the execution's id down in its static data. */
  readonly notesId: boolean
}

/** Why there is no copy. */
export interface Refused {
  readonly message: string
  readonly field: "workflowId" | "startNode" | "endNode" | "replay"
  readonly hint: string
}

const errorTrigger = "n8n-nodes-base.errorTrigger"
const note = "n8n-nodes-base.stickyNote"
const respond = "n8n-nodes-base.respondToWebhook"

/** The node of ours that tells the execution's id. */
const teller = "test_workflow id"

const quoted = (names: ReadonlyArray<Node>) => names.slice(0, 8).map(({ name }) => `'${name}'`).join(", ")

const refuse = (message: string, hint: string, field: Refused["field"] = "workflowId") =>
  Result.fail<Refused>({ message, hint, field })

/** An Error Trigger, even disabled, makes n8n call the workflow when it fails. */
const disabled = (node: Node): Node => ({
  ...node,
  disabled: true,
  ...(node.type === errorTrigger ? { type: "n8n-nodes-base.noOp", typeVersion: 1 } : {})
})

/** On PostgreSQL n8n has room for 36 characters: a longer id of a trigger leaves it "still being unpublished" for good. */
const idOf = (path: string, end: string) => `${path.slice(0, 36 - end.length)}${end}`

/** What tells the execution's id: an answer of ours to the call, or where n8n keeps a node's static data. */
const telling = (inAnswer: boolean) =>
  inAnswer
    ? {
      type: respond,
      typeVersion: 1.1,
      parameters: { respondWith: "text", responseBody: "={{ $execution.id }}" }
    }
    : {
      type: "n8n-nodes-base.code",
      typeVersion: 2,
      parameters: { jsCode: "$getWorkflowStaticData('node').id = $execution.id\nreturn $input.all()" }
    }

/** The execution's id in the answer of a copy that does not itself respond. */
export const idInAnswer = (text: string): string | undefined => /^\d+$/.test(text) ? text : undefined

/** The execution's id in the static data of a copy that responds: there once the execution is over, or waits. */
export const idInStaticData = (staticData: unknown): string | undefined => {
  const key = Object.keys(obj(staticData) ?? {}).find((key) => key.startsWith(`node:${teller}`))
  return key === undefined ? undefined : str(obj(obj(staticData)?.[key])?.["id"])
}

/** The node that a name or an id means. */
const nodeOf = (nodes: ReadonlyArray<Node>, nameOrId: string, field: "startNode" | "endNode") => {
  const node = nodes.find(({ name }) => name === nameOrId) ?? nodes.find(({ id }) => id === nameOrId)
  return node === undefined
    ? refuse(
      `There is no node '${nameOrId}' to ${field === "startNode" ? "start" : "end"} at`,
      `The nodes are ${quoted(nodes)}.`,
      field
    )
    : Result.succeed(node)
}

/** The node to start at: the one asked for, else the enabled trigger that leads to most nodes. */
const startOf = (nodes: ReadonlyArray<Node>, links: ReadonlyArray<Connections.Link>, options: Options) => {
  const { isTrigger, startNode } = options
  if (startNode !== undefined) return nodeOf(nodes, startNode, "startNode")
  const triggers = nodes.filter(isTrigger)
  const [best] = triggers.filter((node) => node.disabled !== true)
    .map((node) => ({ node, reach: after(links, node.name).size }))
    .toSorted((a, b) => b.reach - a.reach)
  if (best !== undefined) return Result.succeed(best.node)
  return triggers.length === 0
    ? refuse("Nothing starts the workflow: it has no trigger", "startNode names the node to start at.")
    : refuse(`Nothing starts the workflow: ${quoted(triggers)} is disabled`, "startNode starts there all the same.")
}

/** Whether an expression or code in this JSON names the node. */
const names = (json: string, name: string) =>
  [`'${name}'`, `\\"${name}\\"`, `\`${name}\``, `$node.${name}`].some((mention) => json.includes(mention))

const free = (name: string, taken: ReadonlySet<string>): string => taken.has(name) ? free(`${name}'`, taken) : name

/** The settings, so that the run is recorded, bounded and calls no error workflow. */
const settingsOf = ({ settings }: Subject, timeout: number, hasLoops: boolean): Obj => {
  const { errorWorkflow: _, timeSavedPerExecution: __, timeSavedMode: ___, ...kept } = obj(settings) ?? {}
  const own = kept["executionTimeout"]
  // Whoever waits for it ends it a moment earlier, where n8n can be told.
  const seconds = Math.ceil(timeout / 1000) + 1
  return {
    ...without(kept, (value) => isNull(value) || value === ""),
    executionTimeout: typeof own === "number" && own > 0 ? Math.min(own, seconds) : seconds,
    saveDataSuccessExecution: "all",
    saveDataErrorExecution: "all",
    // After each node n8n writes all data so far: in a loop that is too much.
    saveExecutionProgress: !hasLoops
  }
}

/** Links as the copy has them: a disabled trigger passes on what it is sent by its first output. */
const linksFrom = (start: Node, startsAtTrigger: boolean, all: ReadonlyArray<Connections.Link>) => {
  if (!startsAtTrigger) return all
  const outputs = all.filter(({ from, output }) => from === start.name && output.type === "main")
  const used = Math.min(...outputs.map(({ output }) => output.index))
  return all.flatMap((link) => {
    if (link.to === start.name) return []
    if (link.from !== start.name || link.output.type !== "main") return [link]
    return link.output.index === used ? [{ ...link, output: { type: "main", index: 0 } }] : []
  })
}

/** What the whole copy may hold, in characters of JSON: n8n takes 16 MB. */
export const maxChars = 12_000_000

/** Makes the copy, or tells why the workflow cannot be run. */
export const make = (subject: Subject, options: Options): Result.Result<Copy, Refused> =>
  Result.gen(function*() {
    const { endNode, isTrigger, listsWaiting, now, path, startItems, testData, webhookUrl } = options
    const nodes = subject.nodes.filter(({ type }) => type !== note)
    const byName = new Map(nodes.map((node) => [node.name, node]))
    const all = Connections.links(subject.connections).filter(({ from, to }) => byName.has(from) && byName.has(to))
    const start = yield* startOf(nodes, all, options)
    const end = endNode === undefined ? undefined : yield* nodeOf(nodes, endNode, "endNode")
    const startsAtTrigger = isTrigger(start)
    const pinData = obj(subject.pinData) ?? {}
    const ownPin = ({ name }: Node) =>
      options.unpinned?.has(name) === true || arr(pinData[name]).length === 0
        ? undefined
        : pins.constant(arr(pinData[name]))
    const chosen = new Map<string, pins.Pin | undefined>()
    const pinOf = (node: Node): pins.Pin | undefined => {
      if (node.disabled === true || startsAtTrigger && node === start) return undefined
      if (!chosen.has(node.name)) chosen.set(node.name, options.pinOf?.(node) ?? ownPin(node))
      return chosen.get(node.name)
    }
    const isPinned = (name: string) => {
      const node = byName.get(name)
      return node !== undefined && pinOf(node) !== undefined
    }

    const onward = linksFrom(start, startsAtTrigger, all).filter(({ from, output }) =>
      from !== end?.name || output.type !== "main"
    )
    const reached = after(onward, start.name)
    if (end !== undefined && !reached.has(end.name)) {
      return yield* refuse(`'${start.name}' does not lead to '${end.name}'`, "Name another startNode.", "endNode")
    }
    const wanted = end === undefined ? reached : leadingTo(onward, end.name)
    const flow = new Set([...reached].filter((name) => wanted.has(name)))
    const main = [...flow].flatMap((name) => byName.get(name) ?? [])
    const enabled = main.filter((node) => node.disabled !== true && !(startsAtTrigger && node === start))
    if (enabled.length === 0) {
      return yield* refuse(
        `No node would run: ${
          flow.size === 1 ? `'${start.name}' leads to none` : `all after '${start.name}' are disabled`
        }`,
        "Connect or enable one, or name another startNode."
      )
    }
    const running = new Set([...flow, ...servants(onward, [...flow].filter((name) => !isPinned(name)))])
    const links = onward.filter(({ from, output, to }) =>
      running.has(from) && running.has(to) && (output.type === "main" ? flow.has(from) : !isPinned(to))
    )

    const taken = new Set(byName.keys())
    const named = (name: string) => free(name, taken)
    const mentioned = JSON.stringify(main.map(({ parameters }) => parameters))
    const beforePins = new Map<string, Node>()
    const copied = nodes.flatMap((node): ReadonlyArray<Node> => {
      if (!running.has(node.name)) return isTrigger(node) || names(mentioned, node.name) ? [disabled(node)] : []
      if (isTrigger(node) && (node !== start || startsAtTrigger)) return [disabled(node)]
      const pin = pinOf(node)
      if (pin === undefined) return [node]
      const made = pins.nodes(node, pin, {
        id: idOf(path, `-pin${beforePins.size}`),
        name: named(`test_workflow pin ${node.name}`)
      })
      if (made.before === undefined) return [made.node]
      beforePins.set(node.name, made.before)
      return [made.before, made.node]
    })

    const [x = 0, y = 0] = start.position ?? []
    const responds = main.some((node) => node.type === respond && node.disabled !== true && pinOf(node) === undefined)
    const notesId = responds && !listsWaiting
    const first = Math.min(...main.flatMap(({ position }) => position?.[0] ?? []), x)
    const entry = { id: idOf(path, "-items"), name: named("test_workflow items"), position: [first - 220, y] }
    const added: ReadonlyArray<Node> = [
      {
        id: idOf(path, ""),
        name: named("test_workflow call"),
        type: "n8n-nodes-base.webhook",
        typeVersion: 2,
        position: [first - 660, y],
        webhookId: path,
        parameters: { path, httpMethod: "POST", responseMode: "responseNode" }
      },
      ...(!responds || notesId
        ? [{ id: idOf(path, "-id"), name: named(teller), position: [first - 440, y], ...telling(!responds) }]
        : []),
      startItems === undefined
        ? { ...entry, type: "n8n-nodes-base.splitOut", typeVersion: 1, parameters: { fieldToSplitOut: "body.items" } }
        : pins.source(entry, startItems)
    ]
    const before = added.map(({ name }) => name)
    const joined = (from: string, to: string): Connections.Link => {
      const port = { type: "main", index: 0 }
      return { from, output: port, to, input: port }
    }
    const zone = str(obj(subject.settings)?.["timezone"])
    const around = {
      now,
      webhookUrl,
      timezone: zone === undefined || zone === "" || zone === "DEFAULT" ? options.timezone : zone
    }
    const pin = testData === undefined && startsAtTrigger
      ? options.pinOf?.(start)?.runs[0]?.[0] ?? arr(pinData[start.name])
      : []
    const entrance = (name: string) => beforePins.get(name)?.name ?? name
    const connections = [
      ...before.map((name, index) => joined(name, before[index + 1] ?? entrance(start.name))),
      ...links.map((link) => link.input.type === "main" ? { ...link, to: entrance(link.to) } : link),
      ...[...beforePins].map(([name, node]) => joined(node.name, name))
    ]
    const body = {
      name: options.name,
      nodes: [...added, ...copied],
      connections: asConnections(connections),
      settings: settingsOf(subject, options.timeout, isCyclic(links)),
      ...(obj(subject.staticData) === undefined ? {} : { staticData: subject.staticData })
    }
    if (chosen.size > 0 || startItems !== undefined) {
      const size = JSON.stringify(body).length
      if (size > maxChars) {
        return yield* refuse(
          `its copy with the stored data would be ${Math.ceil(size / 1e6)} MB, more than n8n takes`,
          "Give pins for the nodes that give most, or test a part with startNode and endNode.",
          "replay"
        )
      }
    }
    const isMissing = (name: string) => chosen.get(name)?.isMissing === true
    const pinnedNames = [...flow].filter(isPinned)
    return {
      body,
      start: start.name,
      items: startItems !== undefined
        ? []
        : pin.length > 0
        ? TriggerItems.asGiven(pin)
        : startsAtTrigger
        ? TriggerItems.ofTrigger(start, testData, around)
        : TriggerItems.asGiven(testData),
      pinned: pinnedNames.filter((name) => !isMissing(name)),
      notRun: pinnedNames.filter(isMissing),
      nodeCount: enabled.length,
      added: [...before, ...[...beforePins.values()].map(({ name }) => name)],
      responds,
      notesId
    }
  })
