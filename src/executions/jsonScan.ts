/**
 * Streaming scanner for JSON of any size: parses chosen values, records positions of lists, and skips the rest. Pure,
 * without knowledge of n8n.
 *
 * **Gotchas**
 *
 * Skipped values are not validated; parsed values go through `JSON.parse`.
 */
import * as Bytes from "effect/Bytes"

/** Byte range of a list's elements, without `[` and `]`. */
export interface List {
  readonly count: number
  readonly start: number
  readonly end: number
  /** Positions of some elements, ascending, about {@link markEvery} bytes apart; the first is element 0. */
  readonly marks: ReadonlyArray<{ readonly element: number; readonly at: number }>
}

/** Action for the value at a path; a value of another kind is skipped. */
export type Handling =
  | { readonly on: "skip" }
  /** Parses the value, up to a number of bytes. */
  | { readonly on: "value"; readonly take: (value: unknown) => void; readonly maxBytes: number }
  | { readonly on: "object"; readonly member: (key: string) => Handling; readonly end?: () => void }
  | { readonly on: "array"; readonly element: (index: number) => Handling }
  | { readonly on: "list"; readonly take: (list: List) => void }

/** Maximum bytes of a parsed value: a workflow with all its pinned data has some MB. */
const maxValueBytes = 64 * 1024 * 1024

const maxKeyBytes = 64 * 1024

export const skip: Handling = { on: "skip" }

/** Parses a value up to a number of bytes; a larger one ends the scan. */
export const value = (take: (value: unknown) => void, maxBytes = maxValueBytes): Handling => ({
  on: "value",
  take,
  maxBytes
})

export const object = (member: (key: string) => Handling, end: () => void = () => {}): Handling => ({
  on: "object",
  member,
  end
})

/** Bytes between the marks of a list, about the amount read for one element. */
export const markEvery = 32 * 1024

interface Frame {
  readonly handling: Handling
  readonly start: number
  readonly marks: Array<{ readonly element: number; readonly at: number }>
  count: number
}

const states = { value: 0, key: 1, colon: 2, after: 3, opaque: 4, done: 5 } as const

export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
const colon = 0x3a
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** Bytes between values, by the kind of the byte that ends a search for them: of both brackets, of commas and spaces. */
export const within = 0
export const kinds = new Uint8Array(256)
for (const byte of [comma, 0x20, 0x0a, 0x0d, 0x09]) kinds[byte] = comma
for (const byte of [openBrace, openBracket]) kinds[byte] = openBrace
for (const byte of [closeBrace, closeBracket]) kinds[byte] = closeBrace
kinds[quote] = quote

/** Bytes of a string without an escape beyond which the native search is faster than a loop. */
export const longString = 48

/** Place of a byte; the end if there is none. */
export const indexOf = (chunk: Uint8Array, byte: number, from: number) => {
  const index = chunk.indexOf(byte, from)
  return index === -1 ? chunk.length : index
}

/** Scan in progress: `push` each chunk, then `end`. */
export class Scanner {
  #state: number = states.value
  readonly #frames: Array<Frame> = []
  #next: Handling
  #opened = false
  /** Number of bytes before the current chunk. */
  #before = 0

  // State of the value being skipped or collected.
  #nest = 0
  #inString = false
  #escaped = false
  // Next known quote and backslash of the chunk.
  #quoteAt = -1
  #backslashAt = -1
  #take: ((value: unknown) => void) | undefined
  #parts: Array<Uint8Array> = []
  #room = 0
  readonly #decoder = new TextDecoder("utf-8", { fatal: true })

  constructor(root: Handling) {
    this.#next = root
  }

  /** Reads the next bytes. Throws a `SyntaxError` or `TypeError` at invalid JSON, as far as it is checked. */
  push(chunk: Uint8Array): void {
    let at = 0
    this.#quoteAt = -1
    this.#backslashAt = -1
    while (at < chunk.length) {
      if (this.#state === states.opaque) {
        at = this.#opaque(chunk, at)
        continue
      }
      const byte = chunk[at]
      if (isSpace(byte)) {
        at++
      } else if (this.#state === states.value) {
        at = this.#value(byte, at)
      } else if (this.#state === states.key) {
        at = this.#key(byte, at)
      } else if (this.#state === states.colon) {
        if (byte !== colon) throw new SyntaxError(`expected a colon at byte ${this.#before + at}`)
        this.#state = states.value
        at++
      } else if (this.#state === states.after) {
        at = this.#after(byte, at)
      } else {
        throw new SyntaxError(`more after the end, at byte ${this.#before + at}`)
      }
    }
    this.#before += chunk.length
  }

  end(): void {
    // A number at the root ends with the input.
    if (this.#state === states.opaque && this.#frames.length === 0 && this.#nest === 0 && !this.#inString) {
      this.#finish()
    }
    if (this.#state !== states.done) throw new SyntaxError(`ends in the middle, after ${this.#before} bytes`)
  }

  #value(byte: number | undefined, at: number): number {
    const frame = this.#frames.at(-1)
    if (byte === closeBracket && frame !== undefined && frame.handling.on !== "object" && this.#opened) {
      return this.#close(at)
    }
    if (byte === comma || byte === closeBrace || byte === closeBracket) {
      throw new SyntaxError(`expected a value at byte ${this.#before + at}`)
    }
    let handling = this.#next
    if (frame?.handling.on === "array") {
      handling = frame.handling.element(frame.count++)
    } else if (frame?.handling.on === "list") {
      const position = this.#before + at
      const last = frame.marks.at(-1)
      if (last === undefined || position - last.at >= markEvery) {
        frame.marks.push({ element: frame.count, at: position })
      }
      frame.count++
      handling = skip
    }
    const { on } = handling
    if (byte === openBrace ? on === "object" : byte === openBracket && (on === "array" || on === "list")) {
      this.#frames.push({ handling, start: this.#before + at + 1, marks: [], count: 0 })
      this.#opened = true
      if (on === "object") this.#state = states.key
      return at + 1
    }
    this.#state = states.opaque
    this.#take = handling.on === "value" ? handling.take : undefined
    this.#room = handling.on === "value" ? handling.maxBytes : 0
    return at
  }

  #key(byte: number | undefined, at: number): number {
    if (byte === closeBrace && this.#opened) return this.#close(at)
    if (byte !== quote) throw new SyntaxError(`expected a key at byte ${this.#before + at}`)
    this.#take = this.#member
    this.#room = maxKeyBytes
    this.#state = states.opaque
    return at
  }

  readonly #member = (key: unknown) => {
    const frame = this.#frames.at(-1)
    if (frame?.handling.on === "object") this.#next = frame.handling.member(String(key))
    this.#state = states.colon
  }

  #after(byte: number | undefined, at: number): number {
    const isObject = this.#frames.at(-1)?.handling.on === "object"
    if (byte === comma) {
      this.#state = isObject ? states.key : states.value
      this.#opened = false
      return at + 1
    }
    if (byte === (isObject ? closeBrace : closeBracket)) return this.#close(at)
    throw new SyntaxError(`expected a comma or an end at byte ${this.#before + at}`)
  }

  #close(at: number): number {
    const frame = this.#frames.pop()
    if (frame?.handling.on === "object") frame.handling.end?.()
    if (frame?.handling.on === "list") {
      const { count, handling, marks, start } = frame
      handling.take({ count, start, end: this.#before + at, marks })
    }
    this.#state = this.#frames.length === 0 ? states.done : states.after
    return at + 1
  }

  /** Skips to the end of a value of any kind, or of the chunk. Most of a scan's time is spent here. */
  #opaque(chunk: Uint8Array, from: number): number {
    const { length } = chunk
    let at = from
    let nest = this.#nest
    if (this.#inString) {
      at = this.#string(chunk, at)
      if (!this.#inString && nest === 0) return this.#ended(chunk, from, at)
    }
    for (; at < length; at++) {
      const kind = kinds[chunk[at] ?? 0]
      if (kind === within) continue
      if (kind === quote) {
        at = this.#string(chunk, at + 1) - 1
        if (nest === 0 && !this.#inString) return this.#ended(chunk, from, at + 1)
      } else if (kind === openBrace) {
        nest++
      } else if (nest === 0) {
        return this.#ended(chunk, from, at)
      } else if (kind === closeBrace && --nest === 0) {
        this.#nest = 0
        return this.#ended(chunk, from, at + 1)
      }
    }
    this.#nest = nest
    if (this.#take !== undefined) this.#collect(chunk.slice(from))
    return length
  }

  /** Skips from inside a string past its closing quote, or to the end of the chunk. */
  #string(chunk: Uint8Array, from: number): number {
    const { length } = chunk
    let at = this.#escaped ? from + 1 : from
    while (at < length) {
      const near = Math.min(length, at + longString)
      while (at < near && chunk[at] !== quote && chunk[at] !== backslash) at++
      if (at === near && at < length) {
        // Cached, because searching again at each string or escape would be quadratic.
        if (this.#quoteAt < at) this.#quoteAt = indexOf(chunk, quote, at)
        if (this.#backslashAt < at) this.#backslashAt = indexOf(chunk, backslash, at)
        at = Math.min(this.#quoteAt, this.#backslashAt)
      }
      if (at === length) break
      if (chunk[at] === quote) {
        this.#inString = false
        this.#escaped = false
        return at + 1
      }
      at += 2
    }
    this.#inString = true
    // The chunk ends between a backslash and the character that it escapes.
    this.#escaped = at > length
    return length
  }

  #collect(part: Uint8Array) {
    this.#room -= part.length
    if (this.#room < 0) throw new RangeError(`a value that is too large, up to byte ${this.#before}`)
    this.#parts.push(part)
  }

  #ended(chunk: Uint8Array, from: number, to: number): number {
    if (this.#take !== undefined) this.#collect(chunk.slice(from, to))
    this.#finish()
    return to
  }

  #finish() {
    const take = this.#take
    this.#state = this.#frames.length === 0 ? states.done : states.after
    if (take === undefined) return
    const bytes = this.#parts.length === 1 ? this.#parts[0] : Bytes.concat(this.#parts)
    this.#take = undefined
    this.#parts = []
    take(JSON.parse(this.#decoder.decode(bytes)))
  }
}
