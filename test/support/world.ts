/** Tools in front of an n8n in memory, with a folder of their own or without. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Services from "../../src/app/Services.ts"
import type { UnreadablePackage } from "../../src/catalogue/data/Packages.ts"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as TestTime from "./TestTime.ts"

/** What tools need. */
export type Needs = N8nClient.N8nClient | Services.Services

/** The content, the version and the behaviour of an n8n in memory. */
export interface Options extends N8nApi.Options {
  readonly seed?: N8nApi.Seed
}

const empty: N8nApi.Seed = { workflows: [], executions: [] }

/** Client of an n8n in memory, for a layer of its own. */
export const clientOf = (
  client: HttpClient.HttpClient,
  { apiKey = "k", host = "n8n.test", webhookUrl }: {
    readonly apiKey?: string | undefined
    readonly host?: string
    readonly webhookUrl?: URL | undefined
  } = {}
) =>
  N8nClient.layer({ url: new URL(`http://${host}`), apiKey: Redacted.make(apiKey), webhookUrl }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
  )

interface WorldOptions extends Options {
  /** Replaces the connection between the client and n8n. */
  readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
}

const world = Effect.fnUntraced(function*(
  { apiKey, seed = empty, through = (client) => client, ...options }: WorldOptions
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const state = yield* fs.makeTempDirectoryScoped()
  const api = yield* N8nApi.make(seed, options)
  const services = Services.layer({ filesRoots: [folder], stateFolder: state })
  const all = Layer.merge(clientOf(through(api.client), { apiKey }), services)
  /** Runs an effect as another process with the same folders would. */
  const elsewhere = Effect.provide(Layer.fresh(all), { local: true })
  return { folder, state, api, run: Effect.provide(all), elsewhere }
})

type World = Effect.Success<ReturnType<typeof world>>

type WorldError = Effect.Error<ReturnType<typeof world>> | UnreadablePackage

type InWorld = Needs | FileSystem.FileSystem | Scope.Scope

/** Runs a generator or an effect with a folder of its own and an n8n in memory; options may be only n8n's version. */
export const inWorld: {
  <Eff extends Effect.Effect<unknown, unknown, InWorld>, A>(
    use: (here: World) => Generator<Eff, A, never>,
    options?: "2" | "1" | WorldOptions
  ): Effect.Effect<A, Effect.Error<Eff> | WorldError>
  <A, E>(
    use: (here: World) => Effect.Effect<A, E, InWorld>,
    options?: "2" | "1" | WorldOptions
  ): Effect.Effect<A, E | WorldError>
} = <A, E>(
  use: (here: World) => Effect.Effect<A, E, InWorld> | Generator<Effect.Effect<unknown, E, InWorld>, A, never>,
  options: "2" | "1" | WorldOptions = {}
): Effect.Effect<A, E | WorldError> =>
  Effect.gen(function*() {
    const made = yield* world(typeof options === "string" ? { version: options } : options)
    const used = use(made)
    return yield* made.run(Effect.isEffect(used) ? used : Effect.gen(() => used))
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** Runs a generator with an n8n in memory and no files; waiting takes no time. */
export const inMemory = <Eff extends Effect.Effect<unknown, unknown, Needs>, A>(
  use: (api: N8nApi.N8nApi) => Generator<Eff, A, never>,
  { seed = empty, ...options }: Options = {}
) =>
  FakeN8n.FakeN8n.use((api) => TestTime.run(Effect.gen(() => use(api)))).pipe(
    Effect.provide(Layer.provideMerge(Services.layerMemory, FakeN8n.layer(seed, options)))
  )
