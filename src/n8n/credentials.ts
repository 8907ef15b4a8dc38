/** Credentials: names and types. Values are sent to n8n and never returned. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import * as JsonPath from "../base/JsonPath.ts"
import { marker, redactText } from "../base/Redact.ts"
import { checked, elements, pageOf, type PageQuery } from "./pages.ts"
import { pathOf } from "./paths.ts"
import { getJson, postJson, type Requests, sendOnly, targetOf } from "./requests.ts"

/** A credential without its values: id, name and type. */
export class Credential
  extends Schema.Opaque<Credential>()(Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String }))
{}

const Credentials = pageOf(Credential)

/** Result of a credential test, with the message of n8n or the service, secrets redacted. */
export class CredentialTest extends Schema.Opaque<CredentialTest>()(
  Schema.Struct({ status: Schema.Literals(["OK", "Error"]), message: Schema.String })
) {}

/** Fields of a type in n8n's JSON Schema: `type` may be `notice`; `required` and `allOf` say what is required. */
export class CredentialSchema extends Schema.Opaque<CredentialSchema>()(Schema.StructWithRest(
  Schema.Struct({
    properties: Schema.Record(
      Schema.String,
      Schema.StructWithRest(
        Schema.Struct({
          type: Schema.optionalKey(Schema.Unknown),
          enum: Schema.optionalKey(Schema.Array(Schema.Unknown))
        }),
        [Schema.Record(Schema.String, Schema.Unknown)]
      )
    ),
    required: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  [Schema.Record(Schema.String, Schema.Unknown)]
)) {}

/** The values of a credential by field. */
export type CredentialValues = Redacted.Redacted<{ readonly [field: string]: unknown }>

const listTarget: Errors.Target = { operation: "list credentials" }

const credentialTarget = targetOf("Credential")

const path = (id: string) => pathOf`/credentials/${id}`

/** Minimum length of a secret: a shorter text could be part of any word. */
const minSecret = 4

/** Redacts the texts of a request's values in n8n's message. */
export const withoutValues = (values: Redacted.Redacted<unknown> | undefined) => {
  const secrets = values === undefined
    ? []
    : JsonPath.strings(Redacted.value(values)).map(([, text]) => text).filter(({ length }) => length >= minSecret)
      .toSorted((a, b) => b.length - a.length)
  return <E extends Errors.N8nError>(error: E): E | Errors.ApiError => {
    if (error._tag !== "ApiError") return error
    const details = secrets.reduce((text, secret) => text.replaceAll(secret, marker), error.reason.details)
    return details === error.reason.details ? error : Errors.withoutCause(Errors.withDetails(error, details))
  }
}

/** The credential endpoints. No error, trace or log contains a value. */
export const make = (requests: Requests) => {
  const listCredentials = Effect.fn("N8nClient.listCredentials")(function*(query: PageQuery) {
    return yield* getJson(requests, "/credentials", Credentials, listTarget, { ...yield* checked(query) })
  })
  return {
    /** `GET /credentials` (2.x only; on 1.x an `ApiError`); `limit` is 1 to 250. */
    listCredentials,
    /** All credentials (2.x only), a page at a time as they are asked for. */
    streamCredentials: elements(listTarget, listCredentials),
    /** `GET /credentials/schema/{type}`. */
    credentialSchema: Effect.fn("N8nClient.credentialSchema")((type: string) =>
      getJson(requests, pathOf`/credentials/schema/${type}`, CredentialSchema, {
        operation: "get the fields of credential type",
        resourceType: "Credential type",
        resourceId: type
      })
    ),
    /** `POST /credentials`: n8n checks fields' names and types, not whether they work; `projectId` is 2.x only. */
    createCredential: Effect.fn("N8nClient.createCredential")((
      credential: {
        readonly name: string
        readonly type: string
        readonly values: CredentialValues
        readonly projectId?: string
      }
    ) => {
      const { values, ...rest } = credential
      const body = { ...rest, data: Redacted.value(values) }
      return requests.serializeWrite(
        postJson(requests, "/credentials", Credential, { operation: "create credential" }, { body })
      ).pipe(Effect.mapError(withoutValues(values)))
    }),
    /** `DELETE /credentials/{id}`; workflows keep their reference to it. */
    deleteCredential: Effect.fn("N8nClient.deleteCredential")((id: string) =>
      requests.serializeWrite(
        sendOnly(requests, { method: "DELETE", path: path(id) }, credentialTarget("delete credential", id))
      )
    ),
    /** `POST /credentials/{id}/test` (2.x): n8n calls the service; `Error` also for a type without a test. */
    testCredential: Effect.fn("N8nClient.testCredential")((id: string) =>
      Effect.map(
        postJson(requests, `${path(id)}/test`, CredentialTest, credentialTarget("test credential", id)),
        ({ message, status }): CredentialTest => ({ status, message: redactText(message) })
      )
    )
  }
}
