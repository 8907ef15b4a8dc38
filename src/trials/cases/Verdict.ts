/** What came of a case, held against what it expects. Pure. */
import { mapValues, type Obj, obj } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import * as Expected from "./Expected.ts"
import type { Expectation, ExpectedNode, TestCase } from "./TestCase.ts"

/** Makes of a value what may be shown of it. */
export type Redaction = <A>(value: A) => A

/** Secrets are `[redacted]`, or everything is shown. */
export const redaction = (redacts: boolean): Redaction => redacts ? Redact.redact : (value) => value

/** The first items that a node gave, run by run and output by output. */
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

/** The part of an item that is compared: its fields, unless what is expected has them under `json`. */
const compared = (expected: unknown, item: Expected.Seen) => isWrapped(expected) ? item : Expected.at(item, "json")

/** Which input item an item comes from is not compared. */
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
  const came = itemsOf(execution, name, items.length, redact)
  const cameCount = countOf(execution, name)
  return [
    ...(count === undefined || count === cameCount
      ? []
      : [{ path: `${path}.count`, expected: count, actual: cameCount }]),
    ...items.flatMap((expected, index) => {
      const at = `${path}.items[${index}]`
      const item = came[index]
      if (item === undefined) return [{ path: at, expected: redact(expected), actual: undefined }]
      const value = unlinked(expected)
      return Expected.differences({ value, shown: redact(value) }, compared(expected, item), at)
    })
  ]
}

/** Every place where an execution is not as expected. */
export const differences = (
  { nodes = {}, status = "success" }: Expectation,
  execution: Execution.Execution,
  redact: Redaction
): ReadonlyArray<Expected.Difference> => [
  ...(status === execution.status ? [] : [{ path: "expect.status", expected: status, actual: execution.status }]),
  ...Object.entries(nodes).flatMap(ofNode(execution, redact))
]

/** A timestamp's milliseconds: of a text in ISO 8601, or of a number that is one. */
const timeOf = (value: unknown): number =>
  typeof value === "number"
    ? value
    : typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)
    ? Date.parse(value)
    : NaN

/** How far n8n's clock within a run may be from the times that it notes of it: milliseconds. */
const slack = 1_000

/** Takes out what is another value in the next run: the execution's id, and times within the run. */
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

/** How many items a new expectation lists: a case is for people to read. */
const maxItems = 10

const updatedNode = (
  execution: Execution.Execution,
  name: string,
  expected: ExpectedNode,
  redact: Redaction
): Obj => {
  const { count, items } = expected
  const isOpen = count === undefined && items === undefined
  const came = itemsOf(execution, name, items?.length ?? (isOpen ? maxItems : 0), redact)
  return {
    ...expected,
    ...(count === undefined && !isOpen ? {} : { count: countOf(execution, name) }),
    ...(items === undefined && !isOpen ? {} : {
      items: came.map((item, index) => {
        const before = items?.[index]
        if (before === undefined) return Expected.exactly(Expected.at(item, "json"))
        const after = Expected.updated(unlinked(before), compared(before, item))
        return after === unlinked(before) ? before : after
      })
    })
  }
}

/**
 * What a case expects, changed so that this execution is as expected.
 *
 * **Details**
 *
 * What holds already stays, wildcards included. Of a node without any expectation, and of the last node where the case
 * has none at all, all items are expected, but no more than ten are listed. Times within the run and its id are left
 * open: the next run has others.
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
  const saysStatus = isOpen || expect?.status !== undefined || execution.status !== "success"
  return {
    ...(saysStatus ? { status: execution.status } : {}),
    ...(nodes === undefined ? {} : {
      nodes: Object.fromEntries(
        Object.entries(nodes).map(([name, node]) => [name, updatedNode(execution, name, node, shown)])
      )
    })
  }
}
