/** Credentials: their names and types, never their values. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { getJson, pageOf, type Requests } from "./requests.ts"

const Credential = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })

const Page = pageOf(Credential)

/** The credential endpoints. */
export interface Service {
  /** `GET /credentials` (2.x only; on 1.x an `ApiError`); `limit` is 1 to 250. */
  readonly listCredentials: (
    query: { readonly limit: number; readonly cursor?: string | undefined }
  ) => Effect.Effect<typeof Page.Type, Errors.N8nError>
}

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => ({
  listCredentials: Effect.fn("N8nClient.listCredentials")((query) =>
    getJson(requests, "/credentials", Page, { operation: "list credentials" }, { ...query })
  )
})
