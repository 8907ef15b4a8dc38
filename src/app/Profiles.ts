/** Several n8n instances in one file, each with its tokens and whether it may be changed. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Arguments from "../answer/Arguments.ts"
import * as Tool from "../answer/Tool.ts"
import { suggestion } from "../base/Nearest.ts"
import * as ConfigFile from "./configFile.ts"
import { splitList } from "./declaration.ts"

/**
 * One n8n, as one API key sees it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Profile {
  readonly name: string
  /** The editor's address. */
  readonly url: string
  readonly apiKey: Redacted.Redacted<string>
  /** The address of its production webhooks, if it is another. */
  readonly webhookUrl: string | undefined
  /** Leaves out the tools that change something. */
  readonly readOnly: boolean
  /** Over HTTP: the tokens that lead to this profile. */
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
}

/**
 * A profile that cannot be used; the server does not start.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidProfile extends Data.TaggedError("InvalidProfile")<{ readonly message: string }> {}

const text = Schema.String.check(Schema.isMinLength(1))
const variable = text.check(Schema.isPattern(/^[A-Za-z_]\w*$/))

const Entry = Schema.Struct({
  name: text,
  url: text,
  apiKey: Schema.optionalKey(text),
  apiKeyEnv: Schema.optionalKey(variable),
  webhookUrl: Schema.optionalKey(text),
  readOnly: Schema.optionalKey(Schema.Boolean),
  tokens: Schema.optionalKey(Schema.Array(text)),
  tokensEnv: Schema.optionalKey(variable)
})

const File = Schema.Struct({ profiles: Schema.Array(Schema.Unknown).check(Schema.isMinLength(1)) })

const decodeFile = Arguments.decoder("The file", File, Tool.jsonSchema(File))
const decodeEntry = Arguments.decoder("A profile", Entry, Tool.jsonSchema(Entry))

/**
 * Variables of the environment, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Env = Readonly<Record<string, string | undefined>>

const resolve = (entry: typeof Entry.Type, env: Env): Effect.Effect<Profile, string> => {
  const { apiKey, apiKeyEnv, tokensEnv } = entry
  if ((apiKey === undefined) === (apiKeyEnv === undefined)) {
    return Effect.fail("one of apiKey and apiKeyEnv (the name of a variable) is needed")
  }
  const key = apiKey ?? env[apiKeyEnv ?? ""]
  if (key === undefined || key === "") return Effect.fail(`${apiKeyEnv} is not set`)
  const fromEnv = tokensEnv === undefined ? [] : splitList(env[tokensEnv] ?? "")
  if (tokensEnv !== undefined && fromEnv.length === 0) return Effect.fail(`${tokensEnv} is not set`)
  return Effect.succeed({
    name: entry.name,
    url: entry.url,
    apiKey: Redacted.make(key),
    webhookUrl: entry.webhookUrl,
    readOnly: entry.readOnly ?? false,
    tokens: [...entry.tokens ?? [], ...fromEnv].map((token) => Redacted.make(token))
  })
}

/**
 * Reads `{"profiles":[{name, url, apiKey or apiKeyEnv, webhookUrl?, readOnly?, tokens?, tokensEnv?}]}`; comments and
 * trailing commas are allowed, and a variable holds several tokens with commas between them.
 *
 * @category functions
 * @since 0.1.0
 */
export const load = (file: string, env: Env): Effect.Effect<
  ReadonlyArray<Profile>,
  InvalidProfile,
  FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const { profiles } = yield* ConfigFile.read(file, decodeFile)
    const resolved = yield* Effect.forEach(profiles, (entry, index) =>
      decodeEntry(entry).pipe(
        Effect.mapError(ConfigFile.explain),
        Effect.flatMap((decoded) => resolve(decoded, env)),
        Effect.mapError((reason) => `profile ${index + 1}: ${reason}`)
      ))
    const names = resolved.map(({ name }) => name)
    const duplicate = names.find((name, index) => names.indexOf(name) !== index)
    return duplicate === undefined ? resolved : yield* Effect.fail(`two profiles are named '${duplicate}'`)
  }).pipe(Effect.mapError((reason) => new InvalidProfile({ message: `${file}: ${reason}` })))

/**
 * The profile with the name; a single profile needs none.
 *
 * @category functions
 * @since 0.1.0
 */
export const pick = (
  profiles: ReadonlyArray<Profile>,
  name: string | undefined
): Effect.Effect<Profile | undefined, InvalidProfile> => {
  if (name === undefined) return Effect.succeed(profiles.length === 1 ? profiles[0] : undefined)
  const names = profiles.map((profile) => profile.name)
  const profile = profiles.find((profile) => profile.name === name)
  return profile === undefined
    ? Effect.fail(
      new InvalidProfile({ message: `There is no profile '${name}'. ${suggestion(name, names, names.length)}` })
    )
    : Effect.succeed(profile)
}
