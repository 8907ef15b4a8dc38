/** Conditions of a filter (If, Switch, Filter) that fail at run time and are marked in n8n's editor. */
import { deeper, num, type Obj, obj, own, str } from "../../base/Json.ts"
import * as FieldType from "./fieldType.ts"
import { inWords, type Suggest } from "./issues.ts"
import { error, none, type Remarks, warning } from "./kinds.ts"
import { operations } from "./Operators.ts"
import { isExpression } from "./ParameterDisplay.ts"

/** Whether n8n accepts the literal for the type; expressions always pass. */
const isReadable = (value: unknown, type: string, { isStrict, version }: Strictness): boolean => {
  if (!Object.hasOwn(operations, type) || isExpression(value)) return true
  if (type === "boolean" && !isStrict) return true
  const isBlank = (Array.isArray(value) && value.length === 0) || (str(value)?.trim() === "")
  return (type === "number" && isBlank && version >= 3) || FieldType.fits(value, type, { isStrict })
}

interface Strictness {
  readonly isStrict: boolean
  readonly version: number
}

const sides = (condition: Obj, operator: Obj, path: string, strictness: Strictness): Remarks => {
  const type = str(operator["type"]) ?? ""
  const isUnary = Boolean(operator["singleValue"])
  return [["leftValue", type], ...isUnary ? [] : [["rightValue", str(operator["rightType"]) ?? type]]]
    .flatMap(([side = "", expected = ""]) => {
      const value = condition[side]
      if (isReadable(value, expected, strictness)) return none
      return error(
        deeper(path, side),
        `'${side}' is ${inWords(value)}; the operator compares ${expected} and wants ${FieldType.words(expected)}.`,
        strictness.isStrict && FieldType.fits(value, expected)
          ? "Change the value or the operator's type, or set the filter's options.typeValidation to 'loose'."
          : "Change the value or the operator's type, or give an expression that begins with '='."
      )
    })
}

const operation = (operator: Obj, path: string, suggest: Suggest): Remarks => {
  const type = str(operator["type"]) ?? ""
  const name = str(operator["operation"]) ?? ""
  const names = Object.hasOwn(operations, type) ? operations[type] ?? [] : type === "any" ? [] : undefined
  if (names === undefined) {
    return warning(
      deeper(path, "type"),
      `The operator's type is ${inWords(operator["type"])}, which n8n does not know.`,
      suggest(type.slice(0, 100), Object.keys(operations))
    )
  }
  return type === "any" || names.includes(name) ? none : warning(
    deeper(path, "operation"),
    `Type ${type} has no operator '${name}': n8n treats the condition as false.`,
    suggest(name.slice(0, 100), names)
  )
}

export const remarks = (filter: Obj, path: string, suggest: Suggest): Remarks => {
  const { conditions, options } = filter
  if (!Array.isArray(conditions)) {
    return error(
      deeper(path, "conditions"),
      `'conditions' of the filter is ${inWords(conditions)}: n8n fails without an array.`,
      "Give an array of {leftValue, rightValue, operator: {type, operation}}."
    )
  }
  const isStrict = (own(options, "typeValidation") ?? "strict") === "strict"
  const strictness = { isStrict, version: num(own(options, "version")) ?? 1 }
  return conditions.flatMap((condition, index) => {
    const at = deeper(deeper(path, "conditions"), index)
    const operator = obj(own(condition, "operator"))
    if (operator === undefined) {
      return error(
        deeper(at, "operator"),
        `The operator is ${inWords(own(condition, "operator"))}: n8n fails on the condition.`,
        "Give an object such as {type: 'string', operation: 'equals'}."
      )
    }
    return [
      ...operation(operator, deeper(at, "operator"), suggest),
      ...sides(condition as Obj, operator, at, strictness)
    ]
  })
}
