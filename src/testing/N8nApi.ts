/**
 * n8n's public REST API in memory, as an `HttpClient`: what talks to n8n runs unchanged against it, in tests and in
 * `--demo`. Its answers were compared with those of n8n 2.41.1 and 1.123.81, query by query.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

/** A workflow as `GET /workflows/{id}` returns it. Named here is only what the API itself looks at. */
export interface Workflow {
  readonly id: string
  readonly name: string
  readonly active?: boolean
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly [key: string]: unknown }>
  readonly shared?: ReadonlyArray<{ readonly projectId?: string; readonly [key: string]: unknown }>
  readonly activeVersion?: object | null
  readonly [key: string]: unknown
}

/** An execution as `GET /executions/{id}?includeData=true` returns it. */
export interface Execution {
  readonly id: string
  readonly workflowId: string
  readonly status: string
  readonly startedAt: string
  readonly [key: string]: unknown
}

/**
 * What n8n holds when it starts.
 *
 * **Gotchas** An execution whose workflow is not in the seed is listed all the same. The real n8n deletes executions
 * with their workflow; a test needs the moment in between.
 */
export interface Seed {
  readonly workflows: ReadonlyArray<Workflow>
  readonly executions: ReadonlyArray<Execution>
}

/** The n8n to be: its major version (default "2") and the only key it accepts (default: any, and none). */
export interface Options {
  readonly version?: "2" | "1"
  readonly apiKey?: string
}

/** A request as it arrived. */
export interface RecordedRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** One n8n: the client that reaches it, and every request so far. */
export interface N8nApi {
  readonly client: HttpClient.HttpClient
  readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>
}

type Version = NonNullable<Options["version"]>

interface State {
  readonly workflows: Map<string, Workflow>
  readonly executions: Map<string, Execution>
}

interface Call {
  readonly version: Version
  readonly state: State
  readonly request: HttpClientRequest.HttpClientRequest
  readonly id: string
  readonly query: URLSearchParams
}

type Handler = (call: Call) => Effect.Effect<Response, Refusal>

class Refusal extends Data.TaggedError("Refusal")<{ readonly status: number; readonly message: string }> {}

const refuse = (status: number, message: string) => Effect.fail(new Refusal({ status, message }))

// ---- query parameters

/** `check` says what is wrong with a value, in the words of that n8n. */
interface Parameter {
  readonly check: (value: string, version: Version, name: string) => string | undefined
  readonly only2?: true
}

const only2 = (parameter: Parameter): Parameter => ({ ...parameter, only2: true })

const text: Parameter = { check: () => undefined }

const notOneOf = (values: ReadonlyArray<string>, value: string) =>
  `Invalid enum value. Expected ${values.map((each) => `'${each}'`).join(" | ")}, received '${value}'`

const flag: Parameter = {
  check: (value, version) => {
    if (value === "true" || value === "false") return undefined
    return version === "2" ? notOneOf(["true", "false"], value) : "must be boolean"
  }
}

const whole: Parameter = {
  check: (value, version, name) => {
    const number = Number(value)
    if (version === "1") return Number.isNaN(number) ? "must be number" : number > 250 ? "must be <= 250" : undefined
    if (Number.isNaN(number)) return `Param \`${name}\` must be a valid integer`
    return number < 0 ? `Param \`${name}\` must be a non-negative integer` : undefined
  }
}

const statuses: Record<Version, ReadonlyArray<string>> = {
  "2": ["canceled", "crashed", "error", "new", "running", "success", "unknown", "waiting"],
  "1": ["canceled", "error", "running", "success", "waiting"]
}

const executionStatus: Parameter = {
  check: (value, version) => {
    if (statuses[version].includes(value)) return undefined
    return version === "2"
      ? notOneOf(statuses[version], value)
      : `must be equal to one of the allowed values: ${statuses[version].join(", ")}`
  }
}

const instant: Parameter = {
  check: (value) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/.test(value) ? undefined : "Invalid datetime"
}

/** n8n 2 ignores parameters that it does not know; n8n 1 refuses them before it looks at anything else. */
const checkQuery = (known: Route["query"], query: URLSearchParams, version: Version) => {
  const parameterOf = (name: string) => {
    const parameter = Object.hasOwn(known, name) ? known[name] : undefined
    return version === "1" && parameter?.only2 === true ? undefined : parameter
  }
  const names = [...new Set(query.keys())]
  const unknown = names.find((name) => parameterOf(name) === undefined)
  if (unknown !== undefined && version === "1") return refuse(400, `Unknown query parameter '${unknown}'`)
  for (const name of names) {
    const values = query.getAll(name)
    const [value = ""] = values
    if (version === "1" && value === "") return refuse(400, `Empty value found for query parameter '${name}'`)
    const repeated = version === "2" ? "Expected string, received array" : "must be string"
    const problem = values.length > 1 ? repeated : parameterOf(name)?.check(value, version, name)
    if (problem !== undefined) return refuse(400, `request/query/${name} ${problem}`)
  }
  return Effect.void
}

// ---- pages

const Cursor = Schema.StringFromBase64.pipe(Schema.decodeTo(Schema.fromJsonString(Schema.Struct({
  lastId: Schema.optionalKey(Schema.String),
  limit: Schema.optionalKey(Schema.Finite),
  offset: Schema.optionalKey(Schema.Finite)
}))))

const encodeCursor = Schema.encodeSync(Cursor)

/** A cursor carries its own limit, which wins. Over 250, n8n 2 gives 250 without a word. */
const pageOf = Effect.fnUntraced(function*(query: URLSearchParams) {
  const limit = Math.min(Math.trunc(Number(query.get("limit") ?? 100)), 250)
  const offset = Math.trunc(Number(query.get("offset") ?? 0))
  const cursor = query.get("cursor") ?? ""
  if (cursor === "") return { lastId: Infinity, limit, offset }
  const carried = yield* Schema.decodeEffect(Cursor)(cursor).pipe(
    Effect.catchTag("SchemaError", () => refuse(400, "An invalid cursor was provided"))
  )
  return { lastId: Infinity, limit, offset, ...carried }
})

// ---- what n8n shows of what it holds

const without = (value: object, ...keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

const only = (value: object, ...keys: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)))

const workflowDetail = (workflow: Workflow, { query, version }: Call) => {
  const pinned = query.get("excludePinnedData") === "true" ? without(workflow, "pinData") : workflow
  return version === "2" ? pinned : without(pinned, "nodeGroups", "sourceWorkflowId", "parentFolder")
}

const workflowItem = (workflow: Workflow, call: Call) => ({
  ...without(workflowDetail(workflow, call), "description", "versionCounter", "sourceWorkflowId", "parentFolder"),
  ...(workflow.shared && { shared: workflow.shared.map((share) => without(share, "project")) }),
  ...(workflow.activeVersion && { activeVersion: without(workflow.activeVersion, "workflowPublishHistory") })
})

const executionData = ["data", "workflowData", "customData"]

const executionItemKeys = [
  "id",
  "finished",
  "mode",
  "retryOf",
  "retrySuccessId",
  "status",
  "startedAt",
  "stoppedAt",
  "workflowId",
  "waitTill"
]

const withData = ({ query }: Call) => query.get("includeData") === "true"

const executionDetail = (execution: Execution, call: Call) => {
  const shown = withData(call) ? execution : without(execution, ...executionData)
  return call.version === "2"
    ? shown
    : only(shown, ...executionItemKeys, "createdAt", "deletedAt", ...executionData)
}

const executionItem = (execution: Execution, call: Call) => {
  if (!withData(call)) return only(execution, ...executionItemKeys)
  const sizes = call.version === "2" ? ["storedAt", "jsonSizeBytes", "workflowVersionId"] : []
  return only(execution, ...executionItemKeys, ...sizes, ...executionData)
}

// ---- handlers

const isIn = (project: string, workflow: Workflow | undefined) =>
  (workflow?.shared ?? []).some((share) => share.projectId === project)

const has = (workflow: Workflow, name: string) => (workflow.tags ?? []).some((tag) => tag.name === name)

const listWorkflows: Handler = Effect.fnUntraced(function*(call) {
  const { query, state, version } = call
  const { limit, offset } = yield* pageOf(query)
  const stored = [...state.workflows.values()].toSorted((a, b) => a.id < b.id ? -1 : 1)
  const named = query.get("name")?.trim().toLowerCase() ?? ""
  const active = query.get("active")
  const project = query.get("projectId")
  const tags = query.get("tags")?.split(",").map((tag) => tag.trim()) ?? []
  // n8n 1 looks the tags up first, so a tag that nobody has counts only when it stands alone.
  const existing = tags.filter((tag) => stored.some((workflow) => has(workflow, tag)))
  const wanted = version === "1" && existing.length > 0 ? existing : tags.filter((tag) => tag !== "")
  const found = stored.filter((workflow) =>
    workflow.name.toLowerCase().includes(named) &&
    (active === null || (workflow.active ?? false) === (active === "true")) &&
    (project === null || isIn(project, workflow)) &&
    wanted.every((tag) => has(workflow, tag))
  )
  const next = offset + limit
  return Response.json({
    data: found.slice(offset, limit === 0 ? undefined : next).map((workflow) => workflowItem(workflow, call)),
    nextCursor: found.length > next ? encodeCursor({ limit, offset: next }) : null
  })
})

const getWorkflow: Handler = Effect.fnUntraced(function*(call) {
  const workflow = call.state.workflows.get(call.id)
  return workflow === undefined ? yield* refuse(404, "Not Found") : Response.json(workflowDetail(workflow, call))
})

const listExecutions: Handler = Effect.fnUntraced(function*(call) {
  const { query, state } = call
  const { lastId, limit } = yield* pageOf(query)
  const status = query.get("status")
  const workflowId = query.get("workflowId")
  const project = query.get("projectId")
  const after = Date.parse(query.get("startedAfter") ?? "")
  const before = Date.parse(query.get("startedBefore") ?? "")
  const found = [...state.executions.values()].toSorted((a, b) => Number(b.id) - Number(a.id)).filter((execution) => {
    const startedAt = Date.parse(execution.startedAt)
    return Number(execution.id) < Number(lastId) &&
      // What is running shows only when asked for.
      (status === null ? execution.status !== "running" : execution.status === status) &&
      (workflowId === null || execution.workflowId === workflowId) &&
      (project === null || isIn(project, state.workflows.get(execution.workflowId))) &&
      (Number.isNaN(after) || startedAt >= after) &&
      (Number.isNaN(before) || startedAt <= before)
  })
  const page = found.slice(0, limit === 0 ? undefined : limit)
  const last = page.at(-1)
  return Response.json({
    data: page.map((execution) => executionItem(execution, call)),
    nextCursor: last !== undefined && found.length > page.length ? encodeCursor({ lastId: last.id, limit }) : null
  })
})

const getExecution: Handler = Effect.fnUntraced(function*(call) {
  if (call.version === "2" && !/^[1-9]\d*$/.test(call.id)) {
    return yield* refuse(400, "request/params/executionId must be a positive integer")
  }
  if (Number.isNaN(Number(call.id))) return yield* refuse(400, "request/params/id must be number")
  const execution = call.state.executions.get(call.id)
  return execution === undefined ? yield* refuse(404, "Not Found") : Response.json(executionDetail(execution, call))
})

/** The only place where n8n tells its version. */
const startPage: Handler = ({ version }) => {
  const release = version === "2" ? "n8n@2.41.1" : "n8n@1.123.81"
  const config = btoa(JSON.stringify({ dsn: "", environment: "development", release }))
  return Effect.succeed(
    new Response(`<!DOCTYPE html><html><head><meta name="n8n:config:sentry" content="${config}"></head></html>`, {
      headers: { "content-type": "text/html; charset=utf-8" }
    })
  )
}

// ---- routes

interface Route {
  readonly method: string
  readonly path: RegExp
  readonly query: { readonly [name: string]: Parameter }
  readonly handle: Handler
}

/** `:id` in a path is what the handler finds as `id`. */
const route = (method: string, path: string, query: Route["query"], handle: Handler): Route => ({
  method,
  path: new RegExp(`^${path.replace(":id", "(?<id>[^/]+)")}/?$`),
  query,
  handle
})

const dataOptions = { includeData: flag, ignoreDataSizeLimit: only2(flag), redactExecutionData: only2(flag) }

const routes: ReadonlyArray<Route> = [
  route("GET", "", {}, startPage),
  route("GET", "/api/v1/workflows", {
    limit: whole,
    cursor: text,
    offset: only2(whole),
    active: flag,
    tags: text,
    name: text,
    projectId: text,
    excludePinnedData: flag
  }, listWorkflows),
  route("GET", "/api/v1/workflows/:id", { excludePinnedData: flag }, getWorkflow),
  route("GET", "/api/v1/executions", {
    limit: whole,
    cursor: text,
    status: executionStatus,
    workflowId: text,
    projectId: text,
    startedAfter: only2(instant),
    startedBefore: only2(instant),
    ...dataOptions
  }, listExecutions),
  route("GET", "/api/v1/executions/:id", dataOptions, getExecution)
]

const authorize = (key: string | undefined, { apiKey, version = "2" }: Options) => {
  if (apiKey === undefined || key === apiKey) return Effect.void
  if (version === "2") return refuse(401, "Unauthorized")
  return refuse(401, key === undefined || key === "" ? "'X-N8N-API-KEY' header required" : "unauthorized")
}

/** Starts an n8n that holds the seed. It never fails: what n8n refuses is an answer with a status, as from the wire. */
export const make = (seed: Seed, options: Options = {}): Effect.Effect<N8nApi> =>
  Effect.sync(() => {
    const { version = "2" } = options
    const state: State = {
      workflows: new Map(seed.workflows.map((workflow) => [workflow.id, workflow])),
      executions: new Map(seed.executions.map((execution) => [execution.id, execution]))
    }
    const requests: Array<RecordedRequest> = []

    const answer = Effect.fnUntraced(function*(request: HttpClientRequest.HttpClientRequest, url: URL) {
      const here = routes.filter(({ path }) => path.test(url.pathname))
      if (here.length === 0) return yield* refuse(404, "not found")
      const found = here.find(({ method }) => method === request.method)
      if (found === undefined) return yield* refuse(405, `${request.method} method not allowed`)
      if (url.pathname !== "/") yield* authorize(request.headers["x-n8n-api-key"], options)
      yield* checkQuery(found.query, url.searchParams, version)
      const id = decodeURIComponent(found.path.exec(url.pathname)?.groups?.["id"] ?? "")
      return yield* found.handle({ version, state, request, id, query: url.searchParams })
    }, Effect.catchTag("Refusal", ({ message, status }) => Effect.succeed(Response.json({ message }, { status }))))

    return {
      client: HttpClient.make((request, url) => {
        requests.push({ method: request.method, url: url.href, headers: { ...request.headers } })
        return Effect.map(answer(request, url), (response) => HttpClientResponse.fromWeb(request, response))
      }),
      requests: Effect.sync(() => [...requests])
    }
  })

/** An n8n of its own for each build of the layer. */
export const layer = (seed: Seed, options?: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(HttpClient.HttpClient, Effect.map(make(seed, options), ({ client }) => client))
