/**
 * Values that a node's expressions had for its input items, as far as n8n's records determine them. An expression that
 * needs more, such as the time or a variable, stays as written.
 */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import * as Interpreter from "../base/Interpreter.ts"
import type { Obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { parts } from "../n8n/model/Template.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import type * as Execution from "./Execution.ts"
import type { Both } from "./ItemDifferences.ts"
import { inputOf, memoized, paged, type Redacting, scopeOf, type Subject, type Turn } from "./itemScope.ts"
import * as Lineage from "./Lineage.ts"

const maxSteps = { item: 2_000_000, all: 40_000_000 }

const textOf = (value: unknown) => value === null || value === undefined ? "" : String(value)

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

const isSwallowed = ({ kind, message }: Interpreter.Problem) =>
  kind === "type" && / of (?:undefined|null) cannot be read$/.test(message)

const evaluated = (template: Result.Result<Template, string>, scope: Obj, budget: Interpreter.Budget): Value => {
  if (Result.isFailure(template)) return Result.fail(template.failure)
  const { codes, texts } = template.success
  const values: Array<unknown> = []
  for (const program of codes) {
    if (Result.isFailure(program)) return Result.fail(program.failure)
    const value = Interpreter.evaluate(program.success, scope, budget)
    if (Result.isFailure(value) && !isSwallowed(value.failure)) return Result.fail(value.failure.message)
    values.push(Result.getOrUndefined(value))
  }
  return Result.succeed(
    values.length === 1 && texts.every((text) => text === "")
      ? values[0]
      : texts.map((text, index) => text + textOf(values[index])).join("")
  )
}

/** Value of an expression as stored, and as shown to readers. */
export interface Evaluated {
  readonly stored: Value
  readonly shown: Value
}

/** Evaluation of a run's expressions by item. */
export interface Evaluator {
  readonly evaluate: (expression: string, item: number) => Evaluated
}

/** Number of items that a run processes one by one. */
export const itemCount = (execution: Execution.Execution, subject: Pick<Subject, "node" | "run">): number =>
  Math.min(inputOf(execution, subject).count, subject.node["executeOnce"] === true ? 1 : Infinity)

/** Prepares the evaluation of a node's expressions in one run. */
export const evaluator = (
  interpreter: Interpreter.Interpreter,
  original: Execution.Execution,
  subject: Subject
): Evaluator => {
  const execution = paged(original)
  const template = templates.get(subject.node) ?? memoized((expression: string) => templateOf(interpreter, expression))
  templates.set(subject.node, template)
  const turn: Turn = { item: -1, budget: Lineage.budget(), known: new Map() }
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
  const evaluate = (expression: string, item: number): Evaluated => {
    if (original.isRedacted) return both(Result.fail("n8n hides the items"))
    if (item !== turn.item) {
      turn.item = item
      turn.known.clear()
      Object.assign(turn.budget, Lineage.budget())
      Object.assign(steps, { stored: maxSteps.item, shown: maxSteps.item })
    }
    const clean = run(expression, "shown")
    if (!isRedacted) return both(clean)
    const stored = run(expression, "stored")
    if (Result.isFailure(clean)) return { stored, shown: clean }
    // Whatever else a secret decides about is not shown.
    const isShown = JSON.stringify(clean.success)?.includes(Redact.marker) === true ||
      Equal.equals(Result.getOrUndefined(stored), clean.success)
    return { stored, shown: isShown ? clean : Result.fail("it depends on a secret") }
  }
  return { evaluate }
}

export type { Subject } from "./itemScope.ts"

const both = (value: Value): Evaluated => ({ stored: value, shown: value })

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
  evaluate: (expression: string) => Evaluated,
  unresolved: Array<Unresolved>,
  absent: null | undefined
): Both => {
  const visit = (value: unknown, path: string, depth: number): Both => {
    if (typeof value === "string" && value.startsWith("=")) {
      const { shown, stored } = evaluate(value)
      if (Result.isFailure(shown)) unresolved.push({ path, reason: shown.failure })
      return { stored: Result.getOrElse(stored, () => value), shown: Result.getOrElse(shown, () => value) }
    }
    if (depth > maxDepth || typeof value !== "object" || value === null) return { stored: value, shown: value }
    const isList = Array.isArray(value)
    const inner = Object.entries(value).flatMap(([key, each]) => {
      const result = visit(each, JsonPath.member(path, isList ? Number(key) : key), depth + 1)
      return result.stored === undefined && !isList && absent === undefined ? [] : [[key, result] as const]
    })
    const side = (name: keyof Both) => {
      const entries = inner.map(([key, result]) => [key, result[name] ?? null] as const)
      return isList ? entries.map(([, each]) => each) : Object.fromEntries(entries)
    }
    return { stored: side("stored"), shown: side("shown") }
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
  const { evaluate } = evaluator(yield* Interpreter.load, execution, subject)
  const unresolved: Array<Unresolved> = []
  let total = 0
  const { shown } = replaced(
    subject.node.parameters ?? {},
    (expression) => {
      total++
      return evaluate(expression, item)
    },
    unresolved,
    null
  )
  return { parameters: shown, count: total - unresolved.length, unresolved }
})
