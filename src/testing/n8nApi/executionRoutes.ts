/** Executions: list, read, retry and stop, and the production webhooks that start them. */
import * as Effect from "effect/Effect"
import { api, type Call, empty, encodeCursor, type Handler, json, pageOf, refuse, route, text } from "./server.ts"
import { addExecution, type Execution, isInProject, list, type Node, type Obj, obj, only, without } from "./world.ts"

/** Methods of a webhook path; each request brings a pending registration closer. */
const methodsOf = ({ state }: Call, path: string) =>
  [...state.webhooks].flatMap(([id, { current, lag, next }]) => {
    const isRegistered = current.some((webhook) => webhook.path === path)
    if (!isRegistered && !next.some((webhook) => webhook.path === path)) return []
    state.webhooks.set(id, lag <= 1 ? { current: next, next, lag: 0 } : { current, next, lag: lag - 1 })
    return current.filter((webhook) => webhook.path === path).map(({ method }) => method)
  })

const nothingRuns =
  "this simulated n8n runs nothing: give its option `runs`, such as (workflow) => FakeN8n.succeededExecution({ workflow })"

const started = () => json({ message: "Workflow was started" })

/** Stores the execution of a webhook's call, and answers like the workflow's first Respond to Webhook node. */
const run = ({ body, now, options: { runs }, state }: Call, path: string) => {
  const [id] = [...state.webhooks].find(([, { current }]) => current.some((webhook) => webhook.path === path)) ?? []
  const workflow = state.workflows.get(id ?? "")
  if (workflow === undefined) return started()
  const published = obj(workflow.activeVersion)
  const nodes = list<Node>(published["nodes"] ?? workflow["nodes"])
  const connections = published["connections"] ?? workflow["connections"]
  if (runs === undefined) return json({ code: 501, message: nothingRuns }, { status: 501 })
  const scripted = runs({ ...workflow, nodes, connections }, body)
  if (scripted === undefined) return started()
  if (scripted instanceof Response) return scripted
  const execution = addExecution(state, { ...scripted, mode: "webhook" }, Date.parse(now))
  const responder = nodes.find(({ disabled, type }) => type === "n8n-nodes-base.respondToWebhook" && disabled !== true)
  return obj(responder?.["parameters"])["responseBody"] === "={{ $execution.id }}"
    ? text(execution.id)
    : started()
}

/** Answers a webhook call or a CORS preflight, which lists the methods. */
const callWebhook: Handler = (call) => {
  const { id: path, method } = call
  const methods = methodsOf(call, path)
  const notFound = (message: string) => json({ code: 404, message }, { status: 404 })
  if (method === "OPTIONS") {
    const allowed = { "access-control-allow-methods": ["OPTIONS", ...methods].join(", ") }
    return Effect.succeed(empty(call.headers["origin"] ? allowed : {}))
  }
  if (methods.includes(method)) return Effect.sync(() => run(call, path))
  if (methods.length === 0) {
    return Effect.succeed(notFound(`The requested webhook "${method} ${path}" is not registered.`))
  }
  const hint = `Did you mean to make a ${methods.join(" or ")} request?`
  return Effect.succeed(notFound(`This webhook is not registered for ${method} requests. ${hint}`))
}

const webhookRoutes = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"].map((method) =>
  route(method, "/webhook/*", callWebhook)
)

/** Data of an execution that n8n cannot deliver. */
const undeliverable = "undeliverable"

const executionData = ["data", "workflowData", "customData"]

const itemKeys = "id finished mode retryOf retrySuccessId status startedAt stoppedAt workflowId waitTill".split(" ")

const redactedError = (error: unknown) => {
  const { httpCode = null, name } = obj(error)
  return { type: name, ...(name === "NodeApiError" ? { httpCode } : {}) }
}

const redactedItem = (item: unknown, reason: string) => {
  const { binary: _, error, ...more } = obj(item)
  const redaction = { redacted: true, reason, ...(error === undefined ? {} : { error: redactedError(error) }) }
  return { ...more, json: {}, redaction }
}

const mapOf = (value: unknown, change: (inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(obj(value)).map(([key, inner]) => [key, change(inner)]))

const listOf = (value: unknown, change: (inner: unknown) => unknown) => Array.isArray(value) ? value.map(change) : value

const withoutError = (value: Obj) =>
  value["error"] === undefined ? value : { ...without(value, "error"), redactedError: redactedError(value["error"]) }

/** Hides the items and errors of an execution, as n8n's redaction does. */
const redact = (execution: Execution, reason: string): Execution => {
  const hide = (connections: unknown) =>
    mapOf(connections, (outputs) => listOf(outputs, (items) => listOf(items, (item) => redactedItem(item, reason))))
  const hideRun = (run: unknown) => {
    const { data, inputOverride, ...more } = withoutError(obj(run))
    return {
      ...more,
      ...(data === undefined ? {} : { data: hide(data) }),
      ...(inputOverride === undefined ? {} : { inputOverride: hide(inputOverride) })
    }
  }
  const data = obj(execution["data"])
  const { runData, ...result } = withoutError(obj(data["resultData"]))
  const waiting = obj(data["executionData"])
  const hideStack = (entry: unknown) => ({ ...obj(entry), data: hide(obj(entry)["data"]) })
  return {
    ...execution,
    data: {
      ...data,
      executionData: {
        ...waiting,
        nodeExecutionStack: listOf(waiting["nodeExecutionStack"], hideStack),
        waitingExecution: mapOf(waiting["waitingExecution"], (runs) => mapOf(runs, hide))
      },
      resultData: { ...result, runData: mapOf(runData, (runs) => listOf(runs, hideRun)) },
      redactionInfo: { isRedacted: true, reason, canReveal: true }
    }
  }
}

/** Reason why n8n hides an execution's items: the request or, with the licence for it, the workflow's settings. */
const redactionOf = (execution: Execution, { query, version }: Call) => {
  const choice = query.get("redactExecutionData")
  if (version !== "2" || choice === "false") return undefined
  if (choice === "true") return "user_requested"
  const policy = obj(obj(execution["workflowData"])["settings"])["redactionPolicy"]
  const isManual = execution["mode"] === "manual"
  const applies = policy === "all" || policy === (isManual ? "manual-only" : "non-manual")
  return applies ? "workflow_redaction_policy" : undefined
}

const shownTo = (execution: Execution, call: Call) => {
  const reason = redactionOf(execution, call)
  return reason === undefined ? execution : redact(execution, reason)
}

const withData = ({ query }: Call) => query.get("includeData") === "true"

const detail = (execution: Execution, call: Call) => {
  const shown = withData(call) ? shownTo(execution, call) : without(execution, ...executionData)
  return call.version === "2" ? shown : only(shown, ...itemKeys, "createdAt", "deletedAt", ...executionData)
}

const item = (execution: Execution, call: Call) => {
  if (!withData(call)) return only(execution, ...itemKeys)
  const sizes = call.version === "2" ? ["storedAt", "jsonSizeBytes", "workflowVersionId"] : []
  return only(shownTo(execution, call), ...itemKeys, ...sizes, ...executionData)
}

const listExecutions: Handler = Effect.fnUntraced(function*(call) {
  const { query, state } = call
  const { lastId, limit } = yield* pageOf(call)
  const status = query.get("status")
  // An empty one counts as none.
  const workflowId = query.get("workflowId") || null
  const project = query.get("projectId") || null
  const after = Date.parse(query.get("startedAfter") ?? "")
  const before = Date.parse(query.get("startedBefore") ?? "")
  const matches = [...state.executions.values()].toSorted((a, b) => Number(b.id) - Number(a.id)).filter((execution) => {
    const startedAt = Date.parse(execution.startedAt)
    return Number(execution.id) < Number(lastId) &&
      // Running executions are listed only on request.
      (status === null ? execution.status !== "running" : execution.status === status) &&
      (workflowId === null || execution.workflowId === workflowId) &&
      (project === null || isInProject(project, state.workflows.get(execution.workflowId))) &&
      (Number.isNaN(after) || startedAt >= after) &&
      (Number.isNaN(before) || startedAt <= before)
  })
  const page = matches.slice(0, limit === 0 ? undefined : limit)
  const last = page.at(-1)
  return json({
    data: page.map((execution) => item(execution, call)),
    nextCursor: last !== undefined && matches.length > page.length ? encodeCursor({ lastId: last.id, limit }) : null
  })
})

/** Finds an execution; without workflows n8n looks for none. */
const find = ({ id, state }: Call, otherwise: string) => {
  const execution = state.executions.get(id)
  if (execution !== undefined) return Effect.succeed(execution)
  return refuse(404, state.workflows.size === 0 ? "Not Found" : otherwise)
}

const getExecution: Handler = Effect.fnUntraced(function*(call) {
  const execution = yield* find(call, "Not Found")
  if (withData(call) && execution["data"] === undeliverable) return yield* refuse(500, "Internal Server Error")
  return json(detail(execution, call))
})

const queuedMessage = "Execution is queued to run (not yet started) so it cannot be retried"
const abortedMessage = "The execution was aborted before starting, so it cannot be retried"

/** Retries without executing: with the old result, or a success if it had none or the current workflow is loaded. */
const retryExecution: Handler = Effect.fnUntraced(function*(call) {
  const { id, now, state, version } = call
  const old = yield* find(call, `The execution with the ID "${id}" does not exist.`)
  const data = obj(old["data"])
  if (old.status === "new") return yield* refuse(409, queuedMessage)
  if (data["executionData"] === undefined) return yield* refuse(409, abortedMessage)
  if (old["finished"] === true) {
    return yield* refuse(version === "2" ? 409 : 400, "The execution succeeded, so it cannot be retried.")
  }
  const failsAgain = obj(call.body)["loadWorkflow"] !== true && (old.status === "error" || old.status === "crashed")
  const retried: Execution = {
    ...old,
    id: String(Math.max(...[...state.executions.keys()].map(Number)) + 1),
    finished: !failsAgain,
    mode: "retry",
    retryOf: id,
    retrySuccessId: null,
    status: failsAgain ? old.status : "success",
    createdAt: now,
    startedAt: now,
    stoppedAt: now,
    waitTill: null,
    workflowVersionId: null,
    data: failsAgain ? data : { ...data, resultData: without(obj(data["resultData"]), "error") }
  }
  state.executions.set(retried.id, retried)
  if (!failsAgain) state.executions.set(id, { ...old, retrySuccessId: retried.id })
  return json({
    ...only(retried, "id", "mode", "startedAt", "workflowId", "finished", "status", "data"),
    ...(version === "2" && only(retried, "storedAt")),
    retryOf: version === "2" ? id : Number(id),
    workflowData: { ...obj(old["workflowData"]), active: false, activeVersionId: null },
    customData: obj(old["customData"])
  })
})

const stoppable = new Set(["new", "unknown", "waiting", "running"])

const stopExecution: Handler = Effect.fnUntraced(function*(call) {
  const { id, now, state } = call
  const execution = yield* find(call, "Failed to find execution to stop")
  if (!stoppable.has(execution.status)) {
    const problem = `Only running or waiting executions can be stopped and ${id} is currently ${execution.status}`
    return yield* refuse(409, problem)
  }
  const stopped = { ...execution, status: "canceled", finished: false, stoppedAt: now, waitTill: null }
  state.executions.set(id, stopped)
  return json(only(stopped, "mode", "startedAt", "stoppedAt", "finished", "status"))
})

export const routes = [
  ...webhookRoutes,
  api("GET", "/executions", listExecutions),
  api("GET", "/executions/:id", getExecution),
  api("POST", "/executions/:id/retry", retryExecution),
  api("POST", "/executions/:id/stop", stopExecution)
]
