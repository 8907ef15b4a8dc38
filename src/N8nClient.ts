/**
 * n8n's public REST API as an Effect service. Everything that differs between n8n's versions is in here and in
 * `N8nClient/`, and so is retry: tools repeat nothing.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type * as Execution from "./domain/executions/Execution.ts"
import type { Obj } from "./domain/Json.ts"
import type * as Workflow from "./domain/Workflow.ts"
import * as about from "./N8nClient/about.ts"
import * as executions from "./N8nClient/executions.ts"
import * as Requests from "./N8nClient/Requests.ts"
import * as webhooks from "./N8nClient/webhooks.ts"
import * as workflows from "./N8nClient/workflows.ts"
import * as writes from "./N8nClient/writes.ts"
import * as N8nError from "./N8nError.ts"

export { isV1 } from "./N8nClient/about.ts"
export { type Query as ExecutionQuery } from "./N8nClient/executions.ts"
export { type Options, retrySchedule } from "./N8nClient/Requests.ts"
export { type Answer as WebhookAnswer, type Call as WebhookCall, isUnregistered } from "./N8nClient/webhooks.ts"
export { deletedWorkflow, type Query as WorkflowQuery } from "./N8nClient/workflows.ts"

/** Which n8n, and as whom: ids are small integers and instances differ, so whatever is kept is kept under `key`. */
export interface Instance {
  /** The editor's address, ending in a slash. */
  readonly url: string
  /** The address with a fingerprint of the API key. */
  readonly key: string
}

/** What can be asked of n8n. Every method fails with an `N8nError`, after the repetitions that may help. */
export interface Service {
  readonly instance: Instance
  /** What n8n tells about itself: its version from the start page, the key's scopes from `GET /discover` (2.x). */
  readonly about: Effect.Effect<about.About, N8nError.N8nError>
  /** n8n's version where it is soon told, kept for a minute; it never fails, for it only helps to know it. */
  readonly release: Effect.Effect<string | undefined>
  /** `GET /workflows`, paged until `limit` that match are found; on every n8n version with `offset` and `tags`. */
  readonly listWorkflows: (
    query: workflows.Query
  ) => Effect.Effect<
    { readonly workflows: ReadonlyArray<Workflow.Listed>; readonly nextCursor?: string },
    N8nError.N8nError
  >
  /** `GET /workflows/{id}`. */
  readonly getWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>
  /** A workflow's name, kept for a minute; {@link deletedWorkflow} when n8n has it no more. */
  readonly workflowName: (id: string) => Effect.Effect<string, N8nError.N8nError>
  /** `GET /executions`, newest first; on 1.x the time filters are applied while paging through at most 5,000. */
  readonly listExecutions: (
    query: executions.Query
  ) => Effect.Effect<
    { readonly executions: ReadonlyArray<Execution.Listed>; readonly nextCursor?: string },
    N8nError.N8nError
  >
  /** `GET /executions/{id}`: its status and times, without data. */
  readonly executionHead: (id: string) => Effect.Effect<Execution.Listed, N8nError.N8nError>
  /** `GET /executions/{id}?includeData=true`: the bytes, as they arrive, to `consume`. */
  readonly readExecution: <A>(
    id: string,
    options: executions.ReadOptions,
    consume: executions.ConsumeExecution<A>
  ) => Effect.Effect<A, N8nError.N8nError>
  /** `POST /workflows`; the answer is the workflow as n8n stored it. */
  readonly createWorkflow: (body: Obj) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>
  /** `PUT /workflows/{id}`; on 2.x the result of writing to a published workflow is a draft. */
  readonly putWorkflow: (id: string, body: Obj) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>
  /** `DELETE /workflows/{id}`. */
  readonly deleteWorkflow: (id: string) => Effect.Effect<void, N8nError.N8nError>
  /** `POST /workflows/{id}/publish` (2.x) or `/activate`; asynchronous on 2.x. */
  readonly publishWorkflow: (id: string, versionId?: string) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>
  /** `POST /workflows/{id}/unpublish` (2.x) or `/deactivate`; asynchronous on 2.x. */
  readonly unpublishWorkflow: (id: string) => Effect.Effect<Workflow.Workflow, N8nError.N8nError>
  /** `GET /workflows/{id}/history`, newest first; `undefined` on 1.x, which has no drafts either. */
  readonly workflowHistory: (
    id: string
  ) => Effect.Effect<ReadonlyArray<writes.Version> | undefined, N8nError.N8nError>
  /** `GET /workflows/{id}/versions/{version}` (2.x). */
  readonly workflowVersion: (
    id: string,
    version: string
  ) => Effect.Effect<writes.VersionContent, N8nError.N8nError>
  /** `PUT /workflows/{id}/tags`, by name; tags that do not exist are created. */
  readonly setWorkflowTags: (id: string, names: ReadonlyArray<string>) => Effect.Effect<void, N8nError.N8nError>
  /** `POST /executions/{id}/retry`; answers once the new execution has ended. */
  readonly retryExecution: (
    id: string,
    loadWorkflow: boolean
  ) => Effect.Effect<{ readonly id: string | number; readonly status?: string | null }, N8nError.N8nError>
  /** `POST /executions/{id}/stop` (2.x). */
  readonly stopExecution: (id: string) => Effect.Effect<{ readonly status?: string | null }, N8nError.N8nError>
  /** `GET /credentials` (2.x): names and types, never values. */
  readonly listCredentials: (
    query: { readonly limit: number; readonly cursor?: string | undefined }
  ) => Effect.Effect<
    { readonly data: ReadonlyArray<writes.Credential>; readonly nextCursor?: string | null },
    N8nError.N8nError
  >
  /** The methods that a production webhook takes by now; asking runs nothing, and never fails. */
  readonly webhookMethods: (path: string) => Effect.Effect<ReadonlyArray<string>>
  /** Calls a production webhook, without the key; whatever the status, it is an answer. */
  readonly callWebhook: (path: string, call: webhooks.Call) => Effect.Effect<webhooks.Answer, N8nError.N8nError>
  /** Where a production webhook answers. */
  readonly webhookAddress: (path: string) => string
}

/** The client. Provide it with {@link layer}, {@link layerConfig} or `FakeN8n.layer` of `effect-n8n-mcp/testing`. */
export class N8nClient extends Context.Service<N8nClient, Service>()("effect-n8n-mcp/N8nClient") {}

const assemble = Effect.fnUntraced(function*(instance: Instance, requests: Requests.Requests) {
  return N8nClient.of({
    instance,
    ...(yield* about.make(requests)),
    ...webhooks.make(requests),
    ...(yield* writes.make(requests)),
    ...(yield* workflows.make(requests)),
    ...(yield* executions.make(requests))
  })
})

const fingerprint = (key: Redacted.Redacted<string>) =>
  createHash("sha256").update(Redacted.value(key)).digest("hex").slice(0, 16)

/** A client for one n8n, on the ambient `HttpClient`. */
export const make = Effect.fnUntraced(function*(options: Requests.Options) {
  const url = Requests.baseUrl(options.url).href
  return yield* assemble({ url, key: `${url}#${fingerprint(options.apiKey)}` }, yield* Requests.make(options))
})

/** The client with explicit options. */
export const layer = (options: Requests.Options): Layer.Layer<N8nClient, never, HttpClient.HttpClient> =>
  Layer.effect(N8nClient, make(options))

/** The client from `N8N_URL` and `N8N_API_KEY`. */
export const layerConfig: Layer.Layer<N8nClient, Config.ConfigError, HttpClient.HttpClient> = Layer.effect(
  N8nClient,
  Effect.gen(function*() {
    return yield* make({ url: yield* Config.URL("N8N_URL"), apiKey: yield* Config.Redacted("N8N_API_KEY") })
  })
)

/** A client that answers everything with an error naming the settings that are missing: the server starts all the same. */
export const layerUnconfigured = (missing: ReadonlyArray<string>): Layer.Layer<N8nClient> =>
  Layer.effect(
    N8nClient,
    assemble({ url: "", key: "" }, {
      send: (_request, target) =>
        Effect.fail(
          new N8nError.Validation({
            reason: `Cannot ${target.operation}: ${missing.join(" and ")} not set`,
            field: missing.join(", "),
            hint: `Set ${
              missing.join(" and ")
            } where the client starts this server (or start it with --demo to try it without n8n).`
          })
        ),
      webhooks: new URL("http://localhost/")
    })
  )
