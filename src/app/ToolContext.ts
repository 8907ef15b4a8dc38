/** Context of the tools by the options. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Locale from "../answer/Locale.ts"
import * as Minimize from "../answer/Minimize.ts"
import * as Tool from "../answer/Tool.ts"
import { Database } from "../base/Database.ts"
import { CredentialEnv } from "../credentials/Values.ts"
import type { N8nClient } from "../n8n/N8nClient.ts"
import * as Policy from "../workflows/policy/Policy.ts"
import * as Options from "./config/Options.ts"
import * as Places from "./config/Places.ts"
import * as PolicyFile from "./config/PolicyFile.ts"
import type * as State from "./config/State.ts"
import * as Upstreams from "./config/Upstreams.ts"
import * as Services from "./Services.ts"

/** Policy of the operator, if any. */
const policy = ({ policy }: Options.Options) =>
  Layer.unwrap(Option.match(policy, {
    onNone: () => Effect.succeed(Layer.empty),
    onSome: (file) => Effect.map(PolicyFile.load(file), Policy.layer)
  }))

/** Values of the variables listed by the operator, read once. */
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

/** Services shared by all upstreams. */
const common = (options: Options.Options) =>
  Layer.mergeAll(
    Layer.provideMerge(policy(options), Services.catalogue({ nodes: options.nodes })),
    credentialEnv(options),
    Layer.succeed(Locale.CurrentLocale, options.locale),
    Layer.succeed(Minimize.MaxResultChars, options.maxResultChars),
    Layer.succeed(Tool.RedactSecrets, !options.showSecrets)
  )

/** State in a place, shared by upstreams with the same place, and its database, if it is one. */
const stateIn = Effect.fnUntraced(function*(place: State.Place, options: Options.Options) {
  const bounds = { maxBodyBytes: options.maxExecutionMb * 1_000_000 }
  if (place._tag === "Folder") {
    return { database: undefined, services: yield* Layer.build(Services.stateInFolder(place.folder, bounds)) }
  }
  const database = yield* Layer.build(place.database)
  const services = yield* Layer.build(Services.stateInDatabase(Layer.succeedContext(database), bounds))
  return { database, services }
})

/** Context of the tools for one upstream. */
export interface Own {
  /** Name of the profile, if any. */
  readonly name: string | undefined
  readonly context: Context.Context<Services.Services | N8nClient>
  /** Whether it has a folder for files. */
  readonly hasFiles: boolean
  /** Database of its state, if it is one. */
  readonly database: Database["Service"] | undefined
}

const keyOf = (place: State.Place) => place._tag === "Folder" ? `folder ${place.folder}` : place.key

/** Maps the folders of files of an upstream. */
type Folders = (own: ReadonlyArray<string>) => ReadonlyArray<string>

/** Returns a function that opens an upstream with everything the tools need, even with n8n down or `N8N_URL` unset. */
export const make = Effect.fnUntraced(function*(options: Options.Options, folders: Folders = identity) {
  const shared = yield* Layer.build(common(options))
  const states = new Map<string, Effect.Success<ReturnType<typeof stateIn>>>()
  return Effect.fnUntraced(function*(upstream: Upstreams.Upstream) {
    const places = yield* Places.forUse(options, upstream)
    const key = keyOf(places.state)
    const state = states.get(key) ?? (yield* Effect.provideContext(stateIn(places.state, options), shared))
    states.set(key, state)
    const { database, services } = state
    const client = yield* Layer.build(Upstreams.layerOf(upstream))
    const filesRoots = folders(places.filesRoots)
    const files = yield* Layer.build(Services.files(filesRoots))
    const own: Own = {
      name: upstream.name,
      context: Context.mergeAll(shared, services, client, files),
      hasFiles: filesRoots.length > 0,
      database: database && Context.get(database, Database)
    }
    return own
  })
})

/** Layer of everything the tools need for one upstream. */
export const layerOf = (options: Options.Options, upstream: Upstreams.Upstream, folders?: Folders) =>
  Layer.effectContext(
    Effect.flatMap(make(options, folders), (open) => Effect.map(open(upstream), ({ context }) => context))
  )

/** Layer of everything the tools need for the upstream of the options. */
export const layer = (options: Options.Options, folders?: Folders) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
      if (defaultUpstream === undefined) {
        const names = upstreams.map(({ name }) => `'${name}'`).join(", ")
        return yield* Options.refuse(`Several profiles: choose one with --profile: ${names}`)
      }
      return layerOf(options, defaultUpstream, folders)
    })
  )
