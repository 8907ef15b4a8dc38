/** Names and the shared state of a compilation. */
import type * as Acorn from "acorn"
import { Problem, type Run } from "./Values.ts"

/** The local variables of a block or function at run time. */
export interface Env {
  readonly values: Array<unknown>
  readonly parent: Env | undefined
}

export type Evaluate = (env: Env | undefined, run: Run) => unknown

export interface Compilation {
  /** Whether the scope is an item: `$json` is the whole item, and anything missing, at any depth, is `undefined`. */
  readonly isItem: boolean
  readonly expression: (node: Acorn.Expression | Acorn.PrivateIdentifier, scope: Scope) => Evaluate
  /** Paths of an item that it names, with the number of places that use the value, not only something inside it. */
  readonly reads: Map<string, { readonly steps: ReadonlyArray<string | number>; uses: number }>
  /** Whether the expression uses the item as a whole, beside the places that it names. */
  usesWhole: boolean
  /** Fields that it reads instead of a known name or a length if an item has them. */
  readonly mayRead: Set<string>
  patterns: number
  /** The steps of one pass through the current function, and its depth of nesting. */
  cost: number
  level: number
  deepest: number
}

/** The local variables of a block or function at compile time; the outermost scope has none. */
export interface Scope {
  readonly compilation: Compilation
  readonly names: Map<string, { readonly slot: number; readonly isConstant: boolean }>
  readonly parent: Scope | undefined
}

/** The value of a name before its declaration. */
export const uninitialized = Symbol("uninitialized")
/** The value of a chain that ended at `?.`. */
export const shortCircuited = Symbol("shortCircuited")

const maxNesting = 250

const constructs: { readonly [type: string]: string } = {
  ThisExpression: "'this'",
  AwaitExpression: "'await'",
  YieldExpression: "'yield'",
  ImportExpression: "'import'",
  ClassExpression: "A class",
  ClassDeclaration: "A class",
  TryStatement: "'try'",
  ThrowStatement: "'throw'",
  SwitchStatement: "'switch'",
  ForStatement: "A loop",
  ForInStatement: "A loop",
  ForOfStatement: "A loop",
  WhileStatement: "A loop",
  DoWhileStatement: "A loop",
  SequenceExpression: "A comma between expressions",
  AssignmentPattern: "A default value",
  RestElement: "A rest parameter",
  TaggedTemplateExpression: "A tagged template",
  MetaProperty: "'import.meta'",
  Super: "'super'",
  WithStatement: "'with'",
  LabeledStatement: "A label"
}

const describe = (node: Acorn.Node) =>
  node.type === "UpdateExpression"
    ? `'${(node as Acorn.UpdateExpression).operator}'`
    : constructs[node.type] ?? node.type.replace(/([a-z])([A-Z])/g, "$1 $2")

export const stop = ({ start }: Acorn.Node, kind: Problem["kind"], message: string): never => {
  throw new Problem({ kind, message, at: start })
}

export const refuse = (node: Acorn.Node, what = describe(node), advice = ""): never =>
  stop(node, "refused", `${what} is not allowed here${advice}`)

/** Compiles a function body and measures the steps and depth of one pass through it. */
export const measure = <A>(
  compilation: Compilation,
  body: () => A
): readonly [A, { readonly cost: number; readonly nesting: number }] => {
  const { cost, deepest, level } = compilation
  compilation.cost = 1
  compilation.deepest = level
  const result = body()
  const measurement = { cost: compilation.cost, nesting: compilation.deepest - level + 2 }
  compilation.cost = cost + 1
  compilation.deepest = Math.max(deepest, compilation.deepest)
  return [result, measurement]
}

export const nested = <A>(node: Acorn.Node, { compilation }: Scope, body: () => A): A => {
  compilation.cost++
  compilation.level++
  compilation.deepest = Math.max(compilation.deepest, compilation.level)
  if (compilation.level > maxNesting) stop(node, "budget", "It is nested too deeply")
  const result = body()
  compilation.level--
  return result
}

export const inner = (parent: Scope): Scope => ({ compilation: parent.compilation, names: new Map(), parent })

export const declare = ({ names }: Scope, name: string, isConstant: boolean): void => {
  if (!names.has(name)) names.set(name, { slot: names.size, isConstant })
}

/** Location of a local name at run time; `undefined` if the name is not local. */
export const resolve = (scope: Scope, name: string) => {
  let hops = 0
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent, hops++) {
    const known = at.names.get(name)
    if (known !== undefined) return { hops, ...known }
  }
  return undefined
}

export const envAt = (env: Env | undefined, hops: number): Env => {
  let at = env
  for (let hop = 0; hop < hops; hop++) at = at?.parent
  return at as Env
}

export const enter = ({ names }: Scope, parent: Env | undefined): Env => ({
  values: Array.from({ length: names.size }, () => uninitialized),
  parent
})
