/** Names of credentials, and values under such names that are not secrets. */
import { str } from "../Json.ts"
import { memoize } from "./memoize.ts"

/** The replacement for a secret. A write that contains it must keep the stored value. */
export const marker = "[redacted]"

/** Cheap and broad first test, which most names and texts fail. */
export const root =
  /token|secret|pass|pwd|key|auth|cookie|cred|jwt|bearer|sess|sig|otp|pin(?![a-z])|connect\.sid|contrase|senha|kennwort/i

export const foreignRoot = /парол|Парол|ПАРОЛ|パスワード|[\u200b-\u200d\u2060\ufeff\u00ad]/

const unseen = /[\u200b-\u200d\u2060\ufeff\u00ad]/g

/** Page cursors that end in "token", which are not secrets and which an agent needs, and flags about secrets. */
const harmless =
  /(?:^| )(?:next|prev(?:ious)?|page|pagination|continuation|cursor|sync|delta|skip|start|end|stop|max|min|per|total|eos|bos|pad|unk)+ ?token$|^(?:is|has|force|require|include|exclude|return) /

/**
 * The last word describes the value: `authToken` is a token, `tokenUsage` is a usage. Words that only describe a copy
 * or form of the secret may follow. A plural `tokens` is a count unless its qualifier indicates a secret, and a bare
 * `key` or `auth id` is an identifier, not a secret.
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
      "bearer|auth header|authorization header|otp|client key data",
      "\\w*(?:passwort|kennwort)|contrase(?:n|ñ)a|senha|mot de passe|пароль|パスワード"
    ].join("|")
  })|^(?:(?:x|basic|proxy) )?auth|^pass|^pin|^connect sid)` +
    "(?: (?:\\d+|v|b|base|value|hash|hashed|digest|encrypted|plain|text|raw|string|confirm|confirmation|repeat|again" +
    "|old|new|current|primary|secondary))*$"
)

/** `XApiKey2` → `x api key 2`; without `camel`, `APIkey` → `apikey`, for irregular capitals. */
const words = (name: string, camel: boolean): string =>
  (camel
    ? name.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[a-z])/g, " ")
    : name).replace(/[^\p{L}\d]+/gu, " ").trim().toLowerCase()

const isCredential = (written: string): boolean => {
  const name = written.replace(unseen, "").normalize("NFC")
  const split = words(name, true)
  return !harmless.test(split) && (credential.test(split) || credential.test(words(name, false)))
}

/** Memoized, since items repeat the same keys. */
const isKnownCredential = memoize(isCredential)

export const isSecretName = (name: string): boolean =>
  (root.test(name) || foreignRoot.test(name)) && isKnownCredential(name.slice(-100))

/** Endings of keys for the name in a pair of name and value: in n8n's nodes, headers and forms. */
const nameKey =
  /(?:^|[a-z_])(?:[nN]ame|[kK]ey|[iI]d|[fF]ield|[cC]olumn|[aA]ttribute|[pP]roperty|[pP]arameter|[hH]eader|[lL]abel|[tT]itle|_code)$|^k$/

/** Keys for the value of such a pair. `returnValue` is an option of n8n's HTML node. */
const valueKey = /^(?!returnValue)\w*[vV]alues?\d?$|^value(?:String|Json)$/

/** Keys for the value of a pair or a text beside a label; a value is one word. */
const wordKey = /^(?:v|content|text)$/i

/** Whether a text under a key may be the value of a pair. */
export const isPairValue = (key: string, value: unknown): boolean =>
  isValueKey(key) || wordKey.test(key) && typeof value === "string" && /^\S{4,}$/.test(value)

export const isNameKey = (key: string): boolean => nameKey.test(key)

export const isValueKey = (key: string): boolean => valueKey.test(key)

/** The credential's name in a pair of a name and a value, such as `{ name: "X-Api-Key", value: "…" }`. */
export const pairName = (
  source: Record<PropertyKey, unknown>,
  keys: ReadonlyArray<string>
): string | undefined => {
  if (!keys.some((key) => isPairValue(key, source[key]))) return undefined
  const nameOf = (key: string) => isNameKey(key) ? str(source[key]) : undefined
  return keys.map(nameOf).find((name) => name !== undefined && isSecretName(name))
}

/** Keys under a password for one of its versions. */
const versionKey = /^(?:current|old|new|previous|plain|confirm|confirmation|repeat)$/i

/** Names of maps of secrets, and keys in them that describe one; a node's `credentials` has names of credentials. */
const mapName = /^(?:secrets|passwords)$/i
const describing = /^(?:_?id|.*name|type|mode|user|login|e?mail|host|port|url|description|label|scopes?)$/i

/** Whether a key of an object with a credential's name is for a credential. */
export const isPart = (name: string, key: string): boolean =>
  versionKey.test(key) || mapName.test(name) && !describing.test(key)

/** Values under a credential's name that are not secrets: kinds, traces of missing values, types, parts of speech. */
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

/** A scheme without a credential, a placeholder in an example, an environment variable, and a validation message. */
const obvious = new RegExp(
  [
    "(?:[Bb]earer|[Bb]asic|[Tt]oken)\\s*",
    "[*•.]{3,}|x{3,}|X{3,}|<[\\w -]+>",
    "(?:[Yy]our|YOUR)[_ -][\\w -]+",
    "\\$[A-Z_][A-Z\\d_]*|%[A-Z_][A-Z\\d_]*%|process\\.env\\.\\w+",
    "(?:is|are|must|should|cannot|can't|may|has|does|was|too|not) [a-z '.,]+"
  ].map((form) => `^(?:${form})$`).join("|")
)

/** Template placeholders; n8n's (`{{ … }}`) count only inside texts, since an expression's value starts with `=`. */
const placeholder = /\$\{[^{}]*\}|#\{[^{}]*\}|%s/g

const isPlain = (name: string, value: string): boolean =>
  plain.has(value) || obvious.test(value) ||
  (/credentials?$/i.test(name) && /\S\s\S/.test(value)) ||
  (value.includes("{") && obvious.test(value.replace(placeholder, "").replace(/^$/, "Bearer")))

/** Redacts a value under a credential's name, except expressions; `=` alone does not make an expression. */
export const hide = (name: string, value: string): string =>
  isPlain(name, value) || (value.startsWith("=") && value.includes("{{")) ? value : marker

/** Like `hide`, for a value inside a text, where an expression needs no `=`. */
export const hideInText = (name: string, value: string): string =>
  isPlain(name, value) || /^=?(?:[A-Za-z]+ +)?\{\{/.test(value) ? value : marker
