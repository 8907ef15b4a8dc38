import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import type * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import { CallContext } from "../../base/CallContext.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as ItemView from "../../executions/ItemView.ts"
import type * as CaseSet from "../../trials/CaseSet.ts"
import * as Modules from "../../trials/Modules.ts"
import * as WorkflowTesting from "../../trials/WorkflowTesting.ts"
import * as conditions from "../shared/Conditions.ts"
import * as summaries from "../shared/ExecutionSummaries.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"
import * as testAnswer from "./testAnswer.ts"

/** Answer of test_workflow. For several cases, `status` is of the first that failed, and `logs` has a line for each. */
const Output = Schema.Struct({
  ...testAnswer.fields,
  /** Nodes that ran, without the trigger and `pinned`; only in tests with pins, replay, startNode or endNode. */
  ran: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Nodes that returned pinned or replayed items instead of running. */
  pinned: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Nodes that were left out: they reach outside, and the replayed execution has no data for them. */
  notRun: Schema.optionalKey(Schema.Array(Schema.String)),
  /** One line for each run of a node, in order. */
  logs: Schema.Array(Schema.String),
  /** Cases `{case, …}` with fields as above; with `against`, only those that differ. */
  cases: Schema.optionalKey(writing.Objects),
  /** Number of cases without differences from `against`. */
  same: Schema.optionalKey(Schema.Int),
  /**
   * Cases `{case, answer?, changes, before}` with differences. `answer` is `same` if the caller gets the same; `changes`
   * have the values of both sides, as in `'Tag'.source: "a" → "b"`; `before` is the other run, with its response if that
   * differs: `{executionId, executionTime, response?}`.
   */
  differ: Schema.optionalKey(writing.Objects)
})
type Output = typeof Output.Type

/** Default timeout for clients without progress, which wait only a minute for the whole call. */
const silentTimeout = 35_000

const oneAlone = "A call with one case shows it in full."

const maxLogs = 60

/** About 650 tokens for 20 nodes; get_execution_by_node returns the rest. */
const budget = ({ cases = [], differ = [], logs }: Output, show: testAnswer.Show = {}): Minimize.Budget => {
  const nodes = Math.max(1, show.nodes?.length ?? 1)
  const isOne = logs.length === 1
  return {
    total: 1_700 + 30 * Math.max(0, Math.min(logs.length, maxLogs) - 20) +
      (isOne ? 1_300 : 450) * cases.length + 150 * differ.length +
      (nodes - 1) * testAnswer.leastShare * Math.max(1, cases.length),
    lists: {
      logs: maxLogs,
      sent: 8,
      "sent[].unresolved": 3,
      "cases[].sent": isOne ? 8 : [8, 6, 4, 3],
      "cases[].sent[].unresolved": 3,
      "differ[].changes": 8,
      ...(isOne ? {} : { "cases[].data.items": Math.max(3, nodes) })
    },
    rooms: {
      ...summaries.rooms,
      "logs[]": 260,
      "response.body": 4_000,
      "cases[].response.body": isOne ? 4_000 : [Infinity, 1_000, 300, 100],
      "differ[].before.response.body": [Infinity, 1_000, 300, 100],
      "sent[].values": [Infinity, 800, 400, 200],
      "cases[].sent[].values": [Infinity, 400, 200, 100],
      // The items yield to the logs.
      ...testAnswer.shares("data", nodes, [1_200, 800, 400]),
      ...(isOne ? {} : testAnswer.shares("cases[].data", nodes, [600, 450, 330]))
    }
  }
}

const next = (
  { cases = [], data, executionId, logs, sent = [] }: Output,
  { fields, nodes = [], where }: testAnswer.Show = {}
) =>
(path: string, count: number) => {
  const node = data?.node ?? data?.items[count]?.["node"]
  if (path === "data.items" && typeof node === "string") {
    // How many items of several nodes are shown is known by node only.
    const itemOffset = nodes.length < 2 ? count : undefined
    return Hints.executionByNode(executionId, node, { itemOffset, where, fields })
  }
  const [, index] = /^cases\[(\d+)\]\.data\.items$/.exec(path) ?? []
  const own = index === undefined || logs.length < 2 ? undefined : cases[Number(index)]
  const ownNode = obj(own?.["data"])?.["node"]
  if (typeof own?.["executionId"] === "string" && typeof ownNode === "string") {
    return Hints.executionByNode(own["executionId"], ownNode, { itemOffset: count, where, fields })
  }
  if (path === "sent" && typeof sent[count]?.["node"] === "string") {
    return Hints.executionByNode(executionId, sent[count]["node"])
  }
  return path.startsWith("cases") && cases.length > 0 && logs.length > 1 ? oneAlone : undefined
}

const pins = Schema.optionalKey(
  WorkflowTesting.Pins.annotate({
    description: "By node: items instead of a run ([[…], […]]: by output), or 'run', in a replay too."
  })
)

const Case = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  testData: Schema.optionalKey(Schema.Json),
  replay: Schema.optionalKey(Schema.String.pipe(parameters.execution)),
  pins: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
})

const nonEmpty = <A>(list: ReadonlyArray<A> = []) => list.length === 0 ? undefined : list

/** Fields about the part of a workflow that a test ran. */
const partOf = ({ execution, notRun, pinned, trigger }: WorkflowTesting.TestResult, isPart: boolean) => {
  const left = new Set([trigger, ...pinned, ...notRun])
  return defined({
    ran: isPart || pinned.length + notRun.length > 0
      ? [...execution.runs.keys()].filter((name) => !left.has(name))
      : undefined,
    pinned: nonEmpty(pinned),
    notRun: nonEmpty(notRun)
  })
}

type Compared = CaseSet.Outcome["comparison"]

/** Outcome of a comparison, with the duration of both runs. */
const comparedLine = ({ executionTime }: Pick<Output, "executionTime"> = {}, comparison: NonNullable<Compared>) => {
  if (Result.isFailure(comparison)) return ", the other could not run"
  const { before: { side: { execution: { duration } } }, changes, isAnsweredAlike } = comparison.success
  const what = isAnsweredAlike ?? changes.length === 0
    ? changes.length === 0 ? "as before" : "answers as before"
    : "other"
  const hasTimes = executionTime !== undefined && duration !== undefined
  return `, ${what}${hasTimes ? ` (${executionTime} ms, before ${duration} ms)` : ""}`
}

/** Entry of a case with differences; `undefined` for one without. */
const differenceOf = (name: string, comparison: Compared) => {
  if (comparison === undefined) return undefined
  if (Result.isFailure(comparison)) {
    return { case: name, changes: [`against could not run it: ${comparison.failure.message}`] }
  }
  const { before: { response, side: { execution } }, changes, isAnsweredAlike } = comparison.success
  if (changes.length === 0 && isAnsweredAlike !== false) return undefined
  return {
    case: name,
    ...(isAnsweredAlike === undefined ? {} : { answer: isAnsweredAlike ? "same" : "other" }),
    changes,
    before: defined({
      executionId: execution.id,
      executionTime: execution.duration,
      response: isAnsweredAlike === false && response !== undefined ? testAnswer.responseOf(response) : undefined
    })
  }
}

export const testWorkflow = Tool.make({
  name: "test_workflow",
  title: "Test workflow",
  searchHint: "run, execute, try, trigger a workflow now with test data, several cases, compare two versions",
  description: "Run a workflow, also unpublished, as a temporary copy. Nodes really run.",
  annotations: { ...Tool.destructive, idempotentHint: false },
  scopes: [
    "workflow:create",
    "workflow:read",
    "workflow:list",
    "workflow:delete",
    "workflow:activate",
    "workflow:deactivate",
    "execution:list",
    "execution:read"
  ],
  input: Schema.Struct({
    workflowId: parameters.reference,
    testData: parameters.optional(Schema.Json, "The trigger's item(s); a webhook's body."),
    timeout: parameters.optionalInt("timeout", WorkflowTesting.timeouts, "ms.", 60_000),
    startNode: parameters.optional(Schema.String, "First node."),
    endNode: parameters.optional(Schema.String, "Last node."),
    pins,
    replay: Schema.optionalKey(
      parameters.executionIdFor("Execution whose data replaces trigger and outside nodes.")
    ),
    cases: Schema.optionalKey(
      Schema.Array(Case).check(Schema.isMinLength(1), Schema.isMaxLength(WorkflowTesting.maxCases)).annotate({
        description: "Several tests."
      })
    ),
    against: Schema.optionalKey(
      parameters.referenceFor("against", "Version (ID@published) or execution to compare.")
    ),
    show: Schema.optionalKey(
      Schema.Struct({
        nodes: Schema.optionalKey(Schema.Array(Schema.String)),
        where: Schema.optionalKey(Schema.String),
        fields: Schema.optionalKey(Schema.Array(Schema.String))
      }).annotate({ description: "Items to return (the last node's)." })
    ),
    mode: parameters.choice(["auto", "copy", "live"], "live: the real webhook.")
  }),
  output: Output,
  handler: ({ against, cases, mode, show, timeout: asked, workflowId, ...input }) =>
    Effect.gen(function*() {
      const { hearsProgress } = yield* CallContext
      const redacts = yield* Tool.RedactSecrets
      const timeout = asked ?? (hearsProgress === true ? 60_000 : silentTimeout)
      const options = { timeout, grantsTimeout: asked !== undefined || hearsProgress === true }
      const testData = testAnswer.parseJson(input.testData)
      yield* conditions.compiler(show?.where)
      if (cases === undefined && against === undefined) {
        const result = yield* WorkflowTesting.run(workflowId, {
          ...input,
          ...options,
          testData,
          mode: mode === "live" ? "live" : "copy"
        })
        return { one: yield* testAnswer.read(result, { show, redacts }) }
      }
      const { endNode, startNode, ...single } = input
      const all = cases?.map((each) => ({ ...each, testData: testAnswer.parseJson(each.testData) })) ??
        [{ ...single, testData }]
      const { left, outcomes } = yield* (yield* Modules.caseSet).run(workflowId, {
        ...options,
        cases: all.map((each) => ({ ...each, pins: each.pins as WorkflowTesting.Pins, startNode, endNode })),
        against,
        mode: mode === "live" ? "live" : "copy",
        redacts
      })
      const rows = yield* Effect.forEach(
        outcomes,
        Effect.fnUntraced(function*({ comparison, name, result }) {
          const row = { name, comparison, difference: differenceOf(name, comparison) }
          if (Result.isFailure(result)) return { ...row, error: result.failure.message, read: undefined }
          return { ...row, error: undefined, read: yield* testAnswer.read(result.success, { show, redacts }) }
        })
      )
      return { rows, left, isCompared: against !== undefined }
    }),
  summarize: (tested, { endNode, startNode }): Output => {
    if ("one" in tested) {
      const { namesOf, result } = tested.one
      return defined({
        ...testAnswer.summarize(tested.one),
        ...partOf(result, startNode !== undefined || endNode !== undefined),
        logs: testAnswer.logsOf(result, namesOf)
      })
    }
    const { isCompared, left, rows } = tested
    const all = rows.map((row) => ({ ...row, answer: row.read && testAnswer.summarize(row.read) }))
    const last = all.findLast(({ answer }) => answer !== undefined)?.answer
    const failed = all.find(({ answer }) => answer?.status !== "success")
    const isAlone = all.length === 1 && left === 0
    const isSame = ({ comparison, difference }: typeof all[number]) =>
      comparison !== undefined && difference === undefined
    const versions = new Set(rows.flatMap(({ read }) => read?.result.version ?? []))
    const [version] = versions.size === 1 ? versions : []
    const notRun = [...new Set(rows.flatMap(({ read }) => read?.result.notRun ?? []))]
    return defined({
      executionId: last?.executionId ?? "",
      status: failed === undefined ? "success" : failed.answer?.status ?? "error",
      version,
      logs: all.map(({ answer, comparison, error, name }) =>
        `${name}: ${error ?? answer?.status}${comparison === undefined ? "" : comparedLine(answer, comparison)}`
      ),
      notRun: nonEmpty(notRun),
      cases: all.flatMap((row) =>
        !isAlone && isSame(row)
          ? []
          : [{
            ...defined({ case: row.name, error: row.error, notRun: nonEmpty(row.read?.result.notRun) }),
            ...row.answer && version !== undefined ? Struct.omit(row.answer, ["version"]) : row.answer
          }]
      ) as ReadonlyArray<Obj & { readonly [key: string]: Schema.Json }>,
      same: isCompared ? all.filter(isSame).length : undefined,
      differ: isCompared
        ? all.flatMap(({ difference }) => difference ?? []) as ReadonlyArray<{ readonly [key: string]: Schema.Json }>
        : undefined,
      hint: ItemView.joinNotes([
        left > 0 && `No time was left for the last ${counted(left, "case")}: send them in another call.`,
        !isAlone && all.some(isSame) && oneAlone
      ])
    })
  },
  message: ({ cases = [], differ, executionTime, logs, notRun, same = 0, status }, { cases: asked, workflowId }) => {
    const failed = cases.filter(({ error }) => error !== undefined).length
    const inside = differ?.filter(({ answer }) => answer === "same").length ?? 0
    const what = differ !== undefined
      ? [
        `${same} as before`,
        ...(inside === 0 ? [] : [`${inside} ${inside === 1 ? "answers" : "answer"} as before with other data inside`]),
        `${differ.length - inside} other`
      ].join(", ")
      : asked !== undefined
      ? `Tested '${workflowId}' with ${counted(logs.length, "case")}: ${status}`
      : `Test of '${workflowId}': ${status}${executionTime === undefined ? "" : ` after ${executionTime} ms`}`
    return {
      en: `${what}${failed === 0 ? "" : `, ${failed} could not run`}${
        notRun === undefined ? "" : `, but ${counted(notRun.length, "node")} did not run`
      }`,
      ja: "ワークフローをテストしました"
    }
  },
  totals: (tested) => "one" in tested ? defined({ "data.items": tested.one.output.total }) : {},
  next: ({ show }, answer) => next(answer, show),
  budget: (answer, { show }) => budget(answer, show)
})
