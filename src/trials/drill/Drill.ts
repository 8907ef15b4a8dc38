/**
 * Failure drill: each node that reaches outside fails once, in every way in which its service can fail, on copies that
 * send nothing; does someone notice, and does bad data go on?
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Batch from "../../base/Batch.ts"
import type * as Errors from "../../base/Errors.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as OutputNames from "../../catalogue/OutputNames.ts"
import * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../../n8n/N8nClient.ts"
import * as Graph from "../../workflow/Graph.ts"
import * as Replay from "../Replay.ts"
import * as Replays from "../Replays.ts"
import * as TestBench from "../TestBench.ts"
import type * as TestCopy from "../TestCopy.ts"
import * as NodeFailures from "./NodeFailures.ts"
import * as Verdict from "./Verdict.ts"

/** Verdict on failures of a node that have the same outcome. */
export const Row = Schema.Struct({
  node: Schema.String,
  verdict: Schema.Literals(Verdict.grades),
  failures: Schema.Array(Schema.String),
  why: Schema.String
})
export type Row = typeof Row.Type

/** Result of a drill. */
export interface Drill {
  readonly workflow: { readonly id: string; readonly name: string }
  readonly rows: ReadonlyArray<Row>
  readonly notDrilled: ReadonlyArray<{ readonly node: string; readonly why: string }>
  readonly note?: string | undefined
}

/** Whether someone notices the failures, or they are handled. */
export const isFine = ({ verdict }: Row): boolean => verdict === "handled" || verdict === "stops with alert"

/** Exit code of a command: 2 if a failure stops the workflow silently or loses items, 1 if nothing was drilled. */
export const exitCode = ({ rows }: Pick<Drill, "rows">): 0 | 1 | 2 => rows.length === 0 ? 1 : rows.every(isFine) ? 0 : 2

/** Number of nodes by their worst verdict, in words, the worst first, and a note. */
export const verdictOf = (rows: ReadonlyArray<Row>, note?: string): string => {
  const worst = Rows.grouped(rows, ({ node }) => node).map(({ rows }) =>
    Verdict.worst(rows.map(({ verdict }) => verdict))
  )
  const verdict = Verdict.grades.toReversed().flatMap((grade) => {
    const count = worst.filter((each) => each === grade).length
    return count === 0 ? [] : [`${counted(count, "node")}: ${grade}`]
  }).join("; ") || "no node that reaches outside was drilled"
  return note === undefined ? verdict : `${verdict}; ${note}`
}

/** Rows whose reason was given before refer to it. */
export const referring = (rows: ReadonlyArray<Row>): ReadonlyArray<Row> => {
  const firsts = new Map<string, Row>()
  return rows.map((row) => {
    const known = firsts.get(row.why)
    if (known === undefined) firsts.set(row.why, row)
    return known === undefined ? row : { ...row, why: `as '${known.node}' (${known.failures[0] ?? ""})` }
  })
}

/** Items by main output of each node that ran, and how the run ended. */
const outcomeOf = (execution: Execution.Execution): Verdict.Outcome => ({
  status: execution.status,
  failedAt: Execution.failure(execution)?.node,
  items: new Map(
    [...execution.runs].toSorted(([, [a]], [, [b]]) => Execution.byOrder(a, b)).map(([name, runs]) => {
      const counts: Array<number> = []
      for (const { count, index, type } of runs.flatMap(({ outputs }) => outputs)) {
        if (type === "main") counts[index] = (counts[index] ?? 0) + count
      }
      return [name, Array.from(counts, (count) => count ?? 0)]
    })
  )
})

const errorWorkflowOf = Effect.fnUntraced(function*(settings: unknown) {
  const id = Workflow.errorWorkflowId({ settings })
  if (id === undefined) return undefined
  const n8n = yield* N8nClient
  return yield* n8n.getWorkflow(id).pipe(
    Effect.map((workflow) => ({
      name: workflow.name,
      isPublished: workflow.active,
      hasErrorTrigger: Workflow.isErrorWorkflow(workflow)
    })),
    Effect.catchTag("NotFoundError", () => Effect.undefined)
  )
})

const failing = ({ outside }: TestBench.Bench, graph: Graph.Graph): ReadonlyArray<Workflow.Node> => {
  return outside.flatMap(({ node }) =>
    node.disabled === true || Graph.served(graph, node.name).length > 0 ? [] : [node]
  )
}

interface Undisturbed {
  readonly execution: string
  readonly outcome: Verdict.Outcome
}

/** Rows of a node: failures with the same outcome together, the empty list last. */
export const rowsOf = (
  node: string,
  verdicts: ReadonlyArray<readonly [NodeFailures.Kind, Verdict.Verdict]>
): ReadonlyArray<Row> =>
  Rows.grouped(verdicts, ([, { because, grade }]) => [grade, because]).map((
    { first: [, { because, grade }], rows }
  ) => ({
    node,
    verdict: grade,
    failures: rows.map(([kind]) => NodeFailures.labelOf(kind)),
    why: because
  }))

/** Rows of all nodes, those with the worst verdict first. */
export const inOrder = (rows: ReadonlyArray<ReadonlyArray<Row>>): ReadonlyArray<Row> => {
  const rank = (own: ReadonlyArray<Row>) => Verdict.grades.indexOf(Verdict.worst(own.map(({ verdict }) => verdict)))
  return rows.toSorted((a, b) => rank(b) - rank(a)).flat()
}

const maxSearched = 10

/** Recorded runs, replayed undisturbed, until each node ran in one of them. */
const undisturbedOf = Effect.fnUntraced(function*(
  ids: ReadonlyArray<string>,
  nodes: ReadonlyArray<Workflow.Node>,
  subject: TestCopy.Subject,
  { replay }: Replays.Replays
) {
  const executions = yield* Executions
  const left = new Set(nodes.map(({ name }) => name))
  const runs = new Map<string, Undisturbed>()
  const faults: Array<string> = []
  const search = Effect.fnUntraced(function*(execution: string) {
    if (left.size === 0) return
    const record = yield* executions.get(execution)
    const names = nodes.filter((node) =>
      left.has(node.name) && record.runs.get(Replay.formerName(record)(node))?.every(({ error }) => error === undefined)
    )
    if (names.length === 0) return
    const replayed = yield* Effect.result(replay(subject, execution))
    if (Result.isFailure(replayed)) return void faults.push(replayed.failure.why)
    const outcome = outcomeOf(replayed.success.result.execution)
    for (const { name } of names) {
      if (!outcome.items.has(name)) continue
      runs.set(name, { execution, outcome })
      left.delete(name)
    }
  })
  const { fault } = yield* Batch.run(new Set(ids.slice(0, maxSearched)), {
    ...Replays.pace,
    concurrency: 1,
    isContinued: true,
    stopIf: ({ message }: Errors.N8nError) => message
  }, search)
  if (fault !== undefined) return yield* fault
  const why = faults[0] ??
    `it failed or was not reached in ${counted(Math.min(ids.length, maxSearched), "recorded run")}`
  return { runs, notDrilled: [...left].map((node) => ({ node, why })) }
})

/** Drills a workflow with the data of recorded runs. */
export const drill = Effect.fn("Drill.drill")(function*(
  reference: string,
  options: Replays.Selected & { readonly timeout: number }
) {
  const n8n = yield* N8nClient
  const workbench = yield* TestBench.workbench(reference)
  const { subject } = workbench
  const { ids } = yield* Replays.idsOf(workbench, options)
  const replays = yield* Replays.make(workbench, options)
  const bench = yield* replays.open(subject)
  const graph = Graph.make(subject.connections)
  const nodes = failing(bench, graph)
  const { notDrilled, runs } = yield* undisturbedOf(ids, nodes, subject, replays)
  const release = yield* n8n.release
  const namesOf = yield* OutputNames.forNodes(nodes)
  const about: Verdict.Subject = {
    nodes: subject.nodes,
    graph,
    trigger: subject.nodes.find((node) => node.disabled !== true && bench.isTrigger(node)),
    errorWorkflow: yield* errorWorkflowOf(subject.settings),
    outside: new Set(bench.outside.map(({ node }) => node.name)),
    isV1: release === undefined || isV1(release)
  }

  const outcomes = new Map<string, ReturnType<typeof outcomeOn>>()
  const outcomeOn = (failure: NodeFailures.Failure, failing: Verdict.Case, execution: string) => {
    const rows: TestCopy.Replacements = new Map([[
      failing.node.name,
      (node, added) => NodeFailures.nodes(node, failure, added)
    ]])
    return Effect.map(replays.replay(subject, execution, rows), ({ result }) => outcomeOf(result.execution))
  }
  const verdictOf = Effect.fnUntraced(function*(failing: Verdict.Case, { execution, outcome }: Undisturbed) {
    const known = Verdict.of(about, failing, outcome)
    if (known !== undefined) return known
    const kind = Verdict.runAs(about, failing)
    const failure = NodeFailures.of(failing.node, kind, { isV1: about.isV1, outputs: failing.outputs })
    if (failure === undefined) return undefined
    const key = `${failing.node.name} ${kind}`
    const run = outcomes.get(key) ?? (yield* Effect.cached(outcomeOn(failure, failing, execution)))
    outcomes.set(key, run)
    return Verdict.of(about, failing, outcome, yield* run)
  })
  const cases = nodes.flatMap((node) => {
    const undisturbed = runs.get(node.name)
    const outputs = namesOf(node)?.length ?? 1
    return undisturbed === undefined
      ? []
      : NodeFailures.kindsOf(node, about.isV1).map((kind) => ({ node, kind, outputs, undisturbed }))
  })
  const { done, failed, left: unreached } = yield* Batch.run(cases, {
    ...Replays.pace,
    isContinued: true,
    message: (done, total) => `drilled ${done} of ${counted(total, "failure")}`
  }, ({ undisturbed, ...failing }) => verdictOf(failing, undisturbed))
  const left = [
    ...notDrilled,
    ...[...failed].map(([{ kind, node }, { why }]) => ({
      node: node.name,
      why: `${NodeFailures.labelOf(kind)}: ${why}`
    })),
    ...[...new Set(unreached.map(({ node }) => node.name))].map((node) => ({ node, why: "the call had no more time" }))
  ]
  const rows = nodes.map((node) =>
    rowsOf(
      node.name,
      [...done].flatMap(([each, verdict]) =>
        each.node === node && verdict !== undefined ? [[each.kind, verdict] as const] : []
      )
    )
  )
  const result: Drill = {
    workflow: { id: reference, name: subject.name },
    rows: inOrder(rows),
    notDrilled: left,
    note: replays.note()
  }
  return result
}, Effect.scoped)
