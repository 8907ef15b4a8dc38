/** Test cases: a workflow, its test data, and the expected result, with which an execution is compared. Pure. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Differences from "../../base/Difference.ts"
import { mapValues, type Obj, obj, own } from "../../base/Json.ts"
import { get, member, print, walk } from "../../base/JsonPath.ts"
import * as Nearest from "../../base/Nearest.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import { timeouts } from "../WorkflowTesting.ts"

/** Place where the actual value is not as expected, without secrets; `undefined` is a missing value. */
export interface Difference {
  /** Path in the case: `expect.nodes.Sum.items[0].total`. */
  readonly path: string
  readonly expected: unknown
  /** Of an object or list, only the part that is expected. */
  readonly actual: unknown
}

const any = "*"

const patternParts = /^\/(.+)\/([imsu]*)$/s

/** Regular expression of an expected text, if it is one; throws a SyntaxError if it is invalid. */
const pattern = (text: string): RegExp | undefined => {
  const [, source, flags] = patternParts.exec(text) ?? []
  return source === undefined ? undefined : new RegExp(source, flags)
}

const matchesText = (expected: string, actual: unknown): boolean => {
  if (expected === any) return actual !== undefined
  if (expected.startsWith("\\")) return actual === expected.slice(1)
  const regExp = pattern(expected)
  return regExp === undefined ? actual === expected : typeof actual === "string" && regExp.test(actual)
}

const asExpected = (text: string): string =>
  text === any || text.startsWith("\\") || patternParts.test(text) ? `\\${text}` : text

const isList = (value: unknown): value is ReadonlyArray<unknown> => Array.isArray(value)

export const matches = (expected: unknown, actual: unknown): boolean => {
  if (typeof expected === "string") return matchesText(expected, actual)
  if (isList(expected)) {
    return isList(actual) && actual.length === expected.length &&
      expected.every((each, index) => matches(each, actual[index]))
  }
  const members = obj(expected)
  if (members === undefined) return expected === actual
  return obj(actual) !== undefined &&
    Object.entries(members).every(([key, each]) => matches(each, own(actual, key)))
}

/** Expectation of exactly a value of which readers see this; what they do not see, such as secrets, may have any value. */
export const exactly = (shown: unknown): unknown => {
  if (shown === undefined) return any
  if (typeof shown === "string") return shown.includes(Redact.marker) ? any : asExpected(shown)
  if (isList(shown)) return shown.map(exactly)
  const members = obj(shown)
  return members === undefined ? shown : mapValues(members, exactly)
}

/** Expectation changed so that the value meets it: parts that are met stay, including wildcards. */
export const updatedValue = (expected: unknown, actual: unknown, shown: unknown): unknown => {
  if (matches(expected, actual)) return expected
  if (isList(expected) && isList(actual)) {
    return actual.map((inner, index) =>
      index < expected.length
        ? updatedValue(expected[index], inner, own(shown, index))
        : exactly(own(shown, index))
    )
  }
  const members = obj(expected)
  if (members === undefined || obj(actual) === undefined) return exactly(shown)
  const keys = Object.keys(members).filter((key) => own(actual, key) !== undefined)
  return Object.fromEntries(keys.map((key) => [key, updatedValue(members[key], own(actual, key), own(shown, key))]))
}

/** Part of the value that the expectation covers. */
const concerned = (expected: unknown, shown: unknown): unknown => {
  if (isList(expected) && isList(shown)) {
    return shown.map((inner, index) => index < expected.length ? concerned(expected[index], inner) : inner)
  }
  const members = obj(expected)
  if (members === undefined || obj(shown) === undefined) return shown
  const keys = Object.keys(members).filter((key) => own(shown, key) !== undefined)
  return Object.fromEntries(keys.map((key) => [key, concerned(members[key], own(shown, key))]))
}

type Redaction = <A>(value: A) => A

/** Redaction of secrets as `[redacted]`, or none. */
export const redaction = (redacts: boolean): Redaction => redacts ? Redact.redact : (value) => value

/** Places where the value is not as expected. */
export const valueDifferences = (
  expected: unknown,
  actual: Redact.Whole,
  path: string,
  redact: Redaction
): ReadonlyArray<Difference> =>
  Differences.changes(Redact.whole(expected, redact), actual, path, {
    matches,
    isPartial: true,
    pair: (one, other) => one.length === other.length ? Differences.byIndex(one, other) : undefined
  }).map(({ before, path, shown }) => ({
    path,
    expected: shown("before"),
    actual: concerned(before, shown("after"))
  }))

/** Faults in an expectation: invalid regular expressions. */
export const patternFaults = (
  expected: unknown,
  path: string
): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  if (typeof expected === "string") {
    try {
      pattern(expected)
      return []
    } catch (error) {
      return [{
        path,
        message: `${(error as Error).message}; put a backslash before a text that only looks like a regular expression`
      }]
    }
  }
  if (isList(expected)) return expected.flatMap((each, index) => patternFaults(each, member(path, index)))
  return Object.entries(obj(expected) ?? {}).flatMap(([key, each]) => patternFaults(each, member(path, key)))
}

const Item = Schema.Record(Schema.String, Schema.Json)

/** Expected output of a node, over all its runs and outputs, in their order. */
export const ExpectedNode = Schema.Struct({
  count: Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
  items: Schema.optionalKey(Schema.Array(Schema.Union([Item, Schema.Literal("*")])))
})
type ExpectedNode = typeof ExpectedNode.Type

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
  replay: Schema.optionalKey(Schema.Union([Schema.NonEmptyString, Schema.Int])),
  pins: Schema.optionalKey(
    Schema.Record(
      Schema.String,
      Schema.Union([Schema.Array(Schema.Union([Item, Schema.Array(Item)])), Schema.Literal("run")])
    )
  ),
  startNode: Schema.optionalKey(Schema.NonEmptyString),
  endNode: Schema.optionalKey(Schema.NonEmptyString),
  timeout: Schema.optionalKey(Schema.Int.check(Schema.isBetween(timeouts))),
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
      patternFaults(obj(node)?.["items"], print(["expect", "nodes", name, "items"]))
    )
  ]
  return faults.length === 0 && Result.isSuccess(decoded) ? Result.succeed(decoded.success) : Result.fail(faults)
}

const itemsOf = (execution: Execution.Execution, node: string, limit: number) => {
  const items: Array<unknown> = []
  if (limit === 0) return items
  for (const run of execution.runs.get(node) ?? []) {
    for (const port of run.outputs) {
      for (const segment of execution.segments({ node, run: run.index, side: "output", port })) {
        for (const stored of segment.items()) if (items.push(Execution.item(stored)) === limit) return items
      }
    }
  }
  return items
}

const countOf = (execution: Execution.Execution, node: string) => Execution.itemCount(execution.runs.get(node) ?? [])

const itemKeys: ReadonlySet<string> = new Set(["json", "binary", "error", "pairedItem"])

const isWrapped = (expected: unknown): expected is Obj =>
  obj(obj(expected)?.["json"]) !== undefined && Object.keys(obj(expected) ?? {}).every((key) => itemKeys.has(key))

/** Path in an item of what is expected: the whole item, or its JSON. */
const placeOf = (expected: unknown) => isWrapped(expected) ? [] : ["json"]

const unlinked = (expected: unknown): unknown => {
  if (!isWrapped(expected)) return expected
  const { pairedItem: _, ...rest } = expected
  return rest
}

const ofNode = (execution: Execution.Execution, redact: Redaction) =>
(
  [name, { count, items = [] }]: readonly [string, ExpectedNode]
): ReadonlyArray<Difference> => {
  const path = member("expect.nodes", name)
  const actual = itemsOf(execution, name, items.length)
  const actualCount = countOf(execution, name)
  return [
    ...(count === undefined || count === actualCount
      ? []
      : [{ path: member(path, "count"), expected: count, actual: actualCount }]),
    ...items.flatMap((expected, index) => {
      const at = print(["items", index], path)
      const item = actual[index]
      if (item === undefined) return [{ path: at, expected: redact(expected), actual: undefined }]
      return valueDifferences(unlinked(expected), Redact.whole(item, redact).inner(placeOf(expected)), at, redact)
    })
  ]
}

export const differences = (
  { nodes = {}, status = "success" }: Expectation,
  execution: Execution.Execution,
  redact: Redaction
): ReadonlyArray<Difference> => [
  ...(status === execution.status ? [] : [{ path: "expect.status", expected: status, actual: execution.status }]),
  ...Object.entries(nodes).flatMap(ofNode(execution, redact))
]

const timeOf = (value: unknown): number =>
  typeof value === "number"
    ? value
    : typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)
    ? Date.parse(value)
    : NaN

/** Tolerance in milliseconds between times within a run and the run's recorded times. */
const slack = 1_000

/** Removes values that differ in the next run: the execution's id, and times within the run. */
const withoutFresh = ({ id, startedAt, stoppedAt }: Execution.Execution) => {
  const from = Date.parse(startedAt ?? "") - slack
  const to = Date.parse(stoppedAt ?? "") + slack
  const isFresh = (value: unknown) => {
    const time = timeOf(value)
    return value === id || time >= from && time <= to
  }
  return <A>(value: A) => walk(value, [], (inner) => isFresh(inner) ? undefined : inner) as A
}

/** Maximum number of items in a new expectation: people read cases. */
const maxItems = 10

const updatedNode = (
  execution: Execution.Execution,
  name: string,
  expected: ExpectedNode,
  redact: Redaction
): Obj => {
  const { count, items } = expected
  const isOpen = count === undefined && items === undefined
  const actual = itemsOf(execution, name, items?.length ?? (isOpen ? maxItems : 0))
  return {
    ...expected,
    ...(count === undefined && !isOpen ? {} : { count: countOf(execution, name) }),
    ...(items === undefined && !isOpen ? {} : {
      items: actual.map((item, index) => {
        const before = items?.[index]
        const [shown, steps] = [redact(item), placeOf(before)]
        if (before === undefined) return exactly(get(shown, steps))
        const after = updatedValue(unlinked(before), get(item, steps), get(shown, steps))
        return after === unlinked(before) ? before : after
      })
    })
  }
}

/**
 * Expectation of a case, changed so that this execution meets it.
 *
 * Parts that are met stay, including wildcards. A node without any expectation, or the last node if the case has none
 * at all, expects all its items, of which at most ten are listed. The execution's id and times within the run are
 * omitted, because they differ in the next run.
 */
export const updated = (
  { expect }: Pick<TestCase, "expect">,
  execution: Execution.Execution,
  redact: Redaction
): Obj => {
  const open = withoutFresh(execution)
  const shown: Redaction = (value) => open(redact(value))
  const last = Execution.lastToRun(execution)
  const isOpen = expect?.status === undefined && Object.keys(expect?.nodes ?? {}).length === 0
  const nodes = isOpen && last !== undefined ? { [last]: {} } : expect?.nodes
  const hasStatus = isOpen || expect?.status !== undefined || execution.status !== "success"
  return {
    ...(hasStatus ? { status: execution.status } : {}),
    ...(nodes === undefined ? {} : {
      nodes: Object.fromEntries(
        Object.entries(nodes).map(([name, node]) => [name, updatedNode(execution, name, node, shown)])
      )
    })
  }
}
