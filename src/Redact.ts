/**
 * Takes secrets out of what an agent is shown. Pure: no services, no configuration.
 *
 * Three rules, from the surest to the broadest: a value whose **name** is that of a credential (a key, a
 * `{ name, value }` pair, a query parameter, `"name": "value"` inside text), a string whose **shape** is that of a
 * known credential, and what follows a known **opening** (`Bearer `, `https://user:`). Every pattern starts only where
 * a run of its own characters starts, so that time stays linear whatever the text.
 */
import * as Predicate from "effect/Predicate"

/** What stands where a secret stood. A write that brings it back must keep the stored value. */
export const marker = "[redacted]"

// ---- names

/** Cheap and too broad: most names and texts end here. */
const root = /token|secret|pass|pwd|key|auth|cookie|cred|jwt|bearer|sess|sig/i

/** Cursors that end in "token": they open nothing, and an agent needs them to ask for more. And flags about secrets. */
const harmless =
  /(?:^| )(?:next|prev(?:ious)?|page|pagination|continuation|cursor|sync|delta|skip|start|end|stop|max|min|per|total|eos|bos|pad|unk)+ ?token$|^(?:is|has|force|require|include|exclude|return) /

/**
 * The last word says what a value is: `authToken` is a token, `tokenUsage` is a usage. Words that only say which copy
 * or form of the secret it is may follow. A plural `tokens` is a count unless its qualifier says otherwise, and a bare
 * `key` or `auth id` names things, not secrets.
 */
const credential = new RegExp(
  `(?:(?:^| )(?:${
    [
      "\\w*(?:authorization|cookies?|token|passwords?|passwd|pwd|passphrases?|passcode|secrets?|credentials?|apikeys?)",
      "\\w*(?:accesskeys?|secretkeys?|privatekeys?|authkey|jwt|jsessionid|sessid)",
      "(?:access|refresh|auth|api|bearer|id|session|csrf|bot|device) ?tokens",
      "(?:api|access|secret|private|sign|signing|encryption|encryption customer|decryption|master|auth|app) keys?",
      "(?:application|consumer|shared|account|ssh|hmac|subscription|functions?|service role) keys?",
      "(?:user|db|database|smtp|imap|mail|email|ftp|auth) pass",
      "bearer|auth header|authorization header"
    ].join("|")
  })|^(?:(?:x|basic|proxy) )?auth|^pass)` +
    "(?: (?:\\d+|v|b|base|value|hash|hashed|digest|encrypted|plain|text|raw|string|confirm|confirmation|repeat|again" +
    "|old|new|current|primary|secondary))*$"
)

/** `XApiKey2` → `x api key 2`; without `camel`, `APIkey` → `apikey`, for those who case words as they like. */
const words = (name: string, camel: boolean): string =>
  (camel
    ? name.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[a-z])/g, " ")
    : name).replace(/[^A-Za-z\d]+/g, " ").trim().toLowerCase()

const isSecretName = (name: string): boolean => {
  if (!root.test(name)) return false
  const tail = name.slice(-100)
  const split = words(tail, true)
  return !harmless.test(split) && (credential.test(split) || credential.test(words(tail, false)))
}

const nameKeys = ["name", "key", "header", "headerName", "parameter", "parameterName", "field", "fieldName", "property"]

/** The keys that hold the value beside a name: n8n's parameters and assignments, and Set before 3.3. */
const valueKeys = new Set(["value", "stringValue"])

const isSecretPair = (source: Record<PropertyKey, unknown>): boolean =>
  (source["value"] !== undefined || source["stringValue"] !== undefined) &&
  nameKeys.some((key) => Predicate.isString(source[key]) && isSecretName(source[key]))

// ---- values

/**
 * What may stand under a credential's name and surely is none: n8n's names of authentication kinds, and the traces of
 * a value that is missing, which are what a debugging agent looks for. Anything else, a short word too, may be a
 * password.
 */
const plain = new Set(
  ("none null undefined true false apiKey apiToken accessToken oAuth2 oauth2 basicAuth bearerAuth digestAuth headerAuth" +
    " queryAuth customAuth jwtAuth httpBasicAuth httpBearerAuth httpDigestAuth httpHeaderAuth httpQueryAuth" +
    " httpCustomAuth oAuth1Api oAuth2Api predefinedCredentialType genericCredentialType").split(" ")
    .concat("", "Bearer undefined", "Bearer null")
)

/** Expressions stay. `=` alone makes none: `=hunter2` is how n8n stores a literal typed in expression mode. */
const hide = (value: string): string => (plain.has(value) || value.includes("{{") ? value : marker)

/** Secrets that are known by their shape; all of it goes. */
const shapes = [
  /sk-(?=[\w-]*\d)[\w-]{16,}/, // OpenAI, Anthropic, OpenRouter, DeepSeek
  /gh[pousr]_[A-Za-z\d]{20,}|github_pat_\w{20,}/, // GitHub
  /gl(?:pat|ptt|dt|rt|soat)-[\w-]{20,}/, // GitLab
  /xox[abeoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}/, // Slack
  /(?:AKIA|ASIA)[A-Z\d]{16}(?![\w-])/, // AWS
  /AIza[\w-]{30,}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{20,}/, // Google
  /[rs]k_(?:live|test)_\w{10,}|whsec_[\w+/=]{16,}/, // Stripe
  /SG\.[\w-]{16,}\.[\w-]{16,}/, // SendGrid
  /SK[\da-f]{32}(?![\w-])/, // Twilio
  /(?:bot)?\d{8,10}:AA[\w-]{30,}/, // Telegram
  /[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/, // Discord
  /ntn_[A-Za-z\d]{30,}|secret_[A-Za-z\d]{40,}/, // Notion
  /pat[A-Za-z\d]{14}\.[\da-f]{64}(?![\w-])/, // Airtable
  /pat-[a-z]{2}\d-[\da-f-]{36}(?![\w-])/, // HubSpot
  /shp(?:at|ca|pa|ss)_[\da-f]{32}(?![\w-])/, // Shopify
  /n8n_api_[\da-f]{32,}/, // n8n before its keys were JWTs
  /npm_[A-Za-z\d]{30,}|pypi-[\w-]{50,}/, // npm, PyPI
  /(?:hf|gsk)_[A-Za-z\d]{30,}|(?:xai|pplx)-[A-Za-z\d]{30,}/, // Hugging Face, Groq, xAI, Perplexity
  /eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*/ // JWT: n8n's own API keys, Supabase, most OAuth
]

/** What makes the text after it a secret; the opening, its one group, stays. */
const openings = [
  /(-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)(?=[\w+/=\s\\:,.-]{16})[\w+/=\s\\:,.]+(?:-(?!----)[\w+/=\s\\:,.]*){0,50}/,
  /(:\/\/[^\s/?#:@"'<>]*:)(?:(?!\{\{)[^\s/?#"'<>]){1,500}(?=@)/, // https://user:password@host
  /(\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]+/,
  /(\/\/(?:\w+\.)?discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/\d+\/)[\w-]+/,
  // "Bearer authentication" is prose: a token holds a digit or an inner capital, or is long.
  /(\b[Bb]earer\s+)(?:(?=[\w.~+/-]{1,200}[\dA-Z])[\w.~+/=-]{8,}|[\w.~+/=-]{20,})/,
  /(\b[Bb]asic\s+)(?=[\w+/]+[\dA-Z+/=])(?:[\w+/]{4}){2,500}(?:[\w+/]{2}==|[\w+/]{3}=)?(?![\w+/=])/,
  // Headers as curl and dumps write them. Other unquoted `name: value` pairs are more often prose than secrets.
  /((?<![\w-])[Aa]uthorization: *[A-Za-z]+ +)(?=[\w.~+/-]*\d)[^\s"',\\{]{6,}/,
  /((?<![\w-])(?:[Ss]et-)?[Cc]ookie: *)[\w.%-]+=[^"'\r\n\\{]+/,
  /((?<![\w-])[Xx]-[\w-]*(?:[Kk]ey|[Tt]oken|[Ss]ecret): *)[^\s"'\\{]+/
]

const sources = (patterns: ReadonlyArray<RegExp>) => patterns.map((pattern) => pattern.source).join("|")

const shape = new RegExp(`(?<![\\w-])(?:${sources(shapes)})`, "g")
const opening = new RegExp(sources(openings), "g")

/** Openings first: what they keep may itself have a known shape, as in `https://ghp_…:x-oauth-basic@github.com`. */
const redactKnown = (text: string): string =>
  text.replace(opening, (_, ...groups: ReadonlyArray<unknown>) => `${groups.find(Predicate.isString)}${marker}`)
    .replace(shape, marker)

// ---- pairs inside text

/**
 * `"name": "` as JSON, JavaScript and Python write it, one level of escaping included, or a bare `name = "`. The match
 * ends before the value's quote, which may open another name (`error: "password": "x"`). After a bare name the quote may also close a string (`"?token=" + token`), which the
 * operator behind it tells.
 */
const quoted =
  /(\\?["'])([^"'\\\r\n]+)\1\]?\s*[:=]\s*(?=(\\?["']))|(?<![\w$.%\\?&#;\]-])([\w$.-]+)\s*[:=]\s*(?=(\\?["'])(?!\s*(?:[+,;:?)}\]]|$)))/g

/** A quote closes when the backslashes before it are no more than its own level of escaping needs. */
const endOfQuoted = (text: string, from: number, open: string): number => {
  const level = open.length - 1
  let slashes = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    const own = slashes % (level === 0 ? 2 : 4)
    if (char === "\n" || (char === open[level] && own <= level)) return char === "\n" ? at : at - own
    slashes = char === "\\" ? slashes + 1 : 0
  }
  return text.length
}

const redactQuoted = (text: string): string => {
  let out = ""
  let done = 0
  for (const { 0: match, 2: name, 3: quote, 4: bareName, 5: bareQuote, index } of text.matchAll(quoted)) {
    if (index < done || !isSecretName(name ?? bareName ?? "")) continue
    const open = quote ?? bareQuote ?? ""
    const from = index + match.length + open.length
    const end = endOfQuoted(text, from, open)
    const value = text.slice(from, end)
    if (hide(value) === value) continue
    out += text.slice(done, from) + marker
    done = end
  }
  return done === 0 ? text : out + text.slice(done)
}

/** Query strings, form bodies, fragments, cookies, connection strings, environment: `name=value`, unquoted. */
const parameter =
  /(?<=^|[?&#;\s"'`])([\w$.%+~-]+(?:\[[\w$.%+~-]*\]){0,5})=(?!=)((?:B(?:earer|asic) )?[^&#;\s"'`<>\\]+)/g

/** Signatures of URLs open them (S3, Azure, n8n's resume URLs); under a key, a signature ends an email. */
const signature = /(?:^|[-_])sig(?:nature)?$/i

const redactParameters = (text: string): string =>
  text.replace(parameter, (match, name: string, value: string) => {
    const decoded = name.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    return isSecretName(decoded) || signature.test(decoded) ? `${name}=${hide(value)}` : match
  })

/**
 * Replaces the secrets in free text: error messages, URLs, bodies, code.
 *
 * **Details**
 *
 * Known shapes, `Bearer` and `Basic` credentials, passwords in URLs, private keys, and the values of credential-like
 * names in query strings, form bodies and JSON (as it is, or escaped once). n8n expressions (`{{ … }}`) stay.
 */
export const redactText = (text: string): string =>
  redactKnown(root.test(text) ? redactParameters(redactQuoted(text)) : text)

// ---- trees

type Container = Record<PropertyKey, unknown>

/** A container on the way down, and, once something in it has changed, its copy. */
interface Place {
  readonly source: Container
  readonly secret: boolean
  readonly parent: Place | undefined
  readonly key: PropertyKey
  copy: Container | undefined
}

/** Copies upwards, only as far as no copy exists yet: what did not change keeps its identity. */
const write = (place: Place, key: PropertyKey, value: unknown): void => {
  let at: Place | undefined = place
  let slot = key
  let content = value
  while (at !== undefined) {
    const fresh: boolean = at.copy === undefined
    at.copy ??= (Array.isArray(at.source) ? [...at.source] : { ...at.source }) as Container
    at.copy[slot] = content
    slot = at.key
    content = at.copy
    at = fresh ? at.parent : undefined
  }
}

/**
 * Replaces the secrets in a JSON value with `[redacted]`.
 *
 * **Details**
 *
 * Only strings change. Under a credential-like key a string goes whole, and so do the strings of an array; an object
 * there is walked like any other, so credential references (`{ id, name }`) survive. Nothing is mutated; what holds
 * no secret is returned as the same reference. Depth is bounded by memory, not by the stack.
 *
 * **Gotchas**
 *
 * Keys themselves are never changed, and numbers are never secrets. Not for class instances.
 */
export const redact = <A>(value: A): A => {
  const holder: Place = { source: { "": value }, secret: false, parent: undefined, key: "", copy: undefined }
  const work = [holder]
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    const { secret: listed, source } = at
    const list = Array.isArray(source)
    const paired = !list && isSecretPair(source)
    for (const key of list ? source.keys() : Object.keys(source)) {
      const inner = source[key]
      const text = Predicate.isString(inner)
      if (!text && (typeof inner !== "object" || inner === null)) continue
      const secret = Predicate.isString(key) ? (paired && valueKeys.has(key)) || isSecretName(key) : listed
      if (text) {
        const clean = redactText(secret ? hide(inner) : inner)
        if (clean !== inner) write(at, key, clean)
      } else {
        work.push({ source: inner as Container, secret, parent: at, key, copy: undefined })
      }
    }
  }
  return (holder.copy ?? holder.source)[""] as A
}
