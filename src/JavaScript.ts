/** Parses the JavaScript in workflows. */
import * as Effect from "effect/Effect"
import type { Parse } from "./domain/problems/Expressions.ts"

/** The parser, which is loaded when it is first asked for. */
export const parser: Effect.Effect<Parse> = Effect.map(
  Effect.promise(() => import("acorn")),
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
        : { mistake: first === undefined ? "There is nothing in it" : "It is a statement, not a value", at: 0 }
    } catch (error) {
      // A stack that overflows says nothing of the code.
      if (!(error instanceof SyntaxError) || !("pos" in error)) return undefined
      return { mistake: error.message.replace(/ \(\d+:\d+\)$/, ""), at: Number(error.pos) }
    }
  }
)
