/**
 * A copy of a workflow that n8n's public API can run: it is started by a webhook with its own path.
 *
 * **Details**
 *
 * A Webhook node, and a Split Out node that turns the request into items, come before the trigger. The trigger itself
 * is kept but disabled: n8n passes items through a disabled node, so that expressions still find its data and parameters
 * under its name. In between, a node answers the webhook with the execution's id at once; if the workflow itself
 * responds, a Code node stores the id instead, for n8n versions that do not list waiting executions.
 */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str, without } from "../base/Json.ts"
import * as Connections from "../n8n/model/Connections.ts"
import { nodeIdLength } from "../n8n/model/Limits.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import { isNull } from "../workflows/repair/Repairs.ts"
import { isCyclic, reachableFrom, toConnections, withSubNodes } from "./flow.ts"
import * as TriggerItems from "./TriggerItems.ts"

/** The workflow to copy, as read from n8n or a file. */
export interface Subject {
  readonly name: string
  readonly nodes: ReadonlyArray<Node>
  readonly connections: Connections.Connections
  readonly settings?: unknown
  readonly pinData?: unknown
  readonly staticData?: unknown
}

/** Options of a copy. */
export interface Options extends Omit<TriggerItems.TriggerContext, "timezone"> {
  /** n8n's time zone, unless the workflow sets another. */
  readonly timezone: string
  readonly testData?: unknown
  /** A node's name or id. */
  readonly startNode?: string | undefined
  readonly isTrigger: (node: Node) => boolean
  /** The copy's name. */
  readonly name: string
  /** The path of its webhook. */
  readonly path: string
  /** How long it may run, in milliseconds. */
  readonly timeout: number
  /** Whether n8n lists waiting executions. */
  readonly listsWaiting: boolean
}

/** A copy and how to run it. */
export interface Copy {
  /** The body for `POST /workflows`. */
  readonly body: Obj & { readonly name: string; readonly nodes: ReadonlyArray<Node> }
  /** The name of the node that receives the items first. */
  readonly start: string
  /** The items to send to the webhook, as `{items}`. */
  readonly items: ReadonlyArray<Obj>
  /** How many nodes can run. */
  readonly nodeCount: number
  /** The names of the nodes that the workflow does not have. */
  readonly addedNodes: ReadonlyArray<string>
  /** Whether the workflow itself responds; otherwise the response is the execution's id. */
  readonly responds: boolean
  /** Whether it stores the execution's id in its static data. */
  readonly storesId: boolean
}

/** Why no copy can be made. */
export interface Refusal {
  readonly message: string
  readonly field: "workflowId" | "startNode"
  readonly hint: string
}

const errorTrigger = "n8n-nodes-base.errorTrigger"
const note = "n8n-nodes-base.stickyNote"
const respond = "n8n-nodes-base.respondToWebhook"

/** The name of the added node that reports the execution's id. */
const idNodeName = "test_workflow id"

const quoteNames = (nodes: ReadonlyArray<Node>) => nodes.slice(0, 8).map(({ name }) => `'${name}'`).join(", ")

const refuse = (message: string, hint: string, field: Refusal["field"] = "workflowId") =>
  Result.fail<Refusal>({ message, hint, field })

/** Disables a node; an Error Trigger is replaced, since even disabled it makes n8n call the workflow on failure. */
const disable = (node: Node): Node => ({
  ...node,
  disabled: true,
  ...(node.type === errorTrigger ? { type: "n8n-nodes-base.noOp", typeVersion: 1 } : {})
})

/** A Code node that returns pinned data, which production runs ignore. */
const pinnedDataNode = ({ id, name, position }: Node, items: ReadonlyArray<unknown>): Node => {
  const output = items.map((item) => {
    const { binary, json } = obj(item) ?? {}
    return { json: obj(json) ?? obj(item) ?? {}, ...(binary === undefined ? {} : { binary }) }
  })
  return {
    ...(id === undefined ? {} : { id }),
    name,
    type: "n8n-nodes-base.code",
    typeVersion: 2,
    position: position ?? [0, 0],
    parameters: { jsCode: `return ${JSON.stringify(output)}` }
  }
}

/** An id for an added node within {@link nodeIdLength}. */
const idOf = (path: string, end: string) => `${path.slice(0, nodeIdLength - end.length)}${end}`

/** The type and parameters of the node that reports the execution's id, in the response or in static data. */
const idNode = (inResponse: boolean) =>
  inResponse
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

/** The execution's id in the response of a copy that does not respond itself. */
export const idInResponse = (text: string): string | undefined => /^\d+$/.test(text) ? text : undefined

/** The execution's id in the static data of a copy that responds itself; set once the execution has ended or waits. */
export const idInStaticData = (staticData: unknown): string | undefined => {
  const key = Object.keys(obj(staticData) ?? {}).find((key) => key.startsWith(`node:${idNodeName}`))
  return key === undefined ? undefined : str(obj(obj(staticData)?.[key])?.["id"])
}

/** The node to start at: the requested one, or else the enabled trigger that reaches the most nodes. */
const startOf = (nodes: ReadonlyArray<Node>, links: ReadonlyArray<Connections.Link>, options: Options) => {
  const { isTrigger, startNode } = options
  if (startNode !== undefined) {
    const node = nodes.find(({ name }) => name === startNode) ?? nodes.find(({ id }) => id === startNode)
    return node === undefined
      ? refuse(`There is no node '${startNode}' to start at`, `The nodes are ${quoteNames(nodes)}.`, "startNode")
      : Result.succeed(node)
  }
  const triggers = nodes.filter(isTrigger)
  const [best] = triggers.filter((node) => node.disabled !== true)
    .map((node) => ({ node, reach: reachableFrom(links, node.name).size }))
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
const mentions = (json: string, name: string) =>
  [`'${name}'`, `\\"${name}\\"`, `\`${name}\``, `$node.${name}`].some((mention) => json.includes(mention))

const freeName = (name: string, taken: ReadonlySet<string>): string =>
  taken.has(name) ? freeName(`${name}'`, taken) : name

/** The workflow's settings, changed so that the run is saved and bounded and calls no error workflow. */
const settingsOf = ({ settings }: Subject, timeout: number, hasLoops: boolean): Obj => {
  const { errorWorkflow: _, timeSavedPerExecution: __, timeSavedMode: ___, ...kept } = obj(settings) ?? {}
  const own = kept["executionTimeout"]
  // The caller stops the execution a moment earlier, if n8n can stop it.
  const seconds = Math.ceil(timeout / 1000) + 1
  return {
    ...without(kept, (value) => isNull(value) || value === ""),
    executionTimeout: typeof own === "number" && own > 0 ? Math.min(own, seconds) : seconds,
    saveDataSuccessExecution: "all",
    saveDataErrorExecution: "all",
    // n8n saves all data after each node, which is too much in a loop.
    saveExecutionProgress: !hasLoops
  }
}

/** Makes a copy, or fails if the workflow cannot be run. */
export const make = (subject: Subject, options: Options): Result.Result<Copy, Refusal> =>
  Result.gen(function*() {
    const { isTrigger, listsWaiting, now, path, testData, webhookUrl } = options
    const nodes = subject.nodes.filter(({ type }) => type !== note)
    const byName = new Map(nodes.map((node) => [node.name, node]))
    const all = Connections.links(subject.connections).filter(({ from, to }) => byName.has(from) && byName.has(to))
    const start = yield* startOf(nodes, all, options)
    const startsAtTrigger = isTrigger(start)
    const pins = obj(subject.pinData) ?? {}
    const pinOf = ({ disabled, name }: Node) =>
      disabled === true || startsAtTrigger && name === start.name || arr(pins[name]).length === 0
        ? undefined
        : arr(pins[name])

    // A disabled node passes its input on by its first output.
    const outputs = all.filter(({ from, output }) => from === start.name && output.type === "main")
    const used = Math.min(...outputs.map(({ output }) => output.index))
    const outgoing = startsAtTrigger
      ? all.flatMap((link) => {
        if (link.to === start.name) return []
        if (link.from !== start.name || link.output.type !== "main") return [link]
        return link.output.index === used ? [{ ...link, output: { type: "main", index: 0 } }] : []
      })
      : all
    const flow = reachableFrom(outgoing, start.name)
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
    const running = new Set([
      ...flow,
      ...withSubNodes(outgoing, main.filter((node) => pinOf(node) === undefined).map(({ name }) => name))
    ])
    const isPinned = (name: string) => {
      const node = byName.get(name)
      return node !== undefined && pinOf(node) !== undefined
    }
    const links = outgoing.filter(({ from, output, to }) =>
      running.has(from) && running.has(to) && (output.type === "main" ? flow.has(from) : !isPinned(to))
    )
    const parametersJson = JSON.stringify(main.map(({ parameters }) => parameters))
    const copiedNodes = nodes.flatMap((node): ReadonlyArray<Node> => {
      const pin = pinOf(node)
      if (!running.has(node.name)) return isTrigger(node) || mentions(parametersJson, node.name) ? [disable(node)] : []
      if (isTrigger(node) && (node !== start || startsAtTrigger)) return [disable(node)]
      return [pin === undefined ? node : pinnedDataNode(node, pin)]
    })

    const taken = new Set(byName.keys())
    const named = (name: string) => freeName(name, taken)
    const [x = 0, y = 0] = start.position ?? []
    const responds = main.some((node) => node.type === respond && node.disabled !== true && pinOf(node) === undefined)
    const storesId = responds && !listsWaiting
    const first = Math.min(...main.flatMap(({ position }) => position?.[0] ?? []), x)
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
      ...(!responds || storesId
        ? [{ id: idOf(path, "-id"), name: named(idNodeName), position: [first - 440, y], ...idNode(!responds) }]
        : []),
      {
        id: idOf(path, "-items"),
        name: named("test_workflow items"),
        type: "n8n-nodes-base.splitOut",
        typeVersion: 1,
        position: [first - 220, y],
        parameters: { fieldToSplitOut: "body.items" }
      }
    ]
    const addedNames = added.map(({ name }) => name)
    const linkTo = (from: string, to: string): Connections.Link => {
      const port = { type: "main", index: 0 }
      return { from, output: port, to, input: port }
    }
    const zone = str(obj(subject.settings)?.["timezone"])
    const context = {
      now,
      webhookUrl,
      timezone: zone === undefined || zone === "" || zone === "DEFAULT" ? options.timezone : zone
    }
    const pin = testData === undefined && startsAtTrigger ? arr(pins[start.name]) : []
    return {
      body: {
        name: options.name,
        nodes: [...added, ...copiedNodes],
        connections: toConnections([
          ...addedNames.map((name, index) => linkTo(name, addedNames[index + 1] ?? start.name)),
          ...links
        ]),
        settings: settingsOf(subject, options.timeout, isCyclic(links)),
        ...(obj(subject.staticData) === undefined ? {} : { staticData: subject.staticData })
      },
      start: start.name,
      items: pin.length > 0
        ? TriggerItems.fromTestData(pin)
        : startsAtTrigger
        ? TriggerItems.fromTrigger(start, testData, context)
        : TriggerItems.fromTestData(testData),
      nodeCount: enabled.length,
      addedNodes: addedNames,
      responds,
      storesId
    }
  })
