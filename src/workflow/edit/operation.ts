/** Edit operations, as callers write them. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { Obj } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Rows from "../../base/Rows.ts"
import usages from "./usage.json" with { type: "json" }

const optional = Schema.optionalKey
const Name = Schema.String
const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Point = Schema.Struct({ x: Schema.Finite, y: Schema.Finite })
type Place = typeof Point.Type | readonly [x: number, y: number]
/** `[x, y]` as in workflows, or `{x, y}`. */
const Position = Schema.Union([Point, Schema.Tuple([Schema.Finite, Schema.Finite])]).pipe(Schema.decodeTo(
  Point,
  SchemaTransformation.transform({
    decode: (place: Place) => "x" in place ? place : { x: place[0], y: place[1] },
    encode: (place): Place => place
  })
))
const Port = Schema.Union([Schema.String, Schema.Finite])
const onNode = { node: Name }
const onLink = { from: Name, to: Name, sourceOutput: optional(Port), targetInput: optional(Port) }

const operation = <const Op extends string, const F extends Schema.Struct.Fields>(op: Op, fields: F) =>
  Schema.Struct({ op: Schema.Literal(op), ...fields })

/** Operations by name. */
export const members = {
  add: operation("add", {
    type: Schema.String,
    name: optional(Name),
    parameters: optional(Fields),
    position: optional(Position),
    after: optional(Name)
  }),
  update: operation("update", { node: Name, parameters: optional(Fields) }),
  set: operation("set", { node: Name, path: Schema.String, value: Schema.Unknown }),
  replace: operation("replace", {
    node: Name,
    path: Schema.String,
    find: Schema.String,
    with: Schema.String,
    all: optional(Schema.Boolean),
    word: optional(Schema.Boolean)
  }),
  replaceNode: operation("replaceNode", {
    node: Name,
    type: Schema.String,
    parameters: optional(Fields),
    typeVersion: optional(Schema.Finite)
  }),
  rename: operation("rename", { node: Name, to: Name }),
  remove: operation("remove", onNode),
  enable: operation("enable", onNode),
  disable: operation("disable", onNode),
  move: operation("move", { node: Name, position: Position }),
  connect: operation("connect", onLink),
  disconnect: operation("disconnect", onLink),
  settings: operation("settings", { settings: Fields }),
  name: operation("name", { name: Name }),
  tidy: operation("tidy", {}),
  upgrade: operation("upgrade", {
    node: optional(Name),
    accept: optional(Schema.Record(Schema.String, Schema.String))
  }),
  extract: operation("extract", {
    nodes: Schema.Array(Name).check(Schema.isMinLength(1), Schema.isMaxLength(250)),
    name: optional(Name),
    workflowId: optional(Name)
  })
}

const Member = Schema.Union(
  Object.values({
    ...members,
    add: Schema.StructWithRest(members.add, [Fields]),
    update: Schema.StructWithRest(members.update, [Fields])
  })
)

/** Descriptions of the operations whose keys do not explain themselves. */
const explained: { readonly [op: string]: string } = usages

const keysOf = ({ fields }: { readonly fields: Schema.Struct.Fields }): ReadonlyArray<string> =>
  Object.entries(fields).flatMap(([key, field]) =>
    key === "op" ? [] : [field.ast.context?.isOptional === true ? `${key}?` : key]
  )

const listed = (keys: ReadonlyArray<string>) =>
  keys.length === 0 ? "nothing else" : keys.join(", ").replace(/, ([^,]*)$/, " and $1")

const usage = [
  ...Map.groupBy(Object.entries(members), ([op, member]) => explained[op] ?? keysOf(member).join(", "))
].map(([keys, entries]) => {
  const ops = entries.map(([op]) => op).join(", ")
  return keys === "" ? ops : `${ops}: ${keys}`
}).join("; ")

/** Reason why an operation is not one of these, or has other keys; nodes of `add` and `update` have any. */
export const faultAmong = (members: { readonly [op: string]: { readonly fields: Schema.Struct.Fields } }) =>
(
  wire: Obj
): string | undefined => {
  const op = String(wire["op"])
  const member = Object.hasOwn(members, op) ? members[op] : undefined
  if (member === undefined) {
    return `Invalid operation '${op.slice(0, 100)}'. ${suggestion(op, Object.keys(members), 24)}`
  }
  const keys = Object.keys(member.fields)
  const missing = keysOf(member).filter((key) => !key.endsWith("?") && !Object.hasOwn(wire, key))
  const extra = op === "add" || op === "update" ? [] : Object.keys(wire).filter((key) => !keys.includes(key))
  return missing.length + extra.length === 0
    ? undefined
    : `Invalid keys: ${op} takes ${listed(keysOf(member))}` +
      (extra.length === 0 ? "" : `, not ${Rows.names(extra)}`) +
      (missing.length === 0 ? "" : `; missing: ${missing.join(", ")}`)
}

/** Operation on the wire: a JSON Schema of each operation would cost three times the tokens. */
const Wire = Schema.StructWithRest(Schema.Struct({ op: Schema.String }), [Fields])

/** Operations of a union, whose faults on the wire are described in words. */
export const onWire = <S extends Schema.Codec<unknown, { readonly op: string }>>(
  Member: S,
  fault: (wire: Obj) => string | undefined,
  description?: string
) =>
  (description === undefined ? Wire : Wire.annotate({ description })).check(Schema.makeFilter(fault)).pipe(
    Schema.decodeTo(
      Member,
      SchemaTransformation.transform({
        decode: (wire: typeof Wire.Type): S["Encoded"] => wire,
        encode: (member: S["Encoded"]): typeof Wire.Type => member
      })
    )
  )

/**
 * One edit; nodes go by name or id. `sourceOutput` and `targetInput` are `main`, an index, `main[1]`, a connection
 * type, or the label in the editor. In an update null removes a parameter or property.
 */
export const Operation = onWire(Member, faultAmong(members), usage)
/** One edit, decoded. */
export type Operation = typeof Member.Type

/** Name of an operation. */
export type OperationName = Operation["op"]

/** Fields of an operation that is written as a function; nodes of `add` and `update` have further properties. */
export type Fields<O extends OperationName> = O extends "add" ? {
    readonly type: string
    readonly name?: string
    readonly parameters?: Obj
    readonly position?: { readonly x: number; readonly y: number }
    readonly after?: string
    readonly [property: string]: unknown
  }
  : O extends "update" ? { readonly node: string; readonly parameters?: Obj; readonly [property: string]: unknown }
  : Omit<Extract<Operation, { readonly op: O }>, "op">

export type Of<Op extends Operation["op"]> = Extract<Operation, { readonly op: Op }>
