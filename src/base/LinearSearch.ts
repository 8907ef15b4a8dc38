/** A search in texts that takes linear time whatever is searched for. */

/** The host's own search takes quadratic time beyond 250 characters of the search text. */
const maxNative = 200

/** For each beginning of the needle the length of the longest border, as in Knuth, Morris and Pratt's search. */
const bordersOf = (needle: string): Uint32Array => {
  const borders = new Uint32Array(needle.length)
  for (let at = 1, border = 0; at < needle.length; at++) {
    while (border > 0 && needle.charCodeAt(at) !== needle.charCodeAt(border)) border = borders[border - 1] ?? 0
    if (needle.charCodeAt(at) === needle.charCodeAt(border)) border++
    borders[at] = border
  }
  return borders
}

export const indexOf = (text: string, needle: string, from = 0): number => {
  if (needle.length <= maxNative) return text.indexOf(needle, from)
  if (needle.length > text.length - from) return -1
  const borders = bordersOf(needle)
  for (let at = Math.max(from, 0), length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (length > 0 && code !== needle.charCodeAt(length)) length = borders[length - 1] ?? 0
    if (code === needle.charCodeAt(length)) length++
    if (length === needle.length) return at - length + 1
  }
  return -1
}

export const includes = (text: string, needle: string): boolean => indexOf(text, needle) >= 0

/** Letters that are not in ASCII, with a letter of their lower case that is. */
const lowerInAscii = [["i", "\u0130"], ["k", "\u212a"]] as const

/** Letters that are not in ASCII and of whose lower case a text in ASCII may have a part. */
export const othersInCase = (text: string): ReadonlyArray<string> =>
  lowerInAscii.flatMap(([letter, upper]) => text.includes(letter) ? upper : [])

/** Pattern of a text in ASCII. */
export const patternOf = (text: string, flags: string): RegExp => new RegExp(text.replace(/[^\w\s]/g, "\\$&"), flags)

/**
 * Test whether the lower case of a text contains a needle in lower case: in ASCII by a pattern, which takes a fraction
 * of the time of the lower case.
 */
export const inAnyCase = (needle: string): (text: string) => boolean => {
  const isIn = (text: string) => includes(text.toLowerCase(), needle)
  if (needle.length > maxNative || !/^[ -~]*$/.test(needle)) return isIn
  const pattern = patternOf(needle, "i")
  const others = othersInCase(needle)
  return (text) => pattern.test(text) || others.some((letter) => text.includes(letter)) && isIn(text)
}
