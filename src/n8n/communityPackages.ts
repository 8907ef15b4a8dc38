/** Installed packages of community nodes (n8n 2.x). */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import { getJson, type Requests, sendJson, sendOnly } from "./requests.ts"

/** A package of npm that n8n has installed; `updateAvailable` is the newer version, if there is one. */
const CommunityPackage = Schema.Struct({
  packageName: Schema.String,
  installedVersion: Schema.String,
  authorName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  authorEmail: Schema.optionalKey(Schema.NullOr(Schema.String)),
  installedNodes: Schema.Array(
    Schema.Struct({ name: Schema.String, type: Schema.String, latestVersion: Schema.optionalKey(Schema.Finite) })
  ),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String),
  updateAvailable: Schema.optionalKey(Schema.NullOr(Schema.String)),
  failedLoading: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})

/**
 * An installed package of community nodes, with its versions and nodes.
 *
 * @category models
 * @since 0.1.0
 */
export type CommunityPackage = typeof CommunityPackage.Type

/**
 * Which version: the newest by default; `verify` takes only those that n8n has checked.
 *
 * @category models
 * @since 0.1.0
 */
export interface PackageVersion {
  readonly version?: string
  readonly verify?: boolean
}

/**
 * The endpoints of community packages.
 *
 * **Gotchas**
 *
 * To install a package is to run its code on the machine of n8n: no tool of this package does it.
 */
export interface Service {
  /** `GET /community-packages` (2.x). */
  readonly listCommunityPackages: Effect.Effect<ReadonlyArray<CommunityPackage>, Errors.RequestError>
  /** `POST /community-packages` (2.x): downloads it from npm and loads it. */
  readonly installCommunityPackage: (
    name: string,
    options?: PackageVersion
  ) => Effect.Effect<CommunityPackage, Errors.RequestError>
  /** `PATCH /community-packages/{name}` (2.x). */
  readonly updateCommunityPackage: (
    name: string,
    options?: PackageVersion
  ) => Effect.Effect<CommunityPackage, Errors.N8nError>
  /** `DELETE /community-packages/{name}` (2.x): workflows that use its nodes no longer run. */
  readonly uninstallCommunityPackage: (name: string) => Effect.Effect<void, Errors.N8nError>
}

/** npm takes its time, in seconds. */
const installTimeout = 180

const path = (name: string) => `/community-packages/${encodeURIComponent(name)}`

const target = (operation: string, name: string): Errors.ResourceTarget => ({
  operation,
  resourceType: "Community package",
  resourceId: name
})

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => ({
  listCommunityPackages: Effect.withSpan(
    getJson(requests, "/community-packages", Schema.Array(CommunityPackage), { operation: "list community packages" }),
    "N8nClient.listCommunityPackages"
  ),
  installCommunityPackage: Effect.fn("N8nClient.installCommunityPackage")((name, options = {}) =>
    sendJson(
      requests,
      { method: "POST", path: "/community-packages", body: { name, ...options }, seconds: installTimeout },
      CommunityPackage,
      { operation: `install community package '${name}'` }
    )
  ),
  updateCommunityPackage: Effect.fn("N8nClient.updateCommunityPackage")((name, options = {}) =>
    sendJson(
      requests,
      { method: "PATCH", path: path(name), body: options, seconds: installTimeout },
      CommunityPackage,
      target("update community package", name)
    )
  ),
  uninstallCommunityPackage: Effect.fn("N8nClient.uninstallCommunityPackage")((name) =>
    sendOnly(requests, { method: "DELETE", path: path(name) }, target("uninstall community package", name))
  )
})
