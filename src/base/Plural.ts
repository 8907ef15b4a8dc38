/** English plurals. */

/** A count with its noun: `1 item`, `2 items`, `3 matches`. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : /(?:ch|sh|s|x)$/.test(noun) ? "es" : "s"}`
