/** n8n instances behind this server. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Tool from "../../answer/Tool.ts"
import { redactText } from "../../base/Redact.ts"
import * as Visible from "../../base/Visible.ts"
import * as N8nClient from "../../n8n/N8nClient.ts"
import * as NodeHttpClient from "../NodeHttpClient.ts"
import * as ConfigPlace from "./ConfigPlace.ts"
import { isApiKey, parseAddress, parseHeader } from "./forms.ts"
import * as Options from "./Options.ts"
import type * as Profiles from "./Profiles.ts"
import type * as State from "./State.ts"

/** Address for messages, without user, password and anything that looks like a key in the wrong variable. */
const withoutSecrets = (text: string) => redactText(text.replace(/^([a-z]+:\/\/)?.*@/is, "$1…@"))

export const parseUrl = (text: string, name: string) => {
  const url = parseAddress(text)
  if (url === "scheme") {
    return Options.refuse(
      `${name} is not an http address: '${withoutSecrets(text)}'. Write it as http://localhost:5678`
    )
  }
  return url !== "user" ? Effect.succeed(url) : Options.refuse(
    `${name} contains a user name or a password, which is never sent: n8n accepts only the API key. Remove everything before the @`
  )
}

/** Refuses invalid keys, which the HTTP client would report with a part of the key. */
const checkKey = (key: Redacted.Redacted<string>, name: string) =>
  isApiKey(Redacted.value(key))
    ? Effect.succeed(Redacted.make(Redacted.value(key).trim()))
    : Options.refuse(
      Redacted.value(key).trim() === ""
        ? `${name} is empty`
        : `${name} contains a line break, a space or another character that no API key has: copy it again from n8n`
    )

const demo = Effect.flatMap(
  Clock.currentTimeMillis,
  (now) =>
    Effect.promise(() =>
      Promise.all([import("../../demo/Demo.ts"), import("../../testing/FakeN8n.ts")])
        .then(([{ asOf, runs }, FakeN8n]) => FakeN8n.layer(asOf(now), { runs }))
    )
)

export interface Upstream {
  readonly name: string | undefined
  readonly client: Layer.Layer<N8nClient.N8nClient>
  readonly readOnly: boolean
  readonly tokens: ReadonlyArray<Redacted.Redacted<string>>
  /** Folders of its own; default: the server's. */
  readonly filesRoots?: ReadonlyArray<string> | undefined
  /** State of its own; default: the server's. */
  readonly state?: State.Place | undefined
}

const readHeaders = Effect.fnUntraced(function*(pairs: ReadonlyArray<string>, name: string) {
  const headers: Record<string, Redacted.Redacted<string>> = {}
  for (const pair of pairs) {
    const header = parseHeader(pair, process.env)
    if (typeof header === "string") return yield* Options.refuse(`${name}: ${header}`)
    headers[header.name] = Redacted.make(header.value)
  }
  return headers
})

type Address = Pick<Profiles.Profile, "url" | "apiKey" | "headers" | "webhookUrl">

export const configured = Effect.fnUntraced(function*(
  { apiKey, headers, url, webhookUrl }: Address,
  nameOf: (key: keyof Address) => string
) {
  return N8nClient.layer({
    url: yield* parseUrl(url, nameOf("url")),
    apiKey: yield* checkKey(apiKey, nameOf("apiKey")),
    headers: yield* readHeaders(headers, nameOf("headers")),
    webhookUrl: webhookUrl === undefined ? undefined : yield* parseUrl(webhookUrl, nameOf("webhookUrl"))
  }).pipe(Layer.provide(NodeHttpClient.layer))
})

const withoutProfile = Effect.fnUntraced(function*(options: Options.Options) {
  if (options.demo) return yield* demo
  const { apiKey, n8nHeader: headers, n8nUrl: url, webhookUrl } = options
  if (url === undefined || apiKey === undefined) {
    const missing = [...(url === undefined ? ["N8N_URL"] : []), ...(apiKey === undefined ? ["N8N_API_KEY"] : [])]
    const set = url !== undefined
      ? Options.isNamed(url, "N8N_URL") ? "--n8n-url" : "N8N_URL"
      : apiKey === undefined
      ? undefined
      : Options.isNamed(apiKey, "N8N_API_KEY")
      ? "--api-key"
      : "N8N_API_KEY"
    const unread = set === undefined ? undefined : ConfigPlace.find(process.env).used
    return N8nClient.layerUnconfigured(missing, set && unread && { set, file: Visible.line(unread.file) })
  }
  const names = {
    url: "N8N_URL (--n8n-url)",
    apiKey: "N8N_API_KEY (--api-key)",
    webhookUrl: "N8N_MCP_WEBHOOK_URL (--webhook-url)",
    headers: "N8N_MCP_N8N_HEADER (--n8n-header)"
  }
  return yield* configured({ url, apiKey, webhookUrl, headers }, (key) => names[key])
})

const ofProfile = Effect.fnUntraced(function*(profile: Profiles.Profile, readOnly: boolean) {
  const { filesRoots, name, state, tokens } = profile
  const upstream: Upstream = {
    name,
    client: yield* configured(profile, (key) => `${key} of profile '${name}'`),
    readOnly: readOnly || profile.readOnly,
    tokens,
    filesRoots,
    state
  }
  return upstream
})

/** Refuses two ways to name an n8n, of which one would be ignored: variables are ranked, a command line is not. */
const checkChoice = ({ apiKey, config, demo, n8nUrl, profile }: Options.Options) => {
  const isAddress = Options.isNamed(n8nUrl, "N8N_URL") || Options.isNamed(apiKey, "N8N_API_KEY")
  const isSaved = Options.isNamed(profile, "N8N_MCP_PROFILE") || Options.isNamed(config, "N8N_MCP_CONFIG")
  const isBoth = (isAddress || isSaved) && (n8nUrl ?? apiKey) !== undefined && (profile ?? config) !== undefined
  const names = [
    ...demo ? ["--demo"] : [],
    ...isSaved || isBoth ? [profile === undefined ? "--config" : "--profile"] : [],
    ...isAddress || isBoth ? ["--n8n-url and --api-key"] : []
  ]
  return names.length > 1 ? Options.refuse(`Choose one: ${names.join(", or ")}`) : Effect.void
}

/** File of profiles, if the options lead to one. */
const configFile = Effect.fnUntraced(function*(options: Options.Options) {
  const { apiKey, config, demo, n8nUrl, profile } = options
  yield* checkChoice(options)
  const hasAddress = apiKey !== undefined || n8nUrl !== undefined
  const { refused, used } = ConfigPlace.choose(process.env, { demo, config, profile, hasAddress })
  for (const { file, objection } of refused) {
    const text = `${Visible.line(file)} is not used: ${objection}`
    yield* config === undefined ? Effect.logWarning(text) : Options.refuse(text)
  }
  return used
})

/** Every n8n of the options, and the default, which several profiles may lack. */
export const load = Effect.fnUntraced(function*(options: Options.Options) {
  const file = yield* configFile(options)
  if (file === undefined) {
    if (options.profile !== undefined && !options.demo) {
      return yield* Options.refuse(
        "--profile (N8N_MCP_PROFILE) needs a file of profiles: set it with --config, or write one with effect-n8n-mcp init"
      )
    }
    const client = yield* withoutProfile(options)
    const only: Upstream = { name: undefined, client, readOnly: options.readOnly, tokens: [] }
    return { upstreams: [only], defaultUpstream: only, profiles: [] }
  }
  // Only a file of profiles takes a parser for it.
  const Profiles = yield* Effect.promise(() => import("./Profiles.ts"))
  const profiles = yield* Profiles.load(file, process.env)
  const upstreams = yield* Effect.forEach(profiles, (profile) => ofProfile(profile, options.readOnly))
  const defaultUpstream = yield* Effect.mapError(
    Profiles.pick(upstreams, options.profile),
    ({ message }) => Options.refuse(`${Visible.line(file.file)}: ${message}`)
  )
  return { upstreams, profiles, defaultUpstream }
})

/** Context of its calls: its client, and whether it may be changed. */
export const layerOf = ({ client, readOnly }: Upstream) => Layer.merge(client, Layer.succeed(Tool.ReadOnly, readOnly))
