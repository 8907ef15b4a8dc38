/** The parts of n8n's API that our client uses: the same requests for the simulated and a real n8n. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schedule from "effect/Schedule"
import { fileURLToPath } from "node:url"
import { type Obj, obj, str } from "../../../src/base/Json.ts"
import { main, node } from "../../support/workflows.ts"

/** An empty n8n. */
export interface Instance {
  readonly version: "1" | "2"
  readonly url: URL
  readonly apiKey: string
}

/** A request and its answer, without values that differ between starts. */
export interface Exchange {
  readonly request: string
  readonly body?: unknown
  readonly status: number
  readonly answer: unknown
}

/** The file with the answers of a real n8n, recorded by its suite. */
export const recording = (version: Instance["version"], subject = "contract"): string =>
  fileURLToPath(new URL(`__snapshots__/${subject}-${version}.json`, import.meta.url))

/** Prints one exchange per line, which makes differences easy to read. */
export const print = (exchanges: ReadonlyArray<Exchange>): string =>
  `[\n${exchanges.map((exchange) => JSON.stringify(exchange)).join(",\n")}\n]\n`

const withoutIds = (text: string): string =>
  text
    .replace(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, "<uuid>")
    .replace(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<date>")
    .replace(/\b[a-zA-Z\d]{16}\b/g, "<id>")

/** Fields that our client never reads. */
const unusedFields = new Set(["project", "versionCounter", "sizeBytes"])

/** What has a place (columns of a table) comes in any order. */
const inOrder = (values: ReadonlyArray<unknown>) =>
  values.every((value) => typeof obj(value)?.["index"] === "number")
    ? values.toSorted((a, b) => Number(obj(a)?.["index"]) - Number(obj(b)?.["index"]))
    : values

/** Replaces ids and dates and sorts keys, so that answers of different starts are equal. */
const normalize = (value: unknown): unknown => {
  if (typeof value === "string") return withoutIds(value)
  if (Array.isArray(value)) return inOrder(value).map(normalize)
  return obj(value) === undefined
    ? value
    : Object.fromEntries(
      Object.entries(obj(value) ?? {})
        .filter(([key]) => !unusedFields.has(key))
        .toSorted(([a], [b]) => a < b ? -1 : 1)
        .map(([key, each]) => [key, normalize(each)])
    )
}

/** Replaces cursors, which contain ids; other tests check them. */
const withoutCursor = (answer: unknown): unknown =>
  typeof obj(answer)?.["nextCursor"] === "string" ? { ...obj(answer), nextCursor: "<cursor>" } : answer

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const hook = (path: string) =>
  node("Hook", "webhook", 2, { path, httpMethod: "POST" }, {
    id: "hook",
    webhookId: "8a1c0f5e-0000-4000-8000-000000000000"
  })
const end = node("End", "noOp", 1, {}, { id: "end", position: [200, 0] })
const connections = { Hook: main("End") }
const workflow = (name: string, more: Obj = {}): Obj => ({
  name,
  nodes: [hook(name), end],
  connections,
  settings: {},
  ...more
})

/** Makes functions that send requests and record the exchanges. */
export const recorder = Effect.fnUntraced(function*({ apiKey, url }: Omit<Instance, "version">) {
  const http = yield* HttpClient.HttpClient
  const exchanges: Array<Exchange> = []

  const send = (
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS",
    path: string,
    body: unknown,
    headers: Record<string, string>
  ) =>
    HttpClientRequest.make(method)(new URL(path, url), { headers }).pipe(
      body === undefined ? (request) => request : HttpClientRequest.bodyJsonUnsafe(body),
      http.execute,
      Effect.flatMap((response) => Effect.map(response.text, (text) => ({ response, answer: parseJson(text) }))),
      Effect.scoped
    )

  const record = (request: string, body: unknown, status: number, answer: unknown) => {
    exchanges.push({
      request: withoutIds(request),
      ...(body === undefined ? {} : { body: normalize(body) }),
      status,
      answer: normalize(withoutCursor(answer))
    })
  }

  const ask = Effect.fnUntraced(function*(
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    key: string | undefined = apiKey
  ) {
    const headers = key === undefined ? {} : { "x-n8n-api-key": key }
    const { answer, response } = yield* send(method, `/api/v1${path}`, body, headers)
    record(`${method} ${path}`, body, response.status, answer)
    return obj(answer) ?? {}
  })

  return { ask, exchanges, record, send }
})

const wrongFields: { readonly [key: string]: ReadonlyArray<unknown> } = {
  name: [null],
  nodes: [
    null,
    [1],
    [{ ...end, position: 1 }],
    [{ ...end, position: ["a"] }],
    [{ ...end, parameters: [] }],
    [{ ...end, createdAt: "x" }],
    [{ ...end, customTelemetryTags: { tag: [{}] } }]
  ],
  connections: [null, []],
  settings: [null, { executionTimeout: "1" }, { saveDataErrorExecution: 1 }, { saveDataErrorExecution: "x" }, {
    customTelemetryTags: [{ key: 1, value: "x" }]
  }],
  id: [null, 1],
  active: [null],
  triggerCount: ["x"],
  tags: [null, "x"],
  activeVersion: [null, "x", {}],
  shared: [{}, [{ project: 1 }], [{ project: { id: "1" } }], [{ constructor: 1 }]],
  staticData: [1, []],
  nodeGroups: [[{}], [{ id: "1", name: "x", nodeIds: "1" }]],
  pinData: [1],
  parentFolderId: [1],
  meta: [null],
  constructor: [1]
}

const wrongBodies: ReadonlyArray<readonly [request: string, ...bodies: ReadonlyArray<unknown>]> = [
  ["POST /tags", { name: 1 }, { name: "a", id: 1 }, { name: "a", id: "1" }, { name: "a", more: 1 }, []],
  ["PUT /workflows/none/tags", {}, [{}], [{ id: 1 }], [{ id: "1", more: 1 }]],
  ["POST /credentials", {}, { name: 1, type: "x", data: {} }, { name: "x", type: "x", data: 1 }, {
    name: "x",
    type: "x",
    data: {},
    createdAt: "x"
  }],
  ["POST /workflows/none/activate", { versionId: 1 }, []],
  ["POST /executions/999/retry", { loadWorkflow: null }, []],
  ["POST /executions/abc/retry", { loadWorkflow: 1 }],
  ["POST /audit", [], { additionalOptions: 1 }, { additionalOptions: { daysAbandonedWorkflow: 1.5 } }, {
    additionalOptions: { categories: ["x"] }
  }]
]

/** Sends all requests of the contract in order and returns the exchanges. */
export const exchanges = Effect.fnUntraced(function*({ version, ...instance }: Instance) {
  const { ask, exchanges, record, send } = yield* recorder(instance)

  const id = (answer: Obj) => str(answer["id"]) ?? "none"

  // Authentication
  yield* ask("GET", "/workflows", undefined, "wrong")
  yield* ask("GET", "/nothing")
  yield* ask("POST", "/workflows/none")

  // Invalid workflows
  for (
    const body of [
      {},
      { name: "X", nodes: [], settings: {} },
      { name: "X", nodes: {}, connections: {}, settings: {} },
      { name: 1, nodes: [], connections: {}, settings: {} },
      workflow("X", { invented: true }),
      workflow("X", { active: true }),
      workflow("X", { tags: [] }),
      workflow("X", { settings: { invented: true } }),
      workflow("X", { settings: { executionOrder: 1 } }),
      workflow("X", { nodes: [{ ...end, invented: true }] }),
      workflow("X", { staticData: "text" }),
      workflow("X", { projectId: "nobodys" })
    ]
  ) yield* ask("POST", "/workflows", body)
  for (const [key, values] of Object.entries(wrongFields)) {
    for (const value of values) yield* ask("POST", "/workflows", workflow("X", { [key]: value }))
  }
  for (const value of [[], "text"]) yield* ask("POST", "/workflows", value)
  for (const [request, ...bodies] of wrongBodies) {
    const [method = "", path = ""] = request.split(" ")
    for (const body of bodies) yield* ask(method as "POST" | "PUT", path, body)
  }
  if (version === "2") {
    for (
      const body of [
        workflow(""),
        workflow("n".repeat(129)),
        workflow("X", { nodes: [hook("a"), hook("a")] }),
        workflow("X", { connections: { Hook: main("Nobody") } }),
        workflow("X", { connections: { Nobody: main("End") } })
      ]
    ) yield* ask("POST", "/workflows", body)
  }

  // A workflow and its lists
  const first = id(yield* ask("POST", "/workflows", workflow("first")))
  const second = id(yield* ask("POST", "/workflows", workflow("second", { nodes: [hook("first"), end] })))
  const idle = id(yield* ask("POST", "/workflows", workflow("idle", { nodes: [end], connections: {} })))
  yield* ask("GET", `/workflows/${first}`)
  yield* ask("GET", `/workflows/${first}?excludePinnedData=true`)
  yield* ask("GET", "/workflows/none")
  yield* ask("GET", "/workflows?name=FIR")
  yield* ask("GET", "/workflows?name=nobody")
  yield* ask("GET", "/workflows?active=true")
  yield* ask("GET", "/workflows?tags=nobodys")
  for (
    const query of [
      "cursor=%25",
      "active=maybe",
      "active=",
      "limit=many",
      "limit=300",
      "limit=1&limit=2",
      "name=again",
      "offset=-1",
      "excludePinnedData=1",
      "invented=1"
    ]
  ) {
    yield* ask("GET", `/workflows?name=nobody&${query}`)
  }
  if (version === "1") yield* ask("GET", "/workflows?name=")

  // Changes
  yield* ask("PUT", `/workflows/${first}`, workflow("first", { nodes: [hook("first")], connections: {} }))
  yield* ask("PUT", `/workflows/${first}?publishIfActive=false`, workflow("first"))
  yield* ask("PUT", `/workflows/${first}`, { name: "first" })
  yield* ask("PUT", `/workflows/${first}`, workflow("first", { id: first }))
  yield* ask("PUT", "/workflows/none", workflow("first"))
  const { versionId } = yield* ask("PUT", `/workflows/${first}`, workflow("first", { settings: { timezone: "UTC" } }))

  // History
  if (version === "2") {
    yield* ask("GET", `/workflows/${first}/history`)
    yield* ask("GET", `/workflows/${first}/versions/${String(versionId)}`)
    yield* ask("GET", `/workflows/${first}/versions/none`)
  }
  yield* ask("GET", "/workflows/none/history")

  // Tags
  const tag = id(yield* ask("POST", "/tags", { name: "red" }))
  yield* ask("POST", "/tags", { name: "red" })
  yield* ask("POST", "/tags", {})
  yield* ask("GET", "/tags?limit=250")
  yield* ask("PUT", `/workflows/${first}/tags`, [{ id: tag }])
  yield* ask("PUT", `/workflows/${first}/tags`, [{ id: "none" }])
  yield* ask("PUT", `/workflows/none/tags`, [{ id: tag }])
  yield* ask("GET", "/workflows?tags=red")
  yield* ask("PUT", `/workflows/${first}/tags`, [])

  // Publishing
  const [on, off] = version === "2" ? ["publish", "unpublish"] : ["activate", "deactivate"]
  if (version === "1") yield* ask("POST", `/workflows/${first}/publish`, {})
  yield* ask("POST", `/workflows/none/${on}`)
  yield* ask("POST", `/workflows/${idle}/${on}`)
  if (version === "2") yield* ask("POST", `/workflows/${first}/${on}`, { versionId: "none" })
  yield* ask("POST", `/workflows/${first}/${on}`)
  yield* webhookAnswers(["POST"])
  yield* ask("POST", `/workflows/${second}/${on}`)
  yield* ask("GET", `/workflows/${first}`)
  if (version === "2") {
    yield* ask(
      "PUT",
      `/workflows/${first}?publishIfActive=false`,
      workflow("first", { nodes: [hook("first")], connections: {} })
    )
    yield* ask("GET", `/workflows/${first}`)
    yield* ask("DELETE", `/workflows/${first}`)
  }
  yield* ask("POST", `/workflows/${first}/${off}`)
  yield* webhookAnswers([])
  yield* ask("POST", `/workflows/${first}/${off}`)
  yield* ask("POST", `/workflows/none/${off}`)

  // Webhooks that are not registered
  for (const method of ["GET", "POST"] as const) {
    const { answer, response } = yield* send(method, "/webhook/nobodys", method === "POST" ? {} : undefined, {})
    // The real n8n adds a hint, and in development a stack.
    record(`${method} /webhook/nobodys`, undefined, response.status, obj(answer)?.["message"])
  }

  /** Publishing takes effect some time after it is answered. */
  function webhookAnswers(methods: ReadonlyArray<string>) {
    return send("OPTIONS", "/webhook/first", undefined, { origin: "null" }).pipe(
      Effect.filterOrFail(({ response: { headers } }) => {
        const allowed = (headers["access-control-allow-methods"] ?? "").split(", ")
        return methods.length === 0 ? !allowed.includes("POST") : methods.every((method) => allowed.includes(method))
      }),
      Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo({ times: 50 })))
    )
  }

  // Archived
  if (version === "2") {
    yield* ask("POST", `/workflows/${second}/archive`)
    yield* ask("PUT", `/workflows/${second}`, workflow("second"))
    yield* ask("POST", `/workflows/${second}/${on}`)
  }

  // Credentials
  yield* ask("GET", "/credentials?limit=10")
  yield* ask("POST", "/credentials", { name: "Key", type: "httpHeaderAuth", data: { name: "a", value: "b" } })
  if (version === "2") yield* ask("GET", "/credentials?limit=10")

  // Executions
  yield* ask("GET", "/executions?limit=10")
  yield* ask("GET", "/executions/999")
  yield* ask("GET", "/executions/999?includeData=true")
  for (const id of ["abc", "abc?includeData=x", "0", "1.5", "1e3"]) yield* ask("GET", `/executions/${id}`)
  for (const query of ["cursor=%25", "status=lost", "status=crashed", "startedAfter=2026-01-01T00:00:00.000Z"]) {
    yield* ask("GET", `/executions?${query}`)
  }
  if (version === "2") yield* ask("GET", "/executions?startedAfter=yesterday")
  yield* ask("POST", "/executions/999/retry", { loadWorkflow: true })
  yield* ask("POST", "/executions/999/retry", { loadWorkflow: 1 })
  yield* ask("POST", "/executions/999/stop")

  // Deletion
  yield* ask("DELETE", "/workflows/none")
  for (const each of [first, second, idle]) {
    yield* send("DELETE", `/api/v1/workflows/${each}`, undefined, { "x-n8n-api-key": instance.apiKey }).pipe(
      Effect.filterOrFail(({ response }) => response.status !== 409),
      Effect.retry(Schedule.spaced("200 millis").pipe(Schedule.upTo({ times: 50 }))),
      Effect.tap(({ answer, response }) =>
        Effect.sync(() => record(`DELETE /workflows/${each}`, undefined, response.status, answer))
      )
    )
  }
  yield* ask("GET", "/workflows")
  return exchanges
})

/** Reads one workflow, alone and in a list. */
export const reads = Effect.fnUntraced(function*(instance: Instance, id: string) {
  const { ask, exchanges } = yield* recorder(instance)
  yield* ask("GET", `/workflows/${id}`)
  yield* ask("GET", "/workflows?name=FIR")
  return exchanges
})

/** Sends the requests about a failed execution, which the seed of a simulated n8n must contain. */
export const executionExchanges = Effect.fnUntraced(function*(
  { version, ...instance }: Instance,
  { id, workflowId }: { readonly id: string; readonly workflowId: string }
) {
  const { ask, exchanges } = yield* recorder(instance)
  yield* ask("GET", "/executions?limit=10")
  for (const query of ["status=error", "status=success", `workflowId=${workflowId}&limit=1`, "workflowId=none"]) {
    yield* ask("GET", `/executions?${query}`)
  }
  if (version === "2") {
    yield* ask("GET", "/executions?startedAfter=2000-01-01T00:00:00.000Z")
    yield* ask("GET", "/executions?startedBefore=2000-01-01T00:00:00.000Z")
  }
  yield* ask("GET", `/executions/${id}`)
  yield* ask("GET", `/executions/${id}?includeData=true`)
  yield* ask("POST", `/executions/${id}/stop`)
  return exchanges
})
