/** Profile of nodes over many executions: time, items, bytes and tokens, and what makes them slow. */
import * as Effect from "effect/Effect"
import { sumAll } from "effect/Number"
import { defined, num, obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Execution from "./Execution.ts"
import { Executions } from "./Executions.ts"

/** Minimum number of runs in one execution that count as a loop. */
const manyRuns = 10

/** Maximum bytes of a node's output in one execution that are not worth a finding. */
const manyBytes = 10_000_000

/** Maximum milliseconds without work that are not worth a finding. */
const longPause = 1_000

/** n8n's bounds and default for the milliseconds between tries. */
const pauseOf = (setting: unknown) => Math.min(5_000, Math.max(0, num(setting) || 1_000))

const requestType = /\.(?:httpRequest|graphql)$/

interface Span {
  readonly node: string
  readonly from: number
  readonly to: number
}

/** Spans in order with the pause before each; a span within earlier ones is shortened to the rest. */
const steps = (spans: ReadonlyArray<Span>) => {
  let end = -Infinity
  return spans.toSorted((a, b) => a.from - b.from).map(({ from, node, to }) => {
    const pause = end === -Infinity ? 0 : Math.max(0, from - end)
    const time = Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
    return { node, pause, time }
  })
}

const isSubRun = ({ outputs, override }: Execution.Run) => [...outputs, ...override].some(({ type }) => type !== "main")

/** Node for which each sub-node worked: a run of a sub-node has that node as its source. */
const parentsOf = ({ runs }: Execution.Execution) =>
  new Map(
    [...runs].flatMap(([node, all]) => {
      const run = all.find(isSubRun)
      return run === undefined ? [] : [[node, run.sources[0]?.node ?? ""] as const]
    })
  )

/** Tokens that a language model used, which n8n records in its output; `estimated` if n8n counted some itself. */
const tokensOf = (execution: Execution.Execution, node: string, runs: ReadonlyArray<Execution.Run>) => {
  let used: { prompt: number; completion: number; estimated?: true } | undefined
  for (const { slot } of runs.flatMap((run) => Execution.outputSlots(node, run))) {
    if (slot.port.type !== "ai_languageModel") continue
    for (const segment of execution.segments(slot)) {
      for (const item of segment.items()) {
        const json = obj(obj(item)?.["json"])
        const usage = obj(json?.["tokenUsage"]) ?? obj(json?.["tokenUsageEstimate"])
        if (usage === undefined) continue
        used ??= { prompt: 0, completion: 0 }
        used.prompt += num(usage["promptTokens"]) ?? 0
        used.completion += num(usage["completionTokens"]) ?? 0
        if (obj(json?.["tokenUsage"]) === undefined) used.estimated = true
      }
    }
  }
  return used
}

/** Reduces an execution to the use of its nodes. */
export const use = (execution: Execution.Execution) => {
  const { calledBy, duration, id, isRedacted, runs, workflow, workflowId } = execution
  const nodes = new Map((workflow?.nodes ?? []).map((node) => [node.name, node]))
  const parents = parentsOf(execution)
  const spansOf = (node: string) =>
    (runs.get(node) ?? []).map(({ executionTime, startTime }): Span => ({
      node,
      from: startTime,
      to: startTime + executionTime
    }))
  /** Whether a node is this one, or a sub-node of it on any level. */
  const belongs = (node: string, to: string, level = 0): boolean => {
    const parent = parents.get(node)
    return node === to || parent !== undefined && level < parents.size && belongs(parent, to, level + 1)
  }
  const roots = new Set(parents.values())
  const all = steps([...runs.keys()].flatMap(spansOf))
  const longest = all.toSorted((a, b) => b.pause - a.pause)[0]
  const worked = sumAll(all.map(({ time }) => time))
  return {
    id,
    workflowId,
    caller: calledBy?.executionId,
    isRedacted,
    // Milliseconds from the first start to the last end, and those in which no node worked.
    elapsed: sumAll(all.map(({ pause, time }) => pause + time)),
    idle: sumAll(all.map(({ pause }) => pause)),
    // Milliseconds of the whole execution, and those outside of its nodes: before, between and after them.
    duration,
    outside: Math.max(0, (duration ?? 0) - worked),
    // Node that started after the longest pause.
    resumed: longest?.node,
    nodes: [...runs].map(([node, own]) => {
      const settings = nodes.get(node)
      const workers = roots.has(node) ? [...runs.keys()].filter((name) => belongs(name, node)) : [node]
      const makesRequests = requestType.test(settings?.type ?? "") ||
        Object.keys(obj(settings?.credentials) ?? {}).length > 0 || own.some(({ callCount }) => callCount > 0)
      const inputCount = (run: Execution.Run) =>
        sumAll(Execution.inputs(execution, node, run).map(({ count }) => count))
      return {
        node,
        // Node for which a sub-node worked; empty if n8n does not name it.
        within: parents.get(node),
        runs: own.length,
        // Milliseconds in which it or one of its sub-nodes worked.
        time: sumAll(steps(workers.flatMap(spansOf)).map(({ time }) => time)),
        items: Execution.itemCount(own),
        bytes: isRedacted ? 0 : sumAll(own.flatMap(({ outputs }) => outputs.map(({ bytes }) => bytes))),
        tokens: isRedacted ? undefined : tokensOf(execution, node, own),
        // Whether it makes a request, or starts a sub-workflow, for one item in each of many runs.
        isPerItem: own.length >= manyRuns && makesRequests && !parents.has(node) &&
          own.every((run) => inputCount(run) <= 1),
        retry: settings?.["retryOnFail"] !== true ? undefined : {
          pause: pauseOf(settings["waitBetweenTries"]),
          times: own.filter(({ error }) => error === undefined).map(({ executionTime }) => executionTime)
        }
      }
    })
  }
}

/** Use of the nodes in one execution. */
export type Use = ReturnType<typeof use>

export const read = (id: string) => Effect.map(Executions.use((executions) => executions.get(id)), use)

export const bytes = ({ nodes }: Use) => sumAll(nodes.map((node) => node.bytes))

/** Nearest-rank percentile; 0 without values. @internal */
export const percentile = (values: ReadonlyArray<number>, part: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0

const spread = (values: ReadonlyArray<number>) => ({ p50: percentile(values, 0.5), max: percentile(values, 1) })

const round = (value: number) => Math.round(value * 100) / 100

const seconds = (milliseconds: number) => `${round(milliseconds / 1000)} s`

const megabytes = (size: number) => `${round(size / 1_000_000)} MB`

type Uses = ReadonlyArray<{ readonly execution: Use; readonly use: Use["nodes"][number] }>

const placeOf = (uses: Uses) => ({ workflowId: uses[0]?.execution.workflowId ?? "", node: uses[0]?.use.node ?? "" })

/** Cause of slowness; its effect is in milliseconds, and data counts as 10 MB a second. */
interface Finding {
  readonly effect: number
  readonly workflowId: string
  readonly node: string
  readonly finding: "n+1" | "large data" | "retries" | "waiting"
  readonly detail: string
}

const findingsOf = (uses: Uses): ReadonlyArray<Finding> => {
  const perItem = uses.filter(({ use }) => use.isPerItem)
  const loop = perItem.toSorted((a, b) => b.use.runs - a.use.runs)[0]
  const large = uses.toSorted((a, b) => b.use.bytes - a.use.bytes)[0]
  const retries = uses.flatMap(({ use }) => use.retry ?? [])
  const times = retries.flatMap((retry) => retry.times)
  const pause = retries[0]?.pause ?? 0
  const fastest = percentile(times, 0)
  // n8n records neither tries nor their errors; the pause between them is in the run's time.
  const slow = fastest < pause ? times.filter((time) => time >= pause + fastest) : []
  const finding = (finding: Finding["finding"], effect: number, detail: string): Finding => ({
    effect,
    ...placeOf(uses),
    finding,
    detail
  })
  return [
    ...loop === undefined ? [] : [finding(
      "n+1",
      sumAll(perItem.map(({ use }) => use.time)),
      `${loop.use.runs} runs with one item each in execution ${loop.execution.id}, ${
        Math.round(loop.use.time / loop.use.runs)
      } ms per run. Without the loop, the node handles all items in one run; a bulk request is faster still.`
    )],
    ...large === undefined || large.use.bytes <= manyBytes ? [] : [finding(
      "large data",
      large.use.bytes / 10_000,
      `${megabytes(large.use.bytes)} of items in execution ${large.execution.id}`
    )],
    ...slow.length === 0 ? [] : [finding(
      "retries",
      sumAll(slow),
      `${slow.length} of ${
        counted(times.length, "successful run")
      } took at least the pause between tries (${pause} ms) longer than the fastest: retryOnFail may hide failures, which n8n does not record.`
    )]
  ]
}

const waits = (uses: ReadonlyArray<Use>): ReadonlyArray<Finding> =>
  [...Map.groupBy(uses, ({ workflowId }) => workflowId)].flatMap(([workflowId, own]): ReadonlyArray<Finding> => {
    const idle = sumAll(own.map((use) => use.idle))
    const elapsed = sumAll(own.map((use) => use.elapsed))
    const node = own.toSorted((a, b) => b.idle - a.idle)[0]?.resumed
    if (idle < longPause || idle < elapsed / 2 || node === undefined) return []
    const detail = `${seconds(idle)} of ${seconds(elapsed)} passed while no node worked, most before this one`
    return [{ effect: idle, workflowId, node, finding: "waiting", detail }]
  })

export type Profile = ReturnType<typeof profile>

export const profile = (uses: ReadonlyArray<Use>) => {
  const byId = new Map(uses.map((use) => [use.id, use]))
  const callerOf = ({ caller }: Use) => caller === undefined ? undefined : byId.get(caller)?.workflowId
  const outermost = uses.filter((use) => callerOf(use) === undefined).flatMap(({ nodes }) => nodes)
  const total = sumAll(outermost.filter(({ within }) => within === undefined).map(({ time }) => time))
  const nodes = [
    ...Map.groupBy(
      uses.flatMap((execution) => execution.nodes.map((use) => ({ execution, use }))),
      ({ execution, use }) => JSON.stringify([execution.workflowId, use.node])
    ).values()
  ]
  const rows = nodes.map((all) => {
    const times = all.map(({ use }) => use.time)
    const sizes = all.flatMap(({ execution, use }) => execution.isRedacted ? [] : use.bytes)
    const tokens = all.flatMap(({ use }) => use.tokens ?? [])
    const tokenSums = tokens.map(({ completion, prompt }) => prompt + completion)
    const callers = new Set(all.map(({ execution }) => callerOf(execution)))
    return {
      ...placeOf(all),
      ...defined({
        // Node that waited for this sub-node, and the workflow that called this one each time: their time includes its.
        within: all.find(({ use }) => use.within !== undefined)?.use.within,
        calledBy: callers.size === 1 ? [...callers][0] : undefined
      }),
      executions: all.length,
      runs: sumAll(all.map(({ use }) => use.runs)),
      time: {
        total: sumAll(times),
        p50: percentile(times, 0.5),
        p95: percentile(times, 0.95),
        share: total === 0 ? 0 : round(sumAll(times) / total)
      },
      items: spread(all.map(({ use }) => use.items)),
      ...defined({
        bytes: sizes.length === 0 ? undefined : spread(sizes),
        tokens: tokens.length === 0 ? undefined : defined({
          prompt: sumAll(tokens.map(({ prompt }) => prompt)),
          completion: sumAll(tokens.map(({ completion }) => completion)),
          // Of one execution, prompt and completion together.
          ...spread(tokenSums),
          estimated: tokens.some(({ estimated }) => estimated) ? true as const : undefined
        })
      })
    }
  })
  return {
    rows: rows.toSorted((a, b) => b.time.total - a.time.total),
    findings: [...nodes.flatMap(findingsOf), ...waits(uses)].toSorted((a, b) => b.effect - a.effect)
      .map(({ effect: _, ...finding }) => finding),
    /** Number of executions without data, and of those whose items n8n hides. */
    empty: uses.filter((use) => use.nodes.length === 0).length,
    redacted: uses.filter((use) => use.isRedacted).length
  }
}
