/**
 * Upper bound for the number of tokens of a text, without the megabytes of a tokenizer's vocabulary.
 *
 * The bound follows from the o200k tokenizer: it splits a text into pieces (words, runs of signs, up to three digits),
 * and merges neighbours within a piece until no two form a token of its vocabulary. So where any two neighbouring
 * characters form a token, three of them are at most two tokens. Tests compare the bound with the tokenizer itself;
 * other models' tokenizers differ by some percent.
 */
import * as Predicate from "effect/Predicate"

/** `pairs[first * 128 + second]` is 1 if the two characters share a piece and form a token. */
const pairs = new Uint8Array(0x80 * 0x80)
const admit = (firsts: string, seconds: string, is = 1) => {
  for (const first of firsts) {
    for (const second of seconds) pairs[first.charCodeAt(0) * 0x80 + second.charCodeAt(0)] = is
  }
}
/** Without j, q, x and z, which form tokens with few other letters. */
const lower = "abcdefghiklmnoprstuvwy"
const upper = "ABCDEFGHIKLMNOPRSTUVW"
const letters = `${lower}${upper}jqxzJQXYZ`
const signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
admit(lower, lower)
admit("g", "k", 0)
admit(upper, upper)
admit("U", "O", 0)
admit("BCDFGHKLMNPRSTVW", "aeiou")
admit(" ", letters + signs)
/** Signs that can start a word if no other sign precedes them. */
admit("(,-./_", letters)
/** JSON escapes and pairs that are common in code. */
admit("\\", "bfnrtu\"\\")
admit(",:[{", "\\")
admit("\"')]}", ",:;.)]}")
admit("([{,:=", "\"'")
admit("([:,", "{[")
admit("(", ")")
admit("{", "{}")
admit("[", "]")
admit("=", "=>")
admit(":/", "/")

const space = 0x20
/** Second and later spaces of a run; JSON has no raw control characters. */
const spaces = 0x01
/** Any character above ASCII, which may be a sign, or a digit that shares a piece with the next ones. */
const above = 0x02
/** Sign without a pair, such as the quote before a text. */
const noPair = 0x7f

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const signCodes = new Uint8Array(0x80).fill(1, above, above + 1).fill(1, noPair)
for (const sign of signs) signCodes[sign.charCodeAt(0)] = 1
const isSign = (code: number) => signCodes[code] === 1

/** Tokens of a UTF-16 unit above ASCII: as many as its bytes, unless the vocabulary is known to contain it. */
const tokensOf = new Uint8Array(0x10000).fill(3).fill(2, 0, 0x800).fill(2, 0xd800, 0xe000)
const setTokens = (tokens: number, ranges: ReadonlyArray<readonly [from: number, to: number]>) => {
  for (const [from, to] of ranges) tokensOf.fill(tokens, from, to + 1)
}
/** Scripts of India to Tibet, punctuation to mathematics, kana, Chinese characters, full-width forms. */
setTokens(2, [[0x0900, 0x0fbf], [0x2000, 0x22ff], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xff00, 0xffff]])
/** Rare Chinese characters. */
setTokens(3, [[0x5d40, 0x5dbf], [0x6ac0, 0x6aff], [0x8780, 0x87bf], [0x8800, 0x883f]])
setTokens(3, [[0x9780, 0x97bf], [0x9bc0, 0x9c7f], [0x9d00, 0x9dff], [0x9fc0, 0x9fff]])
/** Letters: Latin with accents, Greek, Cyrillic, Hebrew, Arabic. */
setTokens(1, [[0xc0, 0xda], [0xdc, 0xff], [0x391, 0x3a1], [0x3a3, 0x3a9], [0x3b1, 0x3ce], [0x410, 0x44f]])
setTokens(1, [[0x5d0, 0x5ea], [0x621, 0x63a], [0x641, 0x652]])
/** Hiragana, katakana. */
setTokens(1, [[0x3041, 0x3093], [0x30a1, 0x30f3], [0x30fc, 0x30fc], [0x3001, 0x3002], [0x300c, 0x300d]])
for (const rare of "ぃぅぉぢぬぴぺゎゐゑゥヂヅヌヮヰヱヲ") setTokens(2, [[rare.charCodeAt(0), rare.charCodeAt(0)]])

/** Upper bound for the number of tokens of the text; counting stops above `cap`. */
export const countTokens = (text: string, cap: number): number => {
  let sum = 0
  let previous = noPair
  let beginsWord = false
  for (let at = 0; at < text.length && sum <= cap; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) {
      sum += tokensOf[code] ?? 3
      previous = above
      continue
    }
    const sign = isSign(code)
    const joined = pairs[previous * 0x80 + code] === 1 && (sign || beginsWord || !isSign(previous))
    const continued = (isDigit(code) && isDigit(previous)) || (code === space && previous === spaces)
    sum += continued ? 1 / 3 : joined ? 2 / 3 : 1
    beginsWord = sign && previous !== space && !isSign(previous)
    if (code === space && (previous === space || previous === spaces)) previous = spaces
    else if (!isDigit(code) || previous !== above) previous = code
  }
  return sum
}

/** Units of cost per token: 40,000 units are at most 25,000 tokens. */
export const unitsPerToken = 1.6
/** Maximum depth of an answer; a note replaces deeper JSON, which could also overflow a reader's stack. */
export const maxDepth = 64

interface Meter {
  chars: number
  tokens: number
  readonly cap: number
}

const isOver = ({ cap, chars, tokens }: Meter) => chars > cap || tokens * unitsPerToken > cap

const escaped = /["\\\p{Cc}\p{Cs}]/u

/** Adds a string. Its closing quote starts a token, which can extend to the opening quote of the next string. */
const measureString = (text: string, meter: Meter) => {
  if (text.length > meter.cap) {
    meter.chars = Infinity
    return
  }
  const inner = escaped.test(text) ? JSON.stringify(text).slice(1, -1) : text
  meter.chars += inner.length + 2
  meter.tokens += countTokens(inner, meter.cap / unitsPerToken) + 1
}

const measure = (value: unknown, depth: number, meter: Meter): void => {
  if (Predicate.isString(value)) return measureString(value, meter)
  if (!Predicate.isObjectOrArray(value)) {
    const text = String(value)
    meter.chars += text.length
    // One more for the comma or bracket after it.
    meter.tokens += (Predicate.isNumber(value) ? countTokens(text, Infinity) : 1) + 1
    return
  }
  // Marks for cuts at the deepest level may be two levels deeper.
  if (depth >= maxDepth + 2) {
    meter.chars = Infinity
    return
  }
  meter.chars += 2
  meter.tokens += 2
  if (Array.isArray(value)) {
    for (const inner of value) {
      measure(inner, depth + 1, meter)
      meter.chars++
      if (isOver(meter)) return
    }
  } else {
    for (const key in value) {
      measureString(key, meter)
      meter.chars += 2
      if (isOver(meter)) return
      measure(value[key as keyof typeof value], depth + 1, meter)
    }
  }
}

/**
 * Cost of a JSON value: at least its length in characters, and at least 1.6 units per token of the o200k tokenizer
 * (other models' tokenizers differ by some percent; the bound is pessimistic).
 *
 * **Gotchas**
 *
 * Counting stops above `cap`; the result is then some value above it.
 */
export const cost = (value: unknown, cap = Infinity, depth = 0): number => {
  const meter: Meter = { chars: 0, tokens: depth === 0 && Predicate.isString(value) ? 1 : 0, cap }
  measure(value, depth, meter)
  return Math.max(meter.chars, meter.tokens * unitsPerToken)
}

/** Greatest cost of a UTF-16 unit, of a control character, which JSON escapes as six characters. */
const mostOfUnit = 6 * unitsPerToken

/** Greatest cost of a value beside its texts: a number's digits, or an object's brackets, quotes, colons and commas. */
const mostOfValue = 64

/** `room` without what a value can cost at most; negative once it is not certain to fit. */
const spare = (value: unknown, room: number, depth: number): number => {
  if (Predicate.isString(value)) return room - value.length * mostOfUnit - mostOfValue
  if (!Predicate.isObjectOrArray(value)) return room - mostOfValue
  if (depth >= maxDepth + 2) return -1
  let rest = room - mostOfValue
  if (Array.isArray(value)) {
    for (const inner of value) {
      if (rest < 0) break
      rest = spare(inner, rest, depth + 1)
    }
  } else {
    for (const key in value) {
      if (rest < 0) break
      rest = spare(value[key as keyof typeof value], rest - key.length * mostOfUnit, depth + 1)
    }
  }
  return rest
}

/** Whether a JSON value costs at most `room`: most answers are so small that this is certain without counting. */
export const fits = (value: unknown, room: number, depth = 0): boolean =>
  spare(value, room, depth) >= 0 || cost(value, room, depth) <= room
