/** What this n8n is, and what the key may do: no endpoint tells both, and 1.x tells less. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Errors from "../base/Errors.ts"
import * as body from "./body.ts"
import { getJson, type Requests } from "./requests.ts"

/** What n8n tells about itself. */
export interface About {
  /** Such as `2.41.1`; absent where the start page does not tell (its editor may be switched off). */
  readonly version: string | undefined
  /** What the API key may do, such as `workflow:read`; absent on 1.x, which neither tells nor enforces them. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/** Whether n8n is surely of the 1.x line; a version that is not known is none. */
export const isV1 = (version: string | undefined): boolean => version !== undefined && Number.parseInt(version) < 2

const Release = Schema.StringFromBase64.pipe(
  Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ release: Schema.String })))
)

const meta = /<meta name="n8n:config:sentry" content="([^"]+)">/

/** No API tells n8n's version; the start page carries it for its error reports. */
const versionIn = (page: string): string | undefined =>
  Schema.decodeUnknownOption(Release)(meta.exec(page)?.[1]).pipe(
    Option.map(({ release }) => release.replace(/^n8n@/, "")),
    Option.getOrUndefined
  )

const Discover = Schema.Struct({ data: Schema.Struct({ scopes: Schema.Array(Schema.String) }) })

const target = { operation: "reach n8n" }

/** An answer that is no redirect: whatever it says, somebody is there. */
const answered = (error: Errors.N8nError) =>
  error._tag === "ApiError" && error.statusCode !== undefined && (error.statusCode < 300 || error.statusCode >= 400)

/** How long n8n may take to tell its release where it only helps to know it. */
const patience = "2 seconds"

/** What n8n tells about itself. */
export interface Service {
  /** Its version from the start page, the key's scopes from `GET /discover` (2.x). */
  readonly about: Effect.Effect<About, Errors.N8nError>
  /** n8n's version if it answers soon, kept for a minute; it never fails, for it only helps to know it. */
  readonly release: Effect.Effect<string | undefined>
}

/** What one n8n tells about itself. */
export const make = Effect.fnUntraced(function*(requests: Requests) {
  const version = requests.send(
    { method: "GET", path: "", to: "editor" },
    target,
    (response) => body.beginning(response, body.maxBytes.page)
  ).pipe(
    Effect.map(versionIn),
    Effect.catchIf(answered, () => Effect.succeed(undefined))
  )
  const scopes = getJson(requests, "/discover", Discover, { operation: "ask what the API key may do" }).pipe(
    Effect.map(({ data }) => data.scopes),
    Effect.orElseSucceed(() => undefined)
  )
  const release = version.pipe(
    Effect.timeoutOption(patience),
    Effect.map(Option.getOrUndefined),
    Effect.orElseSucceed(() => undefined)
  )
  return {
    about: Effect.all({ version, scopes }).pipe(Effect.withSpan("N8nClient.about")),
    release: yield* Effect.cachedWithTTL(release, "1 minute")
  } satisfies Service
})
