/** Mappings of old nodes to new ones that preserve their meaning. */
import * as Result from "effect/Result"
import { arr, defined, equals, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import { choices, type Description } from "../../catalogue/types/NodeType.ts"
import type * as Checked from "../check/CheckedWorkflow.ts"
import type * as Graph from "../Graph.ts"

/** Way of upgrading that a person can choose by its key, although the node then does not do quite the same. */
export type Choice = {
  /** Short, stable word: {@link asN8n}, a version, or a name of the mapping's own. */
  readonly key: string
  readonly does: string
}

/** Reason why a node's meaning cannot be carried over, and the decision that a person has to make. */
export interface Undecided {
  readonly why: string
  readonly decision: string
}

/** Key of the way of n8n itself: the version is set, and parameters keep their values. */
export const asN8n = "asN8n"

/** Choice with its result. */
export interface Way extends Choice {
  readonly made: Outcome
}

/** Undecided mapping with the ways on; without a list, the way {@link asN8n} if the type stays. */
export interface Fault extends Undecided {
  readonly ways?: ReadonlyArray<Way>
}

/** Node before a mapping. */
export interface Old {
  readonly node: Obj
  readonly name: string
  readonly version: number
  readonly own: Obj
  /** Parameters that are visible in the node's version, with that version's defaults. */
  readonly parameters: Obj
  readonly workflow: Obj
  readonly graph: Graph.Graph
  readonly lookups: Checked.Lookups
  /** Whether only the node's requests matter, not its output. */
  readonly sendsOnly: boolean
  /** Whether a person has accepted what differs: parameters are carried over as they are. */
  readonly isAccepted: boolean
  /** Description of the next version of the type, or of the next type. */
  readonly next: Description
  readonly nextVersion: number
}

/** Node after a mapping; absent parts are unchanged. */
export interface New {
  /** Next type, in its newest version. Default: the same type in the version of the step. */
  readonly type?: string
  readonly parameters: Obj
  readonly keys?: Obj
  /** Sub-node that this node replaces: it is removed with its link. */
  readonly absorbs?: { readonly node: string; readonly why: string }
  /** Sentence on how failures differ, or what fails no more: such a node is left where it goes on after errors. */
  readonly fails?: string
  /** New index of a main output; absent if outputs keep their indexes. */
  readonly outputs?: (index: number) => number
}

export type Outcome = Result.Result<New, Fault>
export type Mapping = (old: Old) => Outcome

/** Step to a version from any earlier one; without `change` the parameters are carried over by their descriptions. */
export interface Step {
  readonly to: number
  readonly change?: Mapping
  /** As {@link New.fails}, for all nodes. */
  readonly fails?: string
  /** Whether the version has other operations, parameters and output. */
  readonly rewritten?: true
}

/** Steps of a type in ascending order. Versions without a step are skipped. */
export type Steps = { readonly [type: string]: ReadonlyArray<Step> }

/** Types that replace a deprecated one; the mapping chooses one of `to` (in `New.type`, by default the first). */
export interface Successor {
  readonly to: ReadonlyArray<string>
  readonly change: Mapping
  readonly fails?: string
}
export type Successors = { readonly [type: string]: Successor }

/** Whether a node passes failed items on. */
export const continues = (node: Obj): boolean =>
  node["continueOnFail"] === true || (str(node["onError"]) ?? "stopWorkflow") !== "stopWorkflow"

export const left = (why: string, decision: string, ways?: ReadonlyArray<Way>) =>
  Result.fail<Fault>(defined({ why, decision, ways }))

/** Ways of a mapping's own: key, what it does, and the parameters that it gives. */
export const way = (key: string, does: string, parameters: Obj, more: Omit<New, "parameters"> = {}): Way => ({
  key,
  does,
  made: done(parameters, more)
})

/** Result with exactly these parameters, regardless of the next version's defaults. */
export const done = (parameters: Obj, more: Omit<New, "parameters"> = {}): Outcome =>
  Result.succeed({ parameters, ...more })

export const optionsOf = ({ own }: Pick<Old, "own">): Obj => obj(own["options"]) ?? {}

/** Entries of a list in a fixed collection. */
export const entriesOf = (value: unknown, key: string): ReadonlyArray<Obj> =>
  arr(obj(value)?.[key]).map((entry) => obj(entry) ?? {})

/**
 * Carries parameters over by their descriptions: defaults that differ become explicit. `given` are values for the next
 * version that the mapping has already made. A value without a parameter in the next version is left to a person.
 */
export const carry = (
  { isAccepted, next, nextVersion, node, own, parameters: before }: Old,
  given: Obj = {},
  more: Omit<New, "parameters"> = {}
): Outcome => {
  const isTool = next.name.endsWith("Tool")
  const original = obj(node["parameters"]) ?? {}
  const isMade = (key: string) => Object.hasOwn(given, key) || !equals(own[key], original[key])
  const located = isAccepted ? next.properties.filter(({ name, type }) => type === "resourceLocator" && own[name]) : []
  let parameters: Obj = {
    ...own,
    ...Object.fromEntries(located.map(({ name }) => [name, locator(own[name])])),
    ...given
  }
  const after = () => ParameterRules.complete(next, { typeVersion: nextVersion, parameters, isTool })
  // A value that becomes explicit can make others visible.
  for (let round = 0; round < 3; round++) {
    const shown = after()
    const changed = Object.keys(before).filter((key) =>
      Object.hasOwn(shown, key) && !isMade(key) && !equals(shown[key], before[key])
    )
    if (changed.length === 0) break
    parameters = Object.assign({}, parameters, Object.fromEntries(changed.map((key) => [key, before[key]])))
  }
  const shown = after()
  const lost = Object.keys(own).filter((key) =>
    Object.hasOwn(before, key) && !Object.hasOwn(shown, key) && !Object.hasOwn(given, key) && own[key] !== null &&
    !equals(own[key], {})
  ).map((key) => `'${key}'`)
  if (lost.length === 0) return done(parameters, more)
  const operations = next.properties.filter(({ displayOptions, name }) =>
    name === "operation" &&
    ParameterRules.isShown(
      displayOptions,
      ParameterRules.scopeOf(next, { typeVersion: nextVersion, parameters: own, isTool })
    )
  ).flatMap((each) => choices(each).map(({ value }) => value))
  const operation = before["operation"]
  return left(
    `Version ${nextVersion} of ${String(node["type"])} has no ${lost.length > 1 ? "parameters" : "parameter"} ${
      lost.join(", ")
    }${
      operation === undefined || operations.length === 0
        ? ""
        : operations.includes(operation as string)
        ? `; the operation '${String(operation)}' exists in both`
        : `, and no operation '${String(operation)}', but ${operations.join(", ")}`
    }.`,
    `Decide what takes the place of ${lost.join(", ")}.`,
    []
  )
}

/** Conditions on a node, all of which it must meet. */
interface Condition {
  /** Values of completed parameters by path, one of which must match; `null` is an absent value, `[]` any entry. */
  readonly when?: { readonly [path: string]: ReadonlyArray<unknown> }
  readonly unless?: { readonly [path: string]: ReadonlyArray<unknown> }
  /** Paths of completed parameters, one of which must have a value. */
  readonly present?: ReadonlyArray<string>
  /** Paths of completed parameters, one of which must be an expression. */
  readonly expression?: ReadonlyArray<string>
  /** Upper bound (exclusive) or lower bound (inclusive) of the node's version. */
  readonly below?: number
  readonly from?: number
}

/** Case of a step as data; cases apply in order, each to the result of the one before. */
interface Case extends Condition {
  /** Further conditions, one of which must be met. */
  readonly any?: ReadonlyArray<Condition>
  /** Defaults of the older version by path. */
  readonly absent?: Obj
  /** Values to set by path, whatever the node has; `null` removes one. */
  readonly set?: Obj
  readonly rename?: { readonly [path: string]: string }
  /** New paths by old path; moves the node's value or its default. */
  readonly move?: { readonly [path: string]: string }
  /** Paths of texts, or of their defaults, that become resource locators in mode `id`. */
  readonly locator?: ReadonlyArray<string>
  readonly remove?: ReadonlyArray<string>
  readonly keys?: Obj
  readonly fails?: string
  readonly left?: Undecided
}

/** Steps as data; `source` says where the difference can be read. */
export interface StepData {
  readonly to: number
  readonly source?: string
  readonly fails?: string
  readonly cases?: ReadonlyArray<Case>
  /** Whether the version has other operations, parameters and output. */
  readonly rewritten?: true
}

const path = (text: string) => JsonPath.parse(text) ?? []

const isEmpty = (value: unknown) => value === undefined || value === null || value === "" || equals(value, {})

/** Values at a path, in which `[]` stands for every entry of a list. */
const valuesAt = (value: unknown, text: string): ReadonlyArray<unknown> =>
  JsonPath.expand(value, path(text)).map((each) => JsonPath.get(value, each) ?? null)

const isOneOf = ({ parameters }: Old, hasAny: boolean) => ([at, values]: readonly [string, ReadonlyArray<unknown>]) =>
  valuesAt(parameters, at).some((own) =>
    hasAny && ParameterRules.isExpression(own) || values.some((value) => equals(own, value))
  )

/** Whether a node meets a condition; an expression may have any value, so that the node is left as it is. */
const meets = (
  { below, expression, from, present, unless = {}, when = {} }: Condition,
  old: Old,
  isLeft: boolean
): boolean => {
  const at = (each: string) => JsonPath.get(old.parameters, path(each))
  return (below === undefined || old.version < below) && (from === undefined || old.version >= from) &&
    (present === undefined || present.some((each) => !isEmpty(at(each)))) &&
    (expression === undefined || expression.some((each) => ParameterRules.isExpression(at(each)))) &&
    Object.entries(when).every(isOneOf(old, isLeft)) && !Object.entries(unless).some(isOneOf(old, false))
}

const applies = (old: Old) => (each: Case): boolean => {
  const isLeft = each.left !== undefined
  return meets(each, old, isLeft) && (each.any === undefined || each.any.some((one) => meets(one, old, isLeft)))
}

/** Text as a resource locator in mode `id`; a locator stays. */
export const locator = (value: unknown): unknown =>
  obj(value) === undefined ? { __rl: true, mode: "id", value: value ?? "" } : value

const withCase = (parameters: Obj) => (given: Obj, each: Case): Obj => {
  let next = given
  const get = (at: string) => JsonPath.get(next, path(at)) ?? JsonPath.get(parameters, path(at))
  for (const [from, to] of Object.entries(each.rename ?? {})) {
    const value = JsonPath.get(next, path(from))
    if (value !== undefined) next = put(put(next, path(from), undefined), path(to), value)
  }
  for (const [from, to] of Object.entries(each.move ?? {})) {
    next = put(put(next, path(to), get(from)), path(from), undefined)
  }
  for (const at of each.locator ?? []) next = put(next, path(at), locator(get(at)))
  for (const [at, value] of Object.entries(each.absent ?? {})) {
    if (JsonPath.get(next, path(at)) === undefined) next = put(next, path(at), value)
  }
  for (const [at, value] of Object.entries(each.set ?? {})) next = put(next, path(at), value ?? undefined)
  return (each.remove ?? []).reduce((rest, at) => put(rest, path(at), undefined), next)
}

/** Whether a value on the path is not an object, such as a collection given as an expression. */
const isBlocked = (parameters: Obj, { absent, locator, move, remove, rename, set }: Case) =>
  [absent, move, rename, set].flatMap((paths) => Object.keys(paths ?? {}))
    .concat(locator ?? [], remove ?? [], Object.values({ ...rename, ...move }))
    .some((at) =>
      path(at).slice(0, -1).some((_, depth, steps) => {
        const outer = JsonPath.get(parameters, steps.slice(0, depth + 1))
        return outer !== undefined && obj(outer) === undefined
      })
    )

const put = (parameters: Obj, path: JsonPath.Path, value: unknown): Obj =>
  obj(JsonPath.modify(parameters, path, () => value)) ?? parameters

const ofCases = (cases: ReadonlyArray<Case>): Mapping => (old) => {
  const matching = cases.filter(applies(old))
  const undecided = matching.find((each) => each.left !== undefined)?.left
  if (undecided !== undefined && !old.isAccepted) return Result.fail(undecided)
  if (matching.some((each) => isBlocked(old.own, each))) {
    return left("A group of its parameters is an expression.", "Set these parameters one by one, then upgrade again.")
  }
  const changed = matching.reduce<Obj>(withCase(old.parameters), old.own)
  const values = Object.fromEntries(Object.entries(changed).filter(([key, value]) => !equals(old.own[key], value)))
  const fails = matching.find((each) => each.fails !== undefined)?.fails
  return carry({ ...old, own: changed }, values, {
    keys: Object.assign({}, ...matching.map(({ keys }) => keys)),
    ...(fails === undefined ? {} : { fails })
  })
}

const ofData = ({ cases, rewritten, to }: StepData): Mapping | undefined =>
  rewritten === true
    ? (old) =>
      old.isAccepted ? carry(old) : left(
        `Version ${to} is a new node: what it asks of the service, and returns, can differ.`,
        "Compare what both versions return, and change what follows."
      )
    : cases && ofCases(cases)

/** Steps from data, some of which have a mapping in code. */
export const steps = (
  data: { readonly [type: string]: ReadonlyArray<StepData> },
  code: { readonly [type: string]: { readonly [to: string]: Mapping } } = {}
): Steps =>
  Object.fromEntries(
    Object.entries(data).map(([type, list]) => [
      type,
      list.map((step) =>
        defined({
          to: step.to,
          fails: step.fails,
          rewritten: step.rewritten,
          change: code[type]?.[step.to] ?? ofData(step)
        })
      )
    ])
  )
