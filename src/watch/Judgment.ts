/** Histories of an n8n's workflows, judged by all detectors from what was observed of them. Pure. */
import { defined, obj } from "../base/Json.ts"
import { emptiness, type Episode, judge as judgeOne, type Span, type Subject } from "./detect/Detectors.ts"
import { hour, type Run } from "./Observation.ts"
import type { Entry, State } from "./watchState.ts"

type Entries = State["workflows"]

/** Part of the history of all workflows. */
export interface Observed
  extends Pick<Span, "started" | "ended" | "running" | "waited" | "samples" | "origins" | "lostBefore">
{}

export interface Circumstances {
  /** Time since which all saved runs were seen. */
  readonly seenFrom: number
  readonly now: number
  readonly zone: string | undefined
  readonly isV1: boolean
  /** Longest silence that the owner of a workflow allows. */
  readonly silentOf: (workflow: { readonly id: string; readonly name: string; readonly tags: ReadonlyArray<string> }) =>
    | number
    | undefined
}

/** Episode of a workflow. */
export interface WorkflowEpisode {
  readonly workflowId: string
  readonly episode: Episode
}

const savingOf = ({ settings }: Entry) => obj(settings)?.["saveDataSuccessExecution"]

const isDefault = (saving: unknown) => saving !== "none" && saving !== "all"

/** Whether n8n saves the successful runs of a workflow. */
export const savesOf = (entry: Entry, isDefaultSaved = false): Subject["saves"] => {
  const saving = savingOf(entry)
  if (saving === "none") return "no"
  return saving === "all" || entry.saves === true || isDefaultSaved ? "yes" : "unknown"
}

/** Number of crashed runs in a row, up to the last one. */
const crashesOf = (before: number, ended: ReadonlyArray<Run>) =>
  ended.reduce((count, { status }) => status === "crashed" ? count + 1 : 0, before)

const byTime = (timeOf: (run: Run) => number) => (a: Run, b: Run) =>
  timeOf(a) - timeOf(b) || Number(a.id) - Number(b.id)

const groups = (runs: ReadonlyArray<Run>, timeOf: (run: Run) => number) =>
  Map.groupBy(runs.toSorted(byTime(timeOf)), ({ workflowId }) => workflowId)

/** Judges what was observed: the workflows with their new states, and the episodes that began, went on or ended. */
export const judge = (
  before: Entries,
  observed: Observed,
  { isV1, now, seenFrom, silentOf, zone }: Circumstances
) => {
  const started = groups(observed.started, ({ startedAt }) => startedAt)
  const ended = groups(observed.ended, ({ startedAt, stoppedAt }) => stoppedAt ?? startedAt)
  const running = groups(observed.running, ({ startedAt }) => startedAt)
  const entries = Object.entries(before).map(([id, entry]): [string, Entry] => {
    const over = ended.get(id) ?? []
    const crashes = crashesOf(entry.crashes ?? 0, over)
    const saves = entry.saves === true || over.some(({ status }) => status === "success")
    const { crashes: _, ...rest } = entry
    return [id, { ...rest, ...crashes > 0 ? { crashes } : {}, ...saves ? { saves } : {} }]
  })
  const isDefaultSaved = entries.some(([, entry]) => entry.saves === true && isDefault(savingOf(entry)))
  const episodes: Array<WorkflowEpisode> = []
  const unknown = new Map<string, Array<string>>()
  const workflows = entries.map(([id, entry]): [string, Entry] => {
    const own = { started: started.get(id) ?? [], ended: ended.get(id) ?? [], running: running.get(id) ?? [] }
    if (!entry.isPublished && own.started.length + own.ended.length + own.running.length === 0) return [id, entry]
    const workflow = {
      id,
      ...entry,
      saves: savesOf(entry, isDefaultSaved),
      ...defined({ silent: silentOf({ id, ...entry }) })
    }
    const judgment = judgeOne(entry.memory ?? {}, {
      workflow,
      from: Math.max(seenFrom, entry.judgedTo ?? seenFrom),
      to: now,
      ...observed,
      ...own,
      zone,
      isV1
    })
    episodes.push(...judgment.episodes.map((episode) => ({ workflowId: id, episode })))
    if (judgment.unknown !== undefined) {
      unknown.set(judgment.unknown, [...unknown.get(judgment.unknown) ?? [], entry.name])
    }
    return [id, { ...entry, memory: judgment.memory, judgedTo: now }]
  })
  return { workflows: Object.fromEntries(workflows) as Entries, episodes, unknown }
}

/**
 * Runs whose data are worth a request, one of a workflow: first those that decide, then those of a version that is new,
 * then of the workflows that have waited longest.
 */
export const sampled = (
  workflows: Entries,
  { ended, waited }: Pick<Observed, "ended" | "waited">,
  now: number
): ReadonlyArray<Run> => {
  const latest = ({ workflowId }: Run) => workflows[workflowId]?.memory?.empty?.samples.at(-1)
  const rank = (run: Run) => {
    const sample = latest(run)
    if (emptiness.isDoubtful(workflows[run.workflowId]?.memory?.empty)) return 0
    return sample?.version !== undefined && sample.version !== workflows[run.workflowId]?.version ? 1 : 2
  }
  const byRank = ended.filter((run) => {
    const entry = workflows[run.workflowId]
    return entry !== undefined && !waited.has(run.id) && now >= (entry.sampleAfter ?? 0) &&
      emptiness.wantsSample(entry.memory?.empty, run, now, entry.version)
  }).toSorted((a, b) => rank(a) - rank(b) || (latest(a)?.at ?? 0) - (latest(b)?.at ?? 0) || Number(b.id) - Number(a.id))
  return [...Map.groupBy(byRank, ({ workflowId }) => workflowId).values()].flatMap(([first]) => first ?? [])
}

/** Episodes without the failures of callers whose called workflow failed at that time: they are its incidents. */
export const withoutCallers = (
  episodes: ReadonlyArray<WorkflowEpisode>,
  workflows: Entries
): ReadonlyArray<WorkflowEpisode> =>
  episodes.filter(({ episode, workflowId }) => {
    const called = episode.kind === "failed" ? episode.origin.failure.called : undefined
    return called === undefined || called === workflowId ||
      !(workflows[called]?.memory?.failed?.causes ?? []).some(({ from, to }) =>
        episode.to > from - hour && episode.from < to + hour
      )
  })
