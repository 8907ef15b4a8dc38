/** Rules for this repository: which room imports which, words to avoid, paths written by hand, and what would defeat tree shaking. */
import { writesPath } from "./paths.ts"
import { objection } from "./rooms.ts"
import { objections, titleObjections } from "./words.ts"

interface Context {
  readonly filename: string
  readonly sourceCode: { readonly lines: ReadonlyArray<string> }
  readonly report: (problem: { readonly message: string; readonly node?: object; readonly loc?: object }) => void
}

interface Import {
  readonly source: { readonly value?: unknown } | null
}

interface Node {
  readonly type: string
  readonly name?: string
  readonly value?: unknown
  readonly local?: Node
  readonly object?: Node
  readonly callee?: Node
}

interface Call {
  readonly callee: Node
  readonly arguments: ReadonlyArray<Node>
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

const byLine = (objectionsTo: (line: string, before: string | undefined, file: string) => ReadonlyArray<string>) => ({
  create: (context: Context) => ({
    Program: () => {
      const { lines } = context.sourceCode
      for (const [index, line] of lines.entries()) {
        const loc = { start: { line: index + 1, column: 0 }, end: { line: index + 1, column: line.length } }
        for (const message of objectionsTo(line, lines[index - 1], below(context.filename))) {
          context.report({ message, loc })
        }
      }
    }
  })
})

const words = byLine(objections)

/** `testing` writes messages as n8n does. */
const paths = byLine((line, _, file) =>
  file !== "base/JsonPath.ts" && !file.startsWith("testing/") && writesPath(line)
    ? ["Write paths with JsonPath: print, member, join."]
    : []
)

const isTest = (callee: Node | undefined): boolean => {
  if (callee === undefined) return false
  return callee.type === "Identifier"
    ? /^(?:it|test|describe)$/.test(callee.name ?? "")
    : isTest(callee.object ?? callee.callee)
}

const titles = {
  create: (context: Context) => ({
    CallExpression: (node: Call) => {
      const [first] = node.arguments
      if (typeof first?.value !== "string" || !isTest(node.callee)) return
      for (const message of titleObjections(first.value)) context.report({ message, node: first })
    }
  })
}

interface Declarator {
  readonly id: Node
  readonly init: Node | null
}

/** A namespace that is destructured is bundled whole: `const { String } = Schema` brings 250 kB. */
const namespaces = {
  create: (context: Context) => {
    const names = new Set<string | undefined>()
    return {
      ImportNamespaceSpecifier: ({ local }: Node) => void names.add(local?.name),
      VariableDeclarator: (node: Declarator) => {
        if (node.id.type !== "ObjectPattern" || node.init?.type !== "Identifier" || !names.has(node.init.name)) return
        context.report({ message: `Write ${node.init.name}.name: destructured, it is bundled whole`, node })
      }
    }
  }
}

export default { meta: { name: "house" }, rules: { rooms, words, paths, titles, namespaces } }
