/** Rules for this repository: which room imports which, and words to avoid. */
import { objection } from "./rooms.ts"
import { objections } from "./words.ts"

interface Context {
  readonly filename: string
  readonly sourceCode: { readonly lines: ReadonlyArray<string> }
  readonly report: (problem: { readonly message: string; readonly node?: object; readonly loc?: object }) => void
}

interface Import {
  readonly source: { readonly value?: unknown } | null
}

/** The path of a file below `src`, with slashes on every system. */
const below = (filename: string) => filename.replaceAll("\\", "/").split("/src/").at(-1) ?? ""

const rooms = {
  create: (context: Context) => {
    const check = (node: Import) => {
      const specifier = node.source?.value
      if (typeof specifier !== "string") return
      const message = objection(below(context.filename), specifier)
      if (message !== undefined) context.report({ message, node })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportAllDeclaration: check,
      ExportNamedDeclaration: check
    }
  }
}

const words = {
  create: (context: Context) => ({
    Program: () => {
      for (const [index, line] of context.sourceCode.lines.entries()) {
        const loc = { start: { line: index + 1, column: 0 }, end: { line: index + 1, column: line.length } }
        for (const message of objections(line)) context.report({ message, loc })
      }
    }
  })
}

export default { meta: { name: "house" }, rules: { rooms, words } }
