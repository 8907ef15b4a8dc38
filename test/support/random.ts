/** A generator of reproducible pseudo-random integers (a 32-bit mix by Steele and Vigna). */
export const random = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x9e3779b9) | 0
    const mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    const again = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((again ^ (again >>> 15)) >>> 0) % below
  }
}
