/** Numbers in English sentences. */

/** Digits of a whole number in groups: `300,000`. `Intl` would read its data first, which takes 15 ms of a start. */
export const digits = (count: number): string => String(count).replace(/\B(?=(?:\d{3})+$)/g, ",")

/** A count with its noun: `1 item`, `2 items`, `3 matches`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : /(?:ch|sh|s|x)$/.test(noun) ? "es" : "s"}`
