/** Nodes to hold against n8n's own judgement: every type as it comes, and bent in every way a generator thinks of. */
import { createRequire } from "node:module"
import type { Obj } from "../../../src/base/Json.ts"
import { suggestion } from "../../../src/base/Nearest.ts"
import { problems } from "../../../src/catalogue/parameters/ParameterRules.ts"
import * as NodeType from "../../../src/catalogue/types/NodeType.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"

interface NodeHelpers {
  readonly getNodeParameters: (
    properties: unknown,
    values: unknown,
    defaults: boolean,
    hidden: boolean,
    node: unknown,
    description: unknown
  ) => Obj
  readonly getNodeParametersIssues: (
    properties: unknown,
    node: unknown,
    description: unknown
  ) => { readonly parameters?: { readonly [name: string]: ReadonlyArray<string> } } | null
  readonly displayParameter: (values: unknown, property: unknown, node: unknown, description: unknown) => boolean
}

export const n8n = (createRequire(import.meta.url)("n8n-workflow") as { NodeHelpers: NodeHelpers }).NodeHelpers

/** A description of ours beside the one it was decoded from, for one version. */
export interface Subject {
  readonly description: NodeType.Description
  readonly version: number
  readonly raw: Obj
}

const raws: ReadonlyMap<string, Obj> = new Map(
  nodeTypes.packages.flatMap((name) =>
    nodeTypes.read(name).flatMap((raw) => {
      const { name: type, version } = raw as { name: string; version: number | ReadonlyArray<number> }
      return [version].flat().map((one) => [`${name}.${type}@${one}`, raw as Obj] as const)
    })
  )
)

export const subjects: ReadonlyArray<Subject> = nodeTypes.versions.flatMap(([{ type }, description, version]) => {
  const raw = raws.get(`${type}@${version}`)
  return raw === undefined ? [] : [{ description, version, raw }]
})

export interface Case extends Subject {
  readonly parameters: Obj
  readonly isTool?: boolean
}

const values = (properties: ReadonlyArray<NodeType.Property>, name: string): ReadonlyArray<unknown> => [
  ...new Set(properties.filter((one) => one.name === name).flatMap(NodeType.choices).map(({ value }) => value))
]

/** With nothing set, and with every operation of every resource. */
export const plain = (subject: Subject): ReadonlyArray<Case> => {
  const { properties } = subject.description
  const resources = values(properties, "resource")
  const operations = values(properties, "operation")
  const pairs = (resources.length === 0 ? [{}] : resources.map((resource) => ({ resource })))
    .flatMap((resource) => operations.map((operation) => ({ ...resource, operation })))
  return [{}, ...pairs].map((parameters) => ({ ...subject, parameters }))
}

/** Numbers below one, the same for the same seed. */
export const random = (seed: number): () => number => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const oddTexts = String.raw`
 |x|a b|5|1e3|true|FALSE|={{ $json.a }}|{{ $json.a }}|=5|a@b.com|a@b   !|gpt-5|~12|0123456789abcdef0123456789abcdef
2020-13-01|2025-01-31|2025-W05-1|2025-031|20250131|20250131T0900|10:30|T10:30|1700000000|Fri, 31 Jan 2025 09:00:00 GMT
2025-01-31 09:00:00|31.01.2025|Jan 31 2025|09:30:00|9:3|https://example.com/x|ftp://x|mailto:a@b|//x|a.b.c
{}|[]|null|[1|[1]|{a: 1}|{'a': 'b'}|['a']|{a: [1, 'x'],}|{{}}|[{"fieldLabel":"a"}]|[{"x":1}]|[{"fieldType":"date"}]
[{"fieldOptions":{"values":[{"option":"a"}]}}]|[{"fieldOptions":[{"o":1}]}]|={{ $fromAI('a') }}|=$fromAI('a', f())
={{ $fromAI('a', 'b c', "string") }}|={{ $fromAI('a') + 1 }}|={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('a') }}
`

/** Values that types accept, and that they do not. */
export const odd: ReadonlyArray<unknown> = [
  "",
  ...oddTexts.slice(1, -1).split(/[|\n]/),
  "=$fromAI('a', `b`)",
  "=$fromAI('a', tag`b`)",
  ...JSON.parse(
    `[0, 1, -1, 2.5, 1e21, true, false, null, [], [""], ["x"], [1, "=x"], [[["x"]]], {}, {"a": 1}, {"value": "x"},
      {"__rl": true, "value": "x"}, {"mimeType": "a", "data": "b"}]`
  ) as ReadonlyArray<unknown>
]

const types = "string number boolean dateTime time object array options url jwt any odd".split(" ")

/** Draws of one generator. */
export const draws = (next: () => number) => {
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(next() * from.length)] as A
  const chance = (share: number) => next() < share
  const many = <A>(most: number, make: () => A): Array<A> =>
    Array.from({ length: Math.floor(next() * (most + 1)) }, make)

  const locator = (property: NodeType.Property): unknown => {
    const modes = property.modes ?? []
    const mode = modes.length === 0 ? undefined : pick(modes)
    const value = chance(0.4) ? mode?.placeholder ?? "1" : pick(odd)
    return { ...chance(0.9) ? { __rl: true } : {}, mode: chance(0.9) ? mode?.name ?? "id" : "none", value }
  }

  const mapper = (): unknown => {
    const field = (_: unknown, index: number) => ({
      id: `f${index}`,
      type: pick(types),
      required: chance(0.5),
      ...chance(0.5) ? { options: [{ name: "X", value: "x" }] } : {}
    })
    const schema = Array.from({ length: 4 }, field)
    const value = Object.fromEntries(schema.filter(() => chance(0.7)).map(({ id }) => [id, pick(odd)]))
    return {
      mappingMode: chance(0.8) ? "defineBelow" : "autoMapInputData",
      value: chance(0.9) ? value : null,
      ...chance(0.9) ? { schema } : {}
    }
  }

  const filter = (): unknown => ({
    ...chance(0.5) ? { combinator: "or" } : {},
    ...chance(0.3) ? { options: { version: pick([1, 2, 3]), typeValidation: pick(["loose", "strict"]) } } : {},
    conditions: many(3, () => ({
      leftValue: pick(odd),
      rightValue: pick(odd),
      ...chance(0.9) ? { operator: { type: pick(types), operation: "equals" } } : {}
    }))
  })

  const some = (properties: ReadonlyArray<NodeType.Property>, share: number): Obj =>
    Object.fromEntries(properties.filter(() => chance(share)).map((property) => [property.name, value(property)]))

  const group = (property: NodeType.Property, one: NodeType.Group): unknown => {
    const isMany = property.typeOptions?.["multipleValues"] === true
    return chance(isMany ? 0.99 : 0.02)
      ? many(3, () => chance(0.97) ? some(one.values, 0.5) : pick(odd))
      : some(one.values, 0.5)
  }

  /** A value of the type, or more rarely any. */
  const value = (property: NodeType.Property): unknown => {
    if (chance(0.15)) return pick(odd)
    const groups = NodeType.groups(property)
    const members = NodeType.members(property)
    const choices = NodeType.choices(property)
    switch (property.type) {
      case "collection":
        return property.typeOptions?.["multipleValues"] === true
          ? many(2, () => some(members, 0.3))
          : some(members, Math.min(0.5, 4 / Math.max(members.length, 1)))
      case "fixedCollection":
        return Object.fromEntries(groups.filter(() => chance(0.8)).map((one) => [one.name, group(property, one)]))
      case "resourceLocator":
      case "workflowSelector":
      case "agentSelector":
        return locator(property)
      case "resourceMapper":
        return mapper()
      case "filter":
        return filter()
      case "multiOptions":
        return many(2, () => choices.length === 0 ? "x" : pick(choices).value)
      case "options":
        return choices.length === 0 ? pick(odd) : pick(choices).value
      case "boolean":
        return chance(0.5)
      default:
        return chance(0.3) ? property.default : pick(odd)
    }
  }

  /** What the display of others hangs on. */
  const controllers = (properties: ReadonlyArray<NodeType.Property>): ReadonlySet<string> =>
    new Set(
      properties.flatMap(({ displayOptions }) => Object.keys({ ...displayOptions?.show, ...displayOptions?.hide }))
    )

  /** The case, bent in some places. */
  const bent = (from: Case): Case => {
    const { properties } = from.description
    const names = controllers(properties)
    const decisive = properties.filter(({ name }) => names.has(name))
    const node = { name: "x", typeVersion: from.version, parameters: from.parameters }
    const whole = n8n.getNodeParameters(from.raw["properties"], node.parameters, true, false, node, from.raw)
    const rawProperties = from.raw["properties"] as ReadonlyArray<unknown>
    const shown = properties.filter((_, index) => n8n.displayParameter(whole, rawProperties[index], node, from.raw))
    const base = chance(0.5) ? whole : from.parameters
    const parameters: Record<string, unknown> = { ...base }
    for (let left = 1 + Math.floor(next() * 8); left > 0 && properties.length > 0; left -= 1) {
      const property = pick(
        chance(0.2) && decisive.length > 0 ? decisive : chance(0.8) && shown.length > 0 ? shown : properties
      )
      const { name, required, type } = property
      if (chance(0.1)) delete parameters[name]
      else if (required === true && chance(0.2)) parameters[name] = type === "multiOptions" ? [] : ""
      else if (!["notice", "callout", "button"].includes(type)) parameters[name] = value(property)
    }
    return { ...from, parameters }
  }
  return { pick, chance, bent }
}

/** What n8n says of the case; a string where it throws. */
export const judged = ({ parameters, raw, version }: Case) => {
  const node = { name: "x", type: "x", typeVersion: version, parameters }
  try {
    const complete = n8n.getNodeParameters(raw["properties"], parameters, true, false, node, raw)
    const all = n8n.getNodeParametersIssues(raw["properties"], { ...node, parameters: complete }, raw)?.parameters ?? {}
    return {
      complete,
      /** The name of a parameter as often as it has an issue. */
      issues: Object.entries(all).flatMap(([name, each]) => each.map(() => name)).toSorted(),
      isShown: (index: number) =>
        n8n.displayParameter(complete, (raw["properties"] as ReadonlyArray<unknown>)[index], node, raw)
    }
  } catch (error) {
    return String(error)
  }
}

/** The problems of a node of the type, at its newest version unless another is given. */
export const found = (type: string, parameters: Obj, version?: number) => {
  const nodeType = nodeTypes.get(type)
  const typeVersion = version ?? NodeType.defaultVersion(nodeType)
  const description = NodeType.at(nodeType, typeVersion)
  if (description === undefined) throw new Error(`no ${type} ${typeVersion}`)
  return problems(description, { typeVersion, parameters }, suggestion)
}
