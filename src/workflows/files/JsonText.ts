/** JSON as people keep it in files: with comments, trailing commas, and a layout of their own. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"
import { layoutOf, print } from "./jsonLayout.ts"
import { render } from "./jsonPieces.ts"

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

/** As `JSON.stringify` has it with an indent: then there is nothing else to keep. */
const reprint = (text: string, old: unknown, value: unknown) => {
  const body = text.trimEnd()
  const [, eol = "\n", indent = ""] = /^[[{](\r\n|\n)([ \t]+)/.exec(body) ?? []
  const print = (value: unknown) => JSON.stringify(value, null, indent).replaceAll("\n", eol)
  return Predicate.isObjectOrArray(old) && body.length > 2 && print(old) === body
    ? print(value) + text.slice(body.length)
    : undefined
}

const holds = (text: string, json: string) => {
  const parsed = parse(text)
  return Result.isSuccess(parsed) && JSON.stringify(parsed.success.value) === json
}

const edit = (text: string, old: unknown, value: unknown, json: string) => {
  const root = Jsonc.parseTree(text, [], { allowTrailingComma: true })
  const layout = layoutOf(text, root)
  const around = (inner: string) =>
    root === undefined ? `${inner}\n` : text.slice(0, root.offset) + inner + text.slice(root.offset + root.length)
  const edited = root === undefined
    ? undefined
    : around(render({ text, layout }, root, old, value, { base: "", isFlat: !layout.isTall }))
  return edited !== undefined && holds(edited, json) ? edited : around(print(value, "", layout))
}

/**
 * The text with `value` instead of what it holds, for a small diff: what did not change keeps its bytes.
 *
 * **Details**
 *
 * Kept are the layout, the spelling of numbers and strings, comments, line ends and a byte order mark. What is new is
 * laid out like the rest. Elements are told apart by id, name or content; a member whose key alone changed is renamed.
 * Where something comes or goes, a comment stays with what follows it. The order of keys becomes the value's.
 */
export const rewrite = (text: string, value: unknown): string => {
  const json = JSON.stringify(value)
  const parsed = parse(text)
  if (Result.isFailure(parsed)) return `${JSON.stringify(value, null, 2)}\n`
  const old = parsed.success.value
  if (JSON.stringify(old) === json) return text
  const head = text.startsWith(mark) ? mark : ""
  const body = text.slice(head.length)
  return head + (reprint(body, old, value) ?? edit(body, old, value, json))
}
