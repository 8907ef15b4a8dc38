/**
 * Proof of a change: recorded runs, replayed on the changed workflow without sending anything, and compared with what
 * they recorded. Differences that the version that ran then shows too when it is replayed are ignored, and listed.
 */
import * as Effect from "effect/Effect"
import * as Batch from "../../base/Batch.ts"
import { counted } from "../../base/Plural.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as ExecutionHead from "../../n8n/model/ExecutionHead.ts"
import * as Replay from "../Replay.ts"
import * as Replays from "../Replays.ts"
import * as TestBench from "../TestBench.ts"
import * as Comparison from "./Comparison.ts"
import * as Effects from "./Effects.ts"
import * as Groups from "./Groups.ts"
import { type Compared, formerOf, isOutdated, learnFrom, reasonOf, subjectThen } from "./learning.ts"
import * as RunComparison from "./RunComparison.ts"
import * as triggerTest from "./triggerTest.ts"
import * as unexercised from "./unexercised.ts"
import * as Volatility from "./Volatility.ts"

/** Runs to replay, and how to compare them. */
export interface Options extends Replays.Selected, Pick<Comparison.Options, "inside"> {
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
  readonly record: Execution.Execution
  readonly replayed: Replays.Replayed
  /** Name of each node in the record, by its present name. */
  readonly names: ReadonlyMap<string, string>
  readonly effects: Effects.Effects
}

/** Versions to compare; with another workflow inside, this one is the same before and after. */
const comparisonOf = Effect.fnUntraced(
  function*(
    opened: TestBench.Workbench,
    ignore: Comparison.Options["ignore"],
    { inside, redacts }: Pick<Options, "inside" | "redacts">
  ) {
    const versions = inside === undefined
      ? yield* formerOf(opened)
      : { subject: opened.subject, published: opened.subject }
    return { ...versions, inside, ignore, redacts, comparesTrigger: inside === undefined } as Comparison.Options
  }
)

/** Separates the real differences of a run, with those of its trigger, and says what others see of them. */
const judged = Effect.fnUntraced(
  function*(
    run: Compared,
    learned: Volatility.Learned,
    received: Groups.Run["differences"],
    comparison: Comparison.Options
  ) {
    const { base, record, replayed: { result, subject } } = run
    const unstable = Volatility.unstable(learned)
    // What an older version recorded is not what the version before the change does: that is replayed.
    const isOld = base !== undefined && isOutdated(run, comparison)
    const side = isOld ? base.side : Comparison.sideOf(record)
    const own = isOld ? { first: [], second: base.second } : base
    const isClear = !isOld &&
      (unstable.length === 0 || Volatility.judge(learned, run.differences, own).real.length === 0)
    const compared = isClear ? run : yield* Comparison.compare(side, run.replayed, { ...comparison, unstable })
    const verdict = Volatility.judge(learned, compared.differences, own)
    const now = new Map([...compared.names].map(([name, then]) => [then, name]))
    const real = [...received, ...verdict.real]
    const effects = Effects.of(real, {
      record: side.execution,
      replay: result.execution,
      nodes: subject.nodes,
      former: side.nodes,
      trigger: result.trigger,
      senders: new Set([...result.pinned, ...result.notRun, ...compared.senders]),
      notRun: result.notRun,
      nameNow: (name) => now.get(name) ?? name
    })
    return { run: { ...run, order: compared.order }, ignored: verdict.ignored, real, received, effects }
  }
)

/** Replays recorded runs on a workflow, by a reference of any form, and compares them with their records. */
export const prove = Effect.fn("Proof.prove")(function*(reference: string, options: Options) {
  const executions = yield* Executions
  const opened = yield* TestBench.workbench(reference)
  const ignore = yield* RunComparison.ignored(options.ignore ?? [], opened.subject.nodes.map(({ name }) => name))
  const comparison = yield* comparisonOf(opened, ignore, options)
  const { inside, published, settings: known, subject } = comparison
  const workbench = { ...opened, subject }
  const { ids, omitted } = yield* Replays.idsOf(workbench, options)
  const replays = yield* Replays.make(workbench, options)
  const notReplayed: Array<Groups.NotReplayed> = [...omitted]

  const replayed = Effect.fnUntraced(function*(id: string) {
    const record = yield* Effect.mapError(executions.get(id), ({ message }) => message)
    const obstacle = ExecutionHead.isOver(record.status) ? RunComparison.obstacle(record) : "it has not ended"
    if (obstacle !== undefined) return yield* Effect.fail(obstacle)
    const replay = yield* replays.replay(subject, id, inside && (yield* inside(record, "changed")))
    for (const node of replay.result.notRun) {
      notReplayed.push({ node, execution: id, why: "reaches outside, without recorded items" })
    }
    const run: Compared = {
      execution: id,
      record,
      replayed: replay,
      ...(yield* Comparison.compare(Comparison.sideOf(record), replay, comparison))
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

  const { busy, faults, late, learned, runs } = yield* learnFrom([...done.values()], comparison, replays)
  const left = [...late, ...unreached]
  for (const [execution, why] of busy) {
    notReplayed.push({ execution, why: `not judged, because the version before the change was not replayed: ${why}` })
  }
  for (const why of faults) {
    notReplayed.push({ why: `The version before the change, to learn what always differs: ${why}` })
  }
  const triggers = yield* triggerTest.tested(
    runs.flatMap(({ execution, newTriggers, record }) =>
      newTriggers.map((version) => ({ execution, record, version }))
    ),
    { ...options, workbench, published, ignore }
  )
  const received = (run: Compared) =>
    triggers.flatMap(({ differences }) => differences.get(run.execution) ?? [])
      .filter(Comparison.isCompared(ignore, () => Replay.starterOf(run.record) ?? ""))
  const verdicts = yield* Effect.forEach(runs, (run) => judged(run, learned, received(run), comparison))
  const outcomes = verdicts.map(({ effects, real, run: { execution, names, order, record, replayed } }): Outcome => ({
    execution,
    names,
    record,
    milliseconds: replayed.result.execution.duration ?? 0,
    replayed,
    effects,
    order,
    differences: real
  }))
  const [newest] = runs
  const version = newest === undefined
    ? undefined
    : published ?? subjectThen(newest.record, subject, known)
  const unseenChanges = [
    ...version === undefined ? [] : [
      ...yield* unexercised.unexercisedChanges(
        version,
        subject,
        runs.map(({ names, record, replayed: { result } }) => ({
          names,
          record,
          replay: result.execution,
          pinned: new Set(result.pinned)
        }))
      ),
      ...unexercised.unproven(version.settings, subject.settings, {
        failed: runs.filter(({ record }) => record.status === "error").length,
        nodes: subject.nodes
      })
    ],
    ...triggerTest.unseen(triggers)
  ]
  const ignored = verdicts.flatMap(({ ignored }) => ignored)
  const result = Groups.group(outcomes, ignored, [
    ...unseenChanges,
    ...triggerTest.untested(triggers),
    ...notReplayed
  ])
  const { fixed, words } = Effects.noticed(verdicts, result)
  const notes = [
    ...words,
    ...(ignore.length === 0 ? [] : [`${counted(ignore.length, "path")} ignored as asked`]),
    ...(verdicts.some(({ received }) => received.length > 0) ? [] : triggerTest.note(triggers)),
    ...(unseenChanges.length === 0 ? [] : [`${counted(unseenChanges.length, "change")} in no replay (notReplayed)`])
  ]
  const verdict = [result.verdict, ...notes, replays.note() ?? []].flat().join("; ")
  return {
    ...result,
    verdict,
    ...Effects.comparedOf(runs.map(({ replayed }) => replayed.result), subject.nodes),
    ...(fixed === 0 ? {} : { fixed }),
    workflow: { id: reference, name: subject.name },
    left,
    outcomes,
    triggers
  } satisfies Proof
}, Effect.scoped)
