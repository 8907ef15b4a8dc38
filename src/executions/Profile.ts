/** Profile of nodes over many executions: time, items, bytes and tokens, and what makes them slow. */
import * as Effect from "effect/Effect"
import { num, obj } from "../base/Json.ts"
import { counted } from "../base/Plural.ts"
import * as Execution from "./Execution.ts"
import { Executions } from "./Executions.ts"

/** Tokens of language models; `estimated` if n8n counted some of them itself. */
export interface Tokens {
  readonly prompt: number
  readonly completion: number
  readonly estimated?: true
}

/** Use of a node in one execution, all its runs together. */
interface NodeUse {
  readonly node: string
  /** Node for which a sub-node worked; empty if n8n does not name it. */
  readonly within: string | undefined
  readonly runs: number
  /** Milliseconds in which it or one of its sub-nodes worked. */
  readonly time: number
  readonly items: number
  readonly bytes: number
  readonly tokens: Tokens | undefined
  /** Whether it makes a request, or starts a sub-workflow, for one item in each of many runs. */
  readonly isPerItem: boolean
  /** Pause between tries, and milliseconds of each run without an error, of a node with `retryOnFail`. */
  readonly retry: { readonly pause: number; readonly times: ReadonlyArray<number> } | undefined
}

/** Use of the nodes in one execution. */
export interface Use {
  readonly id: string
  readonly workflowId: string
  /** Id of the execution that called it. */
  readonly caller: string | undefined
  readonly isRedacted: boolean
  readonly nodes: ReadonlyArray<NodeUse>
  /** Milliseconds from the first start to the last end, and those in which no node worked. */
  readonly elapsed: number
  readonly idle: number
  /** Node that started after the longest pause. */
  readonly resumed: string | undefined
}

/** Minimum number of runs in one execution that count as a loop. */
const manyRuns = 10

/** Maximum bytes of a node's output in one execution that are not worth a finding. */
const manyBytes = 10_000_000

/** Maximum milliseconds without work that are not worth a finding. */
const longPause = 1_000

/** n8n's bounds and default for the milliseconds between tries. */
const pauseOf = (setting: unknown) => Math.min(5_000, Math.max(0, num(setting) || 1_000))

const requestType = /\.(?:httpRequest|graphql)$/

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, each) => total + each, 0)

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

/** Sum of what a language model used; n8n records it in its output. */
const tokensOf = (execution: Execution.Execution, node: string, runs: ReadonlyArray<Execution.Run>) => {
  const used = { prompt: 0, completion: 0 }
  let isEstimated = false
  let isModel = false
  for (const { slot } of runs.flatMap((run) => Execution.outputSlots(node, run))) {
    if (slot.port.type !== "ai_languageModel") continue
    for (const segment of execution.segments(slot)) {
      for (const item of segment.items()) {
        const json = obj(obj(item)?.["json"])
        const usage = obj(json?.["tokenUsage"]) ?? obj(json?.["tokenUsageEstimate"])
        if (usage === undefined) continue
        isModel = true
        isEstimated ||= obj(json?.["tokenUsage"]) === undefined
        used.prompt += num(usage["promptTokens"]) ?? 0
        used.completion += num(usage["completionTokens"]) ?? 0
      }
    }
  }
  return isModel ? { ...used, ...(isEstimated ? { estimated: true as const } : {}) } : undefined
}

/** Reduces an execution to the use of its nodes. */
export const use = (execution: Execution.Execution): Use => {
  const { calledBy, id, isRedacted, runs, workflow, workflowId } = execution
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
  return {
    id,
    workflowId,
    caller: calledBy?.executionId,
    isRedacted,
    elapsed: sum(all.map(({ pause, time }) => pause + time)),
    idle: sum(all.map(({ pause }) => pause)),
    resumed: longest?.node,
    nodes: [...runs].map(([node, own]): NodeUse => {
      const settings = nodes.get(node)
      const workers = roots.has(node) ? [...runs.keys()].filter((name) => belongs(name, node)) : [node]
      const makesRequests = requestType.test(settings?.type ?? "") ||
        Object.keys(obj(settings?.credentials) ?? {}).length > 0 || own.some(({ callCount }) => callCount > 0)
      const inputCount = (run: Execution.Run) => sum(Execution.inputs(execution, node, run).map(({ count }) => count))
      return {
        node,
        within: parents.get(node),
        runs: own.length,
        time: sum(steps(workers.flatMap(spansOf)).map(({ time }) => time)),
        items: Execution.itemCount(own),
        bytes: isRedacted ? 0 : sum(own.flatMap(({ outputs }) => outputs.map(({ bytes }) => bytes))),
        tokens: isRedacted ? undefined : tokensOf(execution, node, own),
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

/** Reads an execution for a profile. */
export const read = (id: string) => Effect.map(Executions.use((executions) => executions.get(id)), use)

/** Bytes that were read for it. */
export const bytes = ({ nodes }: Use) => sum(nodes.map((node) => node.bytes))

/** Row of a profile: a node of a workflow over all executions in which it ran. Times are in milliseconds. */
export interface Row {
  readonly workflowId: string
  readonly node: string
  /** Node that waited for this sub-node; its time includes this one's. */
  readonly within?: string
  /** Id of the workflow that called this one in each of the executions; its time includes this one's. */
  readonly calledBy?: string
  readonly executions: number
  readonly runs: number
  readonly time: { readonly total: number; readonly p50: number; readonly p95: number; readonly share: number }
  readonly items: { readonly p50: number; readonly max: number }
  readonly bytes?: { readonly p50: number; readonly max: number }
  /** Totals; `p50` and `max` are those of one execution, prompt and completion together. */
  readonly tokens?: Tokens & { readonly p50: number; readonly max: number }
}

/** Cause of slowness, the one with the largest effect first. */
export interface Finding {
  readonly workflowId: string
  readonly node: string
  readonly finding: "n+1" | "large data" | "retries" | "waiting"
  readonly detail: string
}

/** Profile of executions. */
export interface Profile {
  /** Slowest first. */
  readonly rows: ReadonlyArray<Row>
  readonly findings: ReadonlyArray<Finding>
  /** Number of executions without data, and of those whose items n8n hides. */
  readonly empty: number
  readonly redacted: number
}

/** Nearest-rank percentile. */
const percentile = (values: ReadonlyArray<number>, part: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0

const maximum = (values: ReadonlyArray<number>) => values.reduce((most, each) => Math.max(most, each), 0)

const round = (value: number) => Math.round(value * 100) / 100

const seconds = (milliseconds: number) => `${round(milliseconds / 1000)} s`

const megabytes = (size: number) => `${round(size / 1_000_000)} MB`

/** Node of a workflow with its uses. */
interface Uses {
  readonly workflowId: string
  readonly node: string
  readonly uses: ReadonlyArray<{ readonly execution: Use; readonly use: NodeUse }>
}

/** Findings of a node, each with its effect in milliseconds; data counts as 10 MB a second. */
const findingsOf = ({ node, uses, workflowId }: Uses): ReadonlyArray<readonly [effect: number, Finding]> => {
  const perItem = uses.filter(({ use }) => use.isPerItem)
  const loop = perItem.toSorted((a, b) => b.use.runs - a.use.runs)[0]
  const loopTime = sum(perItem.map(({ use }) => use.time))
  const large = uses.toSorted((a, b) => b.use.bytes - a.use.bytes)[0]
  const retries = uses.flatMap(({ use }) => use.retry ?? [])
  const times = retries.flatMap((retry) => retry.times)
  const pause = retries[0]?.pause ?? 0
  const fastest = percentile(times, 0)
  // n8n records neither tries nor their errors; the pause between them is in the run's time.
  const slow = fastest < pause ? times.filter((time) => time >= pause + fastest) : []
  const finding = (kind: Finding["finding"], detail: string): Finding => ({ workflowId, node, finding: kind, detail })
  return [
    ...loop === undefined ? [] : [
      [
        loopTime,
        finding(
          "n+1",
          `${loop.use.runs} runs with one item each in execution ${loop.execution.id}, ${
            Math.round(loop.use.time / loop.use.runs)
          } ms per run. Without the loop, the node handles all items in one run; a bulk request is faster still.`
        )
      ] as const
    ],
    ...large === undefined || large.use.bytes <= manyBytes ? [] : [
      [
        large.use.bytes / 10_000,
        finding("large data", `${megabytes(large.use.bytes)} of items in execution ${large.execution.id}`)
      ] as const
    ],
    ...slow.length === 0 ? [] : [
      [
        sum(slow),
        finding(
          "retries",
          `${slow.length} of ${
            counted(times.length, "successful run")
          } took at least the pause between tries (${pause} ms) longer than the fastest: retryOnFail may hide failures, which n8n does not record.`
        )
      ] as const
    ]
  ]
}

/** Workflows that spent most of their time without any node at work. */
const waits = (uses: ReadonlyArray<Use>): ReadonlyArray<readonly [effect: number, Finding]> =>
  [...Map.groupBy(uses, ({ workflowId }) => workflowId)].flatMap(([workflowId, own]) => {
    const idle = sum(own.map((use) => use.idle))
    const elapsed = sum(own.map((use) => use.elapsed))
    const longest = own.toSorted((a, b) => b.idle - a.idle)[0]
    if (idle < longPause || idle < elapsed / 2 || longest?.resumed === undefined) return []
    const detail = `${seconds(idle)} of ${seconds(elapsed)} passed while no node worked, most before this one`
    return [[idle, { workflowId, node: longest.resumed, finding: "waiting", detail }] as const]
  })

/** Profile of the nodes of several executions. */
export const profile = (uses: ReadonlyArray<Use>): Profile => {
  const byId = new Map(uses.map((use) => [use.id, use]))
  const caller = ({ caller }: Use) => caller === undefined ? undefined : byId.get(caller)?.workflowId
  const outermost = uses.filter((use) => caller(use) === undefined)
  const total = sum(
    outermost.flatMap(({ nodes }) => nodes.filter(({ within }) => within === undefined).map(({ time }) => time))
  )
  const nodes = [
    ...Map.groupBy(
      uses.flatMap((execution) => execution.nodes.map((use) => ({ execution, use }))),
      ({ execution, use }) => JSON.stringify([execution.workflowId, use.node])
    ).values()
  ].map((all): Uses => ({
    workflowId: all[0]?.execution.workflowId ?? "",
    node: all[0]?.use.node ?? "",
    uses: all
  }))
  const rows = nodes.map(({ node, uses: all, workflowId }): Row => {
    const times = all.map(({ use }) => use.time)
    const items = all.map(({ use }) => use.items)
    const sizes = all.flatMap(({ execution, use }) => execution.isRedacted ? [] : use.bytes)
    const tokens = all.flatMap(({ use }) => use.tokens ?? [])
    const tokenSums = tokens.map(({ completion, prompt }) => prompt + completion)
    const within = all.find(({ use }) => use.within !== undefined)?.use.within
    const callers = new Set(all.map(({ execution }) => caller(execution)))
    const [calledBy] = callers.size === 1 ? callers : []
    return {
      workflowId,
      node,
      ...(within === undefined ? {} : { within }),
      ...(calledBy === undefined ? {} : { calledBy }),
      executions: all.length,
      runs: sum(all.map(({ use }) => use.runs)),
      time: {
        total: sum(times),
        p50: percentile(times, 0.5),
        p95: percentile(times, 0.95),
        share: total === 0 ? 0 : round(sum(times) / total)
      },
      items: { p50: percentile(items, 0.5), max: maximum(items) },
      ...(sizes.length === 0 ? {} : { bytes: { p50: percentile(sizes, 0.5), max: maximum(sizes) } }),
      ...(tokens.length === 0 ? {} : {
        tokens: {
          prompt: sum(tokens.map(({ prompt }) => prompt)),
          completion: sum(tokens.map(({ completion }) => completion)),
          p50: percentile(tokenSums, 0.5),
          max: maximum(tokenSums),
          ...(tokens.some(({ estimated }) => estimated) ? { estimated: true as const } : {})
        }
      })
    }
  })
  return {
    rows: rows.toSorted((a, b) => b.time.total - a.time.total),
    findings: [...nodes.flatMap(findingsOf), ...waits(uses)].toSorted(([a], [b]) => b - a).map(([, finding]) =>
      finding
    ),
    empty: uses.filter((use) => use.nodes.length === 0).length,
    redacted: uses.filter((use) => use.isRedacted).length
  }
}
