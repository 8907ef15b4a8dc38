/**
 * At least as many tokens as a text makes, without a tokenizer's megabytes of vocabulary.
 *
 * **Details**
 *
 * An upper bound from how the o200k tokenizer works: it splits a text into pieces (words, runs of signs, up to three
 * digits), and joins neighbours within a piece until no two are left that make a token of its vocabulary. So where any
 * two neighbouring characters make a token, three of them are two tokens at most. Tests hold it against the tokenizer
 * itself; other models' tokenizers differ by some percent.
 */

/** `pairs[first * 128 + second]`: the two share a piece, and are a token. */
const pairs = new Uint8Array(0x80 * 0x80)
const admit = (firsts: string, seconds: string, is = 1) => {
  for (const first of firsts) {
    for (const second of seconds) pairs[first.charCodeAt(0) * 0x80 + second.charCodeAt(0)] = is
  }
}
/** Without j, q, x and z, which make tokens with few others. */
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
/** Signs that begin a word, where no other sign is before them. */
admit("(,-./_", letters)
/** What JSON escapes, and what is common in code. */
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
/** Stands for the second of two spaces and those after it; JSON has no raw control characters. */
const spaces = 0x01
/** Stands for what is above ASCII: it may be a sign, or a digit that shares a piece with those after it. */
const above = 0x02
/** A sign that joins none, as does the quote before a text. */
const rubout = 0x7f

const isDigit = (code: number) => code >= 0x30 && code <= 0x39
const signCodes = new Uint8Array(0x80).fill(1, above, above + 1).fill(1, rubout)
for (const sign of signs) signCodes[sign.charCodeAt(0)] = 1
const isSign = (code: number) => signCodes[code] === 1

/** Tokens of a UTF-16 unit above ASCII: as many as it has bytes, but for what the vocabulary is known to hold. */
const tokensOf = new Uint8Array(0x10000).fill(3).fill(2, 0, 0x800).fill(2, 0xd800, 0xe000)
const know = (tokens: number, ranges: ReadonlyArray<readonly [from: number, to: number]>) => {
  for (const [from, to] of ranges) tokensOf.fill(tokens, from, to + 1)
}
/** Scripts of India to Tibet, punctuation to mathematics, kana, Chinese characters, full-width forms. */
know(2, [[0x0900, 0x0fbf], [0x2000, 0x22ff], [0x3000, 0x30ff], [0x4e00, 0x9fff], [0xff00, 0xffff]])
/** Chinese characters that are hardly used. */
know(3, [[0x5d40, 0x5dbf], [0x6ac0, 0x6aff], [0x8780, 0x87bf], [0x8800, 0x883f]])
know(3, [[0x9780, 0x97bf], [0x9bc0, 0x9c7f], [0x9d00, 0x9dff], [0x9fc0, 0x9fff]])
/** Letters: Latin with accents, Greek, Cyrillic, Hebrew, Arabic. */
know(1, [[0xc0, 0xda], [0xdc, 0xff], [0x391, 0x3a1], [0x3a3, 0x3a9], [0x3b1, 0x3ce], [0x410, 0x44f]])
know(1, [[0x5d0, 0x5ea], [0x621, 0x63a], [0x641, 0x652]])
/** Hiragana, katakana. */
know(1, [[0x3041, 0x3093], [0x30a1, 0x30f3], [0x30fc, 0x30fc], [0x3001, 0x3002], [0x300c, 0x300d]])
for (const rare of "ぃぅぉぢぬぴぺゎゐゑゥヂヅヌヮヰヱヲ") know(2, [[rare.charCodeAt(0), rare.charCodeAt(0)]])

/** At least as many tokens as the text makes; counting stops once there are more than `cap`. */
export const countTokens = (text: string, cap: number): number => {
  let sum = 0
  let previous = rubout
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
