/** Checks a workflow by n8n's rules. */
import * as Effect from "effect/Effect"
import * as JavaScript from "../../base/JavaScript.ts"
import type { Obj } from "../../base/Json.ts"
import { nearest, suggestion } from "../../base/Nearest.ts"
import type { MissingCredential, Problem } from "../../base/Problem.ts"
import * as Checked from "./CheckedWorkflow.ts"
import { connectionProblems, reachProblems } from "./connection.ts"
import { missingCredentials, nodeProblems } from "./node.ts"
import type { Ruled } from "./Rules.ts"
import { structureProblems } from "./structure.ts"
import { typeProblems } from "./TypeProblems.ts"

export type { Parse, Parsed } from "../../base/JavaScript.ts"
export type { MissingCredential, Problem } from "../../base/Problem.ts"
export type { Suggest } from "../../catalogue/parameters/Parameters.ts"
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
const ruledOf = (
  workflow: Obj,
  checked: Checked.Checked,
  lookups: Checked.Lookups,
  ofTypes: ReadonlyArray<Ruled>
): ReadonlyArray<Ruled> => {
  const all = [
    ...structureProblems(workflow, lookups),
    ...ofTypes,
    ...connectionProblems(checked),
    ...nodeProblems(checked, lookups),
    ...reachProblems(checked),
    ...(lookups.rules ?? []).flatMap(({ check, id }) => check(workflow).map((problem) => ({ ...problem, rule: id })))
  ]
  return ["error", "warning"].flatMap((each) => all.filter(({ severity }) => severity === each))
}

const problemsOf = (...input: Parameters<typeof ruledOf>): ReadonlyArray<Problem> =>
  onceEach(ruledOf(...input).map(({ line: _, rule: __, ...problem }) => problem))

/** Problems with their rules, each with its fix. @internal */
export const ruled = (workflow: Obj, lookups: Checked.Lookups): ReadonlyArray<Ruled> => {
  const checked = Checked.make(workflow, lookups)
  return ruledOf(workflow, checked, lookups, typeProblems(checked, lookups))
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
export const check = (workflow: Obj, lookups: Checked.Lookups): Findings => {
  const checked = Checked.make(workflow, lookups)
  return {
    problems: problemsOf(workflow, checked, lookups, typeProblems(checked, lookups)),
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
  Effect.map(JavaScript.parser, (parse) => {
    const lookups: Checked.Lookups = {
      find: () => undefined,
      types: [],
      release: "",
      nearest,
      suggest: suggestion,
      evaluate: () => undefined,
      parse
    }
    return problemsOf(workflow, Checked.make(workflow, lookups), lookups, [])
  })

/** Identifies a problem independently of its node's place in the list. */
const problemKey = ({ message, node, path }: Problem) => `${node ?? ""} ${path.replace(/^nodes\[\d+\]/, "")} ${message}`

const credentialKey = ({ node, type }: MissingCredential) => `${type} ${node}`

const added = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>, key: (each: A) => string) => {
  const known = new Set(before.map(key))
  return after.filter((each) => !known.has(key(each)))
}

/** Findings in the second state of a workflow that are not in the first. */
export const newProblems = (before: Obj, after: Obj, lookups: Checked.Lookups): Findings => {
  const [then, now] = [check(before, lookups), check(after, lookups)]
  return {
    problems: added(then.problems, now.problems, problemKey),
    missingCredentials: added(then.missingCredentials, now.missingCredentials, credentialKey)
  }
}
