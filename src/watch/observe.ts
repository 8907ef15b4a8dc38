/** Reads of a poll from n8n, within its budget of requests. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined, type Obj, obj, str } from "../base/Json.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import { maxPage } from "../n8n/model/Limits.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as References from "../workflow/References.ts"
import { day, type Run } from "./Observation.ts"
import type { Entry, Open, State } from "./watchState.ts"

/** Maximum number of pages of executions: at the first start, and at later polls. */
const pages = { first: 40, later: 4 }

/** Milliseconds of history that the first poll reads. */
const firstSpan = 14 * day

const maxOpen = 500

/** Number of polls to wait for an assigned id that n8n does not list yet. */
const gapPolls = 2

/** Number of polls after which running executions are listed even if none is known. */
const runningEvery = 5

const time = (text: string | null | undefined) => {
  const millis = Date.parse(text ?? "")
  return Number.isFinite(millis) ? millis : undefined
}

const runOf = (head: ExecutionHead.Listed, now: number): Run => ({
  id: String(head.id),
  workflowId: head.workflowId ?? "",
  status: head.status ?? "unknown",
  mode: head.mode ?? "unknown",
  startedAt: time(head.startedAt) ?? time(head.stoppedAt) ?? now,
  ...defined({ stoppedAt: time(head.stoppedAt) })
})

/** Executions that a poll has seen. */
export interface Runs {
  /** Ended since the last poll, oldest first. */
  readonly ended: ReadonlyArray<Run>
  /** Seen for the first time, ended or not. */
  readonly started: ReadonlyArray<Run>
  readonly running: ReadonlyArray<Run>
  /** Ids of runs that have waited. */
  readonly waited: ReadonlySet<string>
  /** Whether running executions were listed. */
  readonly hasRunning: boolean
  readonly next: Pick<State, "top" | "open" | "seenFrom" | "fresh">
  /** Time before which there were too many runs to read all of them. */
  readonly lostBefore?: number
}

const isEnded = ({ status }: ExecutionHead.Listed) => ExecutionHead.isOver(status ?? "")

/** Pages of executions, newest first, down to an id or a time, or until there are too many or no time is left. */
const list = Effect.fnUntraced(function*(
  size: number,
  options: {
    readonly most: number
    readonly floor: number
    readonly after: number
    readonly until: number
    readonly workflowId?: string | undefined
  }
) {
  const n8n = yield* N8nClient
  const rows: Array<ExecutionHead.Listed> = []
  let cursor: string | undefined
  for (let read = 0;; read++) {
    const page = yield* n8n.listExecutions({
      limit: read === 0 ? size : maxPage,
      ...defined({ cursor, workflowId: options.workflowId })
    })
    rows.push(...page.executions)
    cursor = page.nextCursor
    const last = page.executions.at(-1)
    const isDeep = last === undefined || Number(last.id) <= options.floor ||
      (time(last.startedAt) ?? Infinity) < options.after
    if (isDeep || cursor === undefined) return { rows, isAll: true, isDeep }
    if (read + 1 >= options.most || (yield* Clock.currentTimeMillis) > options.until) {
      return { rows, isAll: false, isDeep }
    }
  }
})

/** Reads executions that n8n no longer lists as running or waiting. */
const heads = Effect.fnUntraced(function*(ids: ReadonlyArray<string>) {
  const n8n = yield* N8nClient
  return yield* Effect.forEach(ids, (id) =>
    n8n.executionHead(id).pipe(
      Effect.map((head) => ({ id, head })),
      Effect.catchTag("NotFoundError", () => Effect.succeed({ id, head: undefined })),
      Effect.orElseSucceed(() => undefined)
    ), { concurrency: 2 })
})

/** Reads the executions since the last poll, and the present state of the ones that had not ended. */
export const executions = Effect.fn("watch.executions")(function*(
  state: State | undefined,
  { count = 0, most = pages.first, span = firstSpan, until, workflowIds = [undefined] }: {
    readonly count?: number
    /** Only runs of these workflows. */
    readonly workflowIds?: ReadonlyArray<string | undefined> | undefined
    readonly until: number
    /** Pages and period to read without a state. */
    readonly most?: number
    readonly span?: number
  }
) {
  const now = yield* Clock.currentTimeMillis
  const n8n = yield* N8nClient
  const open = new Map(state?.open.map((each) => [each.id, each]))
  const isUnclear = [...open.values()].some(({ waitTill }) => waitTill === undefined)
  const running = state === undefined || isUnclear || count % runningEvery === 0
    ? (yield* n8n.listExecutions({ status: "running", limit: maxPage })).executions
    : undefined
  const [top, fresh] = [state?.top ?? -1, state?.fresh ?? 0]
  const gaps = [...open.values()].flatMap(({ id, run }) => run === undefined ? [Number(id)] : [])
  const lists = yield* Effect.forEach(
    workflowIds,
    (workflowId) =>
      list(state === undefined ? maxPage : Math.min(maxPage, 2 * fresh + 20), {
        most: state === undefined ? most : pages.later,
        floor: Math.min(top, ...gaps.map((id) => id - 1)),
        after: state === undefined ? now - span : -Infinity,
        until,
        workflowId
      }),
    { concurrency: 2 }
  )
  const rows = lists.flatMap((each) => each.rows)
  const [isAll, isDeep] = [lists.every((each) => each.isAll), lists.every((each) => each.isDeep)]
  const listed = new Map([...running ?? [], ...rows].map((row) => [String(row.id), row]))
  const gone = [...open.values()].filter(({ id, run, waitTill }) =>
    run !== undefined && !listed.has(id) && (waitTill === undefined ? running !== undefined : waitTill < now)
  )
  for (const each of yield* heads(gone.toSorted((a, b) => b.polls - a.polls).slice(0, 2).map(({ id }) => id))) {
    if (each?.head !== undefined) listed.set(each.id, each.head)
    else if (each !== undefined) open.delete(each.id)
  }
  const highest = Math.max(top, ...[...listed.keys()].map(Number))
  const ended: Array<Run> = []
  const started: Array<Run> = []
  const still = new Map<string, Open>()
  for (const [id, row] of listed) {
    const known = open.get(id)
    if (Number(id) <= top && known === undefined) continue
    const run = runOf(row, now)
    if (known?.run === undefined) started.push(run)
    if (isEnded(row)) ended.push(run)
    else {still.set(id, {
        id,
        run,
        polls: 0,
        ...row.status === "waiting" ? { waitTill: time(row.waitTill) ?? now } : {}
      })}
  }
  for (const [id, each] of open) {
    if (listed.has(id) || each.run === undefined && each.polls >= gapPolls) continue
    still.set(id, { ...each, polls: each.polls + 1 })
  }
  const lowest = Math.min(highest, ...[...listed.keys()].map(Number))
  const end = state === undefined ? highest : Math.max(top, lowest)
  for (let id = highest - 1; id > end && still.size < maxOpen; id--) {
    if (!listed.has(String(id))) still.set(String(id), { id: String(id), polls: 0 })
  }
  const oldest = Math.min(now, ...rows.map((row) => time(row.startedAt) ?? now))
  const isCut = !isAll && state !== undefined
  return {
    ended: ended.toSorted((a, b) => Number(a.id) - Number(b.id)),
    started: started.toSorted((a, b) => a.startedAt - b.startedAt),
    running: [...still.values()].flatMap(({ run, waitTill }) =>
      run !== undefined && waitTill === undefined ? [run] : []
    ),
    waited: new Set([...open.values()].flatMap(({ id, waitTill }) => waitTill === undefined ? [] : [id])),
    hasRunning: running !== undefined,
    next: {
      top: highest,
      open: [...still.values()].slice(-maxOpen),
      // Without an older one, n8n may have pruned some.
      seenFrom: state === undefined
        ? isDeep ? Math.max(oldest, now - span) : oldest
        : isDeep
        ? state.seenFrom
        : Math.max(oldest, state.seenFrom),
      fresh: state === undefined ? 0 : started.length
    },
    ...isCut ? { lostBefore: oldest } : {}
  } satisfies Runs
})

/** Keys of a trigger's parameters that determine its times. */
const timing = ["rule", "triggerTimes", "interval", "unit", "pollTimes"]

const pick = (value: unknown, keys: ReadonlyArray<string>) =>
  Object.fromEntries(keys.flatMap((key) => obj(value)?.[key] === undefined ? [] : [[key, obj(value)?.[key]]])) as Obj

/** Workflow as listed, reduced to the parts that judgments need. */
const entryOf = (workflow: Workflow.Listed, before: Entry | undefined, round: number, now: number): Entry => {
  const nodes = Workflow.nodes({ nodes: obj(workflow.activeVersion)?.["nodes"] ?? workflow.nodes })
  const triggers = nodes.filter((node) => Workflow.isTrigger(node) && node["disabled"] !== true)
  const version = workflow.activeVersionId ?? workflow.versionId ?? workflow.updatedAt
  const isSame = before !== undefined && before.isPublished && before.version === version
  const names = triggers.map((node) => `node:${Workflow.nameOf(node)}`)
  const stored = Object.fromEntries(
    Object.entries(pick(workflow.staticData, names)).map(([name, data]) =>
      [name, pick(data, ["recurrenceRules", "recurrenceRuleSignatures"])] as const
    ).filter(([, data]) => Object.keys(data).length > 0)
  )
  return {
    ...before,
    ...defined({
      name: workflow.name,
      isPublished: workflow.active && workflow.isArchived !== true,
      isArchived: workflow.isArchived === true,
      version,
      savedAt: time(str(obj(workflow.activeVersion)?.["createdAt"]) ?? workflow.updatedAt),
      liveSince: isSame ? before.liveSince : now,
      changedAt: before !== undefined && before.version !== version ? now : before?.changedAt,
      nodes: triggers.map((node) => ({
        ...pick(node, ["name", "type", "typeVersion"]),
        parameters: pick(node["parameters"], timing)
      })),
      settings: pick(workflow.settings, ["timezone", "saveDataSuccessExecution", "saveDataErrorExecution"]),
      staticData: stored,
      tags: Workflow.tagNames(workflow),
      credentials: References.credentials([{ nodes }]),
      round
    })
  } as Entry
}

/** Number of pages of workflows that a later poll reads; a longer list takes several polls. */
const workflowPages = 3

/** Workflows of a page: with the next one and the last one, which the client also reads, still one request. */
const pageSize = maxPage - 2

/** Pause between two reads of the list of workflows, as a multiple of the time that n8n takes for one. */
const rest = 30

export interface Workflows {
  readonly workflows: State["workflows"]
  readonly list: State["list"]
  /** Workflows that left the list, by id; empty while the list is incomplete. */
  readonly gone: ReadonlyArray<readonly [id: string, entry: Entry]>
}

/** Reads the list of workflows if it is due, or continues it, in at most `most` requests. */
export const workflows = Effect.fn("watch.workflows")(function*(
  state: Pick<State, "workflows" | "list"> | undefined,
  { every, isNeeded, left }: { readonly every: number; readonly isNeeded: boolean; readonly left: number }
) {
  const start = yield* Clock.currentTimeMillis
  const { at, cursor: from, round: former, took } = state?.list ??
    { at: -Infinity, took: 0, round: 0 } as State["list"]
  const known = state?.workflows ?? {}
  const pause = Math.max(rest * took, isNeeded ? 0 : every / 2)
  if (left <= 0 || from === undefined && start < at + pause) {
    return { workflows: known, list: state?.list ?? { at, took, round: former }, gone: [] }
  }
  const n8n = yield* N8nClient
  const round = from === undefined ? former + 1 : former
  const entries = new Map(Object.entries(known))
  let cursor = from
  const most = state === undefined ? Infinity : Math.min(left, workflowPages)
  for (let read = 0; read < most; read++) {
    const page = yield* n8n.listWorkflows({ archived: true, limit: pageSize, ...defined({ cursor }) })
    for (const workflow of page.workflows) {
      if (!TestMark.isCopy(workflow)) {
        entries.set(workflow.id, entryOf(workflow, entries.get(workflow.id), round, start))
      }
    }
    cursor = page.nextCursor
    if (cursor === undefined) break
  }
  const gone = cursor === undefined ? [...entries].filter(([, entry]) => entry.round !== round) : []
  for (const [id] of gone) entries.delete(id)
  const spent = (yield* Clock.currentTimeMillis) - start + (from === undefined ? 0 : took)
  return {
    workflows: Object.fromEntries(entries),
    list: { at: from === undefined ? start : at, took: spent, round, ...defined({ cursor }) },
    gone
  } satisfies Workflows
})

/** Running executions that were not listed with the others, seen for the first time. */
export const running = Effect.fn("watch.running")(function*({ next, running }: Runs) {
  const now = yield* Clock.currentTimeMillis
  const { executions } = yield* N8nClient.use((n8n) => n8n.listExecutions({ status: "running", limit: maxPage }))
  const open = new Map(next.open.map((each) => [each.id, each]))
  const more = executions.map((row) => runOf(row, now)).filter(({ id }) => open.get(id)?.run === undefined)
  for (const run of more) open.set(run.id, { id: run.id, run, polls: 0 })
  return {
    started: more,
    running: [...running, ...more],
    next: { ...next, open: [...open.values()].slice(-maxOpen) }
  }
})
