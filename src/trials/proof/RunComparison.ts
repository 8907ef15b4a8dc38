/**
 * Comparison of a recorded execution with its replay, node by node and run by run. Pure, but yields to other fibers.
 *
 * Items are read from both executions side by side, so that only the differences stay in memory.
 */
import * as Effect from "effect/Effect"
import * as Errors from "../../base/Errors.ts"
import { obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Nearest from "../../base/Nearest.ts"
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Execution from "../../executions/Execution.ts"
import * as FailureGroups from "../../executions/FailureGroups.ts"
import {
  census,
  type Difference,
  differencesOf,
  fingerprintOfItem,
  fingerprintOfText,
  type Ignored,
  isOwnId,
  type Kind,
  mix,
  pairs,
  parseIgnored,
  places,
  tally
} from "./runDifferences.ts"

export type { Ignored } from "./runDifferences.ts"
export { type Difference, restPath } from "./runDifferences.ts"

/** Executions to compare, and how. Names are those of the replayed version. */
export interface Options {
  readonly record: Execution.Execution
  readonly replay: Execution.Execution
  readonly nodes: ReadonlyArray<string>
  readonly nameThen: (name: string) => string
  /** Nodes that returned stored items: only whether they ran is compared. */
  readonly pinned: ReadonlySet<string>
  readonly ignore: ReadonlyArray<Ignored>
  /** Volatile paths, by which an item is not recognized at another position; they are compared. */
  readonly unstable?: ReadonlyArray<Ignored>
  readonly redacts: boolean
}

/** Reads paths to ignore. */
export const ignored = Effect.fnUntraced(function*(paths: ReadonlyArray<string>, nodes: ReadonlyArray<string>) {
  return yield* Effect.forEach(paths, (path) => {
    const steps = parseIgnored(path)
    if (steps !== undefined && (steps.node === undefined || nodes.includes(steps.node))) return Effect.succeed(steps)
    return Errors.invalid(
      "ignore",
      steps === undefined ? `'${path}' is not a path` : `'${path}' names '${steps.node}', which is not a node`,
      steps?.node === undefined
        ? "Write a field (email), one node's ('Map contact'.email), an element (items[0].x), or all (items[].x)."
        : Nearest.suggestion(steps.node, nodes)
    )
  })
})

/** Reason why a recorded execution cannot be compared. */
export const obstacle = (execution: Execution.Execution): string | undefined =>
  execution.isRedacted
    ? "n8n hides its items"
    : execution.runs.size === 0
    ? "n8n stored no data"
    : undefined

/** Both orders as one: a name missing in `main` follows its predecessor in `other`. */
export const merged = (main: ReadonlyArray<string>, other: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all = [...main]
  let at = -1
  for (const name of other) {
    const known = all.indexOf(name)
    at = known >= 0 ? known : at + 1
    if (known < 0) all.splice(at, 0, name)
  }
  return all
}

const orderOf = ({ runs }: Execution.Execution) =>
  [...runs].toSorted(([, [a]], [, [b]]) => Execution.byOrder(a, b)).map(([name]) => name)

/** Order of nodes with the first differing run of each, or else its first run, so that the cause in a loop comes first. */
export const causalOrder = (
  { nameThen, record, replay }: Pick<Options, "nameThen" | "record" | "replay">,
  order: ReadonlyArray<string>,
  differences: ReadonlyArray<Difference>
): ReadonlyArray<string> => {
  const keyOf = (node: string, run: number) => JSON.stringify([node, run])
  const positions = ({ runs }: Execution.Execution, nameOf: (name: string) => string) =>
    new Map(
      order.flatMap((node) => (runs.get(nameOf(node)) ?? []).map((run, index) => ({ key: keyOf(node, index), run })))
        .toSorted((a, b) => Execution.byOrder(a.run, b.run)).map(({ key }, position) => [key, position])
    )
  const [before, after] = [positions(record, nameThen), positions(replay, (name) => name)]
  const first = new Map<string, number>()
  for (const { node, run } of differences) first.set(node, Math.min(run, first.get(node) ?? run))
  const placeOf = (node: string) => {
    const key = keyOf(node, first.get(node) ?? 0)
    return after.get(key) ?? before.get(key) ?? Infinity
  }
  return order.map((node) => ({ node, place: placeOf(node) }))
    .toSorted((a, b) => a.place - b.place || 0).map(({ node }) => node)
}

const mainOutputs = (run: Execution.Run | undefined) => run?.outputs.filter(({ type }) => type === "main") ?? []

const itemsOf = (run: Execution.Run | undefined) => mainOutputs(run).reduce((sum, { count }) => sum + count, 0)

/** Number of items by output, without empty outputs at the end. */
const countsOf = (run: Execution.Run | undefined): ReadonlyArray<number> => {
  const counts: Array<number> = []
  for (const { count, index } of mainOutputs(run)) counts[index] = count
  const last = counts.findLastIndex((count) => count > 0)
  return Array.from({ length: last + 1 }, (_, index) => counts[index] ?? 0)
}

const messageOf = (error: unknown) => Redact.redactText(Execution.errorDetail(error).message)

/** Failure without the values that differ from run to run. */
const patternOf = (error: unknown) => {
  const { httpCode = "", message } = Execution.errorDetail(error)
  return `${httpCode} ${FailureGroups.withoutValues(message)}`
}

/** Number of pairs after which a pass yields. */
const yieldEvery = 1_000

interface Runs {
  readonly options: Options
  readonly node: string
  readonly run: number
  readonly record: Execution.Run | undefined
  readonly replay: Execution.Run | undefined
  readonly ignore: ReadonlyArray<JsonPath.Path>
  /** Paths by which an item is not recognized: also the ignored ones. */
  readonly unstable: ReadonlyArray<JsonPath.Path>
}

type Collector = ReturnType<typeof tally>

const note = (
  into: Collector,
  { node, run }: Pick<Runs, "node" | "run">,
  kind: Kind,
  values: { readonly before?: string | number; readonly after?: unknown; readonly path?: string },
  more: { readonly count?: number; readonly item?: number; readonly digest?: number } = {}
) => {
  const { path = "", ...shown } = values
  into.note({ node, run, kind, path, ...shown, digest: fingerprintOfText(`${run} ${path} ${values.after}`), ...more })
}

const segmentsOf = (execution: Execution.Execution, node: string, { index: run }: Execution.Run, output: number) =>
  execution.segments({ node, run, side: "output", port: { type: "main", index: output } })

const comparePairs = Effect.fnUntraced(function*(into: Collector, runs: Runs, outputs: number) {
  const { ignore, node, replay, options, run, record, unstable } = runs
  if (record === undefined || replay === undefined) return
  // Pairs of the same item, whose volatile values differ, and pairs of different ones.
  const [own, others] = [tally(), tally()]
  let pending = 0
  const isOwn = isOwnId(options.record.id, options.replay.id)
  const moved = { item: -1, count: 0, digest: 0 }
  const sums: Array<readonly [number, number]> = []
  for (let output = 0; output < outputs; output++) {
    let [before, after] = [0, 0]
    const left = segmentsOf(options.record, options.nameThen(node), record, output)
    for (const pair of pairs(left, segmentsOf(options.replay, node, replay, output))) {
      if (++pending % yieldEvery === 0) yield* Effect.yieldNow
      const changes = differencesOf(pair, ignore, options.redacts, isOwn)
      if (changes.length === 0) continue
      const [{ stored: old }, { index, stored }] = pair
      const [one, other] = [fingerprintOfItem(old, unstable), fingerprintOfItem(stored, unstable)]
      before = (before + one) | 0
      after = (after + other) | 0
      if (one !== other) {
        if (moved.count++ === 0) moved.item = index
        moved.digest = (moved.digest + mix(other ^ mix(index))) | 0
      }
      const local = one === other ? own : others
      local.addItem({ node, run, item: index }, changes)
    }
    sums.push([before, after])
  }
  const total = (side: 0 | 1) => sums.reduce((sum, each) => (sum + each[side]) | 0, 0)
  // Equal sums of fingerprints: the same items.
  const isSame = moved.count > 1 && total(0) === total(1)
  if (isSame) note(into, runs, sums.every(([before, after]) => before === after) ? "order" : "output", {}, moved)
  for (const row of [...own.rows(), ...(isSame ? [] : others.rows())]) into.add(row)
})

const compareCounts = Effect.fnUntraced(function*(into: Collector, runs: Runs) {
  const { ignore, node, replay, options, record, unstable } = runs
  if (record === undefined || replay === undefined) return
  const [before, after] = [countsOf(record), countsOf(replay)]
  const outputs = Math.max(before.length, after.length)
  if (itemsOf(record) === itemsOf(replay)) {
    note(into, runs, "output", { before: before.join(", "), after: after.join(", ") })
  } else {
    for (let output = 0; output < outputs; output++) {
      const [old, current] = [before[output] ?? 0, after[output] ?? 0]
      const path = outputs === 1 ? "" : JsonPath.member("main", output)
      if (old !== current) note(into, runs, "count", { before: old, after: current, path })
    }
  }
  const waiting = new Map<number, number>()
  const [left, right] = [census(unstable), census(unstable)]
  let rest = 0
  let pending = 0
  for (let output = 0; output < before.length; output++) {
    for (const { stored } of places(segmentsOf(options.record, options.nameThen(node), record, output))) {
      if (++pending % yieldEvery === 0) yield* Effect.yieldNow
      const print = left.add(stored)
      waiting.set(print, (waiting.get(print) ?? 0) + 1)
    }
  }
  for (let output = 0; output < after.length; output++) {
    for (const { stored } of places(segmentsOf(options.replay, node, replay, output))) {
      if (++pending % yieldEvery === 0) yield* Effect.yieldNow
      const print = right.add(stored)
      const partners = waiting.get(print) ?? 0
      if (partners === 0) rest++
      else waiting.set(print, partners - 1)
    }
  }
  // Some items of the replay are new: their fields show whether values differ as well.
  if (rest === 0 || itemsOf(record) === 0) return
  const lost = left.inAll().filter((path) => !right.has(path))
  const fresh = right.inAll().filter((path) => !left.has(path))
  for (const [kind, paths] of [["removed", lost], ["added", fresh]] as const) {
    const uncovered = paths.filter((path) => !JsonPath.covers(ignore, JsonPath.parse(path) ?? []))
    // A field below another missing one says nothing more.
    const outer = uncovered.filter((path) =>
      !uncovered.some((other) => other !== path && JsonPath.isWithin(path, other))
    )
    for (const path of outer) note(into, runs, kind, { path })
  }
})

/** First item that a node returns now. */
const firstItem = ({ node, options: { redacts, replay: execution }, replay }: Runs): unknown => {
  const output = mainOutputs(replay).find(({ count }) => count > 0)
  if (replay === undefined || output === undefined) return undefined
  const [item] = execution.items({ node, run: replay.index, side: "output", port: output }, 0, 1)
  const json = obj(item)?.["json"]
  return redacts ? Redact.redact(json) : json
}

const compareRun = Effect.fnUntraced(function*(into: Collector, runs: Runs) {
  const { replay, record } = runs
  if (record?.error !== undefined || replay?.error !== undefined) {
    if (replay?.error === undefined) {
      const after = firstItem(runs)
      return note(into, runs, "succeeded", { before: messageOf(record?.error), after }, { digest: 0 })
    }
    if (record?.error === undefined || patternOf(record.error) !== patternOf(replay.error)) {
      const before = record?.error === undefined ? {} : { before: messageOf(record.error) }
      const digest = fingerprintOfText(patternOf(replay.error))
      return note(into, runs, "failed", { ...before, after: messageOf(replay.error) }, { digest })
    }
  }
  const [before, after] = [countsOf(record), countsOf(replay)]
  const isPaired = before.length === after.length && before.every((count, index) => count === after[index])
  yield* isPaired ? comparePairs(into, runs, before.length) : compareCounts(into, runs)
})

const hasResult = (run: Execution.Run) => itemsOf(run) > 0 || run.error !== undefined

const runsOf = (options: Options, node: string) => {
  const record = options.record.runs.get(options.nameThen(node)) ?? []
  const replay = options.replay.runs.get(node) ?? []
  return record.length === replay.length
    ? [record, replay] as const
    : [record.filter(hasResult), replay.filter(hasResult)] as const
}

const compareRunCounts = (into: Collector, options: Options, node: string): number => {
  const [record, replay] = runsOf(options, node)
  const shared = Math.min(record.length, replay.length)
  if (record.length === replay.length) return shared
  const words = (runs: ReadonlyArray<Execution.Run>, other: ReadonlyArray<Execution.Run>) =>
    runs.length === 0
      ? "did not run"
      : other.length > 0
      ? counted(runs.length, "run")
      : counted(runs.reduce((sum, run) => sum + itemsOf(run), 0), "item")
  // A failure is a difference of its own.
  const [extra] = (record.length > replay.length ? record : replay).slice(shared)
  if (extra?.error !== undefined && shared === 0) return 1
  const kind = record.length > replay.length ? "notRun" : "ran"
  note(into, { node, run: shared }, kind, { before: words(record, replay), after: words(replay, record) })
  return shared
}

const comparePinned = (into: Collector, options: Options, node: string) => {
  const record = options.record.runs.get(options.nameThen(node)) ?? []
  const replay = options.replay.runs.get(node) ?? []
  const isReached = replay.some((run) =>
    itemsOf(run) > 0 || Execution.inputs(options.replay, node, run).some(({ count }) => count > 0)
  )
  const items = record.reduce((sum, run) => sum + itemsOf(run), 0)
  if (record.length === 0 && isReached) note(into, { node, run: 0 }, "ran", { before: "did not run", after: "ran" })
  if (items > 0 && !isReached) {
    note(into, { node, run: 0 }, "notRun", { before: counted(items, "item"), after: "did not run" })
  }
  const [before, after] = [record, replay].map((runs) => runs.filter((run) => itemsOf(run) > 0).length)
  if (before !== undefined && after !== undefined && before > 0 && after > 0 && before !== after) {
    const run = Math.min(before, after)
    note(into, { node, run }, before > after ? "notRun" : "ran", {
      before: counted(before, "run"),
      after: counted(after, "run")
    })
  }
}

/** Whether statuses without an error say the same: n8n does not know how some executions ended. */
const isSameStatus = (before: string, after: string) => before === after || before === "unknown" || after === "unknown"

const endOf = (options: Options, known: ReadonlyArray<Difference>): Difference | undefined => {
  const { nameThen, nodes, replay, pinned, record } = options
  const [before, after] = [Execution.failure(record), Execution.failure(replay)]
  const into = tally()
  const hasKind = (kind: Kind) => known.some((each) => each.kind === kind)
  const nodeNow = (name: string | undefined) => nodes.find((each) => nameThen(each) === name) ?? name ?? ""
  const failedAt = nodeNow(before?.node)
  const at = (node: string) => ({ node, run: 0 })
  if (after !== undefined) {
    const isKnown = before !== undefined && failedAt === (after.node ?? "") &&
      patternOf(before.error) === patternOf(after.error)
    if (!isKnown && !hasKind("failed")) {
      note(into, at(after.node ?? ""), "failed", { after: messageOf(after.error) })
    }
  } else if (before !== undefined) {
    if (!hasKind("succeeded") && (!pinned.has(failedAt) || replay.runs.has(failedAt))) {
      note(into, at(failedAt), "succeeded", { before: messageOf(before.error) })
    }
  } else if (!isSameStatus(record.status, replay.status)) {
    note(into, at(replay.lastNode ?? ""), "failed", { before: record.status, after: replay.status })
  }
  return into.values()[0]
}

/** Compares a recorded execution with its replay; differences are in the order in which the nodes ran. */
export const compare = Effect.fnUntraced(function*(options: Options) {
  const { ignore, nameThen, nodes, replay, pinned, record } = options
  const namesNow = new Map(nodes.map((name) => [nameThen(name), name]))
  const order = merged(orderOf(replay), orderOf(record).flatMap((name) => namesNow.get(name) ?? []))
  const places = new Map(order.map((name, index) => [name, index]))
  const all: Array<Difference> = []
  for (const node of nodes.toSorted((a, b) => (places.get(a) ?? Infinity) - (places.get(b) ?? Infinity) || 0)) {
    const into = tally()
    if (pinned.has(node)) comparePinned(into, options, node)
    else {
      const count = compareRunCounts(into, options, node)
      const [left, right] = runsOf(options, node)
      const of = (all: ReadonlyArray<Ignored>) =>
        all.flatMap((each) =>
          each.node === undefined || each.node === node || each.node === nameThen(node) ? [each.steps] : []
        )
      const own = of(ignore)
      const all = [...own, ...of(options.unstable ?? [])]
      for (let run = 0; run < count; run++) {
        yield* compareRun(into, {
          options,
          node,
          run,
          record: left[run],
          replay: right[run],
          ignore: own,
          unstable: all
        })
      }
    }
    all.push(...into.values())
  }
  const end = endOf(options, all)
  if (end !== undefined) {
    const at = all.findIndex(({ node }) => (places.get(node) ?? -1) > (places.get(end.node) ?? Infinity))
    all.splice(at < 0 ? all.length : at, 0, end)
  }
  return { differences: all as ReadonlyArray<Difference>, order }
})
