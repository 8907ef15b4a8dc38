import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import type * as Minimize from "../../answer/Minimize.ts"
import * as Tool from "../../answer/Tool.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { suggestion } from "../../base/Nearest.ts"
import { counted } from "../../base/Plural.ts"
import { findAll, NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as NodeDetails from "../../catalogue/types/NodeDetails.ts"
import * as Ports from "../../catalogue/types/Ports.ts"
import * as SubNodes from "../../catalogue/types/SubNodes.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

const maxTypes = 8

/** Error for a resource, operation or parameter that the type does not have; names the existing ones. */
const missingError = (type: string, { candidates, field, of, value }: NodeDetails.Lacking) => {
  const owner = of === undefined ? type : `${type}, resource '${of.resource}',`
  const others = of?.elsewhere ?? []
  const own = candidates.length === 0 ? `Omit ${field}: there are none.` : suggestion(value, candidates, 40)
  return parameters.invalid(
    field,
    `${owner} has no ${field === "parameters" ? "parameter" : field} '${value}'`,
    others.length === 0 ? own : `${own} Other resources have ${others.slice(0, 8).join(", ")}.`
  )
}

const describe = Effect.fnUntraced(function*(type: string, ask: NodeDetails.Ask) {
  const catalogue = yield* NodeCatalogue
  const { connected, deprecations, evaluate, nodeType, release, releases } = yield* Effect.all({
    nodeType: catalogue.get(type),
    evaluate: Ports.evaluator,
    release: catalogue.release,
    releases: catalogue.releases,
    deprecations: catalogue.deprecations,
    connected: N8nClient.use((n8n) => n8n.release)
  }, { concurrency: 2 })
  const successors = Object.hasOwn(deprecations, nodeType.type) ? deprecations[nodeType.type] : undefined
  const find = SubNodes.canBeServed(nodeType) ? yield* findAll(SubNodes.types) : undefined
  const background = { release, releases, connected, successors, find }
  return yield* Effect.fromResult(NodeDetails.details(nodeType, ask, evaluate, background)).pipe(
    Effect.mapError((missing) => missingError(nodeType.type, missing))
  )
})

const Output = Schema.Struct({
  ...Struct.mapPick(
    NodeDetails.Details.fields,
    ["type", "name", "version", "versions", "parameters"],
    Schema.optionalKey
  ),
  /** Answers about `types`, in their order; with `error` for a type that does not exist. */
  nodes: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json)))
})
type Output = typeof Output.Type

/** About 1,400 tokens for each type. */
export const budget = ({ nodes }: { readonly nodes?: ReadonlyArray<unknown> }): Minimize.Budget => ({
  total: 4_400 * (nodes?.length ?? 1),
  lists: Object.fromEntries(
    ["", "nodes[]."].flatMap((path) => [[`${path}more`, 40], [`${path}inputs`, 12], [`${path}outputs`, 12]])
  )
})

/** Describes node types from the catalogue: their purpose, and the parameters that apply. */
export const nodeGet = Tool.make({
  name: "node_get",
  title: "Get node type",
  searchHint: "node documentation, parameters, options, operations, ports, example",
  description: "Look up a node type before use: versions, credentials, ports, parameters, an example.",
  annotations: { ...Tool.readOnly, openWorldHint: false },
  scopes: [],
  input: Schema.Struct({
    type: parameters.optional(Schema.String, "From node_search: slack."),
    types: parameters.optional(
      Schema.Array(Schema.String).check(
        Schema.isBetweenLength(1, maxTypes, { message: `types must have 1 to ${maxTypes} entries` })
      ),
      `At most ${maxTypes}.`
    ),
    version: parameters.optional(Schema.Finite, "typeVersion; default: newest."),
    resource: parameters.optional(Schema.String, "Only this resource."),
    operation: parameters.optional(Schema.String, "Only this operation."),
    parameters: parameters.optional(Schema.Array(Schema.String), "Names (outer.inner) to show in full.")
  }),
  output: Output,
  handler: ({ type, types, ...ask }) =>
    Effect.gen(function*() {
      const other = Object.keys({ ...ask, ...(type === undefined ? {} : { type }) })[0]
      if (types !== undefined && other !== undefined) {
        return yield* parameters.invalid(other, `types cannot be combined with ${other}`, "Ask for one type instead.")
      }
      const answers = yield* Effect.forEach(types ?? [type ?? ""], (type) =>
        Effect.map(Effect.result(describe(type, ask)), (answer) => ({ type, answer })))
      const [first] = answers
      if (
        first !== undefined && answers.every(({ answer }) =>
          Result.isFailure(answer)
        )
      ) {
        yield* Effect.fromResult(first.answer)
      }
      return { answers, step: Infinity }
    }),
  ending: ({ answers }) => ({
    size: Math.max(...answers.map(({ answer }) => Result.isSuccess(answer) ? answer.success.steps : 0)),
    after: (step) => ({ answers, step })
  }),
  summarize: ({ answers, step }, { types }): Output => {
    const nodes = answers.map(({ answer, type }) =>
      Result.match(answer, {
        onSuccess: ({ at, steps }): object => at(Math.min(step, steps)),
        onFailure: (error) => ({ type, error: Hints.explain(error, { as: "model" }) })
      })
    )
    return types === undefined ? { ...nodes[0] } : { nodes: nodes as Output["nodes"] & {} }
  },
  budget,
  next: ({ types = [] }) => (path, count) => {
    const [list, index] = JsonPath.parse(path) ?? []
    if (list !== "nodes") return undefined
    return index === undefined
      ? Hints.call("node_get", { types: types.slice(count) })
      : Hints.call("node_get", { type: types[Number(index)] })
  },
  message: ({ name, nodes, version }) => ({
    en: nodes === undefined ? `Node type '${name}', version ${version}` : counted(nodes.length, "node type"),
    ja: "ノード情報を取得しました"
  })
})
