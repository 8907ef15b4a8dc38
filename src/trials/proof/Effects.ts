/** Effects of differences on others: on the services that a run sends to, and on its caller. Pure. */
import { obj } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { answers } from "../../catalogue/types/Outside.ts"
import * as Execution from "../../executions/Execution.ts"
import { type Node, parametersOf } from "../../n8n/model/Workflow.ts"
import { isCaller } from "../../workflow/References.ts"
import * as Webhooks from "../../workflow/Webhooks.ts"
import type { TestResult } from "../TestBench.ts"
import type * as Groups from "./Groups.ts"
import type { Difference } from "./runDifferences.ts"

/** Parts of a run that others see and that differ. */
export interface Effects {
  /** Whether it is started by other requests or at other times. */
  readonly isStartedOtherwise: boolean
  /** Whether services receive something else. */
  readonly sendsOther: boolean
  /** Whether its client gets another answer. */
  readonly answersOther: boolean
  /** Whether it failed and no longer does, and sends all that it sent before. */
  readonly isFixed: boolean
}

/** Run and its replay; `nodes` are those of the changed version, `former` those of the version that ran. */
export interface Subject {
  readonly record: Execution.Execution
  readonly replay: Execution.Execution
  readonly nodes: ReadonlyArray<Node>
  readonly former: ReadonlyArray<Node>
  readonly trigger: string | undefined
  /** Nodes that would send: they did not run themselves, or are new, gone or replaced. */
  readonly senders: ReadonlySet<string>
  /** Nodes that were left out, because nothing is recorded of them. */
  readonly notRun: ReadonlyArray<string>
  readonly nameNow: (name: string) => string
}

const isFlow = ({ kind, path }: Difference) => kind === "ran" || kind === "notRun" || path === "type"

const isEnd = ({ kind }: Difference) => kind === "failed" || kind === "succeeded"

/** First node that answered the caller. */
const firstAnswer = (execution: Execution.Execution, nodes: ReadonlyArray<Node>) =>
  nodes.flatMap((node) => {
    const run = answers(node) && node.disabled !== true
      ? execution.runs.get(node.name)?.find(({ error }) => error === undefined)
      : undefined
    return run === undefined ? [] : [{ name: node.name, run }]
  }).toSorted((a, b) => Execution.byOrder(a.run, b.run))[0]?.name

/** Whether the caller of a trigger sees a difference of the last node's items. */
const isReturned = (trigger: Node | undefined, { item = 0 }: Difference) => {
  if (trigger === undefined) return false
  const data = parametersOf(trigger)["responseData"] ?? "firstEntryJson"
  // Only the first item is in the answer.
  const isOfFirst = Webhooks.responseMode(trigger) === "lastNode" && String(data).startsWith("firstEntry")
  return data !== "noData" && !(isOfFirst && item > 0)
}

/** Effects of the real differences of a run. */
export const of = (
  real: ReadonlyArray<Difference>,
  { former, nameNow, nodes, notRun, record, replay, senders, trigger }: Subject
): Effects => {
  const start = nodes.find(({ name }) => name === trigger)
  const mode = start && Webhooks.responseMode(start)
  const before = firstAnswer(record, former)
  const answering = new Set([...before === undefined ? [] : [nameNow(before)], firstAnswer(replay, nodes)])
  const isAnswer = new Set([...nodes, ...former].filter(answers).map(({ name }) => name))
  const isSender = (name: string) => !isAnswer.has(name) && senders.has(name)
  const known = real.filter(({ kind }) => kind !== "unknown")
  const sending = known.filter((each) =>
    each.node !== trigger && isSender(each.node) && (each.path.startsWith("sent") || isFlow(each))
  )
  const last = start !== undefined && Webhooks.returnsLast(start)
    ? [Execution.lastToRun(replay), nameNow(Execution.lastToRun(record) ?? "")]
    : []
  const ends = known.some((each) => isEnd(each) && !(each.kind === "failed" && each.before !== undefined))
  const hasFailed = (execution: Execution.Execution) => Execution.failure(execution) !== undefined
  const answersOther = known.some((each) =>
    each.node !== trigger && (
      /^answer\b/.test(each.path) && isReturned(start, each) ||
      answering.has(each.node) && (each.path.startsWith("sent") || isFlow(each)) ||
      last.includes(each.node) && !isEnd(each) && isReturned(start, each)
    )
  ) ||
    ends &&
      (last.length > 0 || mode !== undefined && answering.has(undefined) && hasFailed(record) !== hasFailed(replay))
  const isStartedOtherwise = trigger !== undefined && known.some(({ node }) => node === trigger)
  const wasSent = (name: string) =>
    former.some((node) =>
      nameNow(node.name) === name && record.runs.get(node.name)?.some(({ error }) => error === undefined) === true
    )
  return {
    isStartedOtherwise,
    sendsOther: sending.length > 0,
    answersOther,
    isFixed: real.length > 0 && hasFailed(record) && !hasFailed(replay) && known.length === real.length &&
      !isStartedOtherwise &&
      !sending.some(({ node }) => wasSent(node) || notRun.includes(node)) && (before === undefined || !answersOther)
  }
}

interface Judged {
  readonly effects: Effects
  readonly real: ReadonlyArray<Difference>
}

/** Words for runs that others notice, for those that failed and no longer do, and for values of which little is known. */
export const noticed = (runs: ReadonlyArray<Judged>, { ignored }: Pick<Groups.Result, "ignored">) => {
  const differing = runs.filter(({ real }) => real.length > 0)
  const others = differing.filter(({ effects }) => !effects.isFixed)
  const count = (is: (effects: Effects) => boolean) => others.filter(({ effects }) => is(effects)).length
  const [started, sending, answering] = [
    count(({ isStartedOtherwise }) => isStartedOtherwise),
    count(({ sendsOther }) => sendsOther),
    count(({ answersOther }) => answersOther)
  ]
  const fixed = differing.length - others.length
  const isUnknown = others.some(({ real }) => real.some(({ kind }) => kind === "unknown"))
  const isHarmless = started + sending + answering + fixed === 0 && differing.length > 0 && !isUnknown
  const volatile = new Set(ignored.flatMap(({ paths, why }) => why === undefined ? paths : []))
  // What is sent has the value of an item.
  const items = [...volatile].filter((path) => !path.startsWith("sent"))
  const shapes = items.length === 0 ? volatile.size : items.length
  return {
    fixed,
    words: [
      ...(started === 0 ? [] : [`${started === runs.length ? "all" : started} would start differently`]),
      ...(sending === 0 ? [] : [`${counted(sending, "run")} ${sending === 1 ? "sends" : "send"} something else`]),
      ...(answering === 0
        ? []
        : [`${counted(answering, "client")} ${answering === 1 ? "gets" : "get"} another answer`]),
      ...(fixed === 0 ? [] : [`${counted(fixed, "failed run")} fixed, nothing else changed`]),
      ...(isHarmless ? ["all send and answer the same"] : []),
      ...(shapes === 0 ? [] : [`${counted(shapes, "volatile value")} compared by shape`])
    ]
  }
}

/** Returns a line about what the replays of a version compared. */
export const comparedOf = (results: ReadonlyArray<TestResult>, nodes: ReadonlyArray<Node>) => {
  const [ran, senders, calls] = [new Set<string>(), new Set<string>(), new Set<string>()]
  let answered = 0
  let files = 0
  for (const result of results) {
    const stored = new Set([...result.pinned, ...result.notRun])
    for (const { disabled, name, type } of nodes) {
      if (name === result.trigger || disabled === true || !result.execution.runs.has(name)) continue
      if (!stored.has(name)) ran.add(name)
      else if (isCaller(type)) calls.add(name)
      else senders.add(name)
    }
    const start = nodes.find(({ name }) => name === result.trigger)
    if (start !== undefined && (Webhooks.responseMode(start) !== undefined || Webhooks.isCalled(start))) answered++
    if (hasFiles(result.execution, senders)) files++
  }
  const parts = [
    `outputs of ${counted(ran.size, "node")}`,
    ...(senders.size === 0 ? [] : [`what ${counted(senders.size, "node")} would send`]),
    ...(calls.size === 0 ? [] : [`the input of ${counted(calls.size, "sub-workflow")}, not run`]),
    ...(answered === 0 ? [] : ["the answer"]),
    ...(files === 0 ? [] : ["files by name, type and size"])
  ]
  return results.length === 0 ? {} : { compared: parts.join(", ") }
}

/** Whether a node that sends received files. */
const hasFiles = (execution: Execution.Execution, senders: ReadonlySet<string>) =>
  [...senders].some((name) =>
    execution.runs.get(name)?.some((run) =>
      Execution.inputs(execution, name, run).some(({ count, slot }) =>
        count > 0 && obj(execution.items(slot, 0, 1)[0])?.["binary"] !== undefined
      )
    )
  )
