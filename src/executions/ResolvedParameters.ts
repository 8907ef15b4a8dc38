/**
 * Values that a node's expressions had for one input item, as far as n8n's records determine them. An expression that
 * needs more, such as the time or a variable, stays as written.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Interpreter from "../base/Interpreter.ts"
import { Fn, Problem } from "../base/interpreter/Values.ts"
import { deeper, int, mapValues, type Obj, obj } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import * as Connections from "../n8n/model/Connections.ts"
import { parts } from "../n8n/model/Template.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import * as Execution from "./Execution.ts"
import * as Lineage from "./Lineage.ts"

/** Run of a node, and the position of the item in its first input. */
export interface Subject {
  readonly node: Node
  readonly run: Execution.Run
  readonly item: number
  readonly redacts: boolean
}

const fail = (message: string, kind: Problem["kind"] = "reference"): never => {
  throw new Problem({ kind, message, at: 0 })
}

/** Object whose members are computed when they are read. */
const lazily = (members: { readonly [name: string]: () => unknown }): Obj =>
  Object.defineProperties(
    {},
    Object.fromEntries(Object.entries(members).map(([name, get]) => [name, { get, enumerable: true }]))
  )

const unknown = (name: string) => () => fail(`n8n does not record ${name}`)

/** Members of a node that n8n does not record. */
const unrecorded = { params: unknown("parameters as they were"), context: unknown("a node's context") }

/** Maximum bytes of a list that an expression reads as a whole. */
const maxListBytes = 1_000_000

/** Output of `parent` that leads to `node`, by the shortest way. */
const outputTowards = ({ workflow }: Execution.Execution, node: string, parent: string): number | undefined => {
  const links = Connections.links(workflow?.connections ?? {}).filter(({ output }) => output.type === "main")
  const queue = [node]
  for (const name of queue) {
    for (const { from, output, to } of links) {
      if (to !== name) continue
      if (from === parent) return output.index
      if (!queue.includes(from)) queue.push(from)
    }
  }
  return undefined
}

/** Names for the execution and its workflow. */
const ofExecution = (execution: Execution.Execution) => ({
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

/** Names that n8n gives to expressions, with the values they had for an item. */
const scopeOf = (execution: Execution.Execution, { item, node, run }: Subject, redact: <A>(value: A) => A): Obj => {
  const input = Execution.inputs(execution, node.name, run).find((part) => part.input === 0 && part.type === "main")
  const count = input === undefined ? 0 : node["executeOnce"] === true ? Math.min(1, input.count) : input.count
  const budget = Lineage.budget()
  const known = new Map<string, unknown>()
  /** Reads once what an expression may read in each turn of a loop. */
  const once = (items: number, key: string, read: () => unknown) => {
    if (!known.has(key)) {
      budget.items -= items
      if (budget.items < 0) fail("it reads too many items", "budget")
      known.set(key, read())
    }
    return known.get(key)
  }
  const itemAt = (slot: Execution.Slot, index: number) =>
    once(1, `${index} ${Lineage.slotKey(slot)}`, () => redact(execution.items(slot, index, 1)[0]))
  const listOf = (slot: Execution.Slot, length: number) =>
    once(100, `${length} of ${Lineage.slotKey(slot)}`, () => {
      const { bytes = 0 } = Execution.portAt(execution, slot) ?? {}
      return bytes > maxListBytes
        ? fail(`the list has more than ${maxListBytes / 1_000_000} MB`, "budget")
        : execution.items(slot, 0, length).map((each) => redact(each))
    })
  const received = (index: number) =>
    input === undefined || index < 0 || index >= count
      ? fail("the node has no such input item")
      : { slot: input.slot, index }
  const inputItem = (index: number) => {
    const { slot } = received(index)
    return itemAt(slot, index)
  }
  /** Output of an earlier node as it was then; later runs of a loop came after. */
  const outputOf = (name: string, [branch, runIndex]: ReadonlyArray<unknown>) => {
    const runs = (execution.runs.get(name) ?? []).filter((each) => Execution.byOrder(each, run) < 0)
    const from = runs.at(int(runIndex) ?? -1)
    const index = int(branch) ?? outputTowards(execution, node.name, name) ?? 0
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
      const ways = Lineage.ways(execution, received(index), ({ slot }) => slot.node === name, budget) ?? []
      const [end] = ways[0] ?? []
      return end === undefined || ways.length > 1
        ? fail(`n8n's links do not lead to one item of '${name}'`)
        : itemAt(end.slot, end.index)
    })
  const nodeNamed = (name: unknown) => {
    if (typeof name !== "string" || !execution.workflow?.nodes.some((each) => each.name === name)) {
      return fail("there is no such node")
    }
    return lazily({
      item: () => pairedWith(name, item),
      itemMatching: () => new Fn(([index]) => pairedWith(name, int(index) ?? -1)),
      first: listMember(name, ({ count, slot }) => count === 0 ? undefined : itemAt(slot, 0)),
      last: listMember(name, ({ count, slot }) => count === 0 ? undefined : itemAt(slot, count - 1)),
      all: listMember(name, ({ count, slot }) => listOf(slot, count)),
      isExecuted: () => (execution.runs.get(name) ?? []).some((each) => Execution.byOrder(each, run) < 0),
      ...unrecorded
    })
  }
  const jsonOfNode = (name: string) => () => {
    const { count, slot } = outputOf(name, [
      outputTowards(execution, node.name, name) ?? fail(`nothing leads to '${name}'`)
    ])
    return item < count ? obj(itemAt(slot, item))?.["json"] : fail(`'${name}' has no item ${item}`)
  }
  const [source] = run.sources
  const previous = (value: unknown) => () => source === undefined ? fail("nothing ran before the node") : value
  return lazily({
    $json: () => obj(inputItem(item))?.["json"],
    $binary: () => obj(inputItem(item))?.["binary"] ?? {},
    $input: () =>
      lazily({
        item: () => inputItem(item),
        first: () => new Fn(() => inputItem(0)),
        last: () => new Fn(() => inputItem(count - 1)),
        all: () => new Fn(() => listOf(received(0).slot, count)),
        ...unrecorded
      }),
    $: () => new Fn(([name]) => nodeNamed(name)),
    $node: () =>
      lazily(Object.fromEntries(
        (execution.workflow?.nodes ?? []).map(({ name }) => [name, () =>
          lazily({
            json: jsonOfNode(name),
            data: jsonOfNode(name),
            binary: unknown("files as they were"),
            parameter: unknown("parameters as they were"),
            context: unknown("a node's context"),
            runIndex: unknown("the number of runs then")
          })]
        )
      )),
    $prevNode: () =>
      lazily({
        name: previous(source?.node),
        outputIndex: previous(source?.output),
        runIndex: previous(source?.run)
      }),
    ...ofExecution(execution),
    $runIndex: () => run.index,
    $itemIndex: () => item,
    $position: () => item,
    $now: unknown("the time"),
    $today: unknown("the time")
  })
}

/** Maximum number of steps of all expressions of a node: some 100 ms. */
const maxSteps = 2_000_000

/** Text of a value within a text, as n8n writes it. */
const textOf = (value: unknown) => value === null || value === undefined ? "" : String(value)

type Value = Result.Result<unknown, string>

/** Evaluates expressions over a scope. */
const evaluator = ({ compile }: Interpreter.Interpreter, scope: Obj) => {
  const budget = { steps: maxSteps }
  const evaluate = (code: string): Value => {
    // n8n's time zone decides about local times.
    if (/\bDate\b/.test(code)) return Result.fail("a date depends on n8n's clock and time zone")
    const program = compile(code)
    const value = Result.flatMap(program, (compiled) => Interpreter.evaluate(compiled, scope, budget))
    return Result.mapError(value, ({ message }) => message)
  }
  return (expression: string): Value => {
    const codes = parts(expression)
    const [only] = codes
    if (only?.start === 1 && only.end === expression.length) return evaluate(only.code)
    let text = ""
    let at = 1
    for (const { code, end, start } of codes) {
      const value = end === undefined ? Result.fail("a bracket is not closed") : evaluate(code)
      if (Result.isFailure(value)) return value
      text += expression.slice(at, start) + textOf(value.success)
      at = end ?? expression.length
    }
    return /\\[{}]{2}/.test(expression) ? Result.fail("it has escaped brackets") : Result.succeed(
      text + expression.slice(at)
    )
  }
}

const maxDepth = 64

/**
 * Replaces the expressions in a node's parameters by the values that they had for an item, counts them, and names those
 * that stay as written with the reason.
 */
export const resolve = Effect.fnUntraced(function*(execution: Execution.Execution, subject: Subject) {
  const interpreter = yield* Interpreter.load
  let isRedacted = false
  const redact = <A>(value: A): A => {
    const clean = subject.redacts ? Redact.redact(value) : value
    isRedacted ||= clean !== value
    return clean
  }
  const stored = evaluator(interpreter, scopeOf(execution, subject, (value) => value))
  const clean = evaluator(interpreter, scopeOf(execution, subject, redact))
  /** Value without secrets: whatever else a secret decides about is not shown. */
  const shown = (expression: string): Value => {
    const value = clean(expression)
    if (!isRedacted || Result.isFailure(value)) return value
    if (JSON.stringify(value.success)?.includes(Redact.marker)) return value
    return Equal.equals(Result.getOrUndefined(stored(expression)), value.success)
      ? value
      : Result.fail("it depends on a secret")
  }
  const unresolved: Array<{ readonly path: string; readonly reason: string }> = []
  let count = 0
  const visit = (value: unknown, path: string, depth: number): unknown => {
    if (typeof value === "string" && value.startsWith("=")) {
      const result = shown(value)
      if (Result.isSuccess(result)) {
        count++
        return result.success ?? null
      }
      unresolved.push({ path, reason: result.failure })
      return value
    }
    if (depth > maxDepth) return value
    if (Array.isArray(value)) return value.map((inner, index) => visit(inner, deeper(path, index), depth + 1))
    const object = obj(value)
    return object === undefined ? value : mapValues(object, (inner, key) => visit(inner, deeper(path, key), depth + 1))
  }
  return { parameters: visit(subject.node.parameters ?? {}, "", 0), count, unresolved }
})
