/** `doctor`: what the server needs, checked. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Snapshots from "../../workflows/store/Snapshots.ts"
import * as Doctor from "../Doctor.ts"
import * as Options from "../Options.ts"
import * as ToolContext from "../ToolContext.ts"
import * as Upstreams from "../Upstreams.ts"
import { offeredTools, print, root } from "./root.ts"

/** What the identity provider must be; nothing without one. */
const oauth = Effect.fnUntraced(function*(options: Options.Options) {
  if (Option.isNone(options.oauthIssuer)) return []
  const [OAuthOptions, OAuthChecks] = yield* Effect.promise(() =>
    Promise.all([import("../OAuthOptions.ts"), import("../OAuthChecks.ts")])
  )
  const checked = yield* OAuthOptions.load(options)
  return checked === undefined ? [] : yield* Effect.provide(OAuthChecks.examine(checked), FetchHttpClient.layer)
})

export const doctor = Command.make(
  "doctor",
  { json: Flag.Boolean("json").pipe(Flag.withDescription("Print the checks as JSON"), Flag.withDefault(false)) },
  Effect.fnUntraced(function*({ json }) {
    const options = yield* root
    const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
    const tools = yield* offeredTools(options)
    const isColoured = process.stdout.isTTY && process.env["NO_COLOR"] === undefined
    let shared = yield* oauth(options)
    for (const upstream of defaultUpstream === undefined ? upstreams : [defaultUpstream]) {
      const own = yield* Doctor.examine({
        tools,
        filesRoots: Options.filesRoots(options, process.env),
        needsFilesRoot: options.transport === "stdio",
        stateFolder: Snapshots.defaultFolder(process.env)
      }).pipe(Effect.provide(Layer.merge(ToolContext.shared(options), Upstreams.layerOf(upstream))))
      const checks = [...shared, ...own]
      // What is the same for every profile is told once.
      shared = []
      const { name: profile } = upstream
      if (json) yield* print(JSON.stringify(profile === undefined ? checks : { profile, checks }))
      else yield* print(`${profile === undefined ? "" : `${profile}\n`}${Doctor.render(checks, isColoured)}`)
      if (!Doctor.isHealthy(checks)) process.exitCode = 1
    }
  })
).pipe(Command.withDescription("Check address, key, scopes and version of n8n; 0 when all is well"))
