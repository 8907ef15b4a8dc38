/** Checks a workflow by n8n's rules. */
import * as Effect from "effect/Effect"
import * as JavaScript from "../../base/JavaScript.ts"
import type { Obj } from "../../base/Json.ts"
import { nearest, suggestion } from "../../base/Nearest.ts"
import type { MissingCredential, Problem } from "../../base/Problem.ts"
import * as Turn from "../../base/Turn.ts"
import * as Checked from "./CheckedWorkflow.ts"
import { connectionProblems, reachProblems } from "./Connection.ts"
import { credentialProblems, missingCredentials, nodeProblems } from "./node.ts"
import type { Ruled } from "./Rules.ts"
import { structureProblems } from "./structure.ts"
import { typeProblems } from "./TypeProblems.ts"

export type { Parse, Parsed } from "../../base/JavaScript.ts"
export type { MissingCredential, Problem } from "../../base/Problem.ts"
export type { Suggest } from "../../catalogue/parameters/ParameterRules.ts"
export type { Choice, Group, NodeType, Property } from "../../catalogue/types/NodeType.ts"
export type { Evaluate } from "../../catalogue/types/Ports.ts"
export type { Lookups } from "./CheckedWorkflow.ts"

/** Lists identical fixes once: 250 nodes with the same mistake need the same fix. */
const onceEach = (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> => {
  const fixes = new Set<string>()
  return problems.map((problem) => {
    const { fix, ...rest } = problem
    if (fix === undefined || !fixes.has(fix)) {
      fixes.add(fix ?? "")
      return problem
    }
    return rest
  })
}

/** All problems: errors first, then warnings. */
const ruledOf = function*(
  workflow: Obj,
  checked: Checked.Checked,
  lookups: Checked.Lookups,
  hasTypes: boolean
): Turn.Steps<ReadonlyArray<Ruled>> {
  const all = [
    ...yield* structureProblems(workflow, lookups),
    ...hasTypes ? yield* typeProblems(checked, lookups) : [],
    ...yield* connectionProblems(checked),
    ...yield* nodeProblems(checked, lookups),
    ...reachProblems(checked),
    ...yield* Turn.flatMap(
      lookups.rules ?? [],
      ({ check, id }) => check(workflow).map((problem) => ({ ...problem, rule: id }))
    )
  ]
  return all.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"))
}

const problemsOf = (all: ReadonlyArray<Ruled>): ReadonlyArray<Problem> =>
  onceEach(all.map(({ line: _, rule: __, ...problem }) => problem))

/** Problems with their rules, each with its fix, and missing credentials. @internal */
export const ruled = function*(workflow: Obj, given: Checked.Lookups): Turn.Steps<ReadonlyArray<Ruled>> {
  const lookups = Checked.sparing(given)
  const checked = yield* Checked.make(workflow, lookups)
  return [...yield* ruledOf(workflow, checked, lookups, true), ...credentialProblems(checked)]
}

/** Result of checking a workflow. */
export interface Findings {
  /** Errors first, then warnings, each in the order of the checks: shape, types, connections, nodes, reachability, own rules. */
  readonly problems: ReadonlyArray<Problem>
  readonly missingCredentials: ReadonlyArray<MissingCredential>
}

/**
 * Finds all problems, and the credentials that are still to be set. An error is anything that n8n refuses to store or
 * publish, that its editor marks red, or that fails in every run. Disabled nodes have only the problems that n8n itself
 * reports for them. Identical fixes are listed once.
 */
export const check = (workflow: Obj, lookups: Checked.Lookups): Findings => Turn.finish(steps(workflow, lookups))

/** {@link check} in steps. @internal */
export const steps = function*(workflow: Obj, given: Checked.Lookups): Turn.Steps<Findings> {
  const lookups = Checked.sparing(given)
  const checked = yield* Checked.make(workflow, lookups)
  return {
    problems: problemsOf(yield* ruledOf(workflow, checked, lookups, true)),
    missingCredentials: missingCredentials(checked)
  }
}

/** Problems without missing credentials. */
export const problems = (workflow: Obj, lookups: Checked.Lookups): ReadonlyArray<Problem> =>
  check(workflow, lookups).problems

/**
 * Finds problems that do not depend on node types: shape, names, connections, expressions and code, reachability.
 *
 * **When to use**
 *
 * Without a catalogue, as in a web page; `WorkflowValidation.validate` also checks types, parameters and ports.
 *
 * **Example** (A link to a node that does not exist)
 *
 * ```ts
 * import { WorkflowProblems } from "effect-n8n-mcp/domain"
 * import * as Effect from "effect/Effect"
 *
 * const workflow = {
 *   name: "Orders",
 *   nodes: [{ name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, position: [0, 0], parameters: {} }],
 *   connections: { Start: { main: [[{ node: "Pay", type: "main", index: 0 }]] } }
 * }
 *
 * export const test = Effect.map(
 *   WorkflowProblems.offline(workflow),
 *   (problems) => problems.map(({ message, path, severity }) => `${severity} ${path}: ${message}`)
 * )
 * ```
 */
export const offline = (workflow: Obj): Effect.Effect<ReadonlyArray<Problem>> =>
  Effect.flatMap(JavaScript.parser, (parse) => {
    const lookups = Checked.sparing({
      find: () => undefined,
      types: [],
      release: "",
      nearest,
      suggest: suggestion,
      evaluate: () => undefined,
      parse
    })
    return Turn.run(function*() {
      return problemsOf(yield* ruledOf(workflow, yield* Checked.make(workflow, lookups), lookups, false))
    })
  })

/** Identifies a problem independently of its node's place in the list. */
const problemKey = ({ message, node, path }: Problem) => `${node ?? ""} ${path.replace(/^nodes\[\d+\]/, "")} ${message}`

const credentialKey = ({ node, type }: MissingCredential) => `${type} ${node}`

const added = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>, key: (each: A) => string) => {
  const known = new Set(before.map(key))
  return after.filter((each) => !known.has(key(each)))
}

/** Findings in the second state of a workflow that are not in the first. */
export const newProblems = (before: Obj, after: Obj, lookups: Checked.Lookups): Findings =>
  Turn.finish(newSteps(before, after, lookups))

/** {@link newProblems} in steps. @internal */
export const newSteps = function*(before: Obj, after: Obj, lookups: Checked.Lookups): Turn.Steps<Findings> {
  const [then, now] = [yield* steps(before, lookups), yield* steps(after, lookups)]
  return {
    problems: added(then.problems, now.problems, problemKey),
    missingCredentials: added(then.missingCredentials, now.missingCredentials, credentialKey)
  }
}
