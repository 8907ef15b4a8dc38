/** Marks of cuts in an answer. */
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as JsonPath from "../base/JsonPath.ts"

/** Path of a shortened value, its remaining and total length, and the call that fetches the rest. */
export const Mark = Schema.Struct({
  path: Schema.String,
  kept: Schema.Int,
  total: Schema.Int,
  next: Schema.optionalKey(Schema.String)
})
export type Mark = typeof Mark.Type

/** Field of an object that contains its marks. */
export const truncated = { _truncated: Schema.optionalKey(Schema.Union([Mark, Schema.Array(Mark)])) }

/** Whether a value is a mark. @internal */
export const isMark = Schema.is(Mark)

/** Marks of an object in an answer. */
export const marksIn = (holder: object): ReadonlyArray<Mark> =>
  "_truncated" in holder ? [holder._truncated].flat().filter(isMark) : []

/** Names the call that fetches the elements after the first `count` of a list, at a path such as `output.items`. */
export type Next = (path: string, count: number) => string | undefined

/** Full length of each list that is a page of a longer one, by path. */
export type Totals = Readonly<Record<string, number>>

/** Data without the first elements of some lists. @internal */
export const listsFrom = <A>(data: A, paths: ReadonlyArray<string>, offset: number): A =>
  offset === 0 ? data : paths.reduce<unknown>((whole, path) => {
    const at = JsonPath.parse(path) ?? []
    const list = JsonPath.get(whole, at)
    return Array.isArray(list) ? JsonPath.modify(whole, at, () => list.slice(offset)) : whole
  }, data) as A

const mark = new AST.PropertySignature("_truncated", truncated._truncated.ast)

const isList = (ast: AST.AST): boolean => AST.isArrays(ast) || AST.isUnion(ast) && ast.types.some(isList)

const admit = (ast: AST.AST, isRoot: boolean): AST.AST => {
  const { annotations, checks, context, encoding } = ast
  if (encoding !== undefined) return ast
  const inner = (part: AST.AST) => admit(part, false)
  if (AST.isUnion(ast)) {
    return new AST.Union(ast.types.map(inner), ast.options, annotations, checks, encoding, context)
  }
  if (AST.isArrays(ast)) {
    const { elements, isMutable, rest } = ast
    const [fixed, others] = [elements.map(inner), rest.map(inner)]
    return new AST.Arrays(isMutable, fixed, others, annotations, checks, encoding, context)
  }
  if (!AST.isObjects(ast)) return ast
  const properties = ast.propertySignatures.map(({ name, type }) => new AST.PropertySignature(name, inner(type)))
  const others = ast.indexSignatures.map(({ parameter, type }) => new AST.IndexSignature(parameter, inner(type)))
  const isMarkable = others.length === 0 && !properties.some(({ name }) => name === mark.name) &&
    (isRoot || properties.some(({ type }) => isList(type)))
  return new AST.Objects(
    isMarkable ? [...properties, mark] : properties,
    others,
    annotations,
    checks,
    encoding,
    context
  )
}

/** Adds marks to a schema: optional at its root and in each object with a list. */
export const markable = <A, I>(schema: Schema.ConstraintCodec<A, I>): Schema.ConstraintCodec<A, I> =>
  Schema.make(admit(schema.ast, true))
