const capacity = 1_000

/** Memoizes a pure function of a string; the cache is cleared when it is full. */
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
