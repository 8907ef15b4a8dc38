/** Parses untrusted JavaScript: from workflows, node types and arguments. */
import * as Effect from "effect/Effect"
import type { Obj } from "./Json.ts"
import * as Lazy from "./Lazy.ts"

/** An ESTree program, or the first syntax error and its offset; `undefined` if the code is nested too deeply. */
export type Parsed =
  | { readonly program: Obj }
  | { readonly mistake: string; readonly at: number }
  | undefined

/** Parses JavaScript: an `expression` as in n8n, or the `body` of an async function. */
export type Parse = (code: string, as: "expression" | "body") => Parsed

/** Loads the parser, with acorn on first use. */
export const parser: Effect.Effect<Parse> = Effect.map(
  Lazy.load(() => import("acorn")),
  (acorn): Parse => (code, as) => {
    try {
      const program = acorn.parse(code, {
        ecmaVersion: "latest",
        sourceType: "script",
        allowReturnOutsideFunction: as === "body",
        allowAwaitOutsideFunction: as === "body"
      })
      const [first] = program.body
      return as === "body" || first?.type === "ExpressionStatement"
        ? { program: { ...program } }
        : { mistake: first === undefined ? "It is empty" : "It is a statement, not a value", at: 0 }
    } catch (error) {
      // A stack overflow is not a fault of the code.
      if (!(error instanceof SyntaxError) || !("pos" in error)) return undefined
      return { mistake: error.message.replace(/ \(\d+:\d+\)$/, ""), at: Number(error.pos) }
    }
  }
)
