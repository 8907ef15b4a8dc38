/**
 * Removes secrets from what an agent is shown. Pure: no services, no configuration.
 *
 * There are three rules: a value with the **name** of a credential (an object's key, a name beside a value, a query
 * parameter, `"name": "value"` inside text), a string with the **shape** of a known credential, and text after a known
 * **opening** (`Bearer `, `https://user:`). Every pattern starts only where a run of its own characters starts, or is
 * bounded, so that the time is linear for any text.
 */
import * as Predicate from "effect/Predicate"
import { own } from "./Json.ts"
import { get, type Path, type Step } from "./JsonPath.ts"
import { hide, isPairValue, isPart, isSecretName, isValueKey, marker, pairName } from "./redact/Names.ts"
import { redactKnown } from "./redact/Shapes.ts"
import { mayHold } from "./redact/Suspects.ts"
import { redactText } from "./redact/Texts.ts"
import * as Turn from "./Turn.ts"

export { marker, mayHold, redactText }

type Container = Record<PropertyKey, unknown>

interface Frame {
  source: Container
  /** The credential's name to which the strings of this array, or under a key such as `value`, belong. */
  readonly secret: string | undefined
  readonly parent: Frame | undefined
  readonly key: PropertyKey
  copy: Container | undefined
}

/** Copies on write, up to the first ancestor that is a copy already: unchanged parts keep their identity. */
const write = (frame: Frame, key: PropertyKey, value: unknown): void => {
  let at: Frame | undefined = frame
  let slot = key
  let content = value
  while (at !== undefined) {
    const fresh: boolean = at.copy === undefined
    at.copy ??= (Array.isArray(at.source) ? [...at.source] : { ...at.source }) as Container
    at.copy[slot] = content
    slot = at.key
    content = at.copy
    at = fresh ? at.parent : undefined
  }
}

const shortestSecretKey = 20

const withoutSecretKeys = (source: Container, keys: ReadonlyArray<string>): Container | undefined => {
  if (!keys.some((key) => key.length >= shortestSecretKey && redactKnown(key) !== key)) return undefined
  const used = new Set<string>()
  return Object.fromEntries(keys.map((key) => {
    const clean = redactKnown(key)
    const name = used.has(clean) ? `${clean} ${used.size}` : clean
    used.add(name)
    return [name, source[key]]
  }))
}

/** The credential's name before an array element, in an entry (`["authorization", "…"]`), raw headers or arguments. */
const nameBefore = ({ key, parent, source }: Frame, index: number): string | undefined => {
  const name = index % 2 === 1 || key === "args" ? source[index - 1] : undefined
  if (!Predicate.isString(name) || !isSecretName(name)) return undefined
  const isEntry = source["length"] === 2 && Array.isArray(parent?.source)
  return isEntry || /^raw_?headers$/i.test(String(key)) || name.startsWith("--") ? name : undefined
}

/**
 * Replaces the secrets in a JSON value with `[redacted]`.
 *
 * Only strings change, and keys with a known secret's shape. Under a credential's name a string is replaced as a whole,
 * and so are the strings of an array and of a `value` key; other objects are visited as usual, so credential references
 * (`{ id, name }`) survive. Nothing is mutated; a value without secrets is returned as the same reference. Depth is
 * bounded by memory, not by the stack.
 *
 * **Gotchas**
 *
 * Numbers are never secrets. Class instances are not supported.
 */
export const redact = <A>(value: A): A => Turn.finish(steps(value))

/** {@link redact} in steps: an object each, or some texts. @internal */
export const steps = function*<A>(value: A): Turn.Steps<A> {
  const holder: Frame = { source: { "": value }, secret: undefined, parent: undefined, key: "", copy: undefined }
  const work = [holder]
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    yield
    const list = Array.isArray(at.source)
    const names = list ? [] : Object.keys(at.source)
    const renamed = withoutSecretKeys(at.source, names)
    if (renamed !== undefined && at.parent !== undefined) {
      write(at.parent, at.key, renamed)
      at.source = renamed
      at.copy = renamed
    }
    const { source } = at
    const paired = pairName(source, names)
    for (const key of Array.isArray(source) ? source.keys() : renamed === undefined ? names : Object.keys(renamed)) {
      const inner = source[key]
      const text = Predicate.isString(inner)
      if (!text && (typeof inner !== "object" || inner === null)) continue
      const secret = Predicate.isString(key)
        ? isSecretName(key)
          ? key
          : paired !== undefined && isPairValue(key, inner)
          ? paired
          : at.secret !== undefined && (isValueKey(key) || text && isPart(at.secret, key))
          ? at.secret
          : undefined
        : at.secret ?? (text ? nameBefore(at, key) : undefined)
      if (text) {
        yield
        const clean = redactText(secret === undefined ? inner : hide(secret, inner))
        if (clean !== inner) write(at, key, clean)
      } else {
        work.push({ source: inner as Container, secret, parent: at, key, copy: undefined })
      }
    }
  }
  return (holder.copy ?? holder.source)[""] as A
}

/** Whether a text can occur in the marks of redacted parts (`[`, `red`, `redacted]`), which are not stored. @internal */
export const occursInMarker = (text: string): boolean => /[[\]]/.test(text) || marker.includes(text.toLowerCase())

/** Steps in another copy of the same value: keys keep their order, also those that are secrets themselves. */
const translated = (from: unknown, to: unknown, [step, ...rest]: Path): Path | undefined => {
  if (step === undefined || from === to) return step === undefined ? [] : [step, ...rest]
  if (!Predicate.isObjectOrArray(from) || !Predicate.isObjectOrArray(to) || !Object.hasOwn(from, step)) return undefined
  const [keys, others] = [Object.keys(from), Object.keys(to)]
  const other = Array.isArray(from) || keys.length !== others.length ? step : others[keys.indexOf(String(step))]
  const below = other === undefined ? undefined : translated(own(from, step), own(to, other), rest)
  return other === undefined || below === undefined ? undefined : [other, ...below]
}

/** Step as readers see it: a key without secrets. @internal */
export const step = (step: Step): Step =>
  Predicate.isString(step) && step.length >= shortestSecretKey ? redactKnown(step) : step

/** Value whose places are shown as in its redacted copy, which is made when the first one is. */
export interface Whole {
  readonly value: unknown
  /** Value at a path as readers see it: `[redacted]` if the copy has no such place. */
  readonly at: (path: Path) => unknown
  /** Place behind a path of the copy. */
  readonly inner: (path: Path) => Whole
}

/** A value with its redacted copy. @internal */
export const whole = (value: unknown, copy: (value: unknown) => unknown = redact): Whole => {
  let shown: { readonly copy: unknown } | undefined
  const clean = () => (shown ??= { copy: copy(value) }).copy
  const at = (path: Path) => {
    const own = translated(value, clean(), path)
    return own === undefined ? marker : get(clean(), own)
  }
  const below = (outer: Path): Whole => ({
    value: get(value, outer),
    at: (path) => at([...outer, ...path]),
    inner: (path) => {
      const stored = translated(clean(), value, [...translated(value, clean(), outer) ?? [], ...path])
      return stored === undefined ? whole(undefined) : below(stored)
    }
  })
  return below([])
}

const placesIn = (value: unknown, clean: unknown, path: Path): ReadonlyArray<Path> => {
  if (value === clean) return []
  if (!Predicate.isObjectOrArray(value) || !Predicate.isObjectOrArray(clean)) return [path]
  if (Array.isArray(value)) return value.flatMap((inner, index) => placesIn(inner, own(clean, index), [...path, index]))
  // Keys keep their order, also those that are secrets themselves.
  const after = Object.entries(clean)
  return Object.entries(value).flatMap(([key, inner], index) => {
    const [name, shown] = after[index] ?? []
    return name === key ? placesIn(inner, shown, [...path, key]) : [path]
  })
}

/** The paths of what {@link redact} replaces: a value, or an object with a key that is a secret. @internal */
export const places = (value: unknown): ReadonlyArray<Path> => placesIn(value, redact(value), [])
