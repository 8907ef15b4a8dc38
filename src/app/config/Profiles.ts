/** File with several n8n instances, each with its tokens and whether it may be changed. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { dirname, resolve as absolute } from "node:path"
import { suggestion } from "../../base/Nearest.ts"
import * as ConfigFile from "./ConfigFile.ts"
import type * as ConfigPlace from "./ConfigPlace.ts"
import { splitList, variableName } from "./forms.ts"
import * as State from "./State.ts"

/** One n8n, as one API key sees it. */
export interface Profile {
  readonly name: string
  /** Address of the editor. */
  readonly url: string
  readonly apiKey: Redacted.Redacted<string>
  readonly webhookUrl: string | undefined
  /** Headers for a proxy in front of n8n, as `NAME=VARIABLE`. */
  readonly headers: ReadonlyArray<string>
  /** Whether tools that change something are left out. */
  readonly readOnly: boolean
  /** Tokens of its callers over HTTP. */
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
  /** Absolute folders of its own; empty disables the file tools. Default: the server's. */
  readonly filesRoots?: ReadonlyArray<string> | undefined
  /** Place of its state. Default: the server's. */
  readonly state?: State.Place | undefined
}

/** Invalid profile; the server does not start. */
export class InvalidProfile extends Data.TaggedError("InvalidProfile")<{ readonly message: string }> {}

const text = Schema.String.check(Schema.isMinLength(1))
const variable = text.check(Schema.isPattern(variableName))

const Folders = Schema.Union([text, Schema.Array(text)])

const Entry = Schema.Struct({
  name: text,
  url: text,
  apiKey: Schema.optionalKey(text),
  apiKeyEnv: Schema.optionalKey(variable),
  webhookUrl: Schema.optionalKey(text),
  headersEnv: Schema.optionalKey(Schema.Record(text, variable)),
  readOnly: Schema.optionalKey(Schema.Boolean),
  tokens: Schema.optionalKey(Schema.Array(text)),
  tokensEnv: Schema.optionalKey(variable),
  filesRoot: Schema.optionalKey(Folders),
  state: Schema.optionalKey(text),
  stateEnv: Schema.optionalKey(variable)
})

const File = Schema.Struct({ profiles: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1)) })

const decodeFile = ConfigFile.decoder("The file", File)
const decodeEntry = ConfigFile.decoder("A profile", Entry)

export type Env = Readonly<Record<string, string | undefined>>

const stateOf = ({ state, stateEnv }: typeof Entry.Type, env: Env, base: string) => {
  if (state !== undefined && stateEnv !== undefined) {
    return Effect.fail("one of state and stateEnv (the name of a variable) is enough")
  }
  const value = state ?? env[stateEnv ?? ""]
  if (value === undefined || value === "") {
    return stateEnv === undefined ? Effect.undefined : Effect.fail(`${stateEnv} is not set`)
  }
  const place = State.named(Redacted.make(value), base)
  return place === undefined ? Effect.fail(`${stateEnv ?? "state"} is ${State.forms}`) : Effect.succeed(place)
}

const resolve = Effect.fnUntraced(function*(entry: typeof Entry.Type, env: Env, base: string): Effect.fn.Return<
  Profile,
  string
> {
  const { apiKey, apiKeyEnv, filesRoot, tokensEnv } = entry
  if ((apiKey === undefined) === (apiKeyEnv === undefined)) {
    return yield* Effect.fail("one of apiKey and apiKeyEnv (the name of a variable) is needed")
  }
  const key = apiKey ?? env[apiKeyEnv ?? ""]
  if (key === undefined || key === "") return yield* Effect.fail(`${apiKeyEnv} is not set`)
  const fromEnv = tokensEnv === undefined ? [] : splitList(env[tokensEnv] ?? "")
  if (tokensEnv !== undefined && fromEnv.length === 0) return yield* Effect.fail(`${tokensEnv} is not set`)
  return {
    name: entry.name,
    url: entry.url,
    apiKey: Redacted.make(key),
    webhookUrl: entry.webhookUrl,
    headers: Object.entries(entry.headersEnv ?? {}).map((pair) => pair.join("=")),
    readOnly: entry.readOnly ?? false,
    tokens: [...entry.tokens ?? [], ...fromEnv].map((token) => Redacted.make(token)),
    filesRoots: filesRoot === undefined ? undefined : [filesRoot].flat().map((folder) => absolute(base, folder)),
    state: yield* stateOf(entry, env, base)
  }
})

/**
 * Reads `{"profiles":[{name, url, apiKey or apiKeyEnv, webhookUrl?, headersEnv?, readOnly?, tokens?, tokensEnv?, filesRoot?,
 * state or stateEnv?}]}`; comments and trailing commas are allowed, commas separate several tokens in a variable, and
 * relative folders start at the file's.
 */
export const load = ({ file, text }: ConfigPlace.Place, env: Env): Effect.Effect<
  ReadonlyArray<Profile>,
  InvalidProfile,
  FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const folder = dirname(absolute(file))
    const content = yield* text === undefined ? ConfigFile.read(file) : ConfigFile.parseText(text)
    const { profiles } = yield* decodeFile(content)
    const resolved = yield* Effect.forEach(profiles, (entry, index) =>
      decodeEntry(entry).pipe(
        Effect.mapError((reason) => `profile ${index + 1}: ${reason}`),
        Effect.flatMap((decoded) =>
          Effect.mapError(
            resolve(decoded, env, folder),
            (reason) => `profile ${index + 1} '${decoded.name}': ${reason}`
          )
        )
      ))
    const names = resolved.map(({ name }) => name)
    const duplicate = names.find((name, index) => names.indexOf(name) !== index)
    return duplicate === undefined ? resolved : yield* Effect.fail(`two profiles are named '${duplicate}'`)
  }).pipe(Effect.mapError((reason) => new InvalidProfile({ message: `${file}: ${reason}` })))

export const find = <A extends { readonly name: string | undefined }>(
  profiles: ReadonlyArray<A>,
  name: string
): Effect.Effect<A, InvalidProfile> => {
  const names = profiles.flatMap((profile) => profile.name ?? [])
  const profile = profiles.find((profile) => profile.name === name)
  return profile === undefined
    ? Effect.fail(
      new InvalidProfile({ message: `There is no profile '${name}'. ${suggestion(name, names, names.length)}` })
    )
    : Effect.succeed(profile)
}

/** Profile by name; a single profile needs no name. */
export const pick = <A extends { readonly name: string | undefined }>(
  profiles: ReadonlyArray<A>,
  name: string | undefined
): Effect.Effect<A | undefined, InvalidProfile> =>
  name === undefined ? Effect.succeed(profiles.length === 1 ? profiles[0] : undefined) : find(profiles, name)
