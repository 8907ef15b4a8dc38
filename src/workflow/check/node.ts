/** Problems inside single nodes: parameters, expressions and missing credentials. */
import { maxChars } from "../../base/JavaScript.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { digits } from "../../base/Plural.ts"
import type { MissingCredential } from "../../base/Problem.ts"
import * as Rows from "../../base/Rows.ts"
import * as Turn from "../../base/Turn.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import { parametersOf } from "../../n8n/model/Workflow.ts"
import * as Graph from "../Graph.ts"
import * as References from "../References.ts"
import * as Schedules from "../Schedules.ts"
import {
  type Checked,
  either,
  isTriggerLike,
  type Lookups,
  maxParameterValues,
  type Node,
  problemOf
} from "./CheckedWorkflow.ts"
import * as Expressions from "./Expressions.ts"
import type { Ruled } from "./Rules.ts"

/** Whether n8n checks the node: it is connected or n8n starts it. */
const isLookedInto = (node: Node, graph: Graph.Graph) =>
  Graph.around(graph, [node.name]).length > 0 || isTriggerLike(node)

const parametersAt = ({ at }: Node) => JsonPath.member(at, "parameters")

const ofParameters = (node: Node, { suggest }: Lookups): ReadonlyArray<Ruled> => {
  const { description, isLarge, version } = node
  if (isLarge) {
    const message = `The parameters have more than ${digits(maxParameterValues)} values: they are not checked.`
    return [problemOf(node, "parameter", "warning", message, undefined, parametersAt(node))]
  }
  if (description === undefined || version === undefined) return []
  const shape = { typeVersion: version, parameters: parametersOf(node.json) }
  return ParameterRules.problems(description, shape, suggest).map((problem) =>
    problemOf(
      node,
      "parameter",
      problem.severity,
      problem.message,
      problem.fix,
      JsonPath.join(parametersAt(node), problem.path)
    )
  )
}

const ofSchedules = (node: Node, isV1: boolean): ReadonlyArray<Ruled> =>
  Schedules.never(node.json, isV1).map(({ rule, why }) =>
    problemOf(
      node,
      "schedule-never",
      "warning",
      `n8n never starts it by this rule: ${why}.`,
      "Choose an interval of whole units within its range, or a cron expression.",
      JsonPath.print(node.type.endsWith(".scheduleTrigger") ? ["rule", "interval", rule] : [], parametersAt(node))
    )
  )

const ofCredentials = ({ description, json, name, parameters, version }: Node): ReadonlyArray<MissingCredential> => {
  if (description === undefined || version === undefined) return []
  const references = References.ofNode({ credentials: json["credentials"] })
  const isSet = (type: string) =>
    references.some((each) => each.type === type && (each.id ?? each.decidedBy) !== undefined)
  return References.slots(description, version, parameters).flatMap(({ isRequired, type }) =>
    isRequired && !isSet(type) ? [{ node: name, type }] : []
  )
}

/** Missing credentials as problems, for reports that have no other place for them. */
export const credentialProblems = (checked: Checked): ReadonlyArray<Ruled> =>
  missingCredentials(checked).flatMap(({ node: name, type }) => {
    const node = checked.byName.get(name)
    const known = node &&
      References.ofNode({ credentials: node.json["credentials"] }).find((each) => each.type === type)
    const only = known?.name === undefined ? "" : `, only the name '${shorten(known.name)}'`
    return node === undefined ? [] : problemOf(
      node,
      "missing-credential",
      "warning",
      `The credential '${type}' is not set${only}.`,
      undefined,
      JsonPath.print(["credentials", type], node.at)
    )
  })

export const missingCredentials = ({ graph, nodes }: Checked): ReadonlyArray<MissingCredential> => {
  return nodes.flatMap((node) => node.isDisabled || !isLookedInto(node, graph) ? [] : ofCredentials(node))
}

const shorten = (text: string) => text.length > 80 ? `${text.slice(0, 77)}…` : text

/** A call of `$fromAI` with a literal key or none, found by pattern as n8n does. */
const fromAI = /\$fromAI\s*\(\s*(?:(["'`])((?:\\.|(?!\1)[^\\])*)\1\s*[,)]|\))/gi

const fromAIProblems = (node: Node, { path, text }: Expressions.Text): ReadonlyArray<Ruled> =>
  [...text.matchAll(fromAI)].flatMap(({ 2: key = "" }) =>
    /^[\w-]{1,64}$/.test(key) ? [] : problemOf(
      node,
      "from-ai-key",
      "error",
      `'${shorten(key)}' is not a key that $fromAI accepts: the agent fails.`,
      "A key has 1 to 64 letters, digits, _ or -; write everything else into the description.",
      JsonPath.join(node.at, path)
    )
  )

const ofExpressions = function*(
  node: Node,
  names: ReadonlySet<string>,
  { nearest, parse }: Lookups
): Turn.Steps<ReadonlyArray<Ruled>> {
  if (node.isNote) return []
  const missing: Array<Expressions.Text & { readonly name: string }> = []
  const mistakes: Array<Ruled> = []
  for (const text of Expressions.texts(node.parameters)) {
    yield
    const path = JsonPath.join(node.at, text.path)
    if (text.text.length > maxChars) {
      const message = `It has more than ${digits(maxChars)} characters: it is not checked.`
      mistakes.push(problemOf(node, "code-syntax", "warning", message, undefined, path))
      continue
    }
    if (text.kind === "unmarked" && node.description !== undefined) {
      const message = "{{ }} is literal text here: expressions must start with '='."
      mistakes.push(problemOf(node, "unmarked-expression", "warning", message, "Start it with '='.", path))
    }
    if (text.kind === "expression") mistakes.push(...fromAIProblems(node, text))
    const findings = Expressions.inText(text, parse)
    for (const { at, code, message } of findings.mistakes) {
      const line = code.slice(0, at).split("\n").length
      const fault = text.kind === "script"
        ? `The code does not parse: ${message}, line ${line}: ${shorten(code.split("\n")[line - 1]?.trim() ?? "")}`
        : `{{${shorten(code)}}} does not parse: ${message}.`
      mistakes.push({
        ...problemOf(node, "code-syntax", "error", fault, undefined, path),
        ...(text.kind === "script" ? { line } : {})
      })
    }
    for (const { isGuess, name } of findings.references) {
      if (!isGuess && !names.has(name)) missing.push({ ...text, name })
    }
  }
  return [
    ...mistakes,
    ...Rows.grouped(missing, ({ name }) => name).map(({ count, first: { kind, name, path } }) => {
      const near = nearest(name, names)
      const times = count > 1 ? ` (${count} times)` : ""
      return problemOf(
        node,
        "unknown-reference",
        // A script may never reach the reference.
        kind === "script" ? "warning" : "error",
        `It refers to the node '${name}', which does not exist${times}.`,
        near.length === 0 ? undefined : `Did you mean ${either(near)}?`,
        JsonPath.join(node.at, path)
      )
    })
  ]
}

/** Problems inside nodes that are not disabled; warnings in nodes that n8n does not check. */
export const nodeProblems = ({ graph, nodes }: Checked, lookups: Lookups): Turn.Steps<ReadonlyArray<Ruled>> => {
  const names = new Set(nodes.map(({ name }) => name))
  return Turn.flatMap(nodes, function*(node) {
    if (node.isDisabled) return []
    const parameters = ofParameters(node, lookups)
    const paths = new Set(parameters.map(({ path }) => path))
    const ofTexts = yield* ofExpressions(node, names, lookups)
    const problems = [
      ...parameters,
      ...ofSchedules(node, lookups.isV1 === true),
      ...ofTexts.filter(({ path }) => !paths.has(path))
    ]
    return isLookedInto(node, graph)
      ? problems
      : problems.map((problem) => ({ ...problem, severity: "warning" as const }))
  })
}
