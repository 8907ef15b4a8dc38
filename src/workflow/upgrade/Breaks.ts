/** Changes of n8n between two releases that break a workflow, or change what it does. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Errors from "../../base/Errors.ts"
import type { Parse } from "../../base/JavaScript.ts"
import { defined, num, type Obj, obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Problem } from "../../base/Problem.ts"
import * as Rows from "../../base/Rows.ts"
import * as Syntax from "../../base/Syntax.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { isNewer } from "../../catalogue/types/Releases.ts"
import { nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import type { NodeLookups } from "../check/CheckedWorkflow.ts"
import * as References from "../References.ts"
import listed from "./breaks.json" with { type: "json" }
import waiting from "./waiting.json" with { type: "json" }

const Values = Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.String)))

/** Rule about a change of n8n. It applies to a node that meets all of its conditions. */
export const Rule = Schema.Struct({
  /** Name; of several rules with the same name, the first that matches a node applies. */
  rule: Schema.String,
  since: Schema.String,
  /** Release from which a more precise rule applies. */
  until: Schema.optionalKey(Schema.String),
  /** Default: `error`. */
  severity: Schema.optionalKey(Schema.Literals(["error", "warning"])),
  /** Types of the node; tool variants of a type are included. */
  types: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Upper bound (exclusive) of the node's version. */
  below: Schema.optionalKey(Schema.Finite),
  /** Values of parameters; null stands for anything that is not text. */
  parameters: Schema.optionalKey(Values),
  /** Regular expression for the JSON of the parameters. */
  text: Schema.optionalKey(Schema.String),
  /** Variable that expressions or code use. */
  variable: Schema.optionalKey(Schema.String),
  /** Condition that needs code. */
  special: Schema.optionalKey(Schema.Literals(["several-outputs", "calls-waiting"])),
  /** Values of the workflow's settings; such a rule is not about nodes. */
  settings: Schema.optionalKey(Values),
  what: Schema.String,
  fix: Schema.String,
  /** Id of n8n's own rule in `modules/breaking-changes`, or the page that describes the change. */
  source: Schema.String
})
export type Rule = typeof Rule.Type

/** Properties of a node that rules match. */
export type Facts = {
  readonly node: Obj
  readonly parameters: Obj
  /** Its type, and for a tool variant the type that it is a variant of. */
  readonly types: ReadonlyArray<string>
  readonly parse: Parse
} & { readonly [S in NonNullable<Rule["special"]>]: () => boolean }

/** Whether each key has one of its values. */
export const hasValues = (value: Obj, expected: NonNullable<Rule["settings"]>): boolean =>
  Object.entries(expected).every(([key, values]) => values.includes(str(own(value, key)) ?? null))

/** Whether a `{{ … }}` of an expression or the code of a parameter uses a variable; code that does not parse may. */
const uses = (name: string, parameters: unknown, parse: Parse): boolean =>
  JsonPath.strings(parameters).some(([path, text]) => {
    if (!text.includes(name)) return false
    if (text.startsWith("=")) return text.split("{{").slice(1).some((part) => part.split("}}", 1)[0]?.includes(name))
    if (!/code$/i.test(String(path.at(-1)))) return false
    const program = parse(text, "body")?.program
    return program === undefined || [...Syntax.nodes(program)].some(([node]) => Syntax.isNamed(node, name))
  })

/** Whether a node meets all conditions of a rule. */
export const matches = (rule: Rule, facts: Facts): boolean => {
  const { below, parameters = {}, special, text, types, variable } = rule
  const version = facts.node["typeVersion"]
  return (types === undefined || types.some((type) => facts.types.includes(type))) &&
    (below === undefined || typeof version === "number" && version < below) &&
    hasValues(facts.parameters, parameters) &&
    (text === undefined || new RegExp(text).test(JSON.stringify(facts.parameters))) &&
    (variable === undefined || uses(variable, facts.parameters, facts.parse)) &&
    (special === undefined || facts[special]())
}

/** Whether a node that always outputs data may have several outputs; a type that computes its outputs may. */
export const hasSeveralOutputs = (node: Obj, nodeType: NodeType.NodeType | undefined): boolean => {
  if (node["alwaysOutputData"] !== true) return false
  if (node["onError"] === "continueErrorOutput") return true
  if (nodeType === undefined) return false
  const version = node["typeVersion"]
  const description = nodeType.descriptions.length === 1
    ? nodeType.descriptions[0]
    : NodeType.at(nodeType, typeof version === "number" ? version : NodeType.defaultVersion(nodeType))
  if (description === undefined) return false
  const { outputs } = description
  return typeof outputs === "string" ||
    outputs.filter((port) => (typeof port === "string" ? port : port.type) === "main").length > 1
}

const hasWaitingNode = (workflow: Obj): boolean =>
  nodes(workflow).some((node) => typeOf(node) === "n8n-nodes-base.executeWorkflowTrigger") &&
  nodes(workflow).some((node) => {
    const operations: unknown = own(waiting, typeOf(node))
    return operations === true || operations !== undefined && operations === parametersOf(node)["operation"]
  })

/** Whether a node calls a workflow that waits, or one that is chosen at run time; `find` returns a workflow by id. */
export const callsWaiting = (node: Obj, workflow: Obj, find: (id: string) => Obj | undefined): boolean => {
  const { options, workflowId } = parametersOf(node)
  if (typeOf(node) !== References.caller || own(options, "waitForSubWorkflow") === false) return false
  const reference = References.callOf(node)
  // An empty text names no workflow; without any, n8n's rule supposes one.
  if (reference === undefined && (str(workflowId) ?? str(own(workflowId, "value"))) !== undefined) return false
  const { decidedBy = "", id } = reference ?? {}
  const isItself = /^=\{\{ ?\$workflow\.id ?\}\}$/.test(decidedBy)
  if (id === undefined && !isItself) return true
  const called = isItself || id === workflow["id"] ? workflow : find(id ?? "")
  return called !== undefined && hasWaitingNode(called)
}

/** Change of n8n that concerns a workflow or one of its nodes. */
export const Break = Schema.Struct({
  /** First release with the change: `3.0`. */
  since: Schema.String,
  /** Name of the node; absent if the whole workflow is concerned. */
  node: Schema.optionalKey(Schema.String),
  what: Schema.String,
  fix: Schema.String,
  /** Name of the rule: `type-removed`. */
  rule: Schema.String,
  /** An `error` fails or is refused after the upgrade; after a `warning` the result may differ. */
  severity: Schema.Literals(["error", "warning"])
})
export type Break = typeof Break.Type

/** Lookups for breaking changes, and other workflows by id where the caller has them. */
export type Lookups =
  & Pick<NodeLookups, "find" | "isLackedIn" | "removed" | "knownReleases" | "parse">
  & { readonly workflow?: (id: string) => Obj | undefined }

/** Rules in the order in which they are tried: of one name, the first that matches a node counts. */
export const rules: ReadonlyArray<Rule> = Schema.decodeUnknownSync(Schema.Array(Rule))(listed)

/** Newest release with a rule; later ones of the same major version are treated as this one. */
export const newest: string = rules.map(({ since }) => since).reduce((a, b) => isNewer(b, a) ? b : a)

/** Reads a release as people write it: `3`, `v3.0`, `2.41.1`, `n8n@2.41.1`; it has at least a minor version. */
export const parseTarget = (text: string): Result.Result<string, Errors.ValidationError> => {
  const [, major, minor = "0", patch] =
    /^\s*(?:n8n@)?v?(\d{1,4})(?:\.(\d{1,4})(?:\.(\d{1,4})(?:-[\w.-]+)?)?)?\s*$/i.exec(text) ?? []
  const known = `Changes are known up to n8n ${newest}: pass a release such as "${newest}" or "2.41.1".`
  if (major === undefined) return Result.fail(Errors.invalid("to", `'${text.slice(0, 40)}' is not a release.`, known))
  return Number(major) === 0 || Number(major) > Number.parseInt(newest)
    ? Result.fail(Errors.invalid("to", `Nothing is known of n8n ${major}.${minor}.`, known))
    : Result.succeed([String(Number(major)), Number(minor), ...patch === undefined ? [] : [Number(patch)]].join("."))
}

/** Releases before (the oldest known if absent) and after the upgrade. */
export interface Upgrade {
  readonly from?: string | undefined
  readonly to: string
}

const isBetween = ({ since, until }: Pick<Rule, "since" | "until">, { from, to }: Upgrade) =>
  !isNewer(since, to) && (from === undefined || isNewer(since, from)) && (until === undefined || isNewer(until, to))

const breakOf = ({ fix, rule, severity = "error", since, what }: Omit<Rule, "source">, name: string | undefined) =>
  defined({ since, node: name || undefined, what, fix, rule, severity })

const typeRemoved = "type-removed"

/** Type or version that the target lacks, and a removed type without a specific rule. */
const absence = (node: Obj, { from, to }: Upgrade, lookups: Lookups): Omit<Rule, "source"> | undefined => {
  const [type, version] = [typeOf(node), num(node["typeVersion"])]
  const last = lookups.removed(type)
  if (last !== undefined) {
    if (rules.some(({ rule, types }) => rule === typeRemoved && types?.includes(type))) return undefined
    const since = lookups.knownReleases.find((release) => isNewer(release, last)) ?? to
    return isBetween({ since }, { from, to })
      ? { rule: typeRemoved, since, what: "This type is removed.", fix: "Use another node." }
      : undefined
  }
  const nodeType = lookups.find(type)
  if (nodeType === undefined || version === undefined) return undefined
  const isLacked = (version: number, release: string) => lookups.isLackedIn(type, version, release)
  if (!isLacked(version, to) || from !== undefined && isLacked(version, from)) return undefined
  const usable = NodeType.versions(nodeType).findLast((each) => !isLacked(each, to))
  return usable === undefined
    ? { rule: "type-lacking", since: to, what: `n8n ${to} does not have this type yet.`, fix: "Use another node." }
    : {
      rule: "version-lacking",
      since: to,
      what: `n8n ${to} does not have version ${version} of this type yet.`,
      fix: `Set typeVersion to ${usable} and adapt the parameters.`
    }
}

const ofNode = (workflow: Obj, node: Obj, upgrade: Upgrade, lookups: Lookups): ReadonlyArray<Break> => {
  const nodeType = lookups.find(typeOf(node))
  const facts = {
    node,
    parameters: parametersOf(node),
    parse: lookups.parse,
    types: [typeOf(node), ...nodeType?.base === undefined ? [] : [nodeType.base]],
    "several-outputs": () => hasSeveralOutputs(node, nodeType),
    "calls-waiting": () => callsWaiting(node, workflow, lookups.workflow ?? (() => undefined))
  }
  const applying = new Map<string, Omit<Rule, "source">>()
  for (const rule of rules) {
    if (rule.settings === undefined && !applying.has(rule.rule) && isBetween(rule, upgrade) && matches(rule, facts)) {
      applying.set(rule.rule, rule)
    }
  }
  const absent = applying.has(typeRemoved) ? undefined : absence(node, upgrade, lookups)
  return [...applying.values(), ...absent === undefined ? [] : [absent]].map((rule) => breakOf(rule, str(node["name"])))
}

const ofSettings = ({ settings }: Obj, upgrade: Upgrade): ReadonlyArray<Break> =>
  rules.filter((rule) =>
    rule.settings !== undefined && isBetween(rule, upgrade) &&
    hasValues(obj(settings) ?? {}, rule.settings)
  ).map((rule) => breakOf(rule, undefined))

/** Finds what an upgrade breaks or changes in a workflow of any shape: of the whole workflow, then node by node. */
export const find = (workflow: Obj, upgrade: Upgrade, lookups: Lookups): ReadonlyArray<Break> => [
  ...ofSettings(workflow, upgrade),
  ...nodes(workflow).flatMap((node) => ofNode(workflow, node, upgrade, lookups))
]

/** Ids of the workflows whose content `find` asks for: those called by a node that waits for them. */
export const asked = (workflow: Obj, upgrade: Upgrade): ReadonlyArray<string> => {
  const ids = new Set<string>()
  const add = (id: string) => {
    ids.add(id)
    return undefined
  }
  if (rules.some((rule) => rule.special === "calls-waiting" && isBetween(rule, upgrade))) {
    for (const node of nodes(workflow)) callsWaiting(node, workflow, add)
  }
  return [...ids]
}

const briefly = { since: Schema.String, what: Schema.String, fix: Schema.String }

/** Break of one node or the workflow, or of several nodes. */
export const Brief = Schema.Union([
  Schema.Struct({ ...briefly, nodes: Schema.Array(Schema.String) }),
  Schema.Struct({ ...briefly, node: Schema.optionalKey(Schema.String) })
])
export type Brief = typeof Brief.Type

/** Merges the breaks that differ only by their nodes; errors first. */
export const brief = (breaks: ReadonlyArray<Break>): ReadonlyArray<Brief> => {
  const errorsFirst = breaks.toSorted((a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"))
  return Rows.grouped(errorsFirst, ({ fix, since, what }) => [since, what, fix]).map(
    ({ first: { fix, since, what }, rows }) => {
      const nodes = rows.flatMap(({ node }) => node ?? [])
      return nodes.length > 1 ? { since, nodes, what, fix } : defined({ since, node: nodes[0], what, fix })
    }
  )
}

/** The break as a problem of the workflow. */
export const problem = ({ fix, node, severity, since, what }: Break): Problem =>
  defined({ severity, node, path: "", message: `n8n ${since}: ${what}`, fix })

/** Remark on a target that is older than this n8n, or newer than every known release. */
export const remark = ({ from, to }: Upgrade): string | undefined =>
  from !== undefined && isNewer(from, to)
    ? `n8n ${to} is older than this n8n (${from}): breaks are the types and versions that it lacks.`
    : isNewer(to, newest)
    ? `Changes after n8n ${newest} are not known.`
    : undefined
