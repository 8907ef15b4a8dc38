/** Executions as n8n might keep them, and stranger ones: by hand, or from a few numbers, which a failing test prints. */
import { assert } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as Tool from "../../src/answer/Tool.ts"
import { markable } from "../../src/answer/Truncated.ts"
import type { NodeCatalogue } from "../../src/catalogue/NodeCatalogue.ts"
import type { Execution } from "../../src/executions/Execution.ts"
import { ExecutionReader } from "../../src/executions/executionReader.ts"
import * as Executions from "../../src/executions/Executions.ts"
import type { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { catalogue } from "../support/catalogue.ts"
import { random } from "../support/random.ts"

// ---- by hand

/** Items as n8n stores them. */
export const items = (...json: ReadonlyArray<unknown>) => json.map((one) => ({ json: one, pairedItem: { item: 0 } }))

const epoch = Date.parse("2026-11-21T20:59:48.835Z")

/** A run as n8n notes it: the `order`-th of its execution, 10 ms after the one before. */
export const run = (order: number, data: unknown, more: object = {}) => ({
  startTime: epoch + order * 10,
  executionIndex: order,
  source: [],
  hints: [],
  executionTime: 5,
  executionStatus: "success",
  data,
  ...more
})

/** A source of a run. */
export const from = (previousNode: string, previousNodeOutput = 0, previousNodeRun = 0) => ({
  previousNode,
  previousNodeOutput,
  previousNodeRun
})

/** A failed run. */
export const failed = (order: number, error: unknown, more: object = {}) => ({
  ...run(order, undefined, { executionStatus: "error", ...more }),
  error
})

/** What `GET /executions/77?includeData=true` answers. */
export const document = (runData: unknown, more: {
  readonly status?: string
  readonly stoppedAt?: string | null
  readonly data?: unknown
  readonly result?: object
  readonly nodes?: ReadonlyArray<object>
  readonly connections?: object
} = {}): N8nApi.Execution => ({
  id: "77",
  workflowId: "wf1",
  status: more.status ?? "success",
  mode: "trigger",
  startedAt: "2026-11-21T20:59:48.835Z",
  stoppedAt: more.stoppedAt === undefined ? "2026-11-21T20:59:50.000Z" : more.stoppedAt,
  waitTill: null,
  data: "data" in more ? more.data : { resultData: { runData, ...more.result } },
  workflowData: { id: "wf1", name: "Handmade", nodes: more.nodes ?? [], connections: more.connections ?? {} }
})

/** A node of a workflow. */
export const node = (name: string, type = "n8n-nodes-base.code", more: object = {}) => ({
  id: `id of ${name}`,
  name,
  type,
  typeVersion: 1,
  position: [0, 0],
  parameters: {},
  ...more
})

/** An n8n that holds only this execution. */
export const holding = (execution: N8nApi.Execution): Layer.Layer<N8nClient | Executions.Executions | NodeCatalogue> =>
  Layer.mergeAll(FakeN8n.layer({ workflows: [], executions: [execution] }), Executions.layer(), catalogue)

// ---- answers

const ajv = new Ajv2020({ strict: false })
const validators = new Map<string, ReturnType<typeof ajv.compile>>()

/**
 * What a tool answers, as its client gets it. Fails where that is not what its `outputSchema` promises, or where
 * something that had been cut or marked was lost on the way.
 */
export const ask = Effect.fnUntraced(function*<I extends Tool.Any["input"], O extends Tool.Any["output"], R>(
  tool: Tool.Tool<string, I, O, R>,
  input: I["Encoded"]
) {
  const answer = yield* tool.answer(input)
  const json = JSON.parse(JSON.stringify(answer))
  const valid = validators.get(tool.name) ?? ajv.compile(tool.outputSchema)
  validators.set(tool.name, valid)
  assert.isTrue(valid(json), `${tool.name} ${JSON.stringify(input)}: ${JSON.stringify(valid.errors)}`)
  const decode = Schema.decodeUnknownEffect(markable<O["Type"], unknown>(tool.output))
  const data: O["Type"] = yield* Effect.orDie(decode(json.data))
  assert.deepStrictEqual(json.data, JSON.parse(JSON.stringify(data)))
  return { data, answer }
})

/** A call as an answer writes it: the tool, and its arguments. */
export const parseCall = (call: string) => {
  const [, tool, rest = ""] = /^(\w+)\(([^]*)\)$/.exec(call) ?? assert.fail(call)
  const args: Record<string, string | number | boolean | ReadonlyArray<string>> = {}
  let at = 0
  const plain = (text: string) =>
    text.replace(/\\([^])/g, (_, escaped: string) => ({ n: "\n", r: "\r", t: "\t" })[escaped] ?? escaped)
  for (
    const { 0: match, 1: name = "", 2: text, 3: number, 4: flag, 5: list, index } of rest.matchAll(
      /(?:^|, )(\w+): (?:'((?:\\[^]|[^'\\])*)'|(-?\d+)|(true|false)|\[((?:(?:, )?'(?:\\[^]|[^'\\])*')*)\])/gy
    )
  ) {
    assert.strictEqual(index, at, call)
    at += match.length
    args[name] = text !== undefined
      ? plain(text)
      : list !== undefined
      ? [...list.matchAll(/'((?:\\[^]|[^'\\])*)'/g)].map(([, each = ""]) => plain(each))
      : number === undefined
      ? flag === "true"
      : Number(number)
  }
  assert.strictEqual(at, rest.length, call)
  return { tool, args }
}

// ---- generated

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What to generate. */
export const Recipe = Schema.Struct({
  seed: between(0, 1_000_000),
  /** Nodes that ran; about a quarter more did not. */
  nodes: Schema.Literals([0, 1, 2, 5, 12, 40, 250]),
  maxRuns: Schema.Literals([1, 1, 2, 40]),
  maxItems: Schema.Literals([0, 1, 4, 70]),
  failing: Schema.Boolean,
  status: Schema.Literals(["success", "error", "canceled", "crashed", "running", "waiting", "unheard-of"]),
  /** Shapes that n8n has no reason to keep. */
  odd: Schema.Boolean
})
export type Recipe = typeof Recipe.Type

const titles = [
  "HTTP Request",
  "Loop Over Items",
  "請求書を送信",
  "注文を確認する",
  "주문 확인",
  "Отправить письмо",
  "إرسال الفاتورة",
  "Ødegård & Søn",
  "It's \"quoted\" \\ back\\'slashed",
  "[brackets]; {braces} #1 | <b>",
  "🚚 Ship 👨‍👩‍👧 it",
  "',  nodeOffset: 7) or (",
  "Set",
  "__proto__",
  "constructor",
  "12"
]

const types = [
  { type: "n8n-nodes-base.code" },
  { type: "n8n-nodes-base.httpRequest", onError: "continueErrorOutput" },
  { type: "n8n-nodes-base.if", onError: "continueErrorOutput" },
  { type: "n8n-nodes-base.splitInBatches", typeVersion: 3 },
  { type: "n8n-nodes-base.switch", parameters: { rules: { values: [{ outputKey: "少ない" }, {}] } } },
  { type: "@n8n/n8n-nodes-langchain.agent" },
  { type: "@n8n/n8n-nodes-langchain.lmChatOpenAi" },
  { type: "@n8n/n8n-nodes-langchain.textClassifier", onError: "continueErrorOutput" }
]

const ports = ["main", "main", "main", "main", "ai_languageModel", "ai_tool", "ai_memory"]

const strange: ReadonlyArray<unknown> = [
  null,
  0,
  "text",
  [],
  {},
  [null],
  [[null]],
  true,
  { main: null },
  [[{}]],
  -1.5,
  1e300
]

/** One execution, and its run data by name. */
export const build = (recipe: Recipe): N8nApi.Execution => {
  const next = random(recipe.seed)
  // Some 20,000 items at most: size is tested elsewhere.
  const maxItems = Math.min(recipe.maxItems, Math.ceil(20_000 / (recipe.nodes * recipe.maxRuns + 1)))
  const chance = (percent: number) => next(100) < percent
  const pick = <A>(all: ReadonlyArray<A>): A => all[next(all.length)] as A
  const orOdd = (value: unknown) => recipe.odd && chance(8) ? pick(strange) : value

  const count = recipe.nodes + Math.ceil(recipe.nodes / 4)
  const names = Array.from({ length: count }, (_, index) => {
    const title = pick(titles)
    return index < titles.length && chance(50) ? `${titles[index]}` : `${title} ${index}`
  })
  const distinct = [...new Set(names)]
  const ran = distinct.slice(0, recipe.nodes)

  let made = 0
  const item = () => ({
    json: { id: made++, name: pick(titles), even: chance(50) },
    ...(chance(20) ? { pairedItem: { item: 0 } } : {}),
    ...(chance(3) ? { error: { message: pick(titles), name: "NodeOperationError" } } : {}),
    ...(chance(3)
      ? { binary: { data: { mimeType: "text/plain", fileName: "a.txt", fileSize: "1 kB", data: "aGVsbG8=" } } }
      : {})
  })
  const items = () => orOdd(chance(10) ? null : Array.from({ length: next(maxItems + 1) }, item))
  const data = () =>
    Object.fromEntries(
      Array.from({ length: 1 + next(2) }, () => [pick(ports), orOdd(Array.from({ length: 1 + next(3) }, items))])
    )
  const error = () =>
    orOdd({
      name: "NodeApiError",
      message: pick(titles),
      description: chance(50) ? pick(titles) : null,
      httpCode: chance(50) ? "404" : 500,
      messages: [pick(titles)],
      context: { itemIndex: next(4), request: { headers: { authorization: "Bearer hidden" } } },
      stack: "Error: at a.ts:1",
      node: { name: pick(ran), parameters: { url: "https://example.com" } }
    })

  let order = 0
  const startedAt = Date.parse("2026-11-21T20:59:48.835Z")
  const run = () => {
    const failed = recipe.failing && chance(10)
    return orOdd({
      startTime: orOdd(startedAt + order * 10),
      executionIndex: orOdd(order++),
      executionTime: orOdd(next(500)),
      executionStatus: orOdd(failed ? "error" : "success"),
      source: orOdd(
        Array.from({ length: next(3) }, () =>
          chance(15) ? null : orOdd({
            previousNode: pick(ran),
            ...(chance(70) ? { previousNodeOutput: orOdd(next(3)) } : {}),
            ...(chance(70) ? { previousNodeRun: orOdd(next(recipe.maxRuns)) } : {})
          }))
      ),
      hints: [],
      ...(failed ? { error: error() } : { data: orOdd(data()) }),
      ...(chance(10) ? { inputOverride: orOdd({ ai_languageModel: [[item()]] }) } : {})
    })
  }

  const runData = Object.fromEntries(
    ran.map((name) => [name, orOdd(Array.from({ length: 1 + next(recipe.maxRuns) }, run))])
  )
  const nodes = distinct.filter(() => !recipe.odd || chance(95)).map((name, index) => ({
    id: `id${index}`,
    name,
    typeVersion: 1,
    position: [index, 0],
    parameters: { text: pick(titles) },
    ...pick(types),
    ...(chance(5) ? { disabled: true } : {})
  }))
  const connections = Object.fromEntries(
    distinct.map((name) => [name, {
      [pick(ports)]: Array.from(
        { length: next(3) },
        () => chance(20) ? null : [{ node: chance(10) ? "gone" : pick(distinct), type: "main", index: next(2) }]
      )
    }])
  )
  return {
    id: "77",
    workflowId: "wf1",
    status: recipe.status,
    mode: "trigger",
    startedAt: "2026-11-21T20:59:48.835Z",
    stoppedAt: recipe.status === "running" ? null : "2026-11-21T21:00:48.975Z",
    waitTill: recipe.status === "waiting" ? "2026-11-21T22:09:56.059Z" : null,
    data: orOdd({
      resultData: {
        runData: orOdd(runData),
        ...(recipe.failing ? { error: error(), lastNodeExecuted: orOdd(pick([...ran, "gone"])) } : {})
      }
    }),
    workflowData: orOdd({ id: "wf1", name: "Orders 注文", nodes, connections, settings: {} })
  }
}

const record = (json: unknown): { readonly [key: string]: unknown } =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : {}

const list = (json: unknown): ReadonlyArray<unknown> => Array.isArray(json) ? json : []

/** The run data, counted by plain means: for each node its runs, and for each run its outputs with their items. */
export const recount = (execution: N8nApi.Execution) => {
  const { data, workflowData } = record(JSON.parse(JSON.stringify(execution)))
  const runData = record(record(record(data)["resultData"])["runData"])
  return {
    workflowNodes: list(record(workflowData)["nodes"]).length,
    nodes: Object.entries(runData).map(([name, runs]) => {
      const all = list(runs).map((run) => ({
        failed: (record(run)["error"] ?? null) !== null,
        status: record(run)["executionStatus"],
        outputs: Object.entries(record(record(run)["data"])).flatMap(([type, outputs]) =>
          list(outputs).map((items, index) => ({ type, index, items: list(items) }))
        )
      }))
      return {
        name,
        runs: all,
        items: all.flatMap((run) => run.outputs).reduce((sum, one) => sum + one.items.length, 0)
      }
    })
  }
}

/** Pushes the bytes in chunks of these sizes, over and over; each chunk is overwritten as soon as it was pushed. */
export const pushed = <A extends { readonly push: (chunk: Uint8Array) => void }>(
  target: A,
  bytes: Uint8Array,
  sizes: ReadonlyArray<number> = []
): A => {
  const cycle = sizes.some((size) => size > 0) ? sizes : [...sizes, Math.max(1, bytes.length)]
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const chunk = bytes.slice(at, at + (cycle[turn % cycle.length] ?? 0))
    target.push(chunk)
    chunk.fill(0x5c)
    at += chunk.length
  }
  return target
}

/** The execution that an answer of n8n's holds. */
export const fromApi = (answer: unknown): Execution => {
  const bytes = new TextEncoder().encode(JSON.stringify(answer))
  const reader = new ExecutionReader()
  reader.push(bytes)
  return reader.end({ read: (start, end) => bytes.subarray(start, end) })
}
