/** Conditions of a filter (If, Switch, Filter) that fail at run time and are marked in n8n's editor. */
import { arr, deeper, num, type Obj, obj, own, str } from "../../base/Json.ts"
import * as FieldType from "./fieldType.ts"
import { inWords, type Remark, type Suggest } from "./issues.ts"
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

const sides = (condition: Obj, operator: Obj, path: string, strictness: Strictness): ReadonlyArray<Remark> => {
  const type = str(operator["type"]) ?? ""
  const isUnary = Boolean(operator["singleValue"])
  return [["leftValue", type], ...isUnary ? [] : [["rightValue", str(operator["rightType"]) ?? type]]]
    .flatMap(([side = "", expected = ""]): ReadonlyArray<Remark> => {
      const value = condition[side]
      if (isReadable(value, expected, strictness)) return []
      return [{
        severity: "error",
        path: deeper(path, side),
        message: `'${side}' is ${inWords(value)}; the operator compares ${expected} and wants ${
          FieldType.words(expected)
        }.`,
        fix: strictness.isStrict && FieldType.fits(value, expected)
          ? "Change the value or the operator's type, or set the filter's options.typeValidation to 'loose'."
          : "Change the value or the operator's type, or give an expression that begins with '='."
      }]
    })
}

const operation = (operator: Obj, path: string, suggest: Suggest): ReadonlyArray<Remark> => {
  const type = str(operator["type"]) ?? ""
  const name = str(operator["operation"]) ?? ""
  const known = Object.hasOwn(operations, type) ? operations[type] ?? [] : undefined
  const isType = known !== undefined || type === "any"
  if (isType && (known === undefined || known.includes(name))) return []
  return [{
    severity: "warning",
    path: deeper(path, isType ? "operation" : "type"),
    message: isType
      ? `Type ${type} has no operator '${name}': n8n treats the condition as false.`
      : `The operator's type is ${inWords(operator["type"])}, which n8n does not know.`,
    fix: isType ? suggest(name.slice(0, 100), known ?? []) : suggest(type.slice(0, 100), Object.keys(operations))
  }]
}

/** Problems of the conditions of a filter object. */
export const remarks = (filter: Obj, path: string, suggest: Suggest): ReadonlyArray<Remark> => {
  const { conditions, options } = filter
  if (!Array.isArray(conditions)) {
    const message = `'conditions' of the filter is ${inWords(conditions)}: n8n fails without an array.`
    return [{
      severity: "error",
      path: deeper(path, "conditions"),
      message,
      fix: "Give an array of {leftValue, rightValue, operator: {type, operation}}."
    }]
  }
  const isStrict = (own(options, "typeValidation") ?? "strict") === "strict"
  const strictness = { isStrict, version: num(own(options, "version")) ?? 1 }
  return arr(conditions).flatMap((condition, index): ReadonlyArray<Remark> => {
    const at = deeper(deeper(path, "conditions"), index)
    const operator = obj(own(condition, "operator"))
    if (operator === undefined) {
      return [{
        severity: "error",
        path: deeper(at, "operator"),
        message: `The operator is ${inWords(own(condition, "operator"))}: n8n fails on the condition.`,
        fix: "Give an object such as {type: 'string', operation: 'equals'}."
      }]
    }
    return [
      ...operation(operator, deeper(at, "operator"), suggest),
      ...sides(condition as Obj, operator, at, strictness)
    ]
  })
}
