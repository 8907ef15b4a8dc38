/** Credentials: their names and types, never their values. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { getJson, pageOf, pages, type Requests } from "./requests.ts"

const Credential = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })

const Page = pageOf(Credential)

const target: Errors.Target = { operation: "list credentials" }

/** The credential endpoints. */
export interface Service {
  /** `GET /credentials` (2.x only; on 1.x an `ApiError`); `limit` is 1 to 250. */
  readonly listCredentials: (
    query: { readonly limit: number; readonly cursor?: string | undefined }
  ) => Effect.Effect<typeof Page.Type, Errors.RequestError>
  /** All credentials (2.x only), a page at a time as they are asked for. */
  readonly streamCredentials: Stream.Stream<typeof Credential.Type, Errors.RequestError>
}

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listCredentials: Service["listCredentials"] = Effect.fn("N8nClient.listCredentials")((query) =>
    getJson(requests, "/credentials", Page, target, { ...query })
  )
  return {
    listCredentials,
    streamCredentials: pages(target, (cursor) =>
      Effect.map(
        listCredentials({ limit: 250, cursor }),
        ({ data, nextCursor }) => [data, nextCursor ?? undefined] as const
      ))
  }
}
