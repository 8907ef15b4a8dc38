/** Parameters in the shape that n8n reads, and filters with what n8n's editor adds to them. */
import { mapValues, type Obj, obj, without } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import { places } from "../../catalogue/parameters/ParameterValues.ts"
import type { Description, Property } from "../../catalogue/types/NodeType.ts"
import type { Lookups } from "../check/CheckedWorkflow.ts"

/** Parameters for a version of a type; without a description nothing is repaired. */
export interface For {
  readonly description: Description | undefined
  readonly typeVersion: number
  readonly parameters: Obj
}

export interface Repaired {
  readonly parameters: Obj
  /** Paths of values whose shape was repaired. */
  readonly reshaped: ReadonlyArray<string>
  /** Paths of filters that were completed. */
  readonly completed: ReadonlyArray<string>
  /** Misshapen values of which more than one thing can be meant. */
  readonly unclear: ReadonlyArray<ParameterRules.Remark>
}

/** Maximum number of repairs inside of repaired values. */
const maxDepth = 10

const strict = { caseSensitive: true, leftValue: "", typeValidation: "strict" }

const optionsOf = (
  { typeOptions }: Property,
  version: number,
  parameters: Obj,
  { evaluate }: Pick<Lookups, "evaluate">
) => ({
  ...strict,
  ...without(
    mapValues(
      obj(typeOptions?.["filter"]) ?? {},
      (value) => ParameterRules.isExpression(value) ? evaluate(value, { parameters, version }) : value
    ),
    (value) => value === undefined || value === null
  )
})

/** Repairs the parameters with these names: a shape of which only one thing can be meant, and filters without options. */
export const repaired = (
  { description, parameters: input, typeVersion }: For,
  isIncluded: (name: string) => boolean,
  { evaluate, suggest }: Pick<Lookups, "evaluate" | "suggest">
): Repaired => {
  if (description === undefined) return { parameters: input, reshaped: [], completed: [], unclear: [] }
  let parameters = input
  const set = (path: ReadonlyArray<JsonPath.Step>, value: unknown) => {
    parameters = obj(JsonPath.modify(parameters, path, () => value)) ?? parameters
  }
  const misshapen = () =>
    ParameterRules.remarks(description, { typeVersion, parameters }, suggest).flatMap((remark) => {
      const steps = JsonPath.parse(remark.path) ?? []
      return remark.shape !== undefined && isIncluded(String(steps[0]))
        ? [{ ...remark, steps, shape: remark.shape }]
        : []
    })
  const reshaped = new Set<string>()
  let unclear = misshapen()
  for (let depth = 0; depth < maxDepth && unclear.some(({ shape }) => "repaired" in shape); depth++) {
    for (const { path, shape, steps } of unclear.filter(({ shape }) => "repaired" in shape)) {
      set(steps, shape.repaired)
      reshaped.add(path)
    }
    unclear = misshapen()
  }
  const completed = places(description, parameters).flatMap(({ path, property, value }) => {
    const filter = obj(value)
    const isWhole = filter === undefined || "options" in filter && "combinator" in filter
    if (property.type !== "filter" || isWhole || !isIncluded(String(path[0]))) return []
    const root = ParameterRules.complete(description, { typeVersion, parameters })
    const options = { ...optionsOf(property, typeVersion, root, { evaluate }), ...obj(filter["options"]) }
    set(path, { combinator: "and", ...filter, options })
    return [path.reduce(JsonPath.member, "")]
  })
  return { parameters, reshaped: [...reshaped], completed, unclear }
}
