/** Random edits of one sound workflow, for properties. */
import { assert } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Hints from "../../../src/answer/Hints.ts"
import type { Obj } from "../../../src/base/Json.ts"
import { apply, type Operation } from "../../../src/workflow/edit/WorkflowEdit.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import { all } from "../../support/nodeTypes.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, flow, hook, lookups, model, node, set } from "./edits.ts"

export const frozen = <A>(value: A): A => {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(frozen)
  return value
}

/** Nothing is wrong with it but that it does nothing. */
export const sound = frozen(flow(
  [
    hook,
    node("If", `${base}if`, 2.2),
    node("Loop", `${base}splitInBatches`, 3),
    node("Merge", `${base}merge`, 3),
    agent(),
    model("Model"),
    node("Calc", `${ai}toolCalculator`, 1, { a: "={{ $('If').x }}" }),
    set("取得", { parameters: { a: "={{ $('Hook').x + $node[\"取得\"].y }}", b: ["={{ $(`Hook`).z }}"] } }),
    node("Code", `${base}code`, 2, { jsCode: "return $('Hook').all().concat($items(\"If\"))" }),
    node("Off", `${base}noOp`, 1, {}, { disabled: true, notesInFlow: true })
  ],
  joined(
    ["Hook", "If"],
    ["If", "取得", "main", 1],
    ["取得", "Loop"],
    ["Loop", "Agent", "main", 1],
    ["Agent", "Loop"],
    ["Loop", "Code"],
    ["Model", "Agent", "ai_languageModel"],
    ["Calc", "Agent", "ai_tool"]
  ),
  { pinData: { Hook: [{ json: {} }], 取得: [] }, nodeGroups: [{ id: "g", nodeIds: ["id of If", "id of Off"] }] }
))
export const names = ["Hook", "If", "Loop", "Merge", "Agent", "Model", "Calc", "取得", "Code", "Off"]

const types = [...all.keys()]
export const Name = Schema.Literals([...names, "Edit Fields", "New", "new-1", "id of If", "Gone"])
export const NewName = Schema.Union([Schema.Literals(["New", "If", "constructor", "It's", "C:\\n", "}}"]), Key])
export const Type = Schema.Union([Schema.Literals([`${base}set`, `${ai}toolCalculator`]), Schema.Literals(types)])
export const Port = Schema.Literals(["Chat Model", ..."0 1 main main[2] ai_tool false loop done error x".split(" ")])
export const Position = Schema.Struct({
  x: Schema.Int.check(Schema.isBetween({ minimum: -2000, maximum: 2000 })),
  y: Schema.Int.check(Schema.isBetween({ minimum: -2000, maximum: 2000 }))
})
const optional = Schema.optionalKey
const onLink = { from: Name, to: Name, sourceOutput: optional(Port), targetInput: optional(Port) }
/** What cannot make other connections of nodes wrong. */
export const Plain = [
  Schema.Struct({ op: Schema.Literal("add"), type: Type, name: optional(NewName), after: optional(Name) }),
  Schema.Struct({ op: Schema.Literal("replaceNode"), node: Name, type: Type }),
  Schema.Struct({ op: Schema.Literal("rename"), node: Name, to: NewName }),
  Schema.Struct({ op: Schema.Literals(["remove", "disable"]), node: Name }),
  Schema.Struct({ op: Schema.Literal("move"), node: Name, position: Position }),
  Schema.Struct({ op: Schema.Literals(["connect", "connect", "disconnect"]), ...onLink }),
  Schema.Struct({ op: Schema.Literal("settings"), settings: Schema.Record(Key, Json) }),
  Schema.Struct({ op: Schema.Literal("name"), name: Schema.String }),
  Schema.Struct({ op: Schema.Literal("tidy") }),
  Schema.Struct({
    op: Schema.Literal("update"),
    node: Name,
    onError: Schema.Literals(["stopWorkflow", "continueErrorOutput"])
  }),
  Schema.Struct({
    op: Schema.Literal("update"),
    node: Schema.Literal("Merge"),
    parameters: Schema.Struct({ numberInputs: Schema.NullOr(Schema.Literals([2, 3, 4])) })
  })
] as const
export const Path = Schema.Literals("a b[0] b[+] b[7] jsCode options.x parameters.a a.b numberInputs [".split(" "))
export const Any = [
  ...Plain,
  Schema.Struct({ op: Schema.Literal("set"), node: Name, path: Path, value: Json }),
  Schema.Struct({
    op: Schema.Literal("replace"),
    node: Name,
    path: Path,
    find: Schema.Literals(["$", "Hook", ".x", "({", ""]),
    with: Schema.String,
    all: optional(Schema.Boolean)
  }),
  Schema.Struct({ op: Schema.Literal("enable"), node: Name }),
  Schema.Struct({
    op: Schema.Literal("update"),
    node: Name,
    parameters: optional(Schema.Record(Schema.Literals(["mode", "numberInputs", "rules", "a"]), Json)),
    onError: optional(Schema.Literals(["stopWorkflow", "continueErrorOutput"])),
    notes: optional(Schema.NullOr(Schema.String))
  })
] as const
/** Up to twelve of them. */
export const operationsOf = (members: ReadonlyArray<Schema.Codec<Operation>>, least = 0) =>
  Schema.Array(Schema.Union(members)).check(Schema.isMinLength(least), Schema.isMaxLength(12))

/** Those that can be done, one after the other. */
export const done = (workflow: Obj, operations: ReadonlyArray<Operation>) => {
  const looked = lookups()
  return operations.reduce((current, operation) => {
    const result = apply(current, [operation], looked)
    if (Result.isSuccess(result)) return frozen(result.success.workflow)
    assert.match(result.failure.field, /^operations\[0\]\.\w/)
    assert.isAbove(Math.min(result.failure.message.length, Hints.text(result.failure.hint).length), 0)
    return current
  }, workflow)
}
