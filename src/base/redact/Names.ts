/** Which names are those of credentials, and which texts under them are none. */
import { str } from "../Json.ts"

/** What stands where a secret stood. A write that brings it back must keep the stored value. */
export const marker = "[redacted]"

/** Cheap and too broad: most names and texts end here. */
export const root = /token|secret|pass|pwd|key|auth|cookie|cred|jwt|bearer|sess|sig/i

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

const isCredential = (name: string): boolean => {
  const split = words(name, true)
  return !harmless.test(split) && (credential.test(split) || credential.test(words(name, false)))
}

/** Items have the same keys over and over. */
const known = new Map<string, boolean>()
const maxKnown = 1000

/** Whether a name, of a key or a header say, is that of a credential. */
export const isSecretName = (name: string): boolean => {
  if (!root.test(name)) return false
  const tail = name.slice(-100)
  const before = known.get(tail)
  if (before !== undefined) return before
  const isSecret = isCredential(tail)
  if (known.size >= maxKnown) known.clear()
  known.set(tail, isSecret)
  return isSecret
}

// ---- pairs

/** How the keys end that hold a name beside a value: in n8n's nodes, in headers and forms. */
const nameKey =
  /(?:^|[a-z_])(?:[nN]ame|[kK]ey|[iI]d|[fF]ield|[cC]olumn|[aA]ttribute|[pP]roperty|[pP]arameter|[hH]eader|[lL]abel|[tT]itle|_code)$/

/** The keys that hold the value beside a name. `returnValue` of n8n's HTML node is one of its options. */
const valueKey = /^(?!returnValue)\w*[vV]alues?\d?$|^value(?:String|Json)$/

/** Whether a key holds the name of a pair, such as `name` or `fieldId`. */
export const isNameKey = (key: string): boolean => nameKey.test(key)

/** Whether a key holds the value of a pair, such as `value` or `stringValue`. */
export const isValueKey = (key: string): boolean => valueKey.test(key)

/** The credential's name in a pair of a name and a value, such as `{ name: "X-Api-Key", value: "…" }`. */
export const pairName = (
  source: Record<PropertyKey, unknown>,
  keys: ReadonlyArray<string>
): string | undefined => {
  if (!keys.some(isValueKey)) return undefined
  const nameOf = (key: string) => isNameKey(key) ? str(source[key]) : undefined
  return keys.map(nameOf).find((name) => name !== undefined && isSecretName(name))
}

// ---- values

/**
 * What may stand under a credential's name and surely is none: kinds of authentication, the traces of a value that is
 * missing or was refused, which are what a debugging agent looks for, types in a schema, and parts of speech. Anything
 * else, a short word too, may be a password.
 */
const plain = new Set(
  ("none null undefined true false apiKey apiToken accessToken oAuth2 oauth2 basicAuth bearerAuth digestAuth headerAuth" +
    " queryAuth customAuth jwtAuth httpBasicAuth httpBearerAuth httpDigestAuth httpHeaderAuth httpQueryAuth" +
    " httpCustomAuth oAuth1Api oAuth2Api predefinedCredentialType genericCredentialType basic bearer digest oauth ntlm" +
    " required optional missing empty unset invalid expired revoked rejected denied failed failure incorrect wrong unknown" +
    " unauthorized unauthenticated authenticated forbidden anonymous disabled enabled ok success error present absent yes" +
    " no string number integer boolean object array any String Number Boolean Object Array NaN" +
    " ADJ ADP ADV AUX CONJ CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB").split(" ")
    .concat("", "Bearer undefined", "Bearer null", "[object Object]")
)

/** A scheme without its credential, what an example puts for one, an environment's variable, and a validation's words. */
const obvious = new RegExp(
  [
    "(?:[Bb]earer|[Bb]asic|[Tt]oken)\\s*",
    "[*•.]{3,}|x{3,}|X{3,}|<[\\w -]+>",
    "(?:[Yy]our|YOUR)[_ -][\\w -]+",
    "\\$[A-Z_][A-Z\\d_]*|%[A-Z_][A-Z\\d_]*%|process\\.env\\.\\w+",
    "(?:is|are|must|should|cannot|can't|may|has|does|was|too|not) [a-z '.,]+"
  ].map((form) => `^(?:${form})$`).join("|")
)

/** What is filled in where a text is used; those of n8n (`{{ … }}`) only inside texts, for a value starts with `=`. */
const filledIn = /\$\{[^{}]*\}|#\{[^{}]*\}|%s/g

/** Whether what stands under a credential's name is surely no secret. */
const isPlain = (name: string, value: string): boolean =>
  plain.has(value) || obvious.test(value) ||
  (/credentials?$/i.test(name) && /\S\s\S/.test(value)) ||
  (value.includes("{") && obvious.test(value.replace(filledIn, "").replace(/^$/, "Bearer")))

/** The value under a credential's name, or the marker. Expressions stay; `=` alone makes none. */
export const hide = (name: string, value: string): string =>
  isPlain(name, value) || (value.startsWith("=") && value.includes("{{")) ? value : marker

/** As `hide`, inside a text, whose expressions need no `=`. */
export const hideInText = (name: string, value: string): string =>
  isPlain(name, value) || /^=?(?:[A-Za-z]+ +)?\{\{/.test(value) ? value : marker
