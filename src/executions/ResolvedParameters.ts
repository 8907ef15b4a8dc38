/**
 * Values that a node's expressions had for its input items, as far as n8n's records determine them. An expression that
 * needs more, such as the time or a variable, stays as written.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Interpreter from "../base/Interpreter.ts"
import { Fn, Problem } from "../base/interpreter/Values.ts"
import { int, type Obj, obj, own } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { parts } from "../n8n/model/Template.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as Graph from "../workflow/Graph.ts"
import * as Execution from "./Execution.ts"
import * as Lineage from "./Lineage.ts"

export interface Subject {
  readonly node: Node
  readonly run: Execution.Run
  readonly redacts: boolean
  /** Whether the execution is that of a test copy, whose ids and names are not the workflow's. */
  readonly isCopy?: boolean
}

/** Position of an item in the first input, and the items that its expressions may still read. */
interface Turn {
  item: number
  readonly budget: Lineage.Budget
  readonly known: Map<string, unknown>
  /** Graph of the workflow that ran. */
  readonly graph: (key: "") => Graph.Graph
}

const fail = (message: string, kind: Problem["kind"] = "reference"): never => {
  throw new Problem({ kind, message, at: 0 })
}

/** Removal of the secrets in a value. */
type Redacting = <A>(value: A) => A

const memoized = <B>(compute: (key: string) => B) => {
  const values = new Map<string, B>()
  return (key: string): B => {
    if (!values.has(key)) values.set(key, compute(key))
    return values.get(key) as B
  }
}

const maxPages = 16
const pageBytes = 200_000

/** Execution for many reads of neighbouring items: single items are read in pages, of which some are retained. */
const paged = (execution: Execution.Execution): Execution.Execution => {
  const pages = new Map<string, ReadonlyArray<unknown>>()
  return {
    ...execution,
    items: (slot, offset, limit) => {
      if (limit !== 1) return execution.items(slot, offset, limit)
      const { bytes = 0, count = 0 } = Execution.portAt(execution, slot) ?? {}
      const size = Math.min(100, Math.max(1, Math.floor(pageBytes / Math.max(1, bytes / Math.max(1, count)))))
      const page = Math.floor(offset / size)
      const key = `${page} ${Lineage.slotKey(slot)}`
      const items = pages.get(key) ?? execution.items(slot, page * size, size)
      if (pages.size >= maxPages && !pages.has(key)) pages.delete(pages.keys().next().value ?? "")
      pages.set(key, items)
      const index = offset - page * size
      return index < items.length ? items.slice(index, index + 1) : execution.items(slot, offset, 1)
    }
  }
}

const lazily = (members: { readonly [name: string]: () => unknown }): Obj =>
  Object.defineProperties(
    {},
    Object.fromEntries(Object.entries(members).map(([name, get]) => [name, { get, enumerable: true }]))
  )

const unknown = (name: string) => () => fail(`n8n does not record ${name}`)

/** Members of a node that n8n does not record. */
const unrecorded = { params: unknown("parameters as they were"), context: unknown("a node's context") }

const maxListBytes = 1_000_000

const inCopy = () => fail("a test copy has its own ids and names")

const codeTypes = new Set(["n8n-nodes-base.code", "n8n-nodes-base.function", "n8n-nodes-base.functionItem"])

const ofExecution = (execution: Execution.Execution, isCopy = false) =>
  isCopy ? { $execution: inCopy, $workflow: inCopy } : ({
    $execution: () =>
      lazily({
        id: () => execution.id,
        mode: () => execution.mode === "manual" ? "test" : "production",
        resumeUrl: unknown("the URL"),
        resumeFormUrl: unknown("the URL"),
        customData: unknown("custom data as they were")
      }),
    $workflow: () =>
      lazily({
        id: () => execution.workflowId,
        name: () => execution.workflow?.name,
        active: unknown("whether the workflow was active")
      })
  })

/** First input of a run; a node that executes once reads all of it in expressions. */
const inputOf = (execution: Execution.Execution, { node, run }: Pick<Subject, "node" | "run">) => {
  const input = Execution.inputs(execution, node.name, run).find((part) => part.input === 0 && part.type === "main")
  return { input, count: input?.count ?? 0 }
}

const nodesOf = (names: ReadonlySet<string>, jsonOf: (name: string) => () => unknown) =>
  lazily(Object.fromEntries(
    [...names].map((name) => [name, () =>
      lazily({
        json: jsonOf(name),
        data: jsonOf(name),
        binary: unknown("files as they were"),
        parameter: unknown("parameters as they were"),
        context: unknown("a node's context"),
        runIndex: unknown("the number of runs then")
      })]
    )
  ))

const modelValue = (
  { node, run }: Subject,
  turn: Turn,
  itemAt: (slot: Execution.Slot, index: number) => unknown
) =>
  new Fn(([name, , , initial]) => {
    const values = run.override.find(({ index, type }) => type === "ai_tool" && index === 0)
    if (values === undefined || typeof name !== "string") return fail("n8n does not record the model's values")
    const slot = { node: node.name, run: run.index, side: "override", port: values } as const
    const json = obj(obj(itemAt(slot, turn.item))?.["json"])
    return own(json?.["query"], name) ?? own(json, name) ?? initial
  })

/** Names that n8n gives to expressions, with the values they had for the item whose turn it is. */
const scopeOf = (execution: Execution.Execution, subject: Subject, turn: Turn, redact?: Redacting): Obj => {
  const { node, run } = subject
  const { count, input } = inputOf(execution, subject)
  const clean = redact ?? ((value) => value)
  /** Reads once what an expression may read in each turn of a loop. */
  const once = (items: number, key: string, read: () => unknown) => {
    const place = `${redact === undefined} ${key}`
    if (!turn.known.has(place)) {
      turn.budget.items -= items
      if (turn.budget.items < 0) fail("it reads too many items", "budget")
      turn.known.set(place, read())
    }
    return turn.known.get(place)
  }
  const itemAt = (slot: Execution.Slot, index: number) =>
    once(1, `${index} ${Lineage.slotKey(slot)}`, () => clean(execution.items(slot, index, 1)[0]))
  const lists = new Map<string, ReadonlyArray<unknown>>()
  const listOf = (slot: Execution.Slot, length: number) => {
    const key = `${length} of ${Lineage.slotKey(slot)}`
    return once(100, key, () => {
      const { bytes = 0 } = Execution.portAt(execution, slot) ?? {}
      if (bytes > maxListBytes) fail(`the list has more than ${maxListBytes / 1_000_000} MB`, "budget")
      const list = lists.get(key) ?? execution.items(slot, 0, length).map(clean)
      if (lists.size < 5) lists.set(key, list)
      return list
    })
  }
  const received = (index: number) =>
    input === undefined || index < 0 || index >= count
      ? fail("the node has no such input item")
      : { slot: input.slot, index }
  const inputItem = (index: number) => {
    const { slot } = received(index)
    return itemAt(slot, index)
  }
  const towards = memoized((name: string) => Graph.outputTowards(turn.graph(""), name, node.name))
  const runsBefore = memoized((name: string) =>
    (execution.runs.get(name) ?? []).filter((each) => Execution.byOrder(each, run) < 0)
  )
  const names = new Set(execution.workflow?.nodes.map(({ name }) => name))
  /** Output of an earlier node as it was then; later runs of a loop came after. */
  const outputOf = (name: string, [branch, runIndex]: ReadonlyArray<unknown>) => {
    const from = runsBefore(name).at(int(runIndex) ?? -1)
    const index = int(branch) ?? towards(name) ?? 0
    const slot = from && Execution.slotOf({ node: name, output: index, run: from.index })
    const output = slot && Execution.portAt(execution, slot)
    return slot === undefined || output === undefined
      ? fail(`'${name}' had not run`)
      : { count: output.count, slot }
  }
  const listMember = (name: string, read: (output: ReturnType<typeof outputOf>) => unknown) => () =>
    new Fn((args) => read(outputOf(name, args)))
  const pairedWith = (name: string, index: number) =>
    once(1, `${index} with ${name}`, () => {
      const ways = Lineage.ways(execution, received(index), ({ slot }) => slot.node === name, turn.budget) ?? []
      const [end] = ways[0] ?? []
      return end === undefined || ways.length > 1
        ? fail(`n8n's links do not lead to one item of '${name}'`)
        : itemAt(end.slot, end.index)
    })
  const nodeNamed = memoized((name) =>
    execution.version === undefined && codeTypes.has(Execution.nodeOf(execution, name)?.type ?? "")
      ? fail("n8n 1 cannot always read the items of a Code node")
      : lazily({
        item: () => pairedWith(name, turn.item),
        itemMatching: () => new Fn(([index]) => pairedWith(name, int(index) ?? -1)),
        first: listMember(name, ({ count, slot }) => count === 0 ? undefined : itemAt(slot, 0)),
        last: listMember(name, ({ count, slot }) => count === 0 ? undefined : itemAt(slot, count - 1)),
        all: listMember(name, ({ count, slot }) => listOf(slot, count)),
        isExecuted: () => runsBefore(name).length > 0,
        ...unrecorded
      })
  )
  const jsonOfNode = (name: string) => () => {
    const { count, slot } = outputOf(name, [
      towards(name) ?? fail(`nothing leads to '${name}'`)
    ])
    const { item } = turn
    return item < count ? obj(itemAt(slot, item))?.["json"] : fail(`'${name}' has no item ${item}`)
  }
  const [source] = run.sources
  const previous = (value: unknown) => () => source === undefined ? fail("nothing ran before the node") : value
  const nodes = nodesOf(names, jsonOfNode)
  const fromAI = () => modelValue(subject, turn, itemAt)
  return lazily({
    $fromAI: fromAI,
    $fromAi: fromAI,
    $fromai: fromAI,
    $json: () => obj(inputItem(turn.item))?.["json"],
    $binary: () => obj(inputItem(turn.item))?.["binary"] ?? {},
    $input: () =>
      lazily({
        item: () => inputItem(turn.item),
        first: () => new Fn(() => inputItem(0)),
        last: () => new Fn(() => inputItem(count - 1)),
        all: () => new Fn(() => listOf(received(0).slot, count)),
        ...unrecorded
      }),
    $: () =>
      new Fn(([name]) => typeof name === "string" && names.has(name) ? nodeNamed(name) : fail("there is no such node")),
    $node: () => nodes,
    $prevNode: () =>
      lazily({
        name: previous(source?.node),
        outputIndex: previous(source?.output),
        runIndex: previous(source?.run)
      }),
    ...ofExecution(execution, subject.isCopy),
    $runIndex: () => run.index,
    $itemIndex: () => turn.item,
    $position: () => turn.item,
    $now: unknown("the time"),
    $today: unknown("the time")
  })
}

const maxSteps = { item: 2_000_000, all: 40_000_000 }

const textOf = (value: unknown) => value === null || value === undefined ? "" : String(value)

/** Value of an expression, or the reason why it stays as written. */
type Value = Result.Result<unknown, string>

interface Template {
  readonly texts: ReadonlyArray<string>
  readonly codes: ReadonlyArray<Result.Result<Interpreter.Program, string>>
}

const templateOf = ({ compile }: Interpreter.Interpreter, expression: string): Result.Result<Template, string> => {
  const codes = parts(expression)
  if (codes.some(({ end }) => end === undefined)) return Result.fail("a bracket is not closed")
  if (codes.length > 0 && /\\[{}]{2}/.test(expression)) return Result.fail("it has escaped brackets")
  const ends = [1, ...codes.map(({ end }) => end ?? 0)]
  return Result.succeed({
    texts: ends.map((end, index) => expression.slice(end, codes[index]?.start)),
    codes: codes.map(({ code }) =>
      // n8n's time zone decides about local times.
      /\bDate\b/.test(code)
        ? Result.fail("a date depends on n8n's clock and time zone")
        : Result.mapError(compile(code), ({ message }) => message)
    )
  })
}

const templates = new WeakMap<Node, (expression: string) => Result.Result<Template, string>>()

const evaluated = (template: Result.Result<Template, string>, scope: Obj, budget: Interpreter.Budget): Value => {
  if (Result.isFailure(template)) return Result.fail(template.failure)
  const { codes, texts } = template.success
  const values: Array<unknown> = []
  for (const program of codes) {
    if (Result.isFailure(program)) return Result.fail(program.failure)
    const value = Interpreter.evaluate(program.success, scope, budget)
    if (Result.isFailure(value) && value.failure.kind !== "nullish") return Result.fail(value.failure.message)
    values.push(Result.getOrUndefined(value))
  }
  return Result.succeed(
    values.length === 1 && texts.every((text) => text === "")
      ? values[0]
      : texts.map((text, index) => text + textOf(values[index])).join("")
  )
}

/** Number of items that a run processes one by one. */
export const itemCount = (execution: Execution.Execution, subject: Pick<Subject, "node" | "run">): number =>
  Math.min(inputOf(execution, subject).count, subject.node["executeOnce"] === true ? 1 : Infinity)

/** Prepares the evaluation of a node's expressions in one run, by item. */
export const evaluator = (
  interpreter: Interpreter.Interpreter,
  original: Execution.Execution,
  subject: Subject
): (expression: string, item: number) => Value => {
  const execution = paged(original)
  const template = templates.get(subject.node) ?? memoized((expression: string) => templateOf(interpreter, expression))
  templates.set(subject.node, template)
  const graph = memoized(() => Graph.make(execution.workflow?.connections))
  const turn: Turn = { item: -1, budget: Lineage.budget(), known: new Map(), graph }
  const steps = { stored: 0, shown: 0, all: maxSteps.all }
  let isRedacted = false
  const cleaned = new WeakMap<object, unknown>()
  const redact: Redacting = (value) => {
    if (typeof value !== "object" || value === null) return value
    const clean = (cleaned.get(value) ?? Redact.redact(value)) as typeof value
    cleaned.set(value, clean)
    isRedacted ||= clean !== value
    return clean
  }
  const scopes = {
    stored: scopeOf(execution, subject, turn),
    shown: subject.redacts ? scopeOf(execution, subject, turn, redact) : undefined
  }
  const run = (expression: string, side: "stored" | "shown"): Value => {
    const budget = { steps: Math.min(steps[side], steps.all) }
    const before = budget.steps
    const value = evaluated(template(expression), scopes[side] ?? scopes.stored, budget)
    steps[side] -= before - budget.steps
    steps.all -= before - budget.steps
    return value
  }
  return (expression, item) => {
    if (original.isRedacted) return Result.fail("n8n hides the items")
    if (item !== turn.item) {
      turn.item = item
      turn.known.clear()
      Object.assign(turn.budget, Lineage.budget())
      Object.assign(steps, { stored: maxSteps.item, shown: maxSteps.item })
    }
    const value = run(expression, "shown")
    if (!isRedacted || Result.isFailure(value)) return value
    // Whatever else a secret decides about is not shown.
    const isShown = JSON.stringify(value.success)?.includes(Redact.marker) === true ||
      Equal.equals(Result.getOrUndefined(run(expression, "stored")), value.success)
    return isShown ? value : Result.fail("it depends on a secret")
  }
}

/** Expression that stays as written, with the reason. */
export interface Unresolved {
  readonly path: string
  readonly reason: string
}

const maxDepth = 64

/**
 * Replaces the expressions in a value; what stays as written is added to `unresolved`. Members that are `undefined` are
 * `absent`.
 */
export const replaced = (
  value: unknown,
  evaluate: (expression: string) => Value,
  unresolved: Array<Unresolved>,
  absent: null | undefined
): unknown => {
  const visit = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === "string" && value.startsWith("=")) {
      const result = evaluate(value)
      if (Result.isFailure(result)) unresolved.push({ path, reason: result.failure })
      return Result.getOrElse(result, () => value)
    }
    if (depth > maxDepth || typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) {
      return value.map((inner, index) => visit(inner, JsonPath.member(path, index), depth + 1) ?? null)
    }
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) => {
        const result = visit(inner, JsonPath.member(path, key), depth + 1)
        return result === undefined && absent === undefined ? [] : [[key, result ?? null]]
      })
    )
  }
  return visit(value, "", 0)
}

/**
 * Replaces the expressions in a node's parameters by the values that they had for an item, counts them, and names those
 * that stay as written with the reason.
 */
export const resolve = Effect.fnUntraced(function*(
  execution: Execution.Execution,
  { item, ...subject }: Subject & { readonly item: number }
) {
  const evaluate = evaluator(yield* Interpreter.load, execution, subject)
  const unresolved: Array<Unresolved> = []
  let total = 0
  const parameters = replaced(
    subject.node.parameters ?? {},
    (expression) => {
      total++
      return evaluate(expression, item)
    },
    unresolved,
    null
  )
  return { parameters, count: total - unresolved.length, unresolved }
})
