/** JSON in files, with comments, trailing commas and the layout of its author. */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"
import { edit } from "./jsonEdit.ts"
import * as Turn from "./Turn.ts"

export interface Parsed {
  readonly value: unknown
  /** Repairs of the text: each kind once, with the number and the first place. */
  readonly repairs: ReadonlyArray<string>
}

interface Span {
  readonly offset: number
  readonly length: number
}

export interface Place {
  /** From 1. */
  readonly line: number
  readonly column: number
}

const placeOf = (text: string, offset: number): Place => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 }
}

const scan = (text: string) => {
  const comments: Array<Span> = []
  const commas: Array<Span> = []
  let comma: Span | undefined
  let fault: (Pick<Span, "offset"> & { readonly what: string }) | undefined
  const discard = () => {
    comma = undefined
  }
  const close = () => {
    if (comma !== undefined) commas.push(comma)
    comma = undefined
  }
  Jsonc.visit(text, {
    onComment: (offset, length) => comments.push({ offset, length }),
    onSeparator: (character, offset, length) => {
      if (character === ",") comma = { offset, length }
    },
    onObjectBegin: discard,
    onArrayBegin: discard,
    onObjectProperty: discard,
    onLiteralValue: discard,
    onObjectEnd: close,
    onArrayEnd: close,
    onError: (code, offset) => {
      // `CommaExpected` becomes `comma expected`.
      fault ??= {
        what: Jsonc.printParseErrorCode(code).replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase(),
        offset
      }
    }
  }, { allowTrailingComma: true })
  return { comments, commas, fault }
}

const without = (text: string, spans: ReadonlyArray<Span>) => {
  const sorted = spans.toSorted((a, b) => a.offset - b.offset)
  const ends = [0, ...sorted.map(({ length, offset }) => offset + length)]
  return ends.map((from, index) => text.slice(from, sorted[index]?.offset)).join(" ")
}

/** Value of a text of strict JSON. */
export const strictly = (text: string): Result.Result<unknown, unknown> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: (error) => error })

const mark = "\uFEFF"

type Flaw = Place & { readonly what: string; readonly count: number }

/** Value of a text, and the parts that strict JSON does not allow; or the fault that prevents parsing. */
const read = (whole: string) => {
  const text = whole.startsWith(mark) ? whole.slice(1) : whole
  const marks: ReadonlyArray<Flaw> = text === whole ? [] : [{ what: "a byte order mark", line: 1, column: 1, count: 0 }]
  const failed = (what: string, place?: Place) => Result.fail({ what, place, marks })
  const strict = strictly(text)
  if (Result.isSuccess(strict)) return Result.succeed({ value: strict.success, flaws: marks })
  const scanned = Result.try(() => scan(text))
  if (Result.isFailure(scanned)) return failed("it is nested too deeply")
  const { commas, comments, fault } = scanned.success
  if (fault !== undefined) return failed(fault.what, placeOf(text, fault.offset))
  const flawsOf = (what: string, spans: ReadonlyArray<Span>): ReadonlyArray<Flaw> =>
    spans.slice(0, 1).map(({ offset }) => ({
      what: spans.length === 1 ? `a ${what}` : `${spans.length} ${what}s`,
      count: spans.length,
      ...placeOf(text, offset)
    }))
  const flaws = [...marks, ...flawsOf("comment", comments), ...flawsOf("trailing comma", commas)]
  return Result.match(strictly(without(text, [...comments, ...commas])), {
    onFailure: () => failed("another syntax"),
    onSuccess: (value) => Result.succeed({ value, flaws })
  })
}

const inWords = ({ column, line }: Place) => `line ${line}, column ${column}`

/** Parses a text; repairs a byte order mark, comments and trailing commas. Fails with the fault and its place. */
export const parse = (whole: string): Result.Result<Parsed, string> =>
  Result.mapBoth(read(whole), {
    onFailure: ({ place, what }) => place === undefined ? what : `${what} at ${inWords(place)}`,
    onSuccess: ({ flaws, value }) => ({
      value,
      repairs: flaws.map(({ count, what, ...place }) =>
        `removed ${what}${
          count === 0 ? "" : count === 1 ? ` at ${inWords(place)}` : `, the first at ${inWords(place)}`
        }`
      )
    })
  })

/** Parts of a text that strict JSON does not allow: each kind once, with its first place. */
export const flaws = (whole: string): ReadonlyArray<Place & { readonly what: string }> =>
  Result.match(read(whole), {
    onFailure: ({ marks, place = { line: 1, column: 1 }, what }) => [...marks, { what, ...place }],
    onSuccess: ({ flaws }) => flaws
  }).map(({ column, line, what }) => ({ what, line, column }))

/**
 * Replaces the value of a text with a small diff: unchanged parts keep their bytes. The layout, the spelling of numbers
 * and strings, comments, line ends and a byte order mark are preserved. New parts are laid out like the rest. Elements
 * are matched by id, name or content; a member whose key alone changed is renamed. A comment stays with the part that
 * follows it. The order of keys is that of the value.
 */
export const rewrite = (text: string, value: unknown): string => Turn.finish(steps(text, value))

/** {@link rewrite}, with pauses between values. */
export const rewriting = (text: string, value: unknown): Effect.Effect<string> => Turn.run(() => steps(text, value))

const steps = function*(text: string, value: unknown): Turn.Steps<string> {
  const json = JSON.stringify(value)
  const parsed = parse(text)
  yield
  if (Result.isFailure(parsed)) return `${JSON.stringify(value, null, 2)}\n`
  if (JSON.stringify(parsed.success.value) === json) return text
  const head = text.startsWith(mark) ? mark : ""
  return head + (yield* edit(text.slice(head.length), JSON.parse(json)))
}
