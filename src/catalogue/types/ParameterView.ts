/** Parameters as a model sees them: in one line, in some lines, or whole. */
import * as Schema from "effect/Schema"
import { defined, obj } from "../../base/Json.ts"
import operators from "../parameters/operators.json" with { type: "json" }
import { isShown, type Scope } from "../parameters/ParameterValues.ts"
import { choices, type DisplayOptions, groups, members, type Property } from "./NodeType.ts"
import listed from "./shapes.json" with { type: "json" }

export interface Parameter {
  /** n8n's type: `string`, `options`, `collection`, `resourceLocator`, … */
  readonly type: string
  readonly required?: boolean
  readonly list?: boolean
  readonly default?: Schema.Json
  readonly options?: Schema.Json
  readonly optionCount?: number
  /** Whether n8n loads the options from the service. */
  readonly dynamic?: boolean
  readonly shape?: string
  /** Operations of a filter's conditions by the operator's type. */
  readonly operators?: Readonly<Record<string, string>>
  /** Modes of a resource locator, `{__rl: true, mode, value}`. */
  readonly modes?: ReadonlyArray<string>
  /** Inner parameters: names, or parameters by name; in a `fixedCollection` by group. */
  readonly fields?: ReadonlyArray<string> | { readonly [name: string]: Parameter | NonNullable<Parameter["fields"]> }
  readonly description?: string
  /** n8n's advice to those who build workflows with a model. */
  readonly hint?: string
  readonly placeholder?: string
  readonly when?: string
}

const wire = Schema.StructWithRest(Schema.Struct({ type: Schema.String }), [Schema.Record(Schema.String, Schema.Json)])

/** Only the type is in the wire schema: the whole would be repeated in every list of tools. */
export const Parameter = wire as Schema.Codec<unknown> as Schema.Codec<Parameter, typeof wire.Encoded>

/** Version and variant, which determine a node's parameters. */
export type About = Pick<Scope, "version" | "isTool">

export type Level = "line" | "lines" | "whole"

const most = { line: 25, lines: 40, whole: Infinity } as const
const longest = { line: 0, lines: 120, whole: 600 } as const

/** Text without markup, of at most `length` characters. */
export const plain = (text: string | undefined, length: number): string | undefined => {
  const words = (text ?? "").replace(/<a [^>]*>\s*(more info|learn more|see|read)[^<]*<\/a>\.?/gi, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/Choose from the list, or specify .*? using an expression\.?/, "")
    .replace(/\s+/g, " ")
    .replace(/ ([.,;:!?)])/g, "$1")
    .trim()
  if (words === "" || length === 0) return undefined
  return words.length <= length ? words : `${words.slice(0, length - 1).replace(/\s\S*$/, "")}…`
}

const signs: Readonly<Record<string, string>> = { gte: ">=", lte: "<=", gt: ">", lt: "<", eq: "=", not: "!=" }

const condition = (value: unknown): string => {
  const [[operator, operand] = []] = Object.entries(obj(obj(value)?.["_cnd"]) ?? {})
  return operator === undefined ? JSON.stringify(value) : `${signs[operator] ?? operator} ${JSON.stringify(operand)}`
}

const rules = (conditions: DisplayOptions["show"], word: string) =>
  Object.entries(conditions ?? {}).map(([name, values]) =>
    `${name.replace(/^\//, "")} ${word} ${values.map(condition).join(" or ")}`
  )

/** Property types that are not parameters: remarks and buttons. */
const remarks = new Set(["notice", "callout", "button", "curlImport", "hidden"])

const aboutNode = (conditions: DisplayOptions["show"]) =>
  Object.fromEntries(Object.entries(conditions ?? {}).filter(([name]) => name.startsWith("@")))

/** Parameters or choices of nodes of a version, regardless of their other conditions. */
export const ofVersion = <A extends { readonly displayOptions?: DisplayOptions; readonly type?: string }>(
  properties: ReadonlyArray<A>,
  about: About
): ReadonlyArray<A> =>
  properties.filter(({ displayOptions = {}, type = "" }) =>
    !remarks.has(type) &&
    isShown(
      { show: aboutNode(displayOptions.show), hide: aboutNode(displayOptions.hide) },
      { ...about, values: {}, root: {} }
    )
  )

/** Value in a placeholder, unless it is a remark. */
export const exampleOf = ({ placeholder, type }: Property | { placeholder?: string; type: string }): string => {
  const text = placeholder?.replace(/^e\.?g\.?:?\s*/i, "").trim() ?? ""
  const isRemark = /^(add|select|choose|enter|drag|your)\b|\.{3}$|…$/i.test(text) || text.length > 80
  return isRemark || type.toLowerCase().endsWith("collection") ? "" : text
}

/** Conditions in words: `mode is "rules", @version is >= 3.1`. */
export const when = ({ hide, show }: DisplayOptions): string | undefined =>
  [...rules(show, "is"), ...rules(hide, "is not")].join(", ") || undefined

const longestDefault = 200

const worthTelling = (value: unknown): Schema.Json | undefined => {
  if (value === undefined || value === null || value === "") return undefined
  if (typeof value === "object" && Object.keys(value).length === 0) return undefined
  return JSON.stringify(value).length > longestDefault ? undefined : value as Schema.Json
}

const optionsOf = (property: Property, level: Level, about: About) => {
  const all = ofVersion(choices(property), about)
  if (all.length === 0) return {}
  if (level === "whole") {
    return {
      options: Object.fromEntries(all.map(({ description, name, value }) => [
        String(value),
        plain(description === undefined || description === name ? name : `${name}: ${description}`, 160) ?? name
      ]))
    }
  }
  const values = [...new Set(all.map(({ value }) => value))]
  const shown = values.slice(0, most[level])
  return { options: shown, ...(shown.length < values.length ? { optionCount: values.length } : {}) }
}

/** Name with a number, for parameters that share it under different conditions. */
export const numbered = (name: string, index: number): string => index === 0 ? name : `${name} (${index + 1})`

type Fields = NonNullable<Parameter["fields"]>

const within = (properties: ReadonlyArray<Property>, level: Level, about: About): Fields => {
  const byName = Map.groupBy(ofVersion(properties, about), ({ name }) => name)
  if (level === "line") return [...byName.keys()]
  const [inner, most] = level === "whole" ? ["whole", Infinity] as const : ["line", 1] as const
  return Object.fromEntries(
    [...byName].flatMap(([name, all]) =>
      all.slice(0, most).map((property, index) => [numbered(name, index), view(property, inner, about)])
    )
  )
}

const fieldsOf = (property: Property, level: Level, about: About): Parameter["fields"] => {
  if (property.type === "collection") return within(members(property), level, about)
  if (property.type !== "fixedCollection") return undefined
  return Object.fromEntries(groups(property).map(({ name, values }) => [name, within(values, level, about)]))
}

const shapes: Readonly<Record<string, string>> = listed

/** Sentences about n8n's own SDK for building workflows, which does not apply here. */
const isAboutCode =
  /SDK|expr\(|\w\(\)|\.(?:on|to|out|node)[A-Z(]|subnodes|@example|@builderHint|model-list lookup|[Gg]ateway credits/

/** First sentences of n8n's advice to models that apply here, of at most `length` characters. */
export const advice = (hint: string | undefined, length: number): string | undefined => {
  const sentences = (plain(hint, Infinity) ?? "").split(/(?<=[.!?])\s+(?=[A-Z`'"])/)
    .filter((sentence) => !isAboutCode.test(sentence))
  const fitting = sentences.filter((_, index) => sentences.slice(0, index + 1).join(" ").length <= length)
  return plain(fitting.length === 0 ? sentences[0] : fitting.join(" "), length)
}

export const view = (property: Property, level: Level, about: About): Parameter => {
  const { builderHint, default: initial, description, displayOptions, modes, required, type, typeOptions = {} } =
    property
  return defined({
    type,
    required: required || undefined,
    list: typeOptions["multipleValues"] === true || undefined,
    default: type === "resourceLocator" ? undefined : worthTelling(initial),
    ...optionsOf(property, level, about),
    dynamic: "loadOptionsMethod" in typeOptions || "loadOptions" in typeOptions || undefined,
    shape: level === "line" ? undefined : shapes[type],
    operators: type === "filter" ? operators : undefined,
    modes: modes?.map(({ name }) => name),
    fields: fieldsOf(property, level, about),
    description: plain(description, longest[level]),
    hint: level === "line" ? undefined : advice(builderHint?.propertyHint, level === "whole" ? 600 : 160),
    placeholder: level === "line" ? undefined : exampleOf(property) || undefined,
    when: level === "whole" && displayOptions !== undefined ? when(displayOptions) : undefined
  })
}
