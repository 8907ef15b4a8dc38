/** The most results that are kept. */
const capacity = 1_000

/** Remembers the results of a pure function of a string; all are forgotten once there are too many. */
export const memoize = (compute: (text: string) => boolean): (text: string) => boolean => {
  const results = new Map<string, boolean>()
  return (text) => {
    const known = results.get(text)
    if (known !== undefined) return known
    const result = compute(text)
    if (results.size >= capacity) results.clear()
    results.set(text, result)
    return result
  }
}
