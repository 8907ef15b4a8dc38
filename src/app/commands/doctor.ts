/** `doctor`: checks everything that the server needs. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as Options from "../config/Options.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as Doctor from "../doctor/Doctor.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { command, exit, isColoured, offeredTools, report } from "./root.ts"

const surroundings = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.oauthIssuer === undefined && options.publicUrl === undefined) return []
  const AccessChecks = yield* Effect.promise(() => import("../doctor/AccessChecks.ts"))
  return yield* AccessChecks.examine(options)
}, Effect.provide(FetchHttpClient.layer))

const withVersion = (state: ToolContext.Own["state"]) =>
  typeof state === "string"
    ? Effect.succeed(state)
    : Effect.map(Effect.promise(() => import("../Postgres.ts")), ({ version }) => ({ ...state, version }))

export const doctor = command(
  "doctor",
  "Check address, key, scopes and version of n8n",
  { json: flags.toggle("json", "Print the checks as JSON") },
  Effect.fnUntraced(function*({ json }, options) {
    const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
    const tools = yield* offeredTools(options)
    let shared = yield* surroundings(options)
    const open = yield* ToolContext.make(options)
    for (const upstream of defaultUpstream === undefined ? upstreams : [defaultUpstream]) {
      const { context, filesRoots, state } = yield* open(upstream)
      const own = yield* Doctor.examine({
        tools,
        filesRoots,
        offersFiles: options.transport === "stdio",
        state: yield* withVersion(state)
      }).pipe(Effect.provideContext(context))
      const checks = [...shared, ...own]
      // Common checks are printed once.
      shared = []
      const { name: profile } = upstream
      yield* report(json, profile === undefined ? checks : { profile, checks }, () => [
        `${profile === undefined ? "" : `${profile}\n`}${Doctor.render(checks, isColoured)}`
      ])
      if (!Doctor.isHealthy(checks)) yield* exit(1)
    }
  }, Effect.scoped)
)
