/** Test cases: a workflow, its test data, and its expected result. Pure. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import { type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import * as Nearest from "../../base/Nearest.ts"
import * as Expected from "./Expected.ts"

/** Item: `{json: …}`, or its fields alone. */
const Item = Schema.Record(Schema.String, Schema.Json)

/** Expected output of a node, over all its runs and outputs, in their order. */
export const ExpectedNode = Schema.Struct({
  /** Number of items; 0 also if the node does not run. */
  count: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  /** First items; `*` is any item. */
  items: Schema.optionalKey(Schema.Array(Schema.Union([Item, Schema.Literal("*")])))
})
export type ExpectedNode = typeof ExpectedNode.Type

/** Expected result. */
export const Expectation = Schema.Struct({
  /** Status; `success` if absent. */
  status: Schema.optionalKey(Schema.Literals(["success", "error", "waiting", "canceled", "crashed"])),
  nodes: Schema.optionalKey(Schema.Record(Schema.String, ExpectedNode))
})
export type Expectation = typeof Expectation.Type

export const TestCase = Schema.Struct({
  /** Id on n8n, draft, or path relative to the case's folder. */
  workflow: Schema.NonEmptyString,
  testData: Schema.optionalKey(Schema.Json),
  /** Execution that provides the test data. */
  replay: Schema.optionalKey(Schema.Union([Schema.NonEmptyString, Schema.Int])),
  pins: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Union([Schema.Array(Schema.Union([Item, Schema.Array(Item)])), Schema.Literal("run")])
    )
  ),
  startNode: Schema.optionalKey(Schema.NonEmptyString),
  endNode: Schema.optionalKey(Schema.NonEmptyString),
  timeout: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1_000, maximum: 3_600_000 }))),
  expect: Schema.optionalKey(Expectation)
})
export type TestCase = typeof TestCase.Type

export interface Fault {
  readonly path: string
  readonly message: string
}

const keysOf = (schema: { readonly fields: object }) => Object.keys(schema.fields)

const unknownKeys = (value: Obj | undefined, keys: ReadonlyArray<string>, path: string): ReadonlyArray<Fault> =>
  Object.keys(value ?? {}).filter((key) => !keys.includes(key)).map((key) => ({
    path: member(path, key),
    message: `unknown key. ${Nearest.suggestion(key, keys)}`
  }))

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const decode = Schema.decodeUnknownResult(TestCase, { errors: "all" })

const pathOf = (steps: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> = []) =>
  steps.map((step) => typeof step === "object" ? step.key : step)
    .reduce<string>((path, key) => member(path, typeof key === "symbol" ? String(key) : key), "")

export const fromJson = (value: unknown): Result.Result<TestCase, ReadonlyArray<Fault>> => {
  const root = obj(value)
  if (root === undefined) return Result.fail([{ path: "", message: "A case is a JSON object" }])
  const expect = obj(root["expect"])
  const nodes = obj(expect?.["nodes"]) ?? {}
  const decoded = decode(value)
  const faults = [
    ...unknownKeys(root, keysOf(TestCase), ""),
    ...unknownKeys(expect, keysOf(Expectation), "expect"),
    ...Object.entries(nodes).flatMap(([name, node]) =>
      unknownKeys(obj(node), keysOf(ExpectedNode), member("expect.nodes", name))
    ),
    ...(Result.isFailure(decoded)
      ? format(decoded.failure.issue).issues.map(({ message, path }) => ({ path: pathOf(path), message }))
      : []),
    ...Object.entries(nodes).flatMap(([name, node]) =>
      Expected.faults(obj(node)?.["items"], `${member("expect.nodes", name)}.items`)
    )
  ]
  return faults.length === 0 && Result.isSuccess(decoded) ? Result.succeed(decoded.success) : Result.fail(faults)
}
