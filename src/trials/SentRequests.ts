/** Requests of nodes that reach outside, over all runs and items of a node, by their address. */
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Sending from "../catalogue/parameters/Sending.ts"
import * as Execution from "../executions/Execution.ts"
import * as Sent from "./Sent.ts"
import type * as TestBench from "./TestBench.ts"

/** Requests of a node to one address, without those of retries and further pages. */
export interface Row {
  readonly node: string
  /** Whether the node did not run: it would have sent these. */
  readonly pinned?: true
  /** Such as `POST https://x.example/orders`; absent if it is not determined. */
  readonly to?: string
  /** Number of requests. */
  readonly items: number
  /** Values of all of them, or the list of the distinct ones, in order. */
  readonly values?: Entry["values"] | ReadonlyArray<Entry["values"]>
  /** Values that are not determined, as `path: reason`. */
  readonly unresolved?: ReadonlyArray<string>
}

type Entry = Pick<Sent.Entry, "address" | "values" | "unresolved">

/** Numbers of items of a run, and of all runs of a node, of which the requests are read. */
const maxRead = { run: 200, node: 2_000 }

const unread = {
  values: {},
  unresolved: [{ path: "address", reason: `only ${maxRead.run} items of a run and ${maxRead.node} of a node are read` }]
}

const distinct = <A>(values: ReadonlyArray<A>) => Rows.grouped(values, (value) => value).map(({ first }) => first)

const rowOf = (node: string, isPinned: boolean, entries: ReadonlyArray<Entry>, more: number): Row => {
  const [first] = entries
  const values = distinct(entries.map(({ values }) => values))
  const isPlain = values.every((each) => Object.keys(each).length === 0)
  const unresolved = distinct(
    entries.flatMap((entry) => entry.unresolved.map(({ path, reason }) => `${path}: ${reason}`))
  )
  return defined({
    node,
    pinned: isPinned ? true as const : undefined,
    to: first?.address,
    items: entries.length + more,
    values: isPlain ? undefined : values.length === 1 ? values[0] : values,
    unresolved: unresolved.length === 0 ? undefined : unresolved
  })
}

/** Execution, and its nodes that reach outside. */
export interface Source extends Pick<TestBench.TestResult, "execution" | "outside"> {
  /** Nodes that returned stored items, or none, instead of running. */
  readonly idle?: ReadonlySet<string>
  /** Whether it is of a copy, whose own name and ids are not those of the workflow. */
  readonly isCopy?: boolean
}

/** Lists what the nodes of a test sent, or would have sent where they are pinned, one row per node and address. */
export const ofTest = ({ execution, notRun, outside, pinned, workflow }: TestBench.TestResult, redacts: boolean) =>
  byAddress(
    { execution, outside, idle: new Set([...pinned, ...notRun]), isCopy: execution.workflowId !== workflow.id },
    redacts
  )

/** Lists what nodes sent in an execution, without what it took over from another, one row per node and address. */
export const byAddress = Effect.fnUntraced(function*(
  { execution, idle = new Set(), isCopy = false, outside }: Source,
  redacts: boolean
) {
  const rows: Array<Row> = []
  for (const { node, type } of outside) {
    if (node.disabled === true) continue
    const sending = Sending.of(type, node)
    const entries: Array<Entry> = []
    let more = 0
    for (const run of execution.runs.get(node.name) ?? []) {
      if (Execution.isReused(execution, run)) continue
      const limit = Math.min(maxRead.run, maxRead.node - entries.length)
      const own = yield* Sent.of(execution, { node, run, sending, limit, redacts, isCopy })
      entries.push(...own)
      more += Sent.count(execution, { node, run, sending }) - own.length
    }
    const isPinned = idle.has(node.name)
    for (const { rows: requests } of Rows.grouped(entries, ({ address }) => address)) {
      rows.push(rowOf(node.name, isPinned, requests, 0))
    }
    if (more > 0) rows.push(rowOf(node.name, isPinned, [unread], more - 1))
  }
  return rows as ReadonlyArray<Row>
})
