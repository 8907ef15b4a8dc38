/** Installed packages of community nodes (n8n 2.x). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { getJson, type Requests } from "./requests.ts"

/** A package of npm that n8n has installed; `updateAvailable` is the newer version, if there is one. */
const CommunityPackage = Schema.Struct({
  packageName: Schema.String,
  installedVersion: Schema.String,
  updateAvailable: Schema.optionalKey(Schema.NullOr(Schema.String)),
  failedLoading: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

/** An installed package of community nodes. */
export type CommunityPackage = typeof CommunityPackage.Type

export interface Service {
  /** `GET /community-packages` (2.x). */
  readonly listCommunityPackages: Effect.Effect<ReadonlyArray<CommunityPackage>, Errors.RequestError>
}

export const make = (requests: Requests): Service => ({
  listCommunityPackages: Effect.withSpan(
    getJson(requests, "/community-packages", Schema.Array(CommunityPackage), { operation: "list community packages" }),
    "N8nClient.listCommunityPackages"
  )
})
