/**
 * Runs scenarios on a real n8n and reads their outcome.
 *
 * **Details**
 *
 * It sends plain requests to the public API and to webhooks, without our own client: this is the oracle.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { RealN8n } from "./RealN8n.ts"
import { RealN8nError } from "./RealN8nError.ts"
import * as workflows from "./workflows.ts"

/** A workflow on the instance. */
export interface Made {
  readonly workflowId: string
  readonly name: string
  readonly webhookPath: string
}

/** A workflow and its execution. */
export interface Run extends Made {
  readonly executionId: string
  readonly status: string
}

/** An answer of the API; `body` is `undefined` if it is not JSON. */
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly text: string
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Provides the real clock and fetch. */
export const live = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
  )

const send = Effect.fn("scenarios.send")(
  function*(request: HttpClientRequest.HttpClientRequest) {
    const response = yield* HttpClient.execute(request)
    const text = yield* response.text
    return { status: response.status, text, body: parse(text) } satisfies Answer
  },
  (effect, { method, url }) =>
    effect.pipe(
      Effect.timeout("60 seconds"),
      Effect.mapError((error) => new RealN8nError({ step: `${method} ${url}`, detail: error.message })),
      live
    )
)

/** Sends a request to the public API and accepts any status; `path` is relative to `/api/v1/`. */
export const request = Effect.fn("scenarios.request")(function*(method: Method, path: string, body?: unknown) {
  const { apiKey, url } = yield* RealN8n
  return yield* HttpClientRequest.make(method)(new URL(`api/v1/${path.replace(/^\//, "")}`, url)).pipe(
    HttpClientRequest.setHeader("x-n8n-api-key", Redacted.value(apiKey)),
    body === undefined ? (self) => self : HttpClientRequest.bodyJsonUnsafe(body),
    send
  )
})

const refused = (method: Method, path: string, { status, text }: Answer) =>
  new RealN8nError({ step: `${method} ${path}`, detail: `HTTP ${status} ${text.slice(0, 2000)}` })

const ok = Effect.fn("scenarios.ok")(function*(method: Method, path: string, body?: unknown) {
  const answer = yield* request(method, path, body)
  if (answer.status >= 300) return yield* refused(method, path, answer)
  return answer.body
})

const as = <S extends Schema.Constraint & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (body: unknown) =>
    decode(body).pipe(
      Effect.mapError((error) => new RealN8nError({ step: "reading an answer", detail: error.message }))
    )
}

const Id = Schema.Struct({ id: Schema.String })
const Execution = Schema.Struct({ status: Schema.String, workflowId: Schema.String })
const Executions = Schema.Struct({ data: Schema.Array(Id) })

/** The API's answer to a GET. */
export const fetchJson = (path: string) => ok("GET", path)

const Page = Schema.Struct({
  data: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)),
  nextCursor: Schema.optionalKey(Schema.NullOr(Schema.String))
})

/** All workflows of this n8n. */
export const allWorkflows = Stream.runCollect(
  Stream.paginate(
    "",
    (cursor) =>
      fetchJson(`workflows?limit=250${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`).pipe(
        Effect.flatMap(Schema.decodeUnknownEffect(Page)),
        Effect.orDie,
        Effect.map(({ data, nextCursor }) => [data, Option.fromNullishOr(nextCursor)] as const)
      )
  )
)

/** Sends a request as the editor does for the owner, for operations that the public API lacks. */
const editor = Effect.fn("scenarios.editor")(function*(
  path: string,
  body: unknown = {},
  method: "POST" | "PATCH" = "POST"
) {
  const { asOwner } = yield* RealN8n
  return yield* HttpClientRequest.make(method)(`/${path}`).pipe(
    HttpClientRequest.bodyJsonUnsafe(body),
    asOwner.execute,
    Effect.flatMap((response) => response.json),
    Effect.mapError(({ message }) => new RealN8nError({ step: `${method} /rest/${path}`, detail: message })),
    live
  )
})

/** Saves a workflow in the editor: on 2.x what is published goes on. */
export const edit = (id: string, body: object) => editor(`workflows/${id}`, body, "PATCH")

const isV2 = Effect.map(RealN8n, ({ version }) => !version.startsWith("1."))

/** Creates a workflow from a body for POST /workflows. */
export const create = (body: { readonly name: string }) =>
  ok("POST", "workflows", body).pipe(Effect.flatMap(as(Id)), Effect.map(({ id }) => id))

/** Publishes by the path that every release has; on 2.x the webhook is registered a moment later. */
export const publish = (workflowId: string) => Effect.asVoid(ok("POST", `workflows/${workflowId}/activate`))

/** Unpublishes by the path that every release has. */
export const unpublish = (workflowId: string) => Effect.asVoid(ok("POST", `workflows/${workflowId}/deactivate`))

/** Unpublishes and deletes, and waits until 2.x has removed the webhook. */
export const remove = Effect.fn("scenarios.remove")(function*(workflowId: string) {
  yield* unpublish(workflowId)
  yield* ok("DELETE", `workflows/${workflowId}`).pipe(
    Effect.retry({ schedule: Schedule.spaced("100 millis"), times: 200 }),
    live
  )
})

/** Archives; on 1.x through the editor's API, since the public API cannot. */
export const archive = Effect.fn("scenarios.archive")(function*(workflowId: string) {
  const path = `workflows/${workflowId}/archive`
  if (yield* isV2) yield* ok("POST", path)
  else yield* editor(path)
})

/** Calls a webhook once, whether it is registered or not. */
export const postWebhook = Effect.fn("scenarios.postWebhook")(function*(path: string) {
  const { url } = yield* RealN8n
  return yield* send(HttpClientRequest.post(new URL(`webhook/${path}`, url)))
})

/** Calls a webhook until it is registered, and returns its answer. */
export const callWebhook = Effect.fn("scenarios.callWebhook")(function*(
  path: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown } = {}
) {
  const { url } = yield* RealN8n
  const at = new URL(`webhook/${path}`, url)
  return yield* HttpClientRequest.post(at).pipe(
    HttpClientRequest.setHeaders(options.headers ?? {}),
    HttpClientRequest.bodyJsonUnsafe(options.body ?? { hello: "n8n" }),
    send,
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), times: 600, while: ({ status }) => status === 404 }),
    Effect.filterOrFail(
      ({ status }) => status !== 404,
      ({ text }) => new RealN8nError({ step: `calling webhook ${path}`, detail: text })
    ),
    live
  )
})

/** Often at first; a long run is not slowed by who asks for it, and may take its time on a busy machine. */
const patience = Schedule.min([Schedule.exponential("50 millis", 1.2), Schedule.spaced("500 millis")]).pipe(
  Schedule.upTo({ duration: "3 minutes" })
)

/** Waits until an execution has one of these statuses; by default any except new and running. */
export const awaitStatus = Effect.fn("scenarios.awaitStatus")(function*(
  executionId: string,
  statuses?: ReadonlyArray<string>
) {
  return yield* fetchJson(`executions/${executionId}`).pipe(
    Effect.flatMap(as(Execution)),
    Effect.filterOrFail(
      ({ status }) => statuses === undefined ? status !== "new" && status !== "running" : statuses.includes(status),
      ({ status }) => new RealN8nError({ step: `waiting for execution ${executionId}`, detail: `it is ${status}` })
    ),
    Effect.map(({ status }) => status),
    Effect.retry(patience),
    live
  )
})

/** Ids of listed executions; running ones are listed only on request. */
const listed = (query: string) =>
  Effect.forEach(
    ["", "&status=running"],
    (filter) => fetchJson(`executions?${query}${filter}`).pipe(Effect.flatMap(as(Executions)))
  ).pipe(Effect.map((pages) => pages.flatMap(({ data }) => data.map(({ id }) => Number(id)))))

/** The highest listed execution id: later executions have higher ids. */
export const newestExecution = () => Effect.map(listed("limit=1"), (ids) => Math.max(0, ...ids))

/**
 * Waits for the first execution of a workflow after that one, and until it has one of these statuses.
 *
 * **Details**
 *
 * It asks for a list, and for the next ids one by one: 1.x lists an execution that waits under no status at all until
 * it restarts. Ids of executions that were deleted lie between.
 */
export const awaitExecution = Effect.fn("scenarios.awaitExecution")(function*(
  workflowId: string,
  after: number,
  statuses?: ReadonlyArray<string>
) {
  const isIts = (id: number) =>
    request("GET", `executions/${id}`).pipe(
      Effect.map(({ body }) => Schema.is(Execution)(body) && body.workflowId === workflowId)
    )
  const next = Array.from({ length: 20 }, (_, index) => after + 1 + index)
  const step = `waiting for an execution of ${workflowId}`
  const id = yield* listed(`workflowId=${workflowId}&limit=50`).pipe(
    Effect.flatMap((ids) => {
      const later = ids.filter((id) => id > after)
      return later.length > 0 ? Effect.succeedSome(Math.min(...later)) : Effect.findFirst(next, isIts)
    }),
    Effect.flatMap(Effect.fromOption),
    Effect.mapError(() => new RealN8nError({ step, detail: `none after ${after}` })),
    Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 600 }),
    live
  )
  return { executionId: String(id), status: yield* awaitStatus(String(id), statuses) }
})

/** An OpenAI credential for that base URL. */
export const openAiCredential = Effect.fn("scenarios.openAiCredential")(function*(name: string, url: string) {
  const { id } = yield* ok("POST", "credentials", {
    name,
    type: "openAiApi",
    data: { apiKey: "sk-fake", url, header: false }
  }).pipe(Effect.flatMap(as(Id)))
  return { id, name }
})

/** Creates the unpublished workflow of a scenario. */
export const make = Effect.fn("scenarios.make")(function*(scenario: workflows.Name, name: string = scenario) {
  const real = yield* RealN8n
  const openAi = !scenario.startsWith("ai")
    ? { id: "", name: "" }
    : yield* scenario === "aiFail"
      ? openAiCredential("No OpenAI", workflows.closedUrl)
      : openAiCredential("Fake OpenAI", real.openAiUrl.href)
  const webhookPath = `${scenario}-${crypto.randomUUID()}`
  const draft = workflows.drafts[scenario]({ url: real.url, openAi })
  const workflowId = yield* create(workflows.body(name, webhookPath, draft))
  return { workflowId, name, webhookPath } satisfies Made
})

const secretHeaders = { authorization: workflows.canaries.header, cookie: workflows.canaries.cookie }

/** Calls the webhook of a published scenario and waits for the execution. */
export const trigger = Effect.fn("scenarios.trigger")(function*(
  scenario: workflows.Name,
  made: Made,
  statuses: ReadonlyArray<string> | undefined = scenario === "running" ? ["running"] : undefined
) {
  const after = yield* newestExecution()
  yield* callWebhook(made.webhookPath, scenario === "secrets" ? { headers: secretHeaders } : {})
  return { ...made, ...yield* awaitExecution(made.workflowId, after, statuses) } satisfies Run
})

/** The scenarios that are started by a webhook and leave an execution. */
export type Runnable = Exclude<workflows.Name, "notSaved" | "manual">

/** Creates, publishes and triggers a scenario; the execution has ended, waits, or (for `running`) runs. */
export const run = Effect.fn("scenarios.run")(function*(scenario: Runnable, name: string = scenario) {
  const made = yield* make(scenario, name)
  yield* publish(made.workflowId)
  return yield* trigger(scenario, made)
})

/** Stops an execution and waits until it is canceled; on 1.x through the editor's API, since the public API cannot. */
export const stop = Effect.fn("scenarios.stop")(function*(executionId: string) {
  const path = `executions/${executionId}/stop`
  if (yield* isV2) yield* ok("POST", path)
  else yield* editor(path)
  return yield* awaitStatus(executionId, ["canceled"])
})

/** A canceled execution, stopped at a Wait node in memory. */
export const canceled = Effect.fn("scenarios.canceled")(function*() {
  const done = yield* run("running", "canceled")
  return { ...done, status: yield* stop(done.executionId) } satisfies Run
})

const Started = Schema.Struct({ data: Schema.Struct({ executionId: Schema.String }) })

/** An execution that the owner started by hand: mode manual. */
export const manual = Effect.fn("scenarios.manual")(function*() {
  const made = yield* make("manual")
  // 2.x runs the stored workflow, 1.x the one in the request.
  const { data } = yield* editor(`workflows/${made.workflowId}/run`, {
    workflowData: yield* fetchJson(`workflows/${made.workflowId}`),
    triggerToStartFrom: { name: workflows.trigger }
  }).pipe(Effect.flatMap(as(Started)))
  return { ...made, executionId: data.executionId, status: yield* awaitStatus(data.executionId) } satisfies Run
})

/** An execution interrupted by a crash of n8n, after its restart: status crashed. */
export const crashed = Effect.fn("scenarios.crashed")(function*() {
  const { crash } = yield* RealN8n
  const done = yield* run("running", "crashed")
  yield* crash([done.executionId])
  return { ...done, status: yield* awaitStatus(done.executionId) } satisfies Run
})

/** A workflow whose executions n8n does not save. */
export const notSaved = Effect.fn("scenarios.notSaved")(function*() {
  const made = yield* make("notSaved")
  yield* publish(made.workflowId)
  yield* callWebhook(made.webhookPath)
  return made
})

/** A workflow that ran and was then deleted together with its execution. */
export const deleted = Effect.fn("scenarios.deleted")(function*() {
  const done = yield* run("branch", "deleted")
  yield* remove(done.workflowId)
  return done
})

/** An archived workflow that ran once. */
export const archived = Effect.fn("scenarios.archived")(function*() {
  const done = yield* run("branch", "archived")
  yield* archive(done.workflowId)
  return done
})

/** Creates a tag unless it exists and returns its id. */
export const tag = Effect.fn("scenarios.tag")(function*(name: string) {
  const all = yield* fetchJson("tags?limit=250").pipe(
    Effect.flatMap(as(Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String })) })))
  )
  const found = all.data.find((each) => each.name === name)
  if (found !== undefined) return found.id
  return (yield* ok("POST", "tags", { name }).pipe(Effect.flatMap(as(Id)))).id
})

/** An unpublished workflow with these tags. */
export const tagged = Effect.fn("scenarios.tagged")(function*(name: string, tags: ReadonlyArray<string>) {
  const made = yield* make("merge", name)
  const ids = yield* Effect.forEach(tags, tag)
  yield* ok("PUT", `workflows/${made.workflowId}/tags`, ids.map((id) => ({ id })))
  return made
})
