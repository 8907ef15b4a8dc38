/** JSON as people keep it in files: with comments, trailing commas, and a layout of their own. */
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"

/** What a text holds. */
export interface Parsed {
  readonly value: unknown
  /** What was no JSON but surely meant: each such kind once, with how many and where the first was. */
  readonly repairs: ReadonlyArray<string>
}

/** A stretch of the text. */
interface Span {
  readonly offset: number
  readonly length: number
}

/** Both count from 1. */
const place = (text: string, { offset }: Span) => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`
}

/** Finds what JSON with comments has beyond JSON, and the first thing that even that does not allow. */
const scan = (text: string) => {
  const comments: Array<Span> = []
  const commas: Array<Span> = []
  let comma: Span | undefined
  let fault: string | undefined
  const goesOn = () => {
    comma = undefined
  }
  const ends = () => {
    if (comma !== undefined) commas.push(comma)
    comma = undefined
  }
  Jsonc.visit(text, {
    onComment: (offset, length) => comments.push({ offset, length }),
    onSeparator: (character, offset, length) => {
      if (character === ",") comma = { offset, length }
    },
    onObjectBegin: goesOn,
    onArrayBegin: goesOn,
    onObjectProperty: goesOn,
    onLiteralValue: goesOn,
    onObjectEnd: ends,
    onArrayEnd: ends,
    onError: (code, offset, length) => {
      // `CommaExpected` reads `comma expected`.
      fault ??= Jsonc.printParseErrorCode(code).replace(/\B[A-Z]/g, (letter) => ` ${letter}`).toLowerCase() +
        ` at ${place(text, { offset, length })}`
    }
  }, { allowTrailingComma: true })
  return { comments, commas, fault }
}

const without = (text: string, spans: ReadonlyArray<Span>) => {
  const sorted = spans.toSorted((a, b) => a.offset - b.offset)
  const ends = [0, ...sorted.map(({ length, offset }) => offset + length)]
  return ends.map((from, index) => text.slice(from, sorted[index]?.offset)).join(" ")
}

const removed = (text: string, what: string, spans: ReadonlyArray<Span>) =>
  spans.slice(0, 1).map((first) =>
    spans.length === 1
      ? `removed a ${what} at ${place(text, first)}`
      : `removed ${spans.length} ${what}s, the first at ${place(text, first)}`
  )

const strictly = (text: string): Result.Result<unknown, unknown> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: (error) => error })

const mark = "\uFEFF"

/** The value of a text; a byte order mark, comments and trailing commas are repaired. Fails with what is wrong, where. */
export const parse = (whole: string): Result.Result<Parsed, string> => {
  const text = whole.startsWith(mark) ? whole.slice(1) : whole
  const marks = text === whole ? [] : ["removed a byte order mark"]
  const strict = strictly(text)
  if (Result.isSuccess(strict)) return Result.succeed({ value: strict.success, repairs: marks })
  return Result.try({ try: () => scan(text), catch: () => "it is nested too deeply" }).pipe(
    Result.flatMap(({ commas, comments, fault }) =>
      fault === undefined
        ? strictly(without(text, [...comments, ...commas])).pipe(
          Result.mapBoth({
            onFailure: () => "another syntax",
            onSuccess: (value) => ({
              value,
              repairs: [...marks, ...removed(text, "comment", comments), ...removed(text, "trailing comma", commas)]
            })
          })
        )
        : Result.fail(fault)
    )
  )
}

/**
 * The text with `value` in it instead of what it holds: what did not change keeps its bytes.
 */
export const rewrite = (text: string, value: unknown): string => {
  const parsed = parse(text)
  if (Result.isSuccess(parsed) && JSON.stringify(parsed.success.value) === JSON.stringify(value)) return text
  return `${JSON.stringify(value, null, 2)}\n`
}
