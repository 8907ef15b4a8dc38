/** `doctor`: checks everything that the server needs. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import type * as Options from "../config/Options.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as N8nChecks from "../doctor/N8nChecks.ts"
import type * as Layout from "../report/Layout.ts"
import * as Terminal from "../Terminal.ts"
import * as ToolContext from "../ToolContext.ts"
import { offeredTools, row } from "./row.ts"

const surroundings = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.oauthIssuer === undefined && options.publicUrl === undefined) return []
  const AccessChecks = yield* Effect.promise(() => import("../doctor/AccessChecks.ts"))
  return yield* AccessChecks.examine(options)
}, Effect.provide(FetchHttpClient.layer))

const withVersion = (state: ToolContext.Own["state"]) =>
  typeof state === "string"
    ? Effect.succeed(state)
    : Effect.map(Effect.promise(() => import("../Postgres.ts")), ({ version }) => ({ ...state, version }))

export const doctor = row({
  name: "doctor",
  description: "Check address, key, scopes and version of n8n",
  flags: {},
  form: "lines",
  services: () => Layer.empty,
  run: Effect.fnUntraced(function*(_, options) {
    const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
    const tools = yield* offeredTools(options)
    let shared = yield* surroundings(options)
    const open = yield* ToolContext.make(options)
    const examined = yield* Effect.forEach(
      defaultUpstream === undefined ? upstreams : [defaultUpstream],
      Effect.fnUntraced(function*(upstream) {
        yield* Terminal.progress(upstream.name === undefined ? "" : `Checking ${upstream.name}`)
        const { context, filesRoots, state } = yield* open(upstream)
        const own = yield* N8nChecks.examine({
          tools,
          filesRoots,
          offersFiles: options.transport === "stdio",
          state: yield* withVersion(state)
        }).pipe(Effect.provideContext(context))
        const checks = [...shared, ...own]
        // Common checks are shown once.
        shared = []
        return { profile: upstream.name, checks }
      })
    )
    const reports = examined.map(({ checks, profile }) => profile === undefined ? checks : { profile, checks })
    return {
      json: reports.length === 1 ? reports[0] : reports,
      text: ({ isColoured }: Layout.Screen) =>
        examined.flatMap(({ checks, profile }) => [
          ...profile === undefined ? [] : [profile],
          ...N8nChecks.render(checks, isColoured)
        ]),
      exit: examined.every(({ checks }) => N8nChecks.isHealthy(checks)) ? 0 as const : 1 as const
    }
  }, Effect.scoped)
})
