/**
 * Regular expressions for programs, by RE2, which takes linear time for any expression and text.
 *
 * Unlike JavaScript's, they have neither lookaround nor backreferences, a surrogate pair is one character, and with the
 * flag m only `\n` ends a line.
 */
import { RE2JS } from "re2js"
import { charge, chargeText, fail, list, makeText, Pattern, type Run } from "./Values.ts"

/** Maximum length of a regular expression, which bounds the time to compile it. */
const maxSource = 1_000
const maxSize = 5_000

// JavaScript's \s, \S and line ends, which in RE2 are ASCII only.
const spaces = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
const nonSpaces = "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"
const lineEnds = "\\n\\r\\x{2028}\\x{2029}"

const translate = (source: string, flags: string): string => {
  let isInClass = false
  const translated = source.replace(/\\[^]|[[\].^]/g, (token, at: number) => {
    if (token === "[" && !isInClass) isInClass = true
    else if (token === "[") return "\\["
    else if (token === "]") isInClass = false
    else if (token === "\\s") return isInClass ? spaces : `[${spaces}]`
    else if (token === "\\S") return isInClass ? nonSpaces : `[${nonSpaces}]`
    else if (token === "\\b" && isInClass) return "\\x08"
    else if (token === "." && !isInClass) return flags.includes("s") ? "(?s:.)" : `[^${lineEnds}]`
    else if (token === "^" && isInClass && source[at - 1] !== "[") return "\\^"
    return token
  })
  return RE2JS.translateRegExp(translated)
}

/** Compiles a literal, or returns the reason why it cannot be compiled. */
export const compile = (source: string, flags: string): Pattern | string => {
  const unknown = /[^gimsu]/.exec(flags)
  if (unknown !== null) return `Regular expressions have no flag ${unknown[0]} here`
  if (source.length > maxSource) return "The regular expression is too long"
  try {
    const regExp = RE2JS.compile(
      translate(source, flags),
      (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes("m") ? RE2JS.MULTILINE : 0)
    )
    return regExp.programSize() > maxSize ? "The regular expression is too large" : new Pattern(regExp, source, flags)
  } catch (error) {
    return `Regular expressions have no lookaround and no backreferences here: ${
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "it cannot be read"
    }`
  }
}

/** Maximum work of one search, in characters times the program's size, for 100 ms; states are faster than groups. */
const maxWork = { states: 48_000_000, largeStates: 8_000_000, groups: 6_000_000 }
const largeSize = 64

const chargeSearch = (run: Run, { regExp }: Pattern, length: number, by: "states" | "groups") => {
  const size = regExp.programSize()
  const most = by === "states" && size > largeSize ? maxWork.largeStates : maxWork[by]
  if (length * size > most) fail(run, "type", "The text is too long for this regular expression")
  charge(run, 4 + Math.ceil(length * size / 16))
}

export const test = (run: Run, pattern: Pattern, text: string): boolean => {
  chargeSearch(run, pattern, text.length, "states")
  return pattern.regExp.test(text)
}

interface Match {
  readonly start: number
  readonly end: number
  /** The whole match, then the groups. */
  readonly groups: ReadonlyArray<string | undefined>
}

const matches = (run: Run, pattern: Pattern, text: string): ReadonlyArray<Match> => {
  const results: Array<Match> = []
  if (!test(run, pattern, text)) return results
  const matcher = pattern.regExp.matcher(text)
  chargeSearch(run, pattern, text.length, "groups")
  while (matcher.find()) {
    const groups = Array.from(
      { length: pattern.regExp.groupCount() + 1 },
      (_, group) => matcher.group(group) ?? undefined
    )
    results.push({ start: matcher.start(), end: matcher.end(), groups })
    if (!pattern.isGlobal) break
    // The next search may read to the end again.
    chargeSearch(run, pattern, text.length - matcher.end(), "groups")
  }
  return results
}

/** As String.prototype.match, except that a match has no `index`. */
export const match = (run: Run, pattern: Pattern, text: string): Array<unknown> | null => {
  const results = matches(run, pattern, text)
  const [first] = results
  if (first === undefined) return null
  return list(run, pattern.isGlobal ? results.map(({ groups }) => groups[0]) : [...first.groups])
}

/** As String.prototype.replace with a replacement without `$`. */
export const replace = (run: Run, pattern: Pattern, text: string, replacement: string): string => {
  const parts: Array<string> = []
  let from = 0
  let length = text.length
  for (const { end, start } of matches(run, pattern, text)) {
    parts.push(text.slice(from, start), replacement)
    from = end
    length += replacement.length - (end - start)
  }
  if (length > text.length) makeText(run, length)
  else chargeText(run, length)
  return parts.join("") + text.slice(from)
}
