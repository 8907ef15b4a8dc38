/** Numbers by which values are compared without storing them: equal values have equal ones, whatever their keys' order. Pure. */
import type { Obj } from "../../base/Json.ts"
import { below, type Steps } from "./ignored.ts"

/** Mixes the bits of a number (Steele and Vigna). */
export const mix = (value: number): number => {
  const first = Math.imul(value ^ (value >>> 16), 0x21f0aaad)
  const second = Math.imul(first ^ (first >>> 15), 0x735a2d97)
  return second ^ (second >>> 15)
}

/** Fingerprint of a text (FNV-1a). */
export const ofText = (text: string, seed = 0x811c9dc5): number => {
  let hash = seed
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

/** Fingerprint of a JSON value without the paths to ignore. */
export const of = (value: unknown, ignore: ReadonlyArray<Steps>): number => {
  if (typeof value === "string") return ofText(value)
  if (typeof value !== "object" || value === null) return ofText(String(value), 1)
  let sum = Array.isArray(value) ? 3 : 5
  const add = (step: string | number, inner: unknown) => {
    const rest = below(ignore, step)
    if (rest.some((steps) => steps.length === 0)) return
    const at = typeof step === "number" ? mix(step + 1) : ofText(step)
    sum = (sum + mix(Math.imul(at, 31) ^ of(inner, rest))) | 0
  }
  if (Array.isArray(value)) { for (let index = 0; index < value.length; index++) add(index, value[index]) }
  else for (const key of Object.keys(value)) add(key, (value as Obj)[key])
  return mix(sum)
}
