import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Connections from "../../../src/n8n/model/Connections.ts"
import { problems } from "../../../src/workflow/check/WorkflowProblems.ts"
import type { Operation } from "../../../src/workflow/edit/WorkflowEdit.ts"
import { Json, Key } from "../../support/arbitrary.ts"
import { ai, attempt, base, edit, lookups, nodeOf } from "./edits.ts"
import * as random from "./operations.ts"

const { Any, done, frozen, Name, names, NewName, operationsOf, Path, Plain, Port, Position, sound, Type } = random

const text = (value: unknown) => JSON.stringify(value)

const isWhole = (workflow: Obj) => {
  const nodes = arr(workflow["nodes"]).map((each) => obj(each) ?? {})
  const by = (key: string) => new Set(nodes.map((each) => each[key]))
  const named = by("name")
  assert.deepStrictEqual([named.size, by("id").size], [nodes.length, nodes.length])
  for (const { from, to } of Connections.links(workflow["connections"])) assert.isTrue(named.has(from) && named.has(to))
  for (const from of Object.keys(obj(workflow["connections"]) ?? {})) assert.isTrue(named.has(from))
  for (const pinned of Object.keys(obj(workflow["pinData"]) ?? {})) assert.isTrue(named.has(pinned))
  for (const { position } of nodes) assert.isTrue(Array.isArray(position) && position.every(Number.isInteger))
}

describe("any operations", () => {
  it.prop("leave connections that lead somewhere, and names and ids of one node each", {
    operations: operationsOf(Any)
  }, ({ operations }) => isWhole(done(sound, operations)))

  it.prop("that connect and disconnect leave connections that n8n's editor draws", {
    operations: operationsOf(Plain)
  }, ({ operations }) => {
    const wrong = problems(done(sound, operations), lookups()).filter(({ path, severity }) =>
      severity === "error" && path.startsWith("connections")
    )
    assert.deepStrictEqual(wrong, [])
  })

  it.prop("that are refused name the first that is, and those before it can be done", {
    operations: operationsOf(Any)
  }, ({ operations }) => {
    const result = attempt(sound, ...operations)
    if (Result.isSuccess(result)) return assert.isAtLeast(result.success.changes.length, operations.length)
    const operation = Number(/^operations\[(\d+)\]\./.exec(result.failure.field)?.[1])
    edit(sound, ...operations.slice(0, operation))
    assert.isTrue(Result.isFailure(attempt(sound, ...operations.slice(0, operation + 1))))
  })
})

describe("an operation that is reverted leaves no trace", () => {
  const Existing = Schema.Literals(names)
  const isSame = (workflow: Obj, ...operations: ReadonlyArray<Operation>) =>
    assert.strictEqual(text(edit(workflow, ...operations).workflow), text(workflow))

  it.prop(
    "renaming, from any name to any other",
    { name: Existing, one: NewName, two: NewName },
    ({ name, one, two }) => {
      // Objects put keys that are indices before all others.
      const taken = new Set([...names, ""])
      const isFit = (to: string) => to.trim() !== "" && !taken.has(to) && !/^\d+$/.test(to)
      if (!isFit(one) || !isFit(two) || one === two) return
      isSame(sound, { op: "rename", node: name, to: one }, { op: "rename", node: one, to: name })
      const { workflow } = edit(sound, { op: "rename", node: name, to: one })
      isSame(workflow, { op: "rename", node: one, to: two }, { op: "rename", node: two, to: one })
      // Ids are as good as names.
      isSame(workflow, { op: "rename", node: `id of ${name}`, to: two }, {
        op: "rename",
        node: `id of ${name}`,
        to: one
      })
    }
  )

  it.prop("connecting", { from: Existing, to: Existing, output: optionalPort(), input: optionalPort() }, (given) => {
    const { from, input, output, to } = given
    const ends = { ...output === null ? {} : { sourceOutput: output }, ...input === null ? {} : { targetInput: input } }
    const result = attempt(sound, { op: "connect", from, to, ...ends })
    if (Result.isFailure(result) || result.success.workflow === sound) return
    const { workflow } = result.success
    const before = new Set(Connections.links(sound["connections"]).map(Connections.linkKey))
    const made = Connections.links(workflow["connections"]).filter((link) => !before.has(Connections.linkKey(link)))
    assert.strictEqual(made.length, 1)
    const [link] = made
    const [sourceOutput, targetInput] = [link?.output, link?.input].map((port) => `${port?.type}[${port?.index}]`)
    const back = edit(workflow, {
      op: "disconnect",
      from,
      to,
      sourceOutput: sourceOutput ?? "",
      targetInput: targetInput ?? ""
    })
    assert.strictEqual(text(back.workflow["connections"]), text(sound["connections"]))
    if (output !== "error") assert.strictEqual(text(back.workflow), text(sound))
  })

  it.prop("adding", { type: Type, after: Name }, ({ after, type }) => {
    const result = attempt(sound, { op: "add", type, after })
    if (Result.isFailure(result)) return
    const { added, workflow } = result.success
    isWhole(workflow)
    assert.strictEqual(text(edit(workflow, { op: "remove", node: added[0]?.id ?? "" }).workflow), text(sound))
  })
})

function optionalPort() {
  return Schema.NullOr(Port)
}

describe("replaceNode, with any type", () => {
  it.prop("leaves valid connections, reports every change, and touches no other node", {
    name: Schema.Literals(names),
    type: Type
  }, ({ name, type }) => {
    const { changes, reports: [report], workflow } = edit(sound, { op: "replaceNode", node: name, type })
    isWhole(workflow)
    assert.isDefined(report)
    assert.lengthOf(changes.filter((line) => line.includes("removed the connection")), report.removedConnections.length)
    const of = (given: Obj) =>
      Connections.links(given["connections"]).filter(({ from, to }) => from === name || to === name)
    assert.strictEqual(report.maintainedConnections.length, of(workflow).length)
    assert.strictEqual(report.maintainedConnections.length + report.removedConnections.length, of(sound).length)
    for (const [index, each] of arr(workflow["nodes"]).entries()) {
      if (obj(each)?.["name"] !== name) assert.strictEqual(each, arr(sound["nodes"])[index])
    }
    const errors = problems(workflow, lookups()).filter(({ severity }) => severity === "error")
    assert.deepStrictEqual(errors.filter(({ path }) => path.startsWith("connections")), [])
    // Only what is missing is wrong, never what was kept.
    const kept = Object.keys(obj(nodeOf(workflow, name)["parameters"]) ?? {})
    const wrong = errors.filter((each) =>
      each.node === name && kept.some((key) => each.path.includes(`.parameters.${key}`))
    )
    assert.deepStrictEqual(wrong, [])
  })
})

describe("whatever the workflow is", () => {
  const Thing = Schema.Union([Schema.Literals(["A", "B", "__proto__", "constructor", ""]), Json])
  const or = <A extends Schema.Top>(given: A) => Schema.Union([given, Json])
  const Sketch = Schema.Struct({
    name: Json,
    nodes: or(Schema.Array(or(Schema.Struct({
      id: Thing,
      name: Thing,
      type: or(Schema.Literals([`${base}switch`, `${ai}agent`, "n8n-nodes-foo.bar"])),
      typeVersion: or(Schema.Literals([1, 2, 3])),
      position: Json,
      parameters: Json,
      onError: Json
    })))),
    connections: or(Schema.Record(
      Schema.Literals(["A", "B", "__proto__"]),
      Schema.Record(
        Schema.Literals(["main", "ai_tool"]),
        Schema.Array(Schema.Array(or(Schema.Struct({ node: Thing, type: Key, index: Json }))))
      )
    )),
    pinData: Json,
    nodeGroups: Json,
    settings: Json
  })
  const Word = Schema.Literals(["A", "B", "__proto__", "constructor"])
  const op = <const A extends ReadonlyArray<string>, const B extends Schema.Struct.Fields>(ops: A, fields: B) =>
    Schema.Struct({ op: Schema.Literals(ops), ...fields })
  const Hostile = Schema.Union([
    op(["add"], { type: Type, after: Schema.optionalKey(Word), parameters: Schema.Record(Key, Json) }),
    op(["remove", "enable", "disable"], { node: Word }),
    op(["rename"], { node: Word, to: Word }),
    op(["move"], { node: Word, position: Position }),
    op(["connect", "disconnect"], { from: Word, to: Word, sourceOutput: Schema.String }),
    op(["update"], { node: Word, parameters: Schema.Record(Key, Json), disabled: Json }),
    op(["set"], { node: Word, path: Schema.Union([Path, Key]), value: Json }),
    op(["replace"], { node: Word, path: Path, find: Schema.String, with: Schema.String }),
    op(["tidy"], {})
  ])

  it.prop(
    "edits are done or refused, never a failure",
    { given: Sketch, operations: Schema.Array(Hostile) },
    (each) => {
      const given = frozen(each.given as Obj)
      done(given, each.operations)
      attempt(given, { op: "replaceNode", node: "A", type: `${base}switch` })
    }
  )
})
