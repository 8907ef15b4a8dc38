/** Parts of JSON without the members that are not wanted, so that only those need to be parsed. Pure. */
import { othersInCase, patternOf } from "../base/LinearSearch.ts"
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  indexOf,
  kinds,
  longString,
  openBrace,
  openBracket,
  quote,
  within
} from "./jsonScan.ts"

/** Wanted members of an object by their keys: whole, or as far as they are objects only some of their own members. */
export interface Wanted {
  readonly [key: string]: true | Wanted
}

/** Text in ASCII that is searched for in JSON as it is written, in any case. */
export interface Needle {
  readonly pattern: RegExp
  readonly length: number
  /** Texts, as bytes, in JSON that may write the needle in another way. */
  readonly others: ReadonlyArray<string>
}

interface Member {
  readonly key: Uint8Array
  /** Members below that are wanted, or those in which the needle occurs; `undefined` for all. */
  readonly below: Members | Needle | undefined
}

/** Wanted members with their keys as JSON writes them. */
export type Members = ReadonlyArray<Member>

const encoder = new TextEncoder()

export const members = (wanted: Wanted): Members =>
  Object.entries(wanted).map(([key, below]) => ({
    key: encoder.encode(key),
    below: below === true ? undefined : members(below)
  }))

const longestNeedle = 200

/** A text in lower case as a needle; `undefined` if JSON may write it in several ways. */
export const needleOf = (text: string): Needle | undefined =>
  text.length > longestNeedle || !/^[ -~]+$/.test(text) || /["\\/]/.test(text) ? undefined : {
    pattern: patternOf(text, "gi"),
    length: text.length,
    others: ["\\u", ...othersInCase(text).map((letter) => Buffer.from(letter).toString("latin1"))]
  }

/** Room for copies of most segments, each of which is parsed before the next one is made. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

class Picker {
  readonly #json: Buffer
  readonly #length: number
  readonly #copy: Buffer
  #at = 0
  #size = 0
  /** Next known backslash: searching again at each string would be quadratic. */
  #backslashAt = -1
  /** JSON with a character for each byte, in which a needle is searched for; empty without one. */
  readonly #text: string
  /** Next known occurrence of the needle. */
  #needleAt = -1

  constructor(json: Buffer, text = "") {
    this.#json = json
    this.#text = text
    this.#length = json.length
    this.#copy = scratch.length < json.length + 2 ? Buffer.allocUnsafeSlow(json.length + 2) : scratch
  }

  list(wanted: Members): string {
    this.#write(openBracket)
    while (this.#skipSpace() < this.#length) {
      if (this.#json[this.#at] === comma) {
        this.#write(comma)
        this.#at++
      } else {
        const start = this.#at
        this.#value(wanted)
        if (this.#at === start) throw new SyntaxError(`expected a value at byte ${start}`)
      }
    }
    this.#write(closeBracket)
    return this.#copy.toString("utf8", 0, this.#size)
  }

  #write(byte: number) {
    this.#copy[this.#size++] = byte
  }

  #copyFrom(start: number) {
    const json = this.#json
    const copy = this.#copy
    let size = this.#size
    const end = this.#at
    if (end - start > longString) {
      size += json.copy(copy, size, start, end)
    } else for (let at = start; at < end; at++) copy[size++] = json[at] ?? 0
    this.#size = size
  }

  #skipSpace(): number {
    const json = this.#json
    let at = this.#at
    while (at < this.#length && (json[at] ?? 0) <= 0x20) at++
    return this.#at = at
  }

  /** Copies a value, of an object only the wanted members. */
  #value(wanted: Member["below"]) {
    const start = this.#at
    if (wanted === undefined || this.#json[start] !== openBrace) {
      this.#at = this.#endOfValue(start)
      this.#copyFrom(start)
      return
    }
    this.#write(openBrace)
    this.#at++
    let isFirst = true
    for (;;) {
      const byte = this.#json[this.#skipSpace()]
      if (byte === comma) this.#at++
      else if (byte === quote) {
        const key = this.#at
        const afterKey = this.#endOfString(key + 1)
        this.#at = afterKey
        // The colon between spaces.
        this.#skipSpace()
        this.#at++
        this.#skipSpace()
        const member = "pattern" in wanted
          ? this.#holds(wanted, key) ? whole : undefined
          : this.#wantedAt(wanted, key + 1, afterKey - 1)
        if (member === undefined) this.#at = this.#endOfValue(this.#at)
        else {
          if (!isFirst) this.#write(comma)
          isFirst = false
          this.#copyFrom(key)
          this.#value(member.below)
        }
      } else {
        this.#at++
        this.#write(closeBrace)
        return
      }
    }
  }

  /** Whether the needle occurs in the member that begins at a place, whose value is the next one. */
  #holds({ length, pattern }: Needle, start: number): boolean {
    if (this.#needleAt < start) {
      pattern.lastIndex = start
      this.#needleAt = pattern.test(this.#text) ? pattern.lastIndex - length : this.#length
    }
    return this.#needleAt < this.#length && this.#needleAt < this.#endOfValue(this.#at)
  }

  /** Member with the key at a place; a key that is written with escapes may be any of them. */
  #wantedAt(wanted: Members, start: number, end: number): Pick<Member, "below"> | undefined {
    const json = this.#json
    for (const member of wanted) {
      const { key } = member
      if (key.length !== end - start) continue
      let at = 0
      while (at < key.length && key[at] === json[start + at]) at++
      if (at === key.length) return member
    }
    return this.#backslashAt >= start && this.#backslashAt < end || this.#hasEscape(start, end) ? whole : undefined
  }

  #hasEscape(start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (this.#json[at] === backslash) return true
    return false
  }

  #endOfValue(from: number): number {
    const json = this.#json
    const length = this.#length
    let nest = 0
    for (let at = from; at < length; at++) {
      const kind = kinds[json[at] ?? 0]
      if (kind === within) continue
      if (kind === quote) {
        at = this.#endOfString(at + 1) - 1
        if (nest === 0) return at + 1
      } else if (kind === openBrace) nest++
      else if (nest === 0) return at
      else if (kind === closeBrace && --nest === 0) return at + 1
    }
    return length
  }

  /** Place after the closing quote of a string. */
  #endOfString(from: number): number {
    const json = this.#json
    const length = this.#length
    let at = from
    while (at < length) {
      const near = Math.min(length, at + longString)
      while (at < near && json[at] !== quote && json[at] !== backslash) at++
      if (at === near && at < length) {
        if (this.#backslashAt < at) this.#backslashAt = indexOf(json, backslash, at)
        at = Math.min(indexOf(json, quote, at), this.#backslashAt)
      }
      if (at >= length) break
      if (json[at] === quote) return at + 1
      at += 2
    }
    return length
  }
}

const whole = { below: undefined }

const nothing = "[]"

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length)

/**
 * JSON of a list of elements, which are separated by commas, with only the wanted members of those that are objects.
 * Valid JSON stays valid, and has the same wanted members; others may be among them.
 */
export const pick = (elements: Uint8Array, wanted: Members): string => new Picker(asBuffer(elements)).list(wanted)

/**
 * JSON of a list of elements with only those members of the objects under a key in which the needle occurs; empty if it
 * occurs in none, and `undefined` if that is uncertain.
 *
 * **Gotchas**
 *
 * An object must have a key only once, as in what `JSON.stringify` writes.
 */
export const pickText = (elements: Uint8Array, key: string, needle: Needle): string | undefined => {
  const json = asBuffer(elements)
  const text = json.toString("latin1")
  if (needle.others.some((other) => text.includes(other))) return undefined
  needle.pattern.lastIndex = 0
  return needle.pattern.test(text)
    ? new Picker(json, text).list([{ key: encoder.encode(key), below: needle }])
    : nothing
}
