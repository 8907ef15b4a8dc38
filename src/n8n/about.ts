/** Facts about an n8n: its version and the API key's scopes, which no single endpoint returns, and its packages. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import * as body from "./body.ts"
import { getJson, type Requests } from "./requests.ts"

/** n8n's version and the API key's scopes. */
export interface About {
  /** Such as `2.41.1`; absent if the start page does not name it (the editor may be disabled). */
  readonly version: string | undefined
  /** The API key's scopes, such as `workflow:read`; absent on 1.x, which neither reports nor enforces them. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** Whether the version is known to be 1.x. */
export const isV1 = (version: string | undefined): boolean => version !== undefined && Number.parseInt(version) < 2

/** First release whose API writes drafts, publishes a version and lists the history (the editor: since 2.0). */
const draftsSince = [2, 40] as const

/** Newest release whose API this package knows. */
const newest = [2, 41] as const

/** Whether a release may take more than this package knows of; also one that is unknown. */
export const isNewer = (version: string | undefined): boolean => {
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number)
  return version === undefined || major > newest[0] || major === newest[0] && minor > newest[1]
}

/** Whether the API writes drafts (if unknown, too); otherwise changes of published ones take effect immediately. */
export const writesDrafts = (version: string | undefined): boolean => {
  if (version === undefined) return true
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return !(major < draftsSince[0] || major === draftsSince[0] && minor < draftsSince[1])
}

const Release = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ release: Schema.String })))
)

const meta = /<meta name="n8n:config:sentry" content="([^"]+)">/

/** n8n's version from its start page, which includes it for error reports; no API endpoint returns it. */
const versionIn = (page: string): string | undefined =>
  Schema.decodeUnknownOption(Release)(meta.exec(page)?.[1]).pipe(
    Option.map(({ release }) => release.replace(/^n8n@/, "")),
    Option.getOrUndefined
  )

const Discover = Schema.Struct({ data: Schema.Struct({ scopes: Schema.Array(Schema.String) }) })

/** Whether n8n answered, whatever the status, other than with a redirect. */
const isAnswer = (error: Errors.N8nError) => {
  const status = Errors.statusOf(error)
  return status !== undefined && (status < 300 || status >= 400)
}

/** An installed package of community nodes; `updateAvailable` is the newer version, if there is one. */
export class CommunityPackage extends Schema.Opaque<CommunityPackage>()(Schema.Struct({
  packageName: Schema.String,
  installedVersion: Schema.String,
  updateAvailable: Schema.optionalKey(Schema.NullOr(Schema.String)),
  failedLoading: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})) {}

export const make = Effect.fnUntraced(function*(requests: Requests) {
  const version = requests.send(
    { method: "GET", path: "", to: "editor" },
    { operation: "reach n8n" },
    (response) => body.beginning(response, body.maxBytes.page)
  ).pipe(
    Effect.map(versionIn),
    Effect.catchIf(isAnswer, () => Effect.succeed(undefined))
  )
  const scopes = getJson(requests, "/discover", Discover, { operation: "ask what the API key may do" }).pipe(
    Effect.map(({ data }) => data.scopes),
    Effect.orElseSucceed(() => undefined)
  )
  const [release, forget] = yield* Effect.cachedInvalidateWithTTL(
    version.pipe(
      Effect.withSpan("N8nClient.release"),
      // It is useful but never required.
      Effect.timeoutOption("2 seconds"),
      Effect.orElseSucceed(() => Option.none<string | undefined>())
    ),
    "1 minute"
  )
  return {
    /** The version from the start page and the key's scopes from `GET /discover` (2.x). */
    about: Effect.all({ version, scopes }).pipe(Effect.withSpan("N8nClient.about")),
    /** n8n's version if it answers within 2 seconds, cached for a minute; it never fails. */
    release: Effect.flatMap(
      release,
      Option.match({ onNone: () => Effect.as(forget, undefined), onSome: Effect.succeed })
    ),
    /** `GET /community-packages` (2.x). */
    listCommunityPackages: Effect.withSpan(
      getJson(requests, "/community-packages", Schema.Array(CommunityPackage), {
        operation: "list community packages"
      }),
      "N8nClient.listCommunityPackages"
    )
  }
})
