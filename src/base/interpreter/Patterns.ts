/**
 * Regular expressions for programs, by RE2, which takes linear time for any expression and text.
 *
 * They differ from JavaScript's: there is no lookaround and no backreference, a surrogate pair is one character, and
 * with the flag m only `\n` ends a line.
 */
import { RE2JS } from "re2js"
import { charge, chargeText, Fn, list, Pattern, type Run, toText } from "./Values.ts"

/** Larger expressions take long to compile. */
const maxSource = 1_000
const maxSize = 5_000

// JavaScript's \s, \S and line ends, which in RE2 are ASCII only.
const spaces = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}"
const nonSpaces = "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}" +
  "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"
const lineEnds = "\\n\\r\\x{2028}\\x{2029}"

/** Translates a JavaScript regular expression to RE2's syntax. */
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

/** Compiles a literal, or returns a message that says why it cannot be compiled. */
export const compile = (source: string, flags: string): Pattern | string => {
  const unknown = /[^gimsu]/.exec(flags)
  if (unknown !== null) return `Regular expressions have no flag ${unknown[0]} here`
  if (source.length > maxSource) return "The regular expression is too long"
  try {
    const regExp = RE2JS.compile(
      translate(source, flags),
      (flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0) | (flags.includes("m") ? RE2JS.MULTILINE : 0)
    )
    return regExp.programSize() > maxSize
      ? "The regular expression is too large"
      : new Pattern(regExp, source, flags)
  } catch (error) {
    return `Regular expressions have no lookaround and no backreferences here: ${
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, "") : "it cannot be read"
    }`
  }
}

const chargeSearch = (run: Run, { regExp }: Pattern, length: number) =>
  charge(run, 4 + Math.ceil(length * regExp.programSize() / 16))

/** Whether there is a match. */
export const test = (run: Run, pattern: Pattern, text: string): boolean => {
  chargeSearch(run, pattern, text.length)
  return pattern.regExp.test(text)
}

interface Match {
  readonly start: number
  readonly end: number
  /** The whole match, then the groups. */
  readonly groups: ReadonlyArray<string | undefined>
}

const matches = (run: Run, pattern: Pattern, text: string, isGlobal: boolean): ReadonlyArray<Match> => {
  const matcher = pattern.regExp.matcher(text)
  const results: Array<Match> = []
  chargeSearch(run, pattern, text.length)
  while (matcher.find()) {
    const groups = Array.from(
      { length: pattern.regExp.groupCount() + 1 },
      (_, group) => matcher.group(group) ?? undefined
    )
    results.push({ start: matcher.start(), end: matcher.end(), groups })
    if (!isGlobal) break
    // The next search may read to the end again.
    chargeSearch(run, pattern, text.length - matcher.end())
  }
  return results
}

/** As String.prototype.match, except that a match has no `index`. */
export const match = (run: Run, pattern: Pattern, text: string): Array<unknown> | null => {
  const results = matches(run, pattern, text, pattern.isGlobal)
  const [first] = results
  if (first === undefined) return null
  return list(run, pattern.isGlobal ? results.map(({ groups }) => groups[0]) : [...first.groups])
}

/** As String.prototype.search. */
export const search = (run: Run, pattern: Pattern, text: string): number =>
  matches(run, pattern, text, false)[0]?.start ?? -1

/** As String.prototype.split. */
export const split = (run: Run, pattern: Pattern, text: string): Array<unknown> => {
  const parts: Array<unknown> = []
  let from = 0
  if (text === "") return test(run, pattern, text) ? [] : [text]
  for (const { end, groups, start } of matches(run, pattern, text, true)) {
    if (end === from || start >= text.length) continue
    parts.push(text.slice(from, start), ...groups.slice(1))
    from = end
  }
  return list(run, [...parts, text.slice(from)])
}

const expand = (template: string, text: string, { end, groups, start }: Match): string =>
  template.replace(/\$(\$|&|`|'|\d{1,2})/g, (all, code: string) => {
    if (code === "$") return "$"
    if (code === "&") return groups[0] ?? ""
    if (code === "`") return text.slice(0, start)
    if (code === "'") return text.slice(end)
    const [whole, first] = [Number(code), Number(code[0])]
    if (whole > 0 && whole < groups.length) return groups[whole] ?? ""
    return first > 0 && first < groups.length ? `${groups[first] ?? ""}${code.slice(1)}` : all
  })

/** As String.prototype.replace and replaceAll, with a regular expression or a string. */
export const replace = (
  run: Run,
  text: string,
  what: Pattern | string,
  replacement: unknown,
  isGlobal: boolean
): string => {
  const results = what instanceof Pattern
    ? matches(run, what, text, isGlobal)
    : literalMatches(run, text, what, isGlobal)
  const parts: Array<string> = []
  let from = 0
  for (const match of results) {
    parts.push(text.slice(from, match.start))
    const part = replacement instanceof Fn
      ? toText(run, replacement.call([...match.groups, match.start, text], run))
      : expand(toText(run, replacement), text, match)
    chargeText(run, part.length + 16)
    parts.push(part)
    from = match.end
  }
  chargeText(run, text.length)
  return parts.join("") + text.slice(from)
}

const literalMatches = (run: Run, text: string, what: string, isGlobal: boolean): ReadonlyArray<Match> => {
  const results: Array<Match> = []
  chargeText(run, text.length)
  for (let at = text.indexOf(what); at >= 0; at = text.indexOf(what, at + Math.max(what.length, 1))) {
    charge(run, 1)
    results.push({ start: at, end: at + what.length, groups: [what] })
    if (!isGlobal || at + Math.max(what.length, 1) > text.length) break
  }
  return results
}
