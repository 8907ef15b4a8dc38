/** What the tools run with, as the options say. */
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
import type { Files } from "../tools/Selection.ts"
import * as SqlDrafts from "../workflows/files/SqlDrafts.ts"
import * as Policy from "../workflows/Policy.ts"
import * as Options from "./Options.ts"
import * as Places from "./Places.ts"
import * as PolicyFile from "./PolicyFile.ts"
import * as Services from "./Services.ts"
import type * as State from "./State.ts"
import * as Upstreams from "./Upstreams.ts"

/** The operator's rules for writes, if there are any. */
const policy = ({ policy }: Options.Options) =>
  Layer.unwrap(Option.match(policy, {
    onNone: () => Effect.succeed(Layer.empty),
    onSome: (file) => Effect.map(PolicyFile.load(file), Policy.layer)
  }))

/** The values of the variables that the operator lists, read once. */
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

/** What all upstreams have in common. */
const common = (options: Options.Options) =>
  Layer.mergeAll(
    Layer.provideMerge(policy(options), Services.catalogue({ nodes: options.nodes })),
    credentialEnv(options),
    Layer.succeed(Locale.CurrentLocale, options.locale),
    Layer.succeed(Minimize.MaxResultChars, options.maxResultChars),
    Layer.succeed(Tool.RedactSecrets, !options.showSecrets)
  )

/** What is kept in a place, and the database if it is one; upstreams with one place share it. */
const stateIn = Effect.fnUntraced(function*(place: State.Place, options: Options.Options) {
  const bounds = { maxBodyBytes: options.maxExecutionMb * 1_000_000 }
  if (place._tag === "Folder") {
    return { database: undefined, services: yield* Layer.build(Services.stateInFolder(place.folder, bounds)) }
  }
  const database = yield* Layer.build(place.database)
  const services = yield* Layer.build(Services.stateInDatabase(Layer.succeedContext(database), bounds))
  return { database, services }
})

/** What the tools run with for one upstream. */
export interface Own {
  /** The profile's, if there is one. */
  readonly name: string | undefined
  readonly context: Context.Context<Services.Services | N8nClient>
  readonly files: Files
  /** What keeps its state, if it is a database. */
  readonly database: Database["Service"] | undefined
}

const keyOf = (place: State.Place) => place._tag === "Folder" ? `folder ${place.folder}` : place.key

/** Makes the folders of files out of those that an upstream has. */
type Folders = (own: ReadonlyArray<string>) => ReadonlyArray<string>

/** Opens one upstream after the other: everything that the tools need, with n8n down or `N8N_URL` unset too. */
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
    const files = Places.files({ ...places, filesRoots })
    const ofFiles = yield* files === "drafts" && database !== undefined
      ? Effect.provideContext(Layer.build(SqlDrafts.layer), Context.merge(database, client))
      : Layer.build(Services.files(filesRoots))
    const own: Own = {
      name: upstream.name,
      context: Context.mergeAll(shared, services, client, ofFiles),
      files,
      database: database && Context.get(database, Database)
    }
    return own
  })
})

/** Everything the tools need for one upstream. */
export const layerOf = (options: Options.Options, upstream: Upstreams.Upstream, folders?: Folders) =>
  Layer.effectContext(
    Effect.flatMap(make(options, folders), (open) => Effect.map(open(upstream), ({ context }) => context))
  )

/** The same for the upstream that the options name. */
export const layer = (options: Options.Options, folders?: Folders) =>
  Layer.unwrap(
    Effect.gen(function*() {
      const { defaultUpstream, upstreams } = yield* Upstreams.load(options)
      if (defaultUpstream === undefined) {
        const names = upstreams.map(({ name }) => `'${name}'`).join(", ")
        return yield* new Options.InvalidOption({ message: `Several profiles: choose one with --profile: ${names}` })
      }
      return layerOf(options, defaultUpstream, folders)
    })
  )
