/** Icons of nodes: a symbol of the function, or the initials of the app. */
import symbols from "./glyphs.json" with { type: "json" }

/** Icon as strokes in a 24 × 24 square, with the hue that n8n uses. */
export interface Glyph {
  readonly d?: string
  readonly initials?: string
  readonly hue: "plain" | "orange" | "pink" | "green" | "blue" | "violet" | "red"
}

const hues = ["blue", "green", "orange", "pink", "violet", "red"] as const

const signs = symbols.map(({ d, hue, types }) => ({ d, hue: hue as Glyph["hue"], types: new RegExp(types, "i") }))

const initialsOf = (label: string) => {
  const [first = "?", second] = label.split(/[^\p{L}\p{N}]+|(?<=\p{Ll})(?=\p{Lu})/u).filter(Boolean)
  const [letter = "?", next = ""] = first
  return second === undefined ? letter.toUpperCase() + next : (letter + [...second][0]).toUpperCase()
}

export const glyphOf = (type: string, label: string): Glyph => {
  const name = type.slice(type.lastIndexOf(".") + 1)
  const sign = signs.find(({ types }) => types.test(name))
  if (sign !== undefined) return { d: sign.d, hue: sign.hue }
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  return { initials: initialsOf(label), hue: hues[sum % hues.length] ?? "plain" }
}
