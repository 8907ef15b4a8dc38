/** If, Filter and Switch: routes of items by conditions. */
import type { Parse } from "../../base/JavaScript.ts"
import { arr, num, type Obj, obj, str } from "../../base/Json.ts"
import * as Graph from "../Graph.ts"
import { condition, filter, ofTypes, operand, undecided } from "./filters.ts"
import { continues, done, entriesOf, left, type Mapping, type Outcome, type Step } from "./mapping.ts"

const constantly = "Write the value without an expression, or with one that can be read, then upgrade again."

/** Operand as a newer filter, for which an empty text or list is missing, has to get it; earlier ones read a number. */
const number = (raw: unknown, parse: Parse, blank = "0"): unknown | undefined => {
  const { code, isLiteral, kind, value } = operand(raw, parse)
  if (isLiteral) return typeof value === "string" && value.trim() === "" ? JSON.parse(blank) : raw
  const isBlank = `(typeof value === "string" ? !value.trim() : Array.isArray(value) && !value.length)`
  return kind === "number" ? raw : code && `={{ (value => ${isBlank} ? ${blank} : value)(${code}) }}`
}

const isNumeric = (each: Obj) => {
  const { rightType, type } = obj(each["operator"]) ?? {}
  return type === "number" || rightType === "number"
}

/** Condition in which a text without a number stays an error. */
const failing = (each: Obj, parse: Parse): Obj | undefined => {
  const { singleValue, type } = obj(each["operator"]) ?? {}
  const convert = (value: unknown) => value === undefined ? value : number(value, parse, `"-"`)
  const [before, after] = [
    type === "number" ? convert(each["leftValue"]) : each["leftValue"],
    singleValue === true ? each["rightValue"] : convert(each["rightValue"])
  ]
  return before === undefined && each["leftValue"] !== undefined ||
      after === undefined && each["rightValue"] !== undefined
    ? undefined
    : { ...each, leftValue: before, rightValue: after }
}

const boolean = (raw: unknown, parse: Parse): unknown | undefined => {
  const { code, isLiteral, kind, value } = operand(raw, parse)
  if (isLiteral) return value === null || value === undefined ? raw : Boolean(value)
  return kind === "boolean" ? raw : code && `={{ ${code} == null ? ${code} : Boolean(${code}) }}`
}

const isNonzero = (value: unknown, parse: Parse) => {
  const read = operand(value, parse)
  return read.isLiteral && (typeof read.value === "number" || typeof read.value === "string") &&
    Number(read.value) !== 0
}

const newer = (each: Obj, from: number, to: number, parse: Parse): Obj | undefined => {
  const { operation, singleValue, type } = obj(each["operator"]) ?? {}
  const { leftValue, rightValue } = each
  const isAlone = singleValue === true || /^(?:not)?(?:exists|empty|true|false)$/i.test(String(operation))
  const both = (convert: typeof number): Obj | undefined => {
    const [before, after] = [convert(leftValue, parse), isAlone ? rightValue ?? "" : convert(rightValue, parse)]
    return before === undefined && leftValue !== undefined || after === undefined && rightValue !== undefined
      ? undefined
      : { ...each, leftValue: before, rightValue: after }
  }
  if (type === "boolean" && from < 2 && to >= 2) return both(boolean)
  if (type === "number" && to >= 3) {
    if (/^(?:gt|lt|gte|lte)$/.test(String(operation))) return each
    return !isAlone && (isNonzero(leftValue, parse) || isNonzero(rightValue, parse)) ? each : both(number)
  }
  const rightType = obj(each["operator"])?.["rightType"]
  if (rightType !== "number" || to < 3 || !String(operation).endsWith("Equals")) return each
  const after = number(rightValue, parse)
  return after === undefined ? undefined : { ...each, rightValue: after }
}

/** Whether a strict filter compares numbers in a version for which an empty text is an error, and a later one. */
const isStricter = (given: Obj, to: number) => {
  const { typeValidation, version = 1 } = obj(given["options"]) ?? {}
  return to >= 3 && Number(version) < 3 && typeValidation !== "loose" &&
    arr(given["conditions"]).some((each) => isNumeric(obj(each) ?? {}))
}

const renewed = (given: Obj, to: number, parse: Parse, goesOn = false): Obj | undefined => {
  const options = obj(given["options"]) ?? {}
  const from = num(options["version"]) ?? 1
  if (!Array.isArray(given["conditions"])) return given
  const all = given["conditions"].map((each) => obj(each) ?? {})
  const conditions = options["typeValidation"] === "loose" && from < to
    ? all.map((each) => newer(each, from, to, parse))
    : goesOn && isStricter(given, to)
    ? all.map((each) => isNumeric(each) ? failing(each, parse) : each)
    : given["conditions"]
  return conditions.includes(undefined) ? undefined : { ...given, conditions, options: { ...options, version: to } }
}

const full = (given: unknown): Obj => ({
  ...obj(given),
  options: {
    caseSensitive: true,
    leftValue: "",
    typeValidation: "strict",
    version: 1,
    ...obj(obj(given)?.["options"])
  },
  combinator: obj(given)?.["combinator"] ?? "and"
})

const hard = (what: string) => left(`Version ${what} converts empty values of a condition in another way.`, constantly)

/** Options by which n8n's editor shows, and rewrites, a filter's behaviour. */
const shown = (own: Obj, filters: ReadonlyArray<Obj>, isLooseOption: boolean): Obj => {
  const all = filters.map((each) => obj(each["options"]) ?? {})
  const [isLoose, ignoresCase] = [
    all.some(({ typeValidation }) => typeValidation === "loose"),
    all.some(({ caseSensitive }) => caseSensitive === false)
  ]
  const { ignoreCase: _, looseTypeValidation: __, ...options } = obj(own["options"]) ?? {}
  return {
    ...(isLooseOption || !isLoose ? {} : { looseTypeValidation: true }),
    options: {
      ...options,
      ...(ignoresCase ? { ignoreCase: true } : {}),
      ...(isLooseOption && isLoose ? { looseTypeValidation: true } : {})
    }
  }
}

const kindOf = (version: number, [second, third]: readonly [number, number]) =>
  version >= third ? 3 : version >= second ? 2 : 1

const filters =
  (combinator: (parameters: Obj) => string): Mapping => ({ lookups, nextVersion, node, own, parameters, version }) => {
    const kind = kindOf(nextVersion, [2.2, 2.3])
    if (version < 2) {
      const made = ofTypes(parameters["conditions"], combinator(parameters), lookups.parse)
      if ("_tag" in made) return made as Outcome
      const conditions = renewed(obj(made["conditions"]) ?? {}, kind, lookups.parse) ?? {}
      const all = Object.entries(obj(parameters["conditions"]) ?? {})
      const canFail = all.some(([type, list]) => arr(list).some((each) => fallible(type, obj(each) ?? {})))
      return done({ conditions, ...shown({}, [conditions], nextVersion < 2.1) }, canFail ? { fails: allOrOne } : {})
    }
    const { looseTypeValidation: _, ...rest } = own
    if (obj(own["conditions"]) === undefined) return done(own)
    const conditions = renewed(full(own["conditions"]), kind, lookups.parse, continues(node))
    return conditions === undefined
      ? hard(String(nextVersion))
      : done({ ...rest, conditions, ...shown(own, [conditions], nextVersion < 2.1) })
  }

const allOrOne =
  "If the comparison of one item fails, all items go on by the first output; the new version decides for each."

/** Whether a condition of the first versions fails for some values. */
const fallible = (type: string, { operation, value2 }: Obj) =>
  type === "dateTime" || /^=?(?:not)?(?:startsWith|endsWith|after|before)$/i.test(String(operation)) ||
  /regex$/i.test(String(operation)) && !(typeof value2 === "string" && !value2.startsWith("="))

const through = (versions: ReadonlyArray<number>, change: Mapping): ReadonlyArray<Step> =>
  versions.map((to) => ({ to, change }))

export const ifs = through(
  [2, 2.1, 2.2, 2.3],
  filters(({ combineOperation }) => combineOperation === "any" ? "or" : "and")
)
export const filterNodes = through(
  [2, 2.1, 2.2, 2.3],
  filters(({ combineConditions }) => combineConditions === "OR" ? "or" : "and")
)

interface Route {
  readonly output: number
  readonly conditions: ReadonlyArray<Obj>
  readonly name?: string
}

/** Routes of the first Switch, one for each output; `undefined` if the order of rules across outputs can matter. */
const merged = (routes: ReadonlyArray<Route>, areDisjoint: boolean): ReadonlyArray<Route> | undefined => {
  const all = new Map<number, Route>()
  let last: number | undefined
  for (const route of routes) {
    const before = all.get(route.output)
    if (before !== undefined && last !== route.output && !areDisjoint) return undefined
    all.set(route.output, { ...route, conditions: [...before?.conditions ?? [], ...route.conditions] })
    last = route.output
  }
  const list = [...all.values()]
  return areDisjoint ? list.toSorted((a, b) => a.output - b.output) : list
}

const switched: Mapping = ({ graph, lookups, name, nextVersion, own, parameters, version, workflow }) => {
  const isFirst = version < 2
  const expects = (what: string) =>
    left(
      `${what} of the old version has no counterpart.`,
      "Add a Switch of the new version with rules for the same outputs, connect it in place of this one, and remove this one."
    )
  if (parameters["mode"] === "expression") {
    const count = isFirst ? 4 : num(parameters["outputsAmount"])
    return count === undefined || parameters["output"] === undefined
      ? expects("A number of outputs that depends on data")
      : done({ mode: "expression", numberOutputs: count, output: parameters["output"] })
  }
  if (parameters["mode"] !== "rules") return expects("The mode")
  const rules = entriesOf(parameters["rules"], "rules")
  const dataType = str(parameters["dataType"]) ?? "number"
  if (rules.length === 0) return expects("A fallback without rules")
  const routes: Array<Route> = []
  for (const [index, rule] of rules.entries()) {
    const old = { ...rule, value1: parameters["value1"] }
    const made = condition(
      old,
      dataType === "dateTime" ? "after" : dataType === "number" ? "smaller" : "equal",
      lookups.parse
    )
    if (made === undefined) return undecided(old)
    const output = isFirst ? num(rule["output"]) : index
    if (output === undefined || output < 0 || isFirst && output > 3) return expects("An output that does not exist")
    const title = str(rule["outputKey"])
    routes.push({ output, conditions: [made], ...(title ? { name: title } : {}) })
  }
  const texts = rules.map((rule) => operand(rule["value2"], lookups.parse))
  const areDisjoint = rules.every(({ operation }) => (operation ?? "equal") === "equal") &&
    texts.every(({ isLiteral }) => isLiteral)
  const list = isFirst ? merged(routes, areDisjoint) : routes
  const fallback = num(parameters["fallbackOutput"])
  if (list === undefined || fallback === undefined) return expects("The order of its rules, or its fallback,")
  const places = new Map(list.map(({ output }, index) => [output, index]))
  const isExtra = fallback >= 0 && !places.has(fallback)
  if (isExtra && !isFirst || fallback > 3 && isFirst) return expects("A fallback to an output that does not exist")
  if (isExtra) places.set(fallback, list.length)
  const linked = graph.out(name).find((link) => Graph.isMain(link) && !places.has(link.output.index))
  if (linked !== undefined) {
    return left(
      `No rule leads to its linked output ${linked.output.index}.`,
      "Remove the links of that output, then upgrade again."
    )
  }
  const order = [...places].toSorted(([a], [b]) => a - b).map(([, place]) => place)
  const isMoved = order.some((place, index) => index > 0 && place < (order[index - 1] ?? 0))
  if (isMoved && obj(workflow["settings"])?.["executionOrder"] !== "v1") {
    return left(
      "The new version has its outputs in the order of its rules, and this workflow runs branches in the order of outputs.",
      "Put the rules in the order of their outputs, or set executionOrder to v1 in the workflow's settings; then upgrade again."
    )
  }
  const kind = kindOf(nextVersion, [3.2, 3.4])
  const values = list.map(({ conditions, name: title }) => ({
    conditions: renewed(filter(conditions, conditions.length > 1 ? "or" : "and"), kind, lookups.parse),
    ...(title === undefined ? {} : { renameOutput: true, outputKey: title })
  }))
  const to = fallback < 0 ? undefined : isExtra ? "extra" : places.get(fallback)
  const options = { ...obj(own["options"]), ...(to === undefined ? {} : { fallbackOutput: to }) }
  return done(
    {
      rules: { values },
      ...(nextVersion < 3.1
        ? { options: { ...options, looseTypeValidation: true } }
        : { looseTypeValidation: true, options })
    },
    {
      ...(isFirst ? { outputs: (index) => places.get(index) ?? index } : {}),
      ...(rules.some((each) => fallible(dataType, each))
        ? { fails: "Items whose comparison fails go on otherwise." }
        : {})
    }
  )
}

const renewedSwitch: Mapping = (old) => {
  const { lookups, nextVersion, own, version } = old
  if (version < 3) return switched(old)
  const { looseTypeValidation: _, ...rest } = own
  const count = own["numberOutputs"]
  if (nextVersion >= 3.3 && typeof count === "string" && count.startsWith("=")) {
    return left(
      "Its number of outputs is an expression, which 3.3 does not accept.",
      "Set numberOutputs to a number, then upgrade again."
    )
  }
  const rules = entriesOf(own["rules"], "values")
  const kind = kindOf(nextVersion, [3.2, 3.4])
  const values = rules.map((each): Obj | undefined => {
    if (obj(each["conditions"]) === undefined) return each
    const conditions = renewed(full(each["conditions"]), kind, lookups.parse)
    return conditions && { ...each, conditions }
  })
  if (values.includes(undefined)) return hard(String(nextVersion))
  const all = values.map((each) => obj(each?.["conditions"])).filter((each) => each !== undefined)
  if (all.length === 0) return done(own)
  const distinct = new Set(all.map((each) =>
    JSON.stringify([
      obj(each["options"])?.["caseSensitive"],
      obj(each["options"])?.["typeValidation"]
    ])
  ))
  return distinct.size > 1
    ? left(
      "Its rules compare in different ways, which n8n's editor cannot show.",
      "Set the same options in all rules, then upgrade again."
    )
    : done(
      { ...rest, rules: { ...obj(own["rules"]), values }, ...shown(own, all, nextVersion < 3.1) },
      rules.some((each) => isStricter(full(each["conditions"]), kind))
        ? { fails: "From version 3.4 on, a comparison of numbers does not fail for an empty text or list." }
        : {}
    )
}

export const switches = through([3, 3.1, 3.2, 3.3, 3.4], renewedSwitch)
