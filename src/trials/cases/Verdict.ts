/** Comparison of a case's execution with its expectation. Pure. */
import { mapValues, type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import * as Expected from "./Expected.ts"
import type { Expectation, ExpectedNode, TestCase } from "./TestCase.ts"

export type Redaction = <A>(value: A) => A

/** Redaction of secrets as `[redacted]`, or none. */
export const redaction = (redacts: boolean): Redaction => redacts ? Redact.redact : (value) => value

/** First output items of a node, run by run and output by output. */
const itemsOf = (execution: Execution.Execution, node: string, limit: number, redact: Redaction) => {
  const items: Array<Expected.Seen> = []
  if (limit === 0) return items
  for (const run of execution.runs.get(node) ?? []) {
    for (const port of run.outputs) {
      for (const segment of execution.segments({ node, run: run.index, side: "output", port })) {
        for (const stored of segment.items()) {
          const value = Execution.item(stored)
          if (items.push({ value, shown: redact(value) }) === limit) return items
        }
      }
    }
  }
  return items
}

const countOf = (execution: Execution.Execution, node: string) => Execution.itemCount(execution.runs.get(node) ?? [])

const itemKeys: ReadonlySet<string> = new Set(["json", "binary", "error", "pairedItem"])

const isWrapped = (expected: unknown): expected is Obj =>
  obj(obj(expected)?.["json"]) !== undefined && Object.keys(obj(expected) ?? {}).every((key) => itemKeys.has(key))

/** Compared part of an item: its fields, unless they are expected under `json`. */
const compared = (expected: unknown, item: Expected.Seen) => isWrapped(expected) ? item : Expected.at(item, "json")

/** Expectation without links to input items, which are not compared. */
const unlinked = (expected: unknown): unknown => {
  if (!isWrapped(expected)) return expected
  const { pairedItem: _, ...rest } = expected
  return rest
}

const ofNode = (execution: Execution.Execution, redact: Redaction) =>
(
  [name, { count, items = [] }]: readonly [string, ExpectedNode]
): ReadonlyArray<Expected.Difference> => {
  const path = member("expect.nodes", name)
  const actual = itemsOf(execution, name, items.length, redact)
  const actualCount = countOf(execution, name)
  return [
    ...(count === undefined || count === actualCount
      ? []
      : [{ path: `${path}.count`, expected: count, actual: actualCount }]),
    ...items.flatMap((expected, index) => {
      const at = `${path}.items[${index}]`
      const item = actual[index]
      if (item === undefined) return [{ path: at, expected: redact(expected), actual: undefined }]
      const value = unlinked(expected)
      return Expected.differences({ value, shown: redact(value) }, compared(expected, item), at)
    })
  ]
}

export const differences = (
  { nodes = {}, status = "success" }: Expectation,
  execution: Execution.Execution,
  redact: Redaction
): ReadonlyArray<Expected.Difference> => [
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
  const open = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(open)
      : obj(value) !== undefined
      ? mapValues(obj(value) ?? {}, open)
      : isFresh(value)
      ? undefined
      : value
  return <A>(value: A) => open(value) as A
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
  const actual = itemsOf(execution, name, items?.length ?? (isOpen ? maxItems : 0), redact)
  return {
    ...expected,
    ...(count === undefined && !isOpen ? {} : { count: countOf(execution, name) }),
    ...(items === undefined && !isOpen ? {} : {
      items: actual.map((item, index) => {
        const before = items?.[index]
        if (before === undefined) return Expected.exactly(Expected.at(item, "json"))
        const after = Expected.updated(unlinked(before), compared(before, item))
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
