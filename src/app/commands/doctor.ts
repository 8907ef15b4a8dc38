/** `doctor`: checks everything that the server needs. */
import * as Command from "effect/cli/Command"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Database } from "../../base/Database.ts"
import type * as Options from "../config/Options.ts"
import * as Places from "../config/Places.ts"
import type * as State from "../config/State.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as Doctor from "../doctor/Doctor.ts"
import * as ToolContext from "../ToolContext.ts"
import { isColoured, offeredTools, print, root, toggle } from "./root.ts"

/** Checks of the identity provider and of the proxy in front of the server, if there are any. */
const surroundings = Effect.fnUntraced(function*(options: Options.Options) {
  if (Option.isNone(options.oauthIssuer) && Option.isNone(options.publicUrl)) return []
  const [OAuthOptions, OAuthChecks, BalancerChecks] = yield* Effect.promise(() =>
    Promise.all([
      import("../config/OAuthOptions.ts"),
      import("../doctor/OAuthChecks.ts"),
      import("../doctor/BalancerChecks.ts")
    ])
  )
  const checked = yield* OAuthOptions.load(options)
  const address = yield* OAuthOptions.publicAddress(options)
  return [
    ...(checked === undefined ? [] : yield* OAuthChecks.examine(checked)),
    ...(address === undefined ? [] : [yield* BalancerChecks.examine(address, options.authToken[0])])
  ]
}, Effect.provide(FetchHttpClient.layer))

/** Subject of the check of the state: its folder or database. */
const stateOf = Effect.fnUntraced(function*(place: State.Place) {
  if (place._tag === "Folder") return place.folder
  const [{ version }, database] = yield* Effect.all([
    Effect.promise(() => import("../Postgres.ts")),
    Layer.build(place.database)
  ])
  return { address: place.address, run: Context.get(database, Database).run, version }
})

export const doctor = Command.make(
  "doctor",
  { json: toggle("json", "Print the checks as JSON") },
  Effect.fnUntraced(function*({ json }) {
    const options = yield* root
    const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
    const tools = yield* offeredTools(options)
    let shared = yield* surroundings(options)
    for (const upstream of defaultUpstream === undefined ? upstreams : [defaultUpstream]) {
      const places = yield* Places.of(options, upstream)
      const own = yield* Doctor.examine({
        tools,
        filesRoots: places.filesRoots,
        offersFiles: options.transport === "stdio",
        state: yield* stateOf(places.state)
      }).pipe(Effect.provide(ToolContext.layerOf(options, upstream)))
      const checks = [...shared, ...own]
      // Common checks are printed once.
      shared = []
      const { name: profile } = upstream
      if (json) yield* print(JSON.stringify(profile === undefined ? checks : { profile, checks }))
      else yield* print(`${profile === undefined ? "" : `${profile}\n`}${Doctor.render(checks, isColoured)}`)
      if (!Doctor.isHealthy(checks)) process.exitCode = 1
    }
  }, Effect.scoped)
).pipe(Command.withDescription("Check address, key, scopes and version of n8n; exits with 1 if a check fails"))
