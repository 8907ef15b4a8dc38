/** n8n's public REST API as a service; each resource has a file beside this one, and only `requests.ts` retries. */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { defined } from "../base/Json.ts"
import * as about from "./about.ts"
import * as audit from "./audit.ts"
import * as credentials from "./credentials.ts"
import * as dataTables from "./dataTables.ts"
import * as executions from "./executions.ts"
import * as history from "./history.ts"
import * as operations from "./operations.ts"
import * as projects from "./projects.ts"
import * as Requests from "./requests.ts"
import * as tags from "./tags.ts"
import * as webhooks from "./webhooks.ts"
import * as workflows from "./workflows.ts"

export { type About, type CommunityPackage, isNewer, isV1, writesDrafts } from "./about.ts"
export { type AuditLocation, type AuditReport } from "./audit.ts"
export { type Credential, type CredentialSchema, type CredentialTest, type CredentialValues } from "./credentials.ts"
export {
  type Column,
  type ColumnType,
  type Condition,
  type DataTable,
  type Row,
  type RowChange,
  type RowFilter,
  type RowPreview,
  type RowQuery
} from "./dataTables.ts"
export {
  type Conditions as ExecutionConditions,
  type ConsumeExecution,
  cursorAfter,
  type Query as ExecutionQuery,
  type ReadOptions
} from "./executions.ts"
export { type Version, type VersionContent } from "./history.ts"
export { type Listed as ListedExecution } from "./model/ExecutionHead.ts"
export { type Listed as ListedWorkflow, type Node, type Workflow } from "./model/Workflow.ts"
export {
  type ListOperation,
  type Method,
  type Operation,
  type OperationError,
  type OperationInput,
  type OperationResult,
  type PathInput
} from "./operations.ts"
export { cursorAt, type Page, pageAt, type PageQuery, positionOf } from "./pages.ts"
export { type Folder, type Project } from "./projects.ts"
export { baseUrl, hasStatus, isUnlicensed, isUnsupported, type Options, type Query as Parameters } from "./requests.ts"
export { retrySchedule } from "./retries.ts"
export { type Answer as WebhookAnswer, type Call as WebhookCall, isUnregistered } from "./webhooks.ts"
export {
  type Conditions as WorkflowConditions,
  deletedWorkflow,
  matcher as workflowMatcher,
  type Query as WorkflowQuery,
  type VersionLabels
} from "./workflows.ts"

/** An n8n and the user on it. Ids are small integers and not unique across instances: caches are keyed by `key`. */
export interface Instance {
  /** The editor's address, ending in a slash. */
  readonly url: string
  /** The address and a fingerprint of the API key. */
  readonly key: string
}

/** The operations of n8n's API. Every method fails as its type says, after retries where they may help. */
export interface Service
  extends
    Effect.Success<ReturnType<typeof about.make>>,
    ReturnType<typeof audit.make>,
    ReturnType<typeof credentials.make>,
    ReturnType<typeof dataTables.make>,
    Effect.Success<ReturnType<typeof executions.make>>,
    ReturnType<typeof history.make>,
    ReturnType<typeof operations.make>,
    ReturnType<typeof projects.make>,
    ReturnType<typeof tags.make>,
    Effect.Success<ReturnType<typeof webhooks.make>>,
    Effect.Success<ReturnType<typeof workflows.make>>
{
  readonly instance: Instance
}

/** The client. Provide it with {@link layer}, {@link layerConfig} or `FakeN8n.layer` of `effect-n8n-mcp/testing`. */
export class N8nClient extends Context.Service<N8nClient, Service>()("effect-n8n-mcp/N8nClient") {}

const assemble = Effect.fnUntraced(function*(instance: Instance, requests: Requests.Requests) {
  return N8nClient.of({
    instance,
    ...audit.make(requests),
    ...credentials.make(requests),
    ...dataTables.make(requests),
    ...history.make(requests),
    ...operations.make(requests),
    ...projects.make(requests),
    ...tags.make(requests),
    ...(yield* about.make(requests)),
    ...(yield* executions.make(requests)),
    ...(yield* webhooks.make(requests)),
    ...(yield* workflows.make(requests))
  })
})

/** Makes a client for one n8n from the `HttpClient` in context. */
export const make = Effect.fnUntraced(function*(options: Requests.Options) {
  const url = Requests.baseUrl(options.url).href
  const fingerprint = sha256(Redacted.value(options.apiKey)).slice(0, 16)
  return yield* assemble({ url, key: `${url}#${fingerprint}` }, yield* Requests.make(options))
})

/** The client with the given options. */
export const layer = (options: Requests.Options): Layer.Layer<N8nClient, never, HttpClient.HttpClient> =>
  Layer.effect(N8nClient, make(options))

/** Sources of the options of {@link layerConfig}; `retry` is a value. */
export type ConfigOptions =
  & { readonly [K in Exclude<keyof Requests.Options, "retry">]?: Config.Config<Requests.Options[K]> | undefined }
  & Pick<Requests.Options, "retry">

/**
 * The client from configuration: by default from `N8N_URL` and `N8N_API_KEY`.
 *
 * **Example** (An n8n under names of one's own)
 *
 * ```ts
 * import { N8nClient } from "effect-n8n-mcp"
 * import * as Config from "effect/Config"
 * import * as FetchHttpClient from "effect/http/FetchHttpClient"
 * import * as Layer from "effect/Layer"
 *
 * export const production = N8nClient.layerConfig({
 *   url: Config.URL("PROD_URL"),
 *   apiKey: Config.Redacted("PROD_KEY"),
 *   headers: Config.all({ "cf-access-token": Config.Redacted("PROXY_TOKEN") }),
 *   timeout: Config.Duration("PROD_TIMEOUT")
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 */
export const layerConfig = (
  { apiKey = Config.Redacted("N8N_API_KEY"), retry, url = Config.URL("N8N_URL"), ...rest }: ConfigOptions = {}
): Layer.Layer<N8nClient, Config.ConfigError, HttpClient.HttpClient> =>
  Layer.effect(
    N8nClient,
    Effect.flatMap(Config.all(defined({ url, apiKey, ...rest })), (options) => make({ ...options, retry }))
  )

/** A client whose methods fail with the names of the missing settings, so that the server starts without them. */
export const layerUnconfigured = (
  missing: ReadonlyArray<string>,
  /** File of settings that is not read, and the setting that stands before it. */
  unread?: { readonly set: string; readonly file: string }
): Layer.Layer<N8nClient> =>
  Layer.effect(
    N8nClient,
    assemble({ url: "", key: "" }, {
      send: () =>
        Errors.invalid(missing.join(", "), `n8n is not configured: ${missing.join(" and ")} not set`, {
          _tag: "Configure",
          missing,
          unread
        }),
      serializeWrite: identity,
      webhooks: new URL("http://localhost/")
    })
  )
