/** Parses untrusted JavaScript: from workflows, node types and arguments. */
import type { Parser, Program } from "acorn"
import * as Effect from "effect/Effect"
import * as Lazy from "./Lazy.ts"
import * as Syntax from "./Syntax.ts"

/** A program, or the first syntax error and its offset; `undefined` if the code is too large or too deep. */
export type Parsed =
  | {
    /** Syntax tree. @internal */
    readonly program: Program
    readonly mistake?: undefined
  }
  | {
    /** @internal */
    readonly program?: undefined
    readonly mistake: string
    readonly at: number
  }
  | undefined

/** Parses JavaScript: an `expression` as in n8n, or the `body` of an async function. */
export type Parse = (code: string, as: "expression" | "body") => Parsed

/** Maximum length of code that is parsed: a parser cannot be interrupted. */
export const maxChars = 128 * 1024

/** Maximum depth of a tree, so that nothing that walks one recursively overflows. */
const maxDepth = 1_000

/** Maximum number of names that code declares, and length of a regular expression: acorn takes the square of either. */
const maxNames = 5_000
const maxPattern = 10_000

class TooLarge extends Error {}

/** The methods of acorn that take quadratic time. */
interface Quadratic {
  declareName(...args: ReadonlyArray<unknown>): void
  validateRegExpPattern(state: { readonly source: string }): void
}

const bounded = (parser: typeof Parser): typeof Parser =>
  class extends (parser as unknown as new(...args: ReadonlyArray<unknown>) => Quadratic) {
    private names = 0
    override declareName(...args: ReadonlyArray<unknown>) {
      if (++this.names > maxNames) throw new TooLarge()
      super.declareName(...args)
    }
    override validateRegExpPattern(state: { readonly source: string }) {
      if (state.source.length > maxPattern) throw new TooLarge()
      super.validateRegExpPattern(state)
    }
  } as unknown as typeof Parser

const load = Lazy.load(() => import("acorn").then((acorn) => ({ Parser: acorn.Parser.extend(bounded) })))

/** Loads the parser, with acorn on first use. */
export const parser: Effect.Effect<Parse> = Effect.map(
  load,
  ({ Parser }): Parse => (code, as) => {
    if (code.length > maxChars) return undefined
    try {
      const program = Parser.parse(code, {
        ecmaVersion: "latest",
        sourceType: "script",
        allowReturnOutsideFunction: as === "body",
        allowAwaitOutsideFunction: as === "body"
      })
      const [first] = program.body
      // Each level takes a character at least.
      if (code.length > maxDepth && Syntax.isDeeper(program, maxDepth)) return undefined
      return as === "body" || first?.type === "ExpressionStatement"
        ? { program }
        : { mistake: first === undefined ? "It is empty" : "It is a statement, not a value", at: 0 }
    } catch (error) {
      // A stack overflow is not a fault of the code.
      if (!(error instanceof SyntaxError) || !("pos" in error)) return undefined
      return { mistake: error.message.replace(/ \(\d+:\d+\)$/, ""), at: Number(error.pos) }
    }
  }
)
