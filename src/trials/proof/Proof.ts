/**
 * Proof of a change: recorded runs, replayed on the changed workflow without sending anything, and compared with what
 * they recorded. Differences that the version that ran then shows too when it is replayed are ignored, and listed.
 */
import * as Effect from "effect/Effect"
import * as Batch from "../../base/Batch.ts"
import * as Errors from "../../base/Errors.ts"
import { equals, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import { respond } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import { isNote } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Answering from "../../workflow/Answering.ts"
import * as Graph from "../../workflow/Graph.ts"
import { isCaller } from "../../workflow/References.ts"
import * as live from "../live.ts"
import * as Replay from "../Replay.ts"
import * as Replays from "../Replays.ts"
import * as TestBench from "../TestBench.ts"
import type * as TestCopy from "../TestCopy.ts"
import * as Groups from "./Groups.ts"
import * as RunComparison from "./RunComparison.ts"
import {
  sentDifferences,
  type SentOptions,
  type Side,
  triggerDifferences,
  unexercisedChanges,
  unseenDifferences,
  upgradedVersion,
  withMoved
} from "./sent.ts"
import * as triggerTest from "./triggerTest.ts"
import * as Volatility from "./Volatility.ts"

/** Number of sampled runs with the same differences. */
const samplesOfAlike = 2

/** Runs to replay, and how to compare them. */
export interface Options extends Replays.Selected {
  /** Paths not to compare: `email`, or only of one node: `'Map contact'.email`. */
  readonly ignore?: ReadonlyArray<string> | undefined
  readonly timeout: number
  readonly redacts: boolean
}

/** Result of a proof; `left` are the runs for which the call had no time. */
export interface Proof extends Groups.Result {
  readonly workflow: { readonly id: string; readonly name: string }
  readonly left: ReadonlyArray<string>
  readonly outcomes: ReadonlyArray<Outcome>
  /** Tests of triggers that have another version. */
  readonly triggers: ReadonlyArray<triggerTest.Tested>
}

/** Replayed run with its real differences and the duration of its replay. */
export interface Outcome extends Groups.Run {
  readonly milliseconds: number
}

const subjectThen = ({ workflow }: Execution.Execution, { settings, staticData }: TestCopy.Subject) =>
  workflow === undefined
    ? undefined
    : { name: workflow.name, nodes: workflow.nodes, connections: workflow.connections, settings, staticData }

/**
 * Nodes that did not return what they would return: without recorded items, or with those of one run of a loop that is
 * gone. Nothing can be said of the nodes after them.
 */
const unknowns = (
  { nameThen, record, replay: { graph } }: Pick<SentOptions, "nameThen" | "record" | "replay">,
  { result, subject }: Replays.Replayed
) => {
  const [before, now] = [Graph.looping(record.graph), Graph.looping(graph)]
  const wasInLoop = (name: string) => before.has(name) && (record.execution.runs.get(name)?.length ?? 0) > 1
  const byName = new Map(subject.nodes.map((node) => [node.name, node]))
  // A removed node, and the call itself, may do the same in the sub-workflow as before.
  const callsAnother = (name: string) => isCaller(byName.get(name)?.type)
  return [
    ...result.notRun.map((node) => ({ node, why: "it has no recorded items", isVague: callsAnother(node) })),
    ...result.pinned.filter((node) => wasInLoop(nameThen(node)))
      .map((node) => ({ node, why: "it ran in a loop then", isVague: true }))
  ].filter(({ node }) => !now.has(node)).map(({ isVague, node, why }) => {
    const after = Graph.after(graph, [node])
    const isAfter = (name: string) =>
      name === node ? isVague : after.has(name) || !byName.has(name) && callsAnother(node)
    return { node, why, isAfter }
  })
}

/** Differences, of which those after unknown items are one each. */
const withoutUnknown = (
  differences: ReadonlyArray<RunComparison.Difference>,
  all: ReturnType<typeof unknowns>
): ReadonlyArray<RunComparison.Difference> => {
  const causes = all.filter(({ isAfter }) => differences.some(({ node }) => isAfter(node)))
  return [
    ...differences.filter(({ node }) => !all.some(({ isAfter }) => isAfter(node))),
    ...causes.map(({ node, why }): RunComparison.Difference => ({
      node,
      run: 0,
      path: why,
      kind: "unknown",
      count: 1,
      digest: 0
    }))
  ]
}

/** Whether a difference is not ignored; `nameThen` is the node's name in the record. */
const isCompared =
  (ignore: ReadonlyArray<RunComparison.Ignored>, nameThen: (name: string) => string) =>
  ({ kind, node, path }: RunComparison.Difference) =>
    kind === "unknown" || !JsonPath.covers(
      ignore.flatMap((each) =>
        each.node === undefined || [node, nameThen(node)].includes(each.node) ? [each.steps] : []
      ),
      JsonPath.parse(path) ?? []
    )

/** Compares an execution with a replay: outputs, and what nodes sent. */
export const compare = Effect.fnUntraced(function*(
  then: Side,
  { result, subject }: Replays.Replayed,
  { comparesTrigger = false, ignore, redacts, unstable = [] }: Omit<Comparison, "published" | "subject">
) {
  const formerName = Replay.formerName(then.execution)
  const known = new Set(then.nodes.map(({ name }) => name))
  const nodes = subject.nodes.filter((node) =>
    !isNote(node) && node.name !== result.trigger && known.has(formerName(node))
  )
  const names = new Map(nodes.map((node) => [node.name, formerName(node)]))
  const pinned = new Set([...result.pinned, ...result.notRun])
  const nameThen = (name: string) => names.get(name) ?? name
  const before = yield* upgradedVersion(then, subject, nameThen)
  const record = withMoved(then.execution, before.moved)
  const { differences, order: ran } = yield* RunComparison.compare({
    record,
    replay: result.execution,
    nodes: [...names.keys()],
    nameThen,
    pinned,
    ignore,
    unstable,
    redacts
  })
  const sending: SentOptions = {
    record: { ...then, nodes: before.nodes, graph: Graph.make(then.connections) },
    replay: { execution: result.execution, nodes: subject.nodes, graph: Graph.make(subject.connections) },
    nameThen,
    pinned,
    ignore,
    redacts,
    isSame: differences.length === 0
  }
  const more = [
    ...yield* sentDifferences(sending),
    ...yield* unseenDifferences(sending),
    ...(comparesTrigger ? yield* triggerDifferences(sending) : [])
  ]
  const compared = [...differences, ...more].filter(isCompared(ignore, nameThen))
  // A replay starts after the trigger, whose version counts although an upgrade leads to it.
  const isVersion = ({ node, path }: RunComparison.Difference) => node === result.trigger && path === "typeVersion"
  const newTriggers = comparesTrigger ? triggerTest.newVersion(then, subject, result.trigger) : []
  const all = withoutUnknown(compared.filter((each) => !isVersion(each)), unknowns(sending, { result, subject }))
  const caused = RunComparison.causalOrder({ record: then.execution, replay: result.execution, nameThen }, ran, all)
  const order = result.trigger === undefined ? caused : [result.trigger, ...caused]
  const places = new Map(order.map((name, index) => [name, index]))
  return {
    order,
    names,
    newTriggers: newTriggers.filter(isCompared(ignore, nameThen)),
    differences: all.toSorted((a, b) => (places.get(a.node) ?? order.length) - (places.get(b.node) ?? order.length))
  }
})

interface Compared extends Groups.Run {
  readonly record: Execution.Execution
  readonly replayed: Replays.Replayed
  readonly names: ReadonlyMap<string, string>
  /** Changed versions of the trigger, of which the replay shows nothing. */
  readonly newTriggers: ReadonlyArray<RunComparison.Difference>
  readonly base?: Volatility.Base
}

const reasonOf = (failure: string | Errors.N8nError) => typeof failure === "string" ? failure : failure.message

const sideOf = (execution: Execution.Execution): Side => ({
  execution,
  nodes: execution.workflow?.nodes ?? [],
  connections: execution.workflow?.connections
})

/** Differences of a run that the version before the change shows when it is replayed, in today's names of nodes. */
const baseOf = Effect.fnUntraced(function*(
  { execution: id, record }: Compared,
  { published, subject, ...comparison }: Comparison,
  { replay }: Replays.Replays,
  isTwice: boolean
) {
  const then = published ?? subjectThen(record, subject)
  if (then === undefined) return yield* Effect.fail("n8n did not store the workflow that ran")
  const replays = yield* Effect.all(
    Array.from({ length: isTwice ? 2 : 1 }, () => replay(then, id)),
    { concurrency: "unbounded" }
  )
  const now = new Map(then.nodes.map(({ id, name }) => {
    const same = subject.nodes.find((node) => id !== undefined && node.id === id) ??
      subject.nodes.find((node) => node.name === name)
    return [name, same?.name]
  }))
  const inNamesOfToday = ({ differences }: { readonly differences: Groups.Run["differences"] }) =>
    differences.flatMap((each) => {
      // A node that only the version of the run had is missing before the change too.
      const node = now.has(each.node) ? now.get(each.node) : each.node
      return node === undefined ? [] : [{ ...each, node }]
    })
  const [one, other] = replays
  const compared = (side: Side, replayed: Replays.Replayed | undefined) =>
    replayed === undefined ? Effect.succeed([]) : Effect.map(compare(side, replayed, comparison), inNamesOfToday)
  return {
    first: yield* compared(sideOf(record), one),
    second: one === undefined
      ? []
      : yield* compared({ execution: one.result.execution, nodes: then.nodes, connections: then.connections }, other)
  } satisfies Volatility.Base
})

/** Runs to replay on the version that ran then: examples of each kind of difference, and where the time may matter. */
const toSample = (runs: ReadonlyArray<Compared>, learned: Volatility.Learned) => {
  const known = new Map<string, number>()
  for (const { base, differences } of runs) {
    if (base === undefined) continue
    const key = signature(differences)
    known.set(key, (known.get(key) ?? 0) + 1)
  }
  return runs.flatMap((run): ReadonlyArray<{ readonly run: Compared; readonly isTwice: boolean }> => {
    if (run.base !== undefined || run.differences.length === 0) return []
    const key = signature(run.differences)
    const count = known.get(key) ?? 0
    const { ignored, isWorthSampling, real } = Volatility.judge(learned, run.differences)
    const isNew = count < samplesOfAlike && real.length > 0
    if (isNew) known.set(key, count + 1)
    // Only this run's own replay shows that a value that depends on the time is otherwise as before.
    return isNew || isWorthSampling || ignored.some(({ why }) => why !== undefined) ? [{ run, isTwice: isNew }] : []
  })
}

const signature = (differences: Groups.Run["differences"]) =>
  JSON.stringify([...new Set(differences.map(({ kind, node, path }) => `${node} ${path} ${kind}`))].toSorted())

/** Maximum number of rounds in which runs are sampled; each adds runs that earlier ones made worth it. */
const maxRounds = 3

const learnFrom = Effect.fnUntraced(function*(
  all: ReadonlyArray<Compared>,
  comparison: Comparison,
  replays: Replays.Replays
) {
  let learned = Volatility.empty
  let runs = all
  let isLate = false
  const faults = new Map<string, string>()
  for (let round = 0; round < maxRounds && !isLate; round++) {
    const samples = toSample(runs, learned).filter(({ run }) => !faults.has(run.execution))
    const { done, failed, left } = yield* Batch.run(
      samples,
      { ...Replays.pace, isContinued: true },
      ({ isTwice, run }) =>
        Effect.tap(baseOf(run, comparison, replays, isTwice), (base) =>
          Effect.sync(() => {
            learned = Volatility.learn(learned, run.differences, base)
          }))
    )
    if (samples.length === 0) break
    isLate = left.length > 0
    for (const [{ run }, failure] of failed) faults.set(run.execution, reasonOf(failure))
    const bases = new Map([...done].map(([{ run }, base]) => [run.execution, base]))
    runs = runs.map((run) => {
      const base = bases.get(run.execution)
      return base === undefined ? run : { ...run, base }
    })
  }
  // Nothing can be said of runs of which there was no time to learn from one that differs alike.
  const known = new Set(runs.flatMap(({ base, differences }) => base === undefined ? [] : [signature(differences)]))
  const isUnknown = ({ base, differences, execution }: Compared) =>
    base === undefined && differences.length > 0 && !faults.has(execution) && !known.has(signature(differences))
  const late = isLate ? runs.filter(isUnknown).map(({ execution }) => execution) : []
  return {
    learned,
    runs: runs.filter(({ execution }) => !late.includes(execution)),
    late,
    faults: [...new Set(faults.values())]
  }
})

/** Published version on n8n of a workflow that differs from it; otherwise the version that ran is the one before. */
const publishedOf = Effect.fnUntraced(function*({ recordedId, sourceId, subject }: TestBench.Workbench) {
  const id = sourceId ?? recordedId
  if (id === undefined) return undefined
  const workflow = yield* N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.catchTag("NotFoundError", () => Effect.undefined)
  )
  if (workflow === undefined || !workflow.active) return undefined
  const { connections } = obj(workflow["activeVersion"]) ?? {}
  const published = {
    ...subject,
    nodes: live.publishedNodes(workflow),
    connections: (connections ?? workflow.connections) as TestCopy.Subject["connections"]
  }
  return equals([published.nodes, published.connections], [subject.nodes, subject.connections]) ? undefined : published
})

interface Comparison {
  readonly subject: TestCopy.Subject
  /** Version before the change, if it is not the one that ran. */
  readonly published?: TestCopy.Subject | undefined
  readonly ignore: ReadonlyArray<RunComparison.Ignored>
  /** Whether it matters how the workflow is called, as for its callers. */
  readonly comparesTrigger?: boolean
  /** Volatile paths, by which no item is recognized at another position. */
  readonly unstable?: ReadonlyArray<RunComparison.Ignored>
  readonly redacts: boolean
}

/** Replays recorded runs on a workflow, by a reference of any form, and compares them with their records. */
export const prove = Effect.fn("Proof.prove")(function*(reference: string, options: Options) {
  const executions = yield* Executions
  const workbench = yield* TestBench.workbench(reference)
  const { subject } = workbench
  const ignore = yield* RunComparison.ignored(options.ignore ?? [], subject.nodes.map(({ name }) => name))
  const published = yield* publishedOf(workbench)
  const comparison: Comparison = { subject, published, ignore, redacts: options.redacts, comparesTrigger: true }
  const ids = yield* Replays.idsOf(workbench, options)
  const replays = yield* Replays.make(workbench, options)
  const notReplayed: Array<Groups.NotReplayed> = []

  const replayed = Effect.fnUntraced(function*(id: string) {
    const record = yield* Effect.mapError(executions.get(id), ({ message }) => message)
    const obstacle = ExecutionHead.isOver(record.status) ? RunComparison.obstacle(record) : "it has not ended"
    if (obstacle !== undefined) return yield* Effect.fail(obstacle)
    const replay = yield* replays.replay(subject, id)
    for (const node of replay.result.notRun) {
      notReplayed.push({ node, execution: id, why: "reaches outside, without recorded items" })
    }
    const run: Compared = {
      execution: id,
      record,
      replayed: replay,
      ...(yield* compare(sideOf(record), replay, comparison))
    }
    return run
  })
  const pace = Replays.pace
  const { done, failed, left: unreached } = yield* Batch.run(new Set(ids), {
    ...pace,
    // Learning what always differs takes as long as a replay.
    needs: 2 * pace.needs,
    isContinued: true,
    message: (done, total) => `replayed ${done} of ${counted(total, "run")}`
  }, replayed)
  for (const [execution, failure] of failed) notReplayed.push({ execution, why: reasonOf(failure) })

  const { faults, late, learned, runs } = yield* learnFrom([...done.values()], comparison, replays)
  const left = [...late, ...unreached]
  for (const why of faults) {
    notReplayed.push({ why: `The version before the change, to learn what always differs: ${why}` })
  }
  const unstable = Volatility.unstable(learned)
  const triggers = yield* triggerTest.tested(
    runs.flatMap(({ execution, newTriggers, record }) =>
      newTriggers.map((version) => ({ execution, record, version }))
    ),
    { ...options, workbench, published, ignore }
  )
  const verdicts = yield* Effect.forEach(runs, (run) =>
    Effect.gen(function*() {
      const received = triggers.flatMap(({ differences }) => differences.get(run.execution) ?? [])
        .filter(isCompared(ignore, () => Replay.starterOf(run.record) ?? ""))
      const verdict = Volatility.judge(learned, run.differences, run.base)
      const real = [...received, ...verdict.real]
      if (verdict.real.length === 0 || unstable.length === 0) return { run, ...verdict, real, received }
      const again = yield* compare(sideOf(run.record), run.replayed, { ...comparison, unstable })
      const judged = Volatility.judge(learned, again.differences, run.base)
      return { run, ...judged, real: [...received, ...judged.real], received }
    }))
  const outcomes = verdicts.map(({ real, run: { execution, order, replayed } }): Outcome => ({
    execution,
    milliseconds: replayed.result.execution.duration ?? 0,
    order,
    differences: real
  }))
  const [newest] = runs
  const version = newest === undefined ? undefined : published ?? newest.record.workflow
  const unreachedChanges = version === undefined ? [] : yield* unexercisedChanges(
    version,
    subject,
    runs.map(({ names, record, replayed }) => ({ names, record, replay: replayed.result.execution }))
  )
  const unseenChanges = [
    ...unreachedChanges,
    ...triggerTest.unseen(triggers)
  ]
  const result = Groups.group(outcomes, verdicts.flatMap(({ ignored }) => ignored), [
    ...unseenChanges,
    ...triggerTest.untested(triggers),
    ...notReplayed
  ])
  const answering = subject.nodes.flatMap(({ name, type }) => type === respond ? [name] : [])
  const sending = verdicts.filter(({ real, run: { names, record, replayed: { result } } }) => {
    const { execution, notRun, pinned, trigger } = result
    const ends = new Set([...pinned, ...notRun, ...answering])
    // A difference of the last node, or of whether nodes fail, reaches a caller that waits for the items of that node.
    const then = Execution.lastToRun(record) ?? ""
    const returned = subject.nodes.some((node) => node.name === trigger && Answering.returnsLast(node))
      ? [Execution.lastToRun(execution), [...names].find(([, former]) => former === then)?.[0] ?? then]
      : []
    return real.some(({ kind, node, path }) =>
      node === trigger || path.startsWith("sent") || returned.includes(node) ||
      returned.length > 0 && (kind === "failed" || kind === "succeeded") ||
      ends.has(node) && (kind === "ran" || kind === "notRun")
    )
  })
  const differing = result.runs - result.same
  const isUnknown = verdicts.some(({ real }) => real.some(({ kind }) => kind === "unknown"))
  const notes = [
    ...(differing === 0 ? [] : [
      sending.length === 0
        ? isUnknown ? [] : "all send and answer the same"
        : `${counted(sending.length, "run")} would be called, send or answer differently`
    ]),
    ...(verdicts.some(({ received }) => received.length > 0) ? [] : triggerTest.note(triggers)),
    ...(unseenChanges.length === 0 ? [] : [`${counted(unseenChanges.length, "change")} in no replay (notReplayed)`])
  ]
  const verdict = [result.verdict, ...notes, replays.note() ?? []].flat().join("; ")
  return {
    ...result,
    verdict,
    workflow: { id: reference, name: subject.name },
    left,
    outcomes,
    triggers
  } satisfies Proof
}, Effect.scoped)
