/** Secrets by name inside a text: code, bodies, URLs, headers, command lines, configuration. */
import { memoize } from "./memoize.ts"
import { foreignRoot, hideInText, isNameKey, isSecretName, isValueKey, marker, root } from "./Names.ts"
import { hasLongWord, redactKnown } from "./Shapes.ts"

/**
 * `"name": "` as JSON, JavaScript, PHP and Python write it, escaped up to four times, or a bare `name = "`. The match
 * ends before the value's quote, which may also open another name (`error: "password": "x"`). After a bare name the
 * quote may close a string instead (`"?token=" + token`), which shows by the operator after it.
 */
const quoted =
  /(\\{0,15}["'`])([^"'`\\\r\n]+)\1\]?\s*(?::=|=>|[:=])\s*(?=(\\{0,15}["'`]))|(?<![\w$.%\\?&#;\]-])([\w$.-]+)\s*(?::=|=>|[:=])\s*(?=(\\{0,15}["'`])(?!\s*(?:[+,;:?)}\]]|$)))/g

/** End of a quoted value: the first quote with no more backslashes than its level of escaping needs. */
const endOfQuoted = (text: string, from: number, open: string): number => {
  const level = open.length - 1
  if (level === 0 && text.startsWith(open.repeat(3), from - 3)) {
    const close = text.indexOf(open.repeat(3), from)
    return close === -1 ? text.length : close
  }
  let slashes = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    const own = slashes % (2 * level + 2)
    if (char === "\n" || (char === open[level] && own <= level)) return char === "\n" ? at : at - own
    slashes = char === "\\" ? slashes + 1 : 0
  }
  return text.length
}

/** A quoted value after a match: the name before it, and its opening quote. */
interface Quoted {
  readonly name: string | undefined
  readonly open: string
}

const redactFollowing = (text: string, pattern: RegExp, quotedValue: (match: RegExpExecArray) => Quoted): string => {
  let result = ""
  let done = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index < done) continue
    const { name, open } = quotedValue(match)
    if (name === undefined || !isSecretName(name)) continue
    const quote = match.index + match[0].length
    const from = quote + (text.startsWith(open.repeat(3), quote) && open.length === 1 ? 3 : open.length)
    const end = endOfQuoted(text, from, open)
    const value = text.slice(from, end)
    const hidden = hideInText(name, value)
    if (hidden === value) continue
    result += text.slice(done, from) + hidden
    done = end
  }
  return done === 0 ? text : result + text.slice(done)
}

/** `"name": "X-Api-Key", "value": "` in JSON, with up to two short texts in between, and XML attributes. */
const pair =
  /(\\{0,15}["'`])(\w{0,30}(?:[nN]ame|[kK]ey|\wId|[fF]ield|[cC]olumn|[aA]ttribute|[pP]roperty|[pP]arameter|[hH]eader|[lL]abel|[tT]itle))\1\s*:\s*\1([^"'`\\\r\n]{1,100})\1\s*,\s*(?:\1\w{1,30}\1\s*:\s*\1[^"'`\\\r\n]{0,100}\1\s*,\s*){0,2}\1(\w{2,30})\1\s*:\s*(?=\1)|\b(?:key|name)=(["'])([^"'<>]{1,100})\5\s+value=(?=(["']))/g

/** `--password "`. */
const quotedFlag = /(?<=[\s"'`])--?([A-Za-z][\w-]{1,40})[ \t]+(?=(\\{0,3}["']))/g

/** An entry in a list of them: `["password", "…"]`. */
const entry =
  /(?<=[[,]\s{0,20}\[\s{0,20})(["'])([^"'\\\r\n]{2,60})\1\s{0,20},\s{0,20}(?=(["'])[^"'\\\r\n]{1,300}\3\s{0,20}\])/g

/** Names and values in turn: `rawHeaders: ["Host", "…", "Authorization", "…"]`. */
const rawHeaders = /(raw_?headers["']?\s{0,9}[:=]\s{0,9}\[)([^\]]{1,4000})/gi
const inTurn = /(["'])([^"'\\]{1,60})\1(\s{0,20},\s{0,20})(["'])([^"'\\]{0,2000})\4/g

const redactEntries = (text: string): string =>
  !text.includes("[") ? text : redactFollowing(text, entry, ([, , name, open = ""]) => ({ name, open })).replace(
    rawHeaders,
    (_, start: string, list: string) =>
      start +
      list.replace(inTurn, (match, _, name: string, __, ___, value: string) =>
        isSecretName(name) && value !== "" ? match.replace(value, hideInText(name, value)) : match)
  )

const redactQuoted = (text: string): string => {
  const alone = redactFollowing(text, quoted, ([, , name, quote, bareName, bareQuote]) => ({
    name: name ?? bareName,
    open: quote ?? bareQuote ?? ""
  }))
  const paired = redactFollowing(
    alone,
    pair,
    ([, quote, nameKey, name, valueKey, , attribute, attributeQuote]) =>
      quote === undefined
        ? { name: attribute, open: attributeQuote ?? "" }
        : { name: isNameKey(nameKey ?? "") && isValueKey(valueKey ?? "") ? name : undefined, open: quote }
  )
  return redactEntries(redactFollowing(paired, quotedFlag, ([, name, open = ""]) => ({ name, open })))
}

/** Query strings, form bodies, fragments, cookies, connection strings, environment: `name=value`, unquoted. */
const parameter =
  /(?<=^|[?&#;:\s"'`])([\w$.%+~-]+(?:\[[\w$.%+~-]*\]){0,5})=(?!=)((?:B(?:earer|asic) )?[^&#;\s"'`<>\\]+)/g

/** Signatures in URLs grant access (S3, Azure, n8n's resume URLs); under a key, a signature may end an email. */
const signature = /(?:^|[-_])sig(?:nature)?$/i

const redactParameters = (text: string): string =>
  text.replace(parameter, (match, name: string, value: string) => {
    const decoded = name.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (!isSecretName(decoded) && !signature.test(decoded)) return match
    const [punctuation = ""] = /[,:]*$/.exec(value) ?? []
    return `${name}=${hideInText(decoded, value.slice(0, value.length - punctuation.length))}${punctuation}`
  })

/** An unquoted word at the end of a line: YAML, headers, INI. Variables of code there are left out. */
const line =
  /(?<=^|["'`]|\\[nr])([ \t]*(?:- +)?)([\w.$-]{2,60})(:[ \t]+|[ \t]+=[ \t]*|=[ \t]+)([^\s"'`\\<>{}()[\],;]+)(?=[ \t]*(?:$|["'`\\]|[ \t]#)(?!\s*[}\])]))/gm

/** Indented lines after `password: |`. */
const block =
  /^([ \t]*(?:- +)?)([\w.-]{2,60})(:[ \t]+[|>][-+\d]{0,3}[ \t]*\r?\n[ \t]+)([^\r\n]+(?:\r?\n[ \t]+[^\r\n]+){0,50})/gm

/** `password: hunter2` inside a line: only values that look generated, not variables in code. */
const inline =
  /(?<=[\s,;(])([\w-]{2,60})(: +)(?=[\w.~+/=-]*\d)(?=[\w.~+/=-]*[A-Za-z])([\w.~+/=-]{6,})(?=[\s"'`]|\.?$)/gm

/** `--password hunter2`; `--password flag is missing` is prose. */
const flag = /(?<=[\s"'`])(--?)([A-Za-z][\w-]{1,40})([ \t]+)(?!-|[a-z]+ [a-z]+\b(?! -))([^\s"'`\\<>|&;]+)/g

/** `<password>hunter2</password>`, and a part of a multipart form. */
const element = /(<)([\w:.-]{2,60})((?:\s[^<>]{0,300})?>)([^<>]+)(?=<\/)/g
const formPart = /(\bname=")([^"\r\n]{1,100})("(?:\r?\n[\w-]{1,60}: [^\r\n]{0,200})?\r?\n\r?\n)([^\r\n]+)/g

/** `%22password%22%3A%22hunter2%22`, encoded up to three times. */
const encoded =
  /(%(?:25){0,2}22)([\w.+-]{1,100})(\1(?:%(?:25){0,2}3A|:)(?:%(?:25){0,2}20|\+){0,20}\1)((?:(?!%(?:25){0,2}22)[^\s"'&<>]){1,2000})/gi

/** Each pattern with a text that every match contains. */
const unquoted = [[element, "</"], [formPart, "name=\""], [encoded, "22"], [flag, "-"]] as const

const redactNamed = (_: string, before: string, name: string, between: string, value: string) =>
  before + name + between + (isSecretName(name) ? hideInText(name, value) : value)

const redactUnquoted = (text: string): string => {
  const blocks = /[|>][-+\d]{0,3}[ \t]*\r?\n/.test(text) ? text.replace(block, redactNamed) : text
  const lines = blocks.replace(line, (match, before: string, name: string, between: string, value: string) => {
    const isCode = between.includes("=")
      ? /^[A-Za-z_$.]+$/.test(value)
      : /^[A-Za-z_$][\w$]*\.\w/.test(value) || isSecretName(value)
    return isCode || /^[|>][-+\d]{0,3}$/.test(value) ? match : redactNamed(match, before, name, between, value)
  }).replace(
    inline,
    (match, name: string, between: string, value: string) => redactNamed(match, "", name, between, value)
  )
  return unquoted.reduce(
    (redacted, [pattern, needed]) => redacted.includes(needed) ? redacted.replace(pattern, redactNamed) : redacted,
    lines
  )
}

/** `curl -u user:password`. */
const user = /(?<=^|\s)((?:-u|-U|--user|--proxy-user)(?:[ =]["']?|["'])[^\s:"'\\]{1,100}:)(?!\d+(?:\s|$))[^\s"'\\]+/g

/** Base64 short enough to decode, also in lines, and hexadecimal. */
const base64 = /(?<![\w+/=-])[\w+/-]{24,8192}(?:\r?\n[\w+/-]{4,80}){0,100}={0,2}(?![\w+/=-])/g

const printable = /^[\t\n\r -~]*$/
/** Printable characters in hexadecimal; digests have others. */
const hexadecimal = /^(?:[2-7][\da-fA-F]|0[9aAdD]){12,}$/

const decoded = (word: string): string | undefined =>
  hexadecimal.test(word)
    ? Buffer.from(word, "hex").toString("latin1")
    : printable.test(Buffer.from(word.slice(0, 24), "base64").toString("latin1"))
    ? Buffer.from(word, "base64").toString("utf8")
    : undefined

/** Whether a word encodes a secret, at most twice. */
const encodesSecret = (word: string, depth = 0): boolean => {
  const text = decoded(word)
  return text !== undefined && (redactPlain(text) !== text ||
    depth === 0 && /^[\w+/-]{24,}={0,2}$/.test(text) && encodesSecret(text, 1))
}

const redactBase64 = (text: string): string =>
  !hasLongWord(text) ? text : text.replace(base64, (match) => encodesSecret(match) ? marker : match)

/** One of these is before every value after a name. */
const separator = /[=:<%]|[\s"'`]-|\[["']/

const redactPlain = (text: string): string => {
  const named = (root.test(text) || foreignRoot.test(text)) && separator.test(text)
    ? redactUnquoted(redactParameters(redactQuoted(text)))
    : text
  return redactKnown(named.includes("curl") ? named.replace(user, `$1${marker}`) : named)
}

const redact = (text: string): string => redactBase64(redactPlain(text))

/** Maximum length of a memoized text: names, types, states and words are in every answer. */
const longestKnown = 60

const isClean = memoize((text) => redact(text) === text)

/**
 * Replaces the secrets in free text: error messages, URLs, bodies, code. Redacts known shapes, `Bearer` and `Basic`
 * credentials, passwords in URLs, private keys, and the values of credentials' names in query strings, form bodies,
 * headers, YAML, XML, command lines and JSON (also escaped or in base64). n8n expressions (`{{ … }}`) remain.
 */
export const redactText = (text: string): string => text.length <= longestKnown && isClean(text) ? text : redact(text)
