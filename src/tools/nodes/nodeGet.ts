import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { suggestion } from "../../base/Nearest.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import * as Evaluate from "../../catalogue/types/Evaluate.ts"
import * as NodeDetails from "../../catalogue/types/NodeDetails.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

const input = {
  type: parameters.required("Node type", "Such as n8n-nodes-base.slack, from node_search."),
  version: parameters.optional(Schema.Finite, "typeVersion; default: that of a new node."),
  resource: parameters.optional(Schema.String, "Only what applies to this resource."),
  operation: parameters.optional(Schema.String, "Only what applies to this operation."),
  parameters: parameters.optional(
    Schema.Array(Schema.String),
    "Names (outer.inner if nested) to return in full, with descriptions of their options."
  )
}

/** Error for a resource, operation or parameter that the type lacks, with those it has. */
const missingError = (type: string, { candidates, field, of, value }: NodeDetails.Lacking) => {
  const owner = of === undefined ? type : `${type}, resource '${of.resource}',`
  const others = of?.elsewhere ?? []
  const own = candidates.length === 0 ? `Omit ${field}: it has none.` : suggestion(value, candidates, 40)
  return parameters.invalid(
    field,
    `${owner} has no ${field === "parameters" ? "parameter" : field} '${value}'`,
    others.length === 0 ? own : `${own} Other resources have ${others.slice(0, 8).join(", ")}.`
  )
}

/** Describes a node type from the catalogue: its purpose, and the parameters that apply. */
export const nodeGet = Tool.make({
  name: "node_get",
  title: "Get node type",
  searchHint: "node documentation, parameters, options, operations, ports, example",
  description:
    "Look up a node type before using it: versions, credentials, ports, the parameters that apply with options and defaults, a valid example. Matches the connected n8n's version; works without n8n.",
  annotations: { ...Tool.readOnly, openWorldHint: false },
  scopes: [],
  input: Schema.Struct(input),
  output: NodeDetails.Details,
  handler: ({ type, ...ask }) =>
    Effect.gen(function*() {
      const catalogue = yield* NodeCatalogue
      const { connected, deprecations, evaluate, nodeType, release, releases } = yield* Effect.all({
        nodeType: catalogue.get(type),
        evaluate: Evaluate.make,
        release: catalogue.release,
        releases: catalogue.releases,
        deprecations: catalogue.deprecations,
        connected: N8nClient.use((n8n) => n8n.release)
      }, { concurrency: 2 })
      const successors = Object.hasOwn(deprecations, nodeType.type) ? deprecations[nodeType.type] : undefined
      const background = { release, releases, connected, successors }
      return yield* Effect.fromResult(NodeDetails.details(nodeType, ask, evaluate, background)).pipe(
        Effect.mapError((missing) => missingError(nodeType.type, missing))
      )
    }),
  summarize: (details) => details,
  message: ({ name, version }) => ({ en: `Node type '${name}', version ${version}`, ja: "ノード情報を取得しました" })
})
