/** Node types as n8n's packages describe them in `dist/types/nodes.json`, without keys that nothing here reads. */
import * as Schema from "effect/Schema"
import { fold } from "../../base/Nearest.ts"

const optional = Schema.optionalKey

/** Accepted values by name; conditions such as `{_cnd: {gte: 2}}` too. */
const Rules = Schema.Record(Schema.String, Schema.Array(Schema.Unknown))

/**
 * Conditions under which a parameter is visible: all rules of `show` are met, and none of `hide`. The name of a rule is
 * a parameter beside this one, a path from the root with a leading slash, `@version` (the node's typeVersion) or
 * `@tool` (whether the node is the tool variant of its type).
 */
export const DisplayOptions = Schema.Struct({ show: optional(Rules), hide: optional(Rules) })
export type DisplayOptions = typeof DisplayOptions.Type

/** Way to select a resource: from a list, by id, by URL. */
export const Mode = Schema.Struct({
  name: Schema.String,
  displayName: optional(Schema.String),
  type: optional(Schema.String),
  hint: optional(Schema.String),
  placeholder: optional(Schema.String),
  validation: optional(Schema.Array(Schema.Struct({
    type: Schema.String,
    properties: optional(Schema.Struct({ regex: optional(Schema.String), errorMessage: optional(Schema.String) }))
  })))
})
export type Mode = typeof Mode.Type

/** Choice of `options` and `multiOptions`. */
export const Choice = Schema.Struct({
  name: Schema.String,
  value: Schema.Union([Schema.String, Schema.Finite, Schema.Boolean]),
  description: optional(Schema.String),
  displayOptions: optional(DisplayOptions)
})
export type Choice = typeof Choice.Type

/** Group of parameters in a `fixedCollection`: an object, or a list of objects with `typeOptions.multipleValues`. */
export interface Group {
  readonly name: string
  readonly displayName: string
  readonly values: ReadonlyArray<Property>
}

const propertyFields = {
  name: Schema.String,
  displayName: Schema.String,
  type: Schema.String,
  default: optional(Schema.Unknown),
  description: optional(Schema.String),
  hint: optional(Schema.String),
  placeholder: optional(Schema.String),
  required: optional(Schema.Boolean),
  displayOptions: optional(DisplayOptions),
  modes: optional(Schema.Array(Mode)),
  typeOptions: optional(Schema.Record(Schema.String, Schema.Unknown)),
  validateType: optional(Schema.String),
  noDataExpression: optional(Schema.Boolean),
  ignoreValidationDuringExecution: optional(Schema.Boolean),
  allowArbitraryValues: optional(Schema.Boolean),
  isNodeSetting: optional(Schema.Boolean),
  credentialTypes: optional(Schema.Array(Schema.String)),
  /** Marks a value that names fields of the items: one, or several with commas. */
  requiresDataPath: optional(Schema.String),
  /** n8n's advice to those who build workflows with a model. */
  builderHint: optional(Schema.Struct({ propertyHint: optional(Schema.String) }))
}

/** Parameter of a node type; `options` are choices, parameters or groups. Names repeat under other conditions. */
export interface Property extends Schema.Struct.Type<typeof propertyFields> {
  readonly options?: ReadonlyArray<Choice | Group | Property>
}

const Property: Schema.Codec<Property> = Schema.Struct({
  ...propertyFields,
  options: optional(Schema.Array(Schema.suspend(() => Option)))
})

const Group: Schema.Codec<Group> = Schema.Struct({
  name: Schema.String,
  displayName: Schema.String,
  values: Schema.Array(Schema.suspend(() => Property))
})

const Option: Schema.Codec<Choice | Group | Property> = Schema.Union([Property, Group, Choice])

export const choices = ({ options }: Property): ReadonlyArray<Choice> =>
  (options ?? []).filter((option): option is Choice => "value" in option)

export const members = ({ options }: Property): ReadonlyArray<Property> =>
  (options ?? []).filter((option): option is Property => "type" in option)

export const groups = ({ options }: Property): ReadonlyArray<Group> =>
  (options ?? []).filter((option): option is Group => "values" in option)

/** Input or output; a string is its connection type. */
const Port = Schema.Union([
  Schema.String,
  Schema.Struct({
    type: Schema.String,
    displayName: optional(Schema.String),
    required: optional(Schema.Boolean),
    maxConnections: optional(Schema.Finite),
    category: optional(Schema.String),
    filter: optional(Schema.Struct({
      nodes: optional(Schema.Array(Schema.String)),
      excludedNodes: optional(Schema.Array(Schema.String))
    }))
  })
])
export type Port = typeof Port.Type

/** Ports, or the expression (`={{ … }}`) that computes them from `$parameter` and `$nodeVersion`. */
const Ports = Schema.Union([Schema.String, Schema.Array(Port)])
export type Ports = typeof Ports.Type

const Credential = Schema.Struct({
  name: Schema.String,
  displayName: optional(Schema.String),
  required: optional(Schema.Boolean),
  displayOptions: optional(DisplayOptions)
})
type Credential = typeof Credential.Type

/** Description of a node type for one or several of its versions. */
export const Description = Schema.Struct({
  name: Schema.String,
  displayName: Schema.String,
  description: optional(Schema.String),
  /** `trigger`, `transform`, `input`, `output`, `schedule`, `organization`. */
  group: Schema.Array(Schema.String),
  version: Schema.Union([Schema.Finite, Schema.Array(Schema.Finite)]),
  /** Version of new nodes; the highest if absent. */
  defaultVersion: optional(Schema.Finite),
  defaults: optional(Schema.Struct({ name: optional(Schema.String) })),
  inputs: Ports,
  outputs: Ports,
  inputNames: optional(Schema.Array(Schema.String)),
  outputNames: optional(Schema.Array(Schema.String)),
  requiredInputs: optional(Schema.Unknown),
  credentials: optional(Schema.Array(Credential)),
  properties: Schema.Array(Property),
  /** Whether there is a variant for AI agents, named after the type with the suffix `Tool`. */
  usableAsTool: optional(Schema.Unknown),
  hidden: optional(Schema.Boolean),
  polling: optional(Schema.Boolean),
  webhooks: optional(Schema.Array(Schema.Struct({ name: optional(Schema.String) }))),
  maxNodes: optional(Schema.Finite),
  /** Path of the schemas of the node's output in the package, if not beside the node. */
  schemaPath: optional(Schema.String),
  /** n8n's advice to those who build workflows with a model. */
  builderHint: optional(Schema.Struct({ searchHint: optional(Schema.String) })),
  codex: optional(Schema.Struct({
    categories: optional(Schema.Array(Schema.String)),
    subcategories: optional(Schema.Unknown),
    alias: optional(Schema.Array(Schema.String)),
    resources: optional(Schema.Struct({
      primaryDocumentation: optional(Schema.Array(Schema.Struct({ url: optional(Schema.String) })))
    }))
  }))
})
export type Description = typeof Description.Type

/** Node type with all its versions. */
export interface NodeType {
  /** Name in workflows: `n8n-nodes-base.httpRequest`. */
  readonly type: string
  /** Type from which n8n derives this one. */
  readonly base?: string
  /** Newest first; each version is in only one of them. */
  readonly descriptions: ReadonlyArray<Description>
  /** Fields of the newest version's output items by resource and operation (`message/getAll`). */
  readonly itemFields?: Readonly<Record<string, string>>
}

export const versionsOf = ({ version }: Description): ReadonlyArray<number> =>
  typeof version === "number" ? [version] : version

export const versions = ({ descriptions }: NodeType): ReadonlyArray<number> =>
  [...new Set(descriptions.flatMap(versionsOf))].toSorted((a, b) => a - b)

export const defaultVersion = (nodeType: NodeType): number =>
  nodeType.descriptions.find((description) => description.defaultVersion !== undefined)?.defaultVersion ??
    versions(nodeType).at(-1) ?? 1

export const at = ({ descriptions }: NodeType, version: number): Description | undefined =>
  descriptions.find((description) => versionsOf(description).includes(version))

/** Existing types, and a search for the names nearest to another. */
interface Known {
  readonly types: ReadonlyArray<string>
  readonly nearest: (name: string, names: Iterable<string>) => ReadonlyArray<string>
}

/** Name without the package: `httpRequest` of `n8n-nodes-base.httpRequest`. */
export const shortName = (type: string) => type.slice(type.lastIndexOf(".") + 1)

/** Known types with the same name apart from package, case and separators. */
const namesakes = (type: string, types: ReadonlyArray<string>) => {
  const folded = fold(shortName(type))
  return types.filter((each) => fold(shortName(each)) === folded)
}

/** Type with its package: for a name without one (`webhook`, `HTTP Request`) the only known type of that name. */
export const withPackage = (type: string, types: ReadonlyArray<string>): string => {
  const [only, other] = type.includes(".") ? [] : namesakes(type, types)
  return other === undefined ? only ?? type : type
}

/** Known types with the same name in another package or spelling; otherwise the nearest by name. */
export const nearestTypes = (
  type: string,
  { nearest, types }: Known
): ReadonlyArray<string> => {
  const same = namesakes(type, types)
  if (same.length > 0) return same
  const byName = new Map(types.map((each) => [shortName(each), each]))
  return nearest(shortName(type), byName.keys()).flatMap((name) => byName.get(name) ?? [])
}
