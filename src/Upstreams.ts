/** The n8n instances that this server stands before, as the options name them. */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as N8nClient from "./N8nClient.ts"
import * as Options from "./Options.ts"
import * as Profiles from "./Profiles.ts"
import * as Tool from "./Tool.ts"

const parseUrl = (text: string, name = "N8N_URL (--n8n-url)") => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url?.protocol === "http:" || url?.protocol === "https:"
    ? Effect.succeed(url)
    : Effect.fail(
      new Options.InvalidOption({
        message: `${name} is no http address: '${text}'. Write it as http://localhost:5678`
      })
    )
}

/** Loaded only when it is wanted: a whole n8n in memory. */
const demo = Effect.promise(() =>
  Promise.all([import("./Demo.ts"), import("./testing/FakeN8n.ts")]).then(([{ seed }, FakeN8n]) => FakeN8n.layer(seed))
)

/** One n8n, and who is given it. */
export interface Upstream {
  /** Its profile's, if there is one. */
  readonly name: string | undefined
  readonly client: Layer.Layer<N8nClient.N8nClient>
  readonly readOnly: boolean
  /** Over HTTP: the tokens that lead here. */
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
}

const configured = Effect.fnUntraced(function*(
  { apiKey, url, webhookUrl }: Pick<Profiles.Profile, "url" | "apiKey" | "webhookUrl">,
  names: { readonly url?: string; readonly webhookUrl?: string } = {}
) {
  return N8nClient.layer({
    url: yield* parseUrl(url, names.url),
    apiKey,
    webhookUrl: webhookUrl === undefined ? undefined : yield* parseUrl(webhookUrl, names.webhookUrl)
  }).pipe(Layer.provide(FetchHttpClient.layer))
})

/** The n8n that `N8N_URL` names, or the one in memory. */
const unnamed = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.demo) return yield* demo
  const { apiKey, n8nUrl, webhookUrl } = options
  if (Option.isNone(n8nUrl) || Option.isNone(apiKey)) {
    return N8nClient.layerUnconfigured([
      ...(Option.isNone(n8nUrl) ? ["N8N_URL"] : []),
      ...(Option.isNone(apiKey) ? ["N8N_API_KEY"] : [])
    ])
  }
  return yield* configured(
    { url: n8nUrl.value, apiKey: apiKey.value, webhookUrl: Option.getOrUndefined(webhookUrl) },
    { webhookUrl: "N8N_MCP_WEBHOOK_URL (--webhook-url)" }
  )
})

const ofProfile = Effect.fnUntraced(function*(profile: Profiles.Profile, readOnly: boolean) {
  const named = (key: string) => `${key} of profile '${profile.name}'`
  return {
    name: profile.name,
    client: yield* configured(profile, { url: named("url"), webhookUrl: named("webhookUrl") }),
    readOnly: readOnly || profile.readOnly,
    tokens: profile.tokens
  }
})

/** Every n8n of the options, and the one that is meant where nobody says; with several profiles none may be. */
export const all = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.demo || Option.isNone(options.config)) {
    if (Option.isSome(options.profile)) {
      return yield* new Options.InvalidOption({
        message: "--profile names one of a file's: give the file with --config"
      })
    }
    const client = yield* unnamed(options)
    const only: Upstream = { name: undefined, client, readOnly: options.readOnly, tokens: [] }
    return { upstreams: [only], usual: only }
  }
  const profiles = yield* Profiles.load(options.config.value, process.env)
  const picked = yield* Profiles.pick(profiles, Option.getOrUndefined(options.profile))
  const upstreams: ReadonlyArray<Upstream> = yield* Effect.forEach(
    profiles,
    (profile) => ofProfile(profile, options.readOnly)
  )
  return { upstreams, usual: upstreams.find(({ name }) => name === picked?.name) }
})

/** What calls to it run with: its client, and whether it may be changed. */
export const layerOf = ({ client, readOnly }: Upstream) => Layer.merge(client, Layer.succeed(Tool.ReadOnly, readOnly))
