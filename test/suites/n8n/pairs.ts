/**
 * Old and upgraded nodes with the same items on a real n8n. Each node is alone behind its own webhook, so that a failure
 * of one says nothing about the others; what they returned is read from n8n's executions.
 */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { randomUUID } from "node:crypto"
import { arr, canonical, num, type Obj, obj, str } from "../../../src/base/Json.ts"

/** An n8n and its API key. */
export interface Place {
  readonly url: string
  readonly apiKey: string
}

/** Name in parameters that stands for the node that passes the items. */
export const itemsNode = "«items»"

/** A node before and after its upgrade. */
export interface Pair {
  readonly id: string
  readonly before: Obj
  readonly after: Obj
  /** Items of each run. */
  readonly sets: ReadonlyArray<ReadonlyArray<Obj>>
  /** Nodes between the items and the node, in order, such as one that makes a file; `input` is the node before. */
  readonly prepare?: (name: string) => ReadonlyArray<Obj>
  /** Whether the node has a second input, which has the items of the set in reverse order. */
  readonly hasSecond?: boolean
}

export interface Run {
  readonly error?: string
  /** Items by output, each with its json, the files' properties, and the indexes of its paired items. */
  readonly outputs: ReadonlyArray<ReadonlyArray<Obj>>
}

export interface Difference {
  readonly id: string
  readonly items: ReadonlyArray<Obj>
  readonly before: Run
  readonly after: Run
}

const api = (place: Place, method: string, path: string, body?: unknown) =>
  Effect.promise(async () => {
    const response = await fetch(`${place.url.replace(/\/$/, "")}/api/v1${path}`, {
      method,
      headers: { "X-N8N-API-KEY": place.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`)
    return text === "" ? {} : JSON.parse(text) as Obj
  })

const link = (node: string, index = 0) => ({ node, type: "main", index })

interface Lane {
  readonly path: string
  readonly node: string
  readonly pair: Pair
  readonly side: "before" | "after"
}

/** Nodes and links of one lane: webhook, items, what prepares them, the node. */
const laneOf = ({ node, pair, path, side }: Lane) => {
  const [hook, items, second] = [`Hook ${path}`, `Items ${path}`, `Second ${path}`]
  const split = (name: string, field: string) => ({
    name,
    type: "n8n-nodes-base.splitOut",
    typeVersion: 1,
    position: [200, 0],
    parameters: { fieldToSplitOut: field, options: {} }
  })
  const prepared = pair.prepare?.(path) ?? []
  const chain = [items, ...prepared.map(({ name }) => String(name))]
  const nodes = [
    {
      name: hook,
      type: "n8n-nodes-base.webhook",
      typeVersion: 2,
      position: [0, 0],
      webhookId: randomUUID(),
      parameters: { path, httpMethod: "POST", responseMode: "lastNode", options: {} }
    },
    split(items, "body.items"),
    ...prepared.map((each) => ({ position: [300, 0], ...each })),
    ...(pair.hasSecond === true ? [split(second, "body.second")] : []),
    { position: [400, 0], ...JSON.parse(JSON.stringify(pair[side]).replaceAll(itemsNode, items)) as Obj, name: node }
  ]
  const connections: Record<string, unknown> = {
    [hook]: { main: [[link(items), ...(pair.hasSecond === true ? [link(second)] : [])]] },
    ...(pair.hasSecond === true ? { [second]: { main: [[link(node, 1)]] } } : {})
  }
  chain.forEach((name, index) => connections[name] = { main: [[link(chain[index + 1] ?? node)]] })
  return { nodes, connections }
}

const pairing = (value: unknown): unknown =>
  value === undefined
    ? undefined
    : (Array.isArray(value) ? value : [value]).map((each) => num(each) ?? num(obj(each)?.["item"]))

const itemOf = (item: unknown): Obj => {
  const { binary, error, json, pairedItem } = obj(item) ?? {}
  const files = Object.entries(obj(binary) ?? {}).map(([key, file]) => {
    const { bytes, directory: _, id: __, ...rest } = obj(file) ?? {}
    return [key, { ...rest, bytes }]
  })
  return {
    json,
    ...(files.length === 0 ? {} : { binary: Object.fromEntries(files) }),
    ...(error === undefined ? {} : { error: true }),
    ...(pairing(pairedItem) === undefined ? {} : { pairedItem: pairing(pairedItem) })
  }
}

const runOf = (runs: unknown): Run => {
  const all = arr(runs).map((run) => obj(run) ?? {})
  const error = all.map((run) => str(obj(run["error"])?.["message"])).find((message) => message !== undefined)
  const outputs = all.flatMap((run) => arr(obj(run["data"])?.["main"]).map((items) => arr(items).map(itemOf)))
  while (outputs.length > 0 && outputs.at(-1)?.length === 0) outputs.pop()
  return { ...(error === undefined ? {} : { error }), outputs }
}

/** Items with ordinary and odd values of the fields `a`, `b` and `c`, and of others. */
export const oddItems: ReadonlyArray<ReadonlyArray<Obj>> = [
  [{ a: 1, b: "x", c: true }, { a: 2, b: "y", c: false }, { a: 3, b: "z", c: true }],
  [{ a: "1", b: 5, c: "true" }, { a: " 1 ", b: "5", c: "false" }, { a: "01", b: "1e1", c: 1 }, { a: "", b: "", c: "" }],
  [{}, { a: null, b: null, c: null }, { a: 0, b: -0, c: 0 }, { a: [], b: {}, c: [] }],
  [
    { a: { b: { c: 1 } }, b: [1, "2", null, { d: 4 }], c: [[1], [2]] },
    { a: ["x", "y"], b: { e: 1 }, c: { a: [] } },
    { "a.b": 1, "a b": 2, "花": "子", b: "日本語", c: "emoji 🚀" }
  ],
  [
    { a: "2024-02-29T12:00:00.000Z", b: "2024-02-29", c: "29.02.2024" },
    { a: 1709208000000, b: "2024-02-29 12:00:00", c: "yesterday" },
    { a: "Ada\nLovelace", b: "<b>{{ $json.a }}</b>", c: "a,b;c\"d'" },
    { a: 1e21, b: 0.1, c: 9007199254740991 }
  ],
  Array.from({ length: 60 }, (_, index) => ({ a: index % 7, b: `v${index % 5}`, c: index % 2 === 0, n: { m: index } }))
]

/** Pairing that the old node lacks is no difference. */
const withoutExtraPairing = (before: Run, after: Run): Run => ({
  ...after,
  outputs: after.outputs.map((items, output) =>
    items.map((item, index) => {
      if (before.outputs[output]?.[index]?.["pairedItem"] !== undefined) return item
      const { pairedItem: _, ...rest } = item
      return rest
    })
  )
})

const isSame = (before: Run, after: Run) =>
  before.error !== undefined ||
  after.error === undefined && canonical(before.outputs) === canonical(withoutExtraPairing(before, after).outputs)

const patience = { schedule: Schedule.spaced("150 millis"), times: 100 }

/** Runs lanes in one workflow, and returns what their nodes did by name and set. */
const runs = Effect.fnUntraced(function*(place: Place, lanes: ReadonlyArray<Lane>) {
  const built = lanes.map(laneOf)
  const workflow = yield* Effect.acquireRelease(
    api(place, "POST", "/workflows", {
      name: `Lanes ${lanes.length}`,
      nodes: built.flatMap(({ nodes }) => nodes),
      connections: Object.assign({}, ...built.map(({ connections }) => connections)) as Obj,
      settings: { executionOrder: "v1", saveDataSuccessExecution: "all", saveDataErrorExecution: "all" }
    }),
    ({ id }) =>
      Effect.ignore(api(place, "POST", `/workflows/${String(id)}/deactivate`)).pipe(
        Effect.andThen(Effect.retry(api(place, "DELETE", `/workflows/${String(id)}`), patience)),
        Effect.ignoreCause
      )
  )
  const id = String(workflow["id"])
  yield* api(place, "POST", `/workflows/${id}/activate`)
  const call = (lane: Lane, set: number) =>
    Effect.promise(async () => {
      const items = lane.pair.sets[set] ?? []
      const response = await fetch(`${place.url.replace(/\/$/, "")}/webhook/${lane.path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ set, items, second: items.toReversed() })
      })
      await response.arrayBuffer()
      return response.status
    }).pipe(
      Effect.repeat({ while: (status) => status === 404, ...patience })
    )
  const calls = lanes.flatMap((lane) => lane.pair.sets.map((_, set) => ({ lane, set })))
  // The first call waits until n8n has registered the webhooks.
  yield* Effect.forEach(calls.slice(0, 1), ({ lane, set }) => call(lane, set))
  yield* Effect.forEach(calls.slice(1), ({ lane, set }) => call(lane, set), { concurrency: 6, discard: true })
  const executions: Array<Obj> = []
  let cursor: string | undefined
  do {
    const page: Obj = yield* api(
      place,
      "GET",
      `/executions?workflowId=${id}&includeData=true&limit=50${cursor === undefined ? "" : `&cursor=${cursor}`}`
    )
    executions.push(...arr(page["data"]).map((each) => obj(each) ?? {}))
    cursor = str(page["nextCursor"])
  } while (cursor !== undefined)
  const results = new Map<string, Run>()
  for (const execution of executions) {
    const runData = obj(obj(obj(execution["data"])?.["resultData"])?.["runData"]) ?? {}
    const lane = lanes.find(({ path }) => Object.hasOwn(runData, `Hook ${path}`))
    if (lane === undefined) continue
    const [hooked] = arr(runData[`Hook ${lane.path}`])
    const body = obj(obj(obj(arr(arr(obj(obj(hooked)?.["data"])?.["main"])[0])[0])?.["json"])?.["body"])
    const failure = str(obj(obj(obj(execution["data"])?.["resultData"])?.["error"])?.["message"])
    const run = runOf(runData[lane.node])
    results.set(
      `${lane.node} ${String(body?.["set"])}`,
      failure === undefined || run.error !== undefined ? run : { ...run, error: failure }
    )
  }
  return results
}, Effect.scoped)

/** Runs pairs, and returns the sets of items for which the new node does something else. */
export const differences = Effect.fnUntraced(function*(place: Place, pairs: ReadonlyArray<Pair>) {
  const lanes = pairs.flatMap((pair, index) =>
    (["before", "after"] as const).map((side): Lane => ({
      path: `${randomUUID()}`,
      node: `${side} ${index}`,
      pair,
      side
    }))
  )
  // For each run, n8n prepares all nodes of the workflow.
  const results = new Map<string, Run>()
  for (const some of Arr.chunksOf(lanes, 32)) {
    for (const [key, run] of yield* runs(place, some)) results.set(key, run)
  }
  const found: Array<Difference> = []
  let compared = 0
  for (const [index, pair] of pairs.entries()) {
    for (const [set, items] of pair.sets.entries()) {
      const [before, after] = ["before", "after"].map((side) => results.get(`${side} ${index} ${set}`))
      if (before === undefined || after === undefined) {
        throw new Error(`${pair.id}, set ${set}: no execution of ${before === undefined ? "the old" : "the new"} node`)
      }
      compared++
      if (!isSame(before, after)) found.push({ id: pair.id, items, before, after })
    }
  }
  return { compared, differences: found, results }
})
