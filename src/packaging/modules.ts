/** Changes of compiled modules: where their imports lead, and which values a bundler may leave out. */
import { decode, encode } from "@jridgewell/sourcemap-codec"
import type * as Acorn from "acorn"

/** Insertion of text at an offset, or replacement of what is between two. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Imported module with the names that are used of it; `*` is any. A `*` of the specifier is a part only known later. */
export interface Import {
  readonly specifier: string
  readonly names: ReadonlySet<string>
  readonly isDynamic: boolean
}

type Node = Acorn.AnyNode

const nameOf = (node: Acorn.Identifier | Acorn.Literal) => node.type === "Identifier" ? node.name : String(node.value)

const childrenOf = (node: Node): ReadonlyArray<Node> =>
  Object.values(node).flat().filter((child): child is Node => typeof child?.type === "string")

const importsIn = (program: Acorn.Program): ReadonlyArray<Omit<Import, "specifier"> & { readonly source: Node }> => {
  const dynamic = (node: Node): ReadonlyArray<Node> => [
    ...(node.type === "ImportExpression" ? [node.source] : []),
    ...childrenOf(node).flatMap(dynamic)
  ]
  const all = new Set(["*"])
  return [
    ...program.body.flatMap((node) => {
      if (node.type === "ImportDeclaration") {
        const names = node.specifiers.map((each) =>
          each.type === "ImportSpecifier"
            ? nameOf(each.imported)
            : each.type === "ImportDefaultSpecifier"
            ? "default"
            : "*"
        )
        return [{ source: node.source, names: new Set(names), isDynamic: false }]
      }
      if (node.type === "ExportAllDeclaration") return [{ source: node.source, names: all, isDynamic: false }]
      if (node.type === "ExportNamedDeclaration" && node.source) {
        return [{
          source: node.source,
          names: new Set(node.specifiers.map(({ local }) => nameOf(local))),
          isDynamic: false
        }]
      }
      return []
    }),
    ...program.body.flatMap(dynamic).map((source) => ({ source, names: all, isDynamic: true }))
  ]
}

/** Names of `import * as`: their members are read without an effect. */
const namespacesOf = (program: Acorn.Program) =>
  new Set(
    program.body.flatMap((node) =>
      node.type === "ImportDeclaration"
        ? node.specifiers.flatMap((each) => each.type === "ImportNamespaceSpecifier" ? each.local.name : [])
        : []
    )
  )

const pure = "/* @__PURE__ */ "

/** Marks as pure what a declaration evaluates when its module loads. */
const marks = (value: Node, namespaces: ReadonlySet<string>): ReadonlyArray<Edit> => {
  const starts = new Set<number>()
  let isWaiting = false
  /** Whether calls are all that could have an effect. */
  const isPlain = (node: Node): boolean => {
    switch (node.type) {
      case "Identifier":
      case "Literal":
      case "ArrowFunctionExpression":
      case "FunctionExpression":
        return true
      case "ArrayExpression":
        return node.elements.every((each) => each !== null && isPlain(each))
      case "ObjectExpression":
        return node.properties.every((each) => each.type === "Property" && !each.computed && isPlain(each.value))
      case "MemberExpression":
        return !node.computed && node.object.type === "Identifier" && namespaces.has(node.object.name)
      case "CallExpression":
      case "NewExpression": {
        starts.add(node.start)
        const { callee } = node
        const isMethod = callee.type === "MemberExpression" && !callee.computed
        return (isMethod ? isPlain(callee.object) : isPlain(callee)) && node.arguments.every(isPlain)
      }
      case "AwaitExpression":
        isWaiting = true
        return false
      default:
        return false
    }
  }
  if (isPlain(value)) return [...starts].map((start) => ({ start, end: start, text: pure }))
  if (isWaiting || value.type === "ClassExpression") return []
  return [
    { start: value.start, end: value.start, text: `${pure}(() => (` },
    { start: value.end, end: value.end, text: "))()" }
  ]
}

const isValue = (node: Node) => !/Function|Class/.test(node.type)

const evaluated = (node: Node): ReadonlyArray<Node> => {
  switch (node.type) {
    case "ExportNamedDeclaration":
      return node.declaration ? evaluated(node.declaration) : []
    case "ExportDefaultDeclaration":
      return isValue(node.declaration) ? [node.declaration] : evaluated(node.declaration)
    case "VariableDeclaration":
      return node.declarations.flatMap(({ init }) => init ?? [])
    case "ClassDeclaration":
      return [
        ...(node.superClass ? [node.superClass] : []),
        ...node.body.body.flatMap((each) => each.type === "PropertyDefinition" && each.static ? each.value ?? [] : [])
      ]
    default:
      return []
  }
}

/** Edits of a module: its imports as `resolve` returns them, and its values marked as free of effects. */
export const edits = (program: Acorn.Program, resolve: (each: Import) => string): ReadonlyArray<Edit> => {
  const namespaces = namespacesOf(program)
  return [
    ...importsIn(program).flatMap(({ isDynamic, names, source }): ReadonlyArray<Edit> => {
      if (source.type === "Literal") {
        return [{ ...source, text: JSON.stringify(resolve({ specifier: String(source.value), names, isDynamic })) }]
      }
      if (source.type !== "TemplateLiteral") return []
      const parts = resolve({ specifier: source.quasis.map(({ value }) => value.raw).join("*"), names, isDynamic })
        .split("*")
      return source.quasis.map(({ end, start }, index) => ({ start, end, text: parts[index] ?? "" }))
    }),
    ...program.body.flatMap(evaluated).flatMap((value) => marks(value, namespaces))
  ]
}

/** Code after edits, which never span lines, and its source map. */
export const edited = (code: string, map: string, edits: ReadonlyArray<Edit>) => {
  const sorted = edits.toSorted((a, b) => a.start - b.start)
  const lengths = code.split("\n").map(({ length }) => length + 1)
  const { mappings, ...rest } = JSON.parse(map)
  let lineStart = 0
  let at = 0
  const shifted = decode(mappings).map((line, index) => {
    const lineEnd = lineStart + (lengths[index] ?? 0)
    const own: Array<Edit> = []
    for (let next = sorted[at]; next !== undefined && next.start < lineEnd; next = sorted[++at]) own.push(next)
    const begin = lineStart
    lineStart = lineEnd
    return line.map((segment) => {
      const growth = own.filter(({ start }) => start - begin < segment[0])
        .reduce((sum, { end, start, text }) => sum + text.length - (end - start), 0)
      return segment.with(0, segment[0] + growth) as unknown as typeof segment
    })
  })
  let text = ""
  let last = 0
  for (const { end, start, text: inserted } of sorted) {
    text += code.slice(last, start) + inserted
    last = end
  }
  return { code: text + code.slice(last), map: JSON.stringify({ ...rest, mappings: encode(shifted) }) }
}
