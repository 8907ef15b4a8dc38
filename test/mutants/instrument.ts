/** Vite plugin that puts small mistakes, switched off, into modules: `a < b` becomes `(mutant("id") ? a <= b : a < b)`. */
import { type AnyNode, parse } from "acorn"
import { createHash } from "node:crypto"
import { appendFileSync } from "node:fs"
import { SourceMap } from "node:module"
import type { Plugin } from "vitest/config"
import * as Results from "./Results.ts"

const operators: Readonly<Record<string, ReadonlyArray<string>>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "&&": ["||"],
  "||": ["&&"],
  "??": ["&&"]
}

/** Methods that another takes the place of, or that are left out. */
const methods: Readonly<Record<string, string>> = {
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  min: "max",
  max: "min",
  flatMap: "map",
  toUpperCase: "toLowerCase",
  toLowerCase: "toUpperCase",
  filter: "",
  slice: "",
  sort: "",
  toSorted: "",
  toReversed: "",
  trim: "",
  flat: ""
}

/** Text that takes the place of a node. */
interface Mutant {
  readonly node: AnyNode
  readonly kind: string
  readonly text: string
}

/** Mutants of one node; none of a call inside an optional chain, which would end there. */
const mutantsOf = (node: AnyNode, code: string, isChained: boolean): ReadonlyArray<Mutant> => {
  const text = (part: AnyNode) => code.slice(part.start, part.end)
  const instead = (part: AnyNode, kind: string, ...texts: ReadonlyArray<string>) =>
    texts.map((other) => ({ node: part, kind: texts.length === 1 ? kind : `${kind} ${other}`, text: other }))
  switch (node.type) {
    case "BinaryExpression":
    case "LogicalExpression":
      return (operators[node.operator] ?? []).map((operator) => ({
        node,
        kind: `${node.operator} ${operator}`,
        text: `(${text(node.left)}) ${operator} (${text(node.right)})`
      }))
    case "ConditionalExpression":
    case "IfStatement":
      return instead(node.test, "condition", "true", "false")
    case "UnaryExpression":
      return node.operator === "!" ? instead(node, "not", text(node.argument)) : []
    case "Literal":
      return typeof node.value === "boolean"
        ? instead(node, "boolean", String(!node.value))
        : typeof node.value === "number"
        ? instead(node, "number", String(node.value + 1))
        : []
    case "ArrayExpression":
      return node.elements.length > 0 ? instead(node, "empty list", "[]") : []
    case "CallExpression": {
      const { callee } = node
      if (isChained || callee.type !== "MemberExpression" || callee.property.type !== "Identifier") return []
      const other = methods[callee.property.name]
      if (other === undefined || callee.object.type === "Super") return []
      const changed = other === ""
        ? text(callee.object)
        : text(callee.object) + "." + other + code.slice(callee.end, node.end)
      return instead(node, callee.property.name, changed)
    }
    case "ArrowFunctionExpression":
      return node.body.type === "BlockStatement" ? [] : instead(node.body, "result", "undefined")
    case "ReturnStatement":
      return node.argument ? instead(node.argument, "return", "undefined") : []
    case "ExpressionStatement":
      return node.directive === undefined && node.expression.type !== "Literal" &&
          !(node.expression.type === "CallExpression" && node.expression.callee.type === "Super")
        ? instead(node.expression, "statement", "undefined")
        : []
    default:
      return []
  }
}

const isNode = (value: unknown): value is AnyNode => typeof value === "object" && value !== null && "type" in value

/** Parts of a node that are evaluated. */
const partsOf = (node: AnyNode): ReadonlyArray<AnyNode> =>
  node.type.startsWith("Import") || node.type === "ExportAllDeclaration"
    ? []
    : Object.entries(node)
      .filter(([key]) => !(key === "key" && "computed" in node && !node.computed))
      .flatMap(([, value]): ReadonlyArray<unknown> => Array.isArray(value) ? value : [value])
      .filter(isNode)

const mutants = (node: AnyNode, code: string, isChained = false): ReadonlyArray<Mutant> => [
  ...mutantsOf(node, code, isChained),
  ...partsOf(node).flatMap((part) =>
    mutants(part, code, node.type === "ChainExpression" || isChained && part.type.endsWith("Expression"))
  )
]

/** Whether a mutant is among those that are tried: one in so many, always the same ones. */
const isDrawn = (id: string, oneIn: number) => createHash("md5").update(id).digest().readUInt32BE(0) % oneIn === 0

/** The code with its mutants, each in front of the expression that it would replace. */
const withSwitches = (code: string, drawn: ReadonlyArray<Mutant & { readonly id: string }>): string => {
  const inserts = [...Map.groupBy(drawn, ({ node }) => node)].flatMap(([node, all]) => [
    {
      at: node.start,
      isEnd: 0,
      size: node.end - node.start,
      text: `(${all.map(({ id, text }) => `globalThis.mutant(${JSON.stringify(id)}) ? (${text}) : `).join("")}(`
    },
    { at: node.end, isEnd: 1, size: 0, text: "))" }
  ]).toSorted((a, b) => a.at - b.at || b.isEnd - a.isEnd || b.size - a.size)
  let done = 0
  return inserts.map(({ at, text }) => {
    const before = code.slice(done, at)
    done = at
    return before + text
  }).join("") + code.slice(done)
}

/** Puts mutants into the modules of `of`, and lists them. */
export const instrument = (): Plugin => ({
  name: "mutants",
  enforce: "post",
  transform(code, path) {
    const file = path.replace(/\?.*/, "").split("/src/").at(-1) ?? ""
    if (!path.includes("/src/") || path.includes("node_modules") || !Results.isChosen(file)) return undefined
    const map = new SourceMap(this.getCombinedSourcemap() as unknown as ConstructorParameters<typeof SourceMap>[0])
    const lines = code.split("\n")
    const starts = [0]
    for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1)
    const placeOf = (offset: number) => {
      const line = starts.findLastIndex((start) => start <= offset)
      const entry = map.findEntry(line, offset - (starts[line] ?? 0))
      return "originalLine" in entry ? `${entry.originalLine + 1}:${entry.originalColumn + 1}` : `?${offset}`
    }
    const all = mutants(parse(code, { ecmaVersion: "latest", sourceType: "module" }), code)
      .map((mutant) => ({ ...mutant, id: `${file}:${placeOf(mutant.node.start)} ${mutant.kind}` }))
    const drawn = [...new Map(all.map((mutant) => [mutant.id, mutant])).values()]
      .filter(({ id }) => isDrawn(id, Results.oneIn))
    appendFileSync(Results.files.all, drawn.map(({ id }) => `${id}\n`).join(""))
    return { code: withSwitches(code, drawn), map: null }
  }
})
