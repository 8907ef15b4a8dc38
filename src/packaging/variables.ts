/** The environment variables of the server, told by its options: each names its twin at the end of its description. */
import type * as Flag from "effect/cli/Flag"
import * as Param from "effect/cli/Param"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as HttpOptions from "../HttpOptions.ts"
import * as Options from "../Options.ts"

/** One option, as a form would ask for it. */
export interface Variable {
  readonly name: string
  readonly description: string
  readonly format: "string" | "number" | "boolean" | "filepath"
  readonly isSecret: boolean
  readonly choices: ReadonlyArray<string>
}

const formats: Record<string, Variable["format"]> = { Boolean: "boolean", Int: "number" }
const paths = new Set(["FILE", "FOLDER", "PATH"])

/** Beneath defaults, fallbacks and repetition. */
const single = (flag: unknown): Param.Single<Param.ParamKind, unknown> => {
  if (Predicate.hasProperty(flag, "param")) return single(flag.param)
  if (Param.isParam(flag) && Param.isSingle(flag)) return flag
  throw new Error("An option of an unknown kind")
}

const choices = (primitive: object): ReadonlyArray<string> =>
  Predicate.hasProperty(primitive, "choiceKeys") && Array.isArray(primitive.choiceKeys) ? primitive.choiceKeys : []

const toVariable = (flag: Flag.Flag<unknown>): Variable => {
  const { description, name, primitiveType, typeName } = single(flag)
  const [, text, variable] = /^(.*) \[(\w+)\]$/s.exec(Option.getOrElse(description, () => "")) ?? []
  if (text === undefined || variable === undefined) throw new Error(`--${name} does not name its variable`)
  return {
    name: variable,
    description: text,
    format: paths.has(typeName ?? "") ? "filepath" : formats[primitiveType._tag] ?? "string",
    isSecret: primitiveType._tag === "Redacted",
    choices: choices(primitiveType)
  }
}

/** Those that mean something over stdio. */
export const variables: ReadonlyArray<Variable> = Object.entries(Options.flags)
  .filter(([key]) => !(key in HttpOptions.flags))
  .map(([, flag]) => toVariable(flag))

/** One of them. */
export const variable = (name: string): Variable => {
  const found = variables.find((each) => each.name === name)
  if (found === undefined) throw new Error(`There is no option for ${name}`)
  return found
}
