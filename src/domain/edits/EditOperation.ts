/** What can be done to a workflow, as a caller writes it. */
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import type { Obj } from "../Json.ts"

const optional = Schema.optionalKey
const Name = Schema.String
const Fields = Schema.Record(Schema.String, Schema.Unknown)
const Position = Schema.Struct({ x: Schema.Finite, y: Schema.Finite })
const Port = Schema.Union([Schema.String, Schema.Finite])

const onNode = <const Op extends string>(op: Op) => Schema.Struct({ op: Schema.Literal(op), node: Name })
const onLink = <const Op extends string>(op: Op) =>
  Schema.Struct({
    op: Schema.Literal(op),
    from: Name,
    to: Name,
    sourceOutput: optional(Port),
    targetInput: optional(Port)
  })

const Member = Schema.Union([
  Schema.Struct({
    op: Schema.Literal("add"),
    type: Schema.String,
    name: optional(Name),
    parameters: optional(Fields),
    position: optional(Position),
    after: optional(Name)
  }),
  Schema.StructWithRest(
    Schema.Struct({ op: Schema.Literal("update"), node: Name, parameters: optional(Fields) }),
    [Fields]
  ),
  Schema.Struct({ op: Schema.Literal("rename"), node: Name, to: Name }),
  onNode("remove"),
  onNode("enable"),
  onNode("disable"),
  Schema.Struct({ op: Schema.Literal("move"), node: Name, position: Position }),
  onLink("connect"),
  onLink("disconnect"),
  Schema.Struct({ op: Schema.Literal("settings"), settings: Fields }),
  Schema.Struct({ op: Schema.Literal("name"), name: Name })
])

/** The fields of all operations side by side: as JSON Schema a third of their union. */
const Wire = Schema.StructWithRest(
  Schema.Struct({
    op: Schema.Literals([
      "add",
      "update",
      "rename",
      "remove",
      "enable",
      "disable",
      "move",
      "connect",
      "disconnect",
      "settings",
      "name"
    ]),
    node: optional(Name.annotate({ description: "name or id" })),
    type: optional(Schema.String),
    name: optional(Name),
    parameters: optional(Fields.annotate({ description: "update: JSON merge patch" })),
    position: optional(Fields.annotate({ description: "{x, y}" })),
    after: optional(Name),
    to: optional(Name),
    from: optional(Name),
    sourceOutput: optional(Schema.Unknown.annotate({ description: "index, type or name" })),
    targetInput: optional(Schema.Unknown),
    settings: optional(Fields)
  }),
  [Fields]
).annotate({ description: "update also takes other keys of a node; null removes" })

/**
 * One edit; nodes go by name or id.
 *
 * **Details**
 *
 * `sourceOutput` and `targetInput` are `main`, an index, `main[1]`, a connection type, or the name a person sees. In
 * an update null takes a parameter or property away.
 */
export const Operation = Wire.pipe(Schema.decodeTo(
  Member,
  SchemaTransformation.transform({
    decode: (wire: typeof Wire.Type): typeof Member.Encoded => wire as typeof Member.Encoded,
    encode: (member: typeof Member.Encoded): typeof Wire.Type => member as Obj as typeof Wire.Type
  })
))
export type Operation = typeof Member.Type

/** The operation of that kind. */
export type Of<Op extends Operation["op"]> = Extract<Operation, { readonly op: Op }>
