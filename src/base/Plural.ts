/** English plurals. */

/** A count with its noun: `1 item`, `2 items`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`
