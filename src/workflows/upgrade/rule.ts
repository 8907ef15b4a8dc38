/** Form of a rule about a change of n8n, and the code that compares a node with it. */
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Parse } from "../../base/JavaScript.ts"
import { type Obj, own, str } from "../../base/Json.ts"
import * as NodeType from "../../catalogue/types/NodeType.ts"
import { nodes, parametersOf, typeOf } from "../../n8n/model/Workflow.ts"
import waiting from "./waiting.json" with { type: "json" }

const Values = Schema.Record(Schema.String, Schema.Array(Schema.NullOr(Schema.String)))

/** Rule about a change of n8n. A node is concerned when it meets all the conditions that the rule has. */
export const Rule = Schema.Struct({
  /** Name, which several rules may share: of these the first that a node meets counts. */
  rule: Schema.String,
  since: Schema.String,
  /** Release from which another rule says it better. */
  until: Schema.optionalKey(Schema.String),
  /** Default: `error`. */
  severity: Schema.optionalKey(Schema.Literals(["error", "warning"])),
  /** Types of the node; tool variants of a type are included. */
  types: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The node's version is below this one. */
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

/** Properties of a node that rules are compared with. */
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

const hasIdentifier = (tree: unknown, name: string): boolean =>
  Predicate.isObjectOrArray(tree) &&
  (own(tree, "type") === "Identifier" && own(tree, "name") === name ||
    Object.values(tree).some((inner) => hasIdentifier(inner, name)))

/** Whether a `{{ … }}` of an expression or the code of a parameter uses a variable; code that does not parse may. */
const uses = (name: string, value: unknown, parse: Parse, key = ""): boolean => {
  if (typeof value !== "string") {
    return Predicate.isObjectOrArray(value) &&
      Object.entries(value).some(([key, inner]) => uses(name, inner, parse, key))
  }
  if (!value.includes(name)) return false
  if (value.startsWith("=")) return value.split("{{").slice(1).some((part) => part.split("}}", 1)[0]?.includes(name))
  if (!/code$/i.test(key)) return false
  const parsed = parse(value, "body")
  return parsed === undefined || !("program" in parsed) || hasIdentifier(parsed.program, name)
}

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

/** Whether a node calls a workflow that waits, or one that only the run decides; `find` returns a workflow by id. */
export const callsWaiting = (node: Obj, workflow: Obj, find: (id: string) => Obj | undefined): boolean => {
  if (typeOf(node) !== "n8n-nodes-base.executeWorkflow") return false
  const { options, source = "database", workflowId } = parametersOf(node)
  if (own(options, "waitForSubWorkflow") === false) return false
  const id = source === "database" ? str(workflowId) ?? str(own(workflowId, "value")) : undefined
  const isItself = id !== undefined && /^=\{\{ ?\$workflow\.id ?\}\}$/.test(id)
  if (id === undefined || id.startsWith("=") && !isItself) return true
  const called = isItself || id === workflow["id"] ? workflow : find(id)
  return called !== undefined && hasWaitingNode(called)
}
