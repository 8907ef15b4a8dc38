/** Context of the tools by the options. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { join } from "node:path"
import { Database } from "../base/Database.ts"
import * as Rows from "../base/Rows.ts"
import * as NodeCatalogue from "../catalogue/NodeCatalogue.ts"
import { CredentialEnv } from "../credentials/CredentialValues.ts"
import * as Links from "../n8n/Links.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as Policy from "../workflows/policy/Policy.ts"
import * as ConfigFile from "./config/ConfigFile.ts"
import * as Options from "./config/Options.ts"
import * as State from "./config/State.ts"
import * as Upstreams from "./config/Upstreams.ts"
import * as Services from "./Services.ts"

const readPolicy = ConfigFile.reader("A policy", Policy.Rules)

/** Policy of the file of `--policy`: `{"bannedNodes": […], "minScheduleMinutes": 5, "protectedTags": […], …}`. */
export const policyIn = (file: string) =>
  Effect.mapError(readPolicy(file), (reason) => Options.refuse(`--policy: ${file}: ${reason}`))

const policy = ({ policy }: Options.Options) =>
  policy === undefined ? Layer.empty : Layer.unwrap(Effect.map(policyIn(policy), Policy.layer))

const credentialEnv = ({ credentialEnv }: Options.Options) => {
  const variables = Options.variables(process.env)
  return Layer.succeed(
    CredentialEnv,
    new Map(credentialEnv.map((name) => {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      return [name, value === undefined ? undefined : Redacted.make(value)]
    }))
  )
}

const common = (options: Options.Options) =>
  Layer.mergeAll(
    Layer.provideMerge(policy(options), NodeCatalogue.layer({ nodes: options.nodes })),
    credentialEnv(options),
    Options.layerAnswers(options)
  )

/** Services for files and node types, without an n8n and without state. */
export const layerOffline = (options: Options.Options, roots: ReadonlyArray<string>) =>
  Layer.merge(common(options), Services.files(roots))

const stateIn = Effect.fnUntraced(function*(place: State.Place, options: Options.Options) {
  const bounds = { maxBodyBytes: options.maxExecutionMb * 1_000_000 }
  if (place._tag === "Folder") {
    return { state: place.folder, services: yield* Layer.build(Services.stateInFolder(place.folder, bounds)) }
  }
  const database = yield* Layer.build(place.database)
  const services = yield* Layer.build(Services.stateInDatabase(Layer.succeedContext(database), bounds))
  return { state: { address: place.address, run: Context.get(database, Database).run }, services }
})

export interface Own {
  readonly name: string | undefined
  readonly context: Context.Context<Services.Services | N8nClient>
  /** Absolute. */
  readonly filesRoots: ReadonlyArray<string>
  /** Folder of its state, or the database and its address without user and password. */
  readonly state: Effect.Success<ReturnType<typeof stateIn>>["state"]
}

type Folders = (own: ReadonlyArray<string>) => ReadonlyArray<string>

/** Folders of files and the state of an upstream, by default the server's; of the demo, temporary ones. */
const placesOf = Effect.fnUntraced(function*(options: Options.Options, upstream: Upstreams.Upstream) {
  const { demo, filesRoot, transport } = options
  const { filesRoots = Options.filesRoots(options, process.env), state = yield* State.place(options, process.env) } =
    upstream
  if (!demo || state._tag === "Database") return { filesRoots, state }
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "n8n-mcp-demo-" }))
  return {
    filesRoots: filesRoot.length > 0 || transport === "http" ? filesRoot : [folder],
    state: options.state !== undefined ? state : { _tag: "Folder" as const, folder: join(folder, ".state") }
  }
}, Effect.catchTag("PlatformError", Effect.die))

/** Returns a function that opens an upstream with everything the tools need, even with n8n down or `N8N_URL` unset. */
export const make = Effect.fnUntraced(function*(options: Options.Options, folders: Folders = identity) {
  const shared = yield* Layer.build(common(options))
  const states = new Map<string, Effect.Success<ReturnType<typeof stateIn>>>()
  return Effect.fnUntraced(function*(upstream: Upstreams.Upstream) {
    const places = yield* placesOf(options, upstream)
    const key = places.state._tag === "Folder" ? `folder ${places.state.folder}` : places.state.key
    const opened = states.get(key) ?? (yield* Effect.provideContext(stateIn(places.state, options), shared))
    states.set(key, opened)
    const { services, state } = opened
    const client = yield* Layer.build(Upstreams.layerOf(upstream))
    const filesRoots = folders(places.filesRoots)
    const files = yield* Layer.build(Services.files(filesRoots))
    const own: Own = {
      name: upstream.name,
      context: Context.mergeAll(shared, services, client, files),
      filesRoots,
      state
    }
    return own
  })
})

/** Context of a command or of a server over stdio, for one n8n. */
export const layerOf = (options: Options.Options, upstream: Upstreams.Upstream, folders?: Folders) =>
  Layer.effectContext(
    Effect.flatMap(
      make({ ...options, transport: "stdio" }, folders),
      (open) => Effect.map(open(upstream), ({ context }) => context)
    )
  )

export const layer = (options: Options.Options, folders?: Folders) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { defaultUpstream, profiles, upstreams } = yield* Upstreams.load(options)
      if (defaultUpstream !== undefined) {
        return Layer.merge(
          layerOf(options, defaultUpstream, folders),
          Layer.succeed(Links.Profiles, profiles.map(({ name, url }) => ({ name, url })))
        )
      }
      const names = Rows.names(upstreams.flatMap(({ name }) => name ?? []))
      return yield* Options.refuse(`Several profiles: choose one with --profile: ${names}`)
    })
  )
