import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { counted } from "../../base/Plural.ts"
import { maxRows, NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  categories: Schema.optionalKey(Schema.Array(Schema.String)),
  version: Schema.Finite,
  parameters: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Array(Schema.String)]))
  )
})

/** Searches the catalogue; the connected n8n is only asked for its version. */
export const nodeSearch = Tool.make({
  name: "node_search",
  title: "Search nodes",
  searchHint: "find an integration, app, service, which node for a task",
  isEntry: true,
  description: "Find node types (ids) for a task, best first. Next: node_get.",
  // functionality only adds words to keyword.
  unlisted: { functionality: "never" },
  annotations: { ...Tool.readOnly, openWorldHint: false },
  scopes: [],
  input: Schema.Struct({
    keyword: parameters.optional(Schema.String, "Service, task or type: slack, call an api."),
    category: parameters.optional(Schema.String, "trigger, http, database, ai, …"),
    functionality: parameters.optional(Schema.String, "More search words."),
    limit: parameters.int("limit", { minimum: 1, maximum: maxRows }, 10, "Rows.")
  }),
  output: Schema.Struct({ count: Schema.Int, nodes: Schema.Array(Row) }),
  handler: (query) =>
    Effect.gen(function*() {
      const [hits, connected] = yield* Effect.all([
        // Types of which the connected n8n has no version are left out of them.
        NodeCatalogue.use((catalogue) => catalogue.search({ ...query, limit: Math.min(maxRows, query.limit + 10) })),
        N8nClient.use((n8n) => n8n.release)
      ], { concurrency: 2 })
      const { isLacked, newest } = yield* NodeLookups.make(hits.nodes.map(({ id }) => id), connected)
      const nodes = hits.nodes.flatMap((row) => {
        const version = newest(row.id)
        return version === undefined && isLacked(row.id, row.version)
          ? []
          : [{ ...row, version: version ?? row.version }]
      })
      return { count: hits.count - (hits.nodes.length - nodes.length), nodes: nodes.slice(0, query.limit) }
    }),
  message: ({ count, nodes }) => ({
    en: count === 0
      ? "No node found: try other words, or n8n-nodes-base.httpRequest, which calls any API"
      : nodes.length < count
      ? `The first ${nodes.length} of ${count} nodes`
      : `Found ${counted(count, "node")}`,
    ja: "ノードを検索しました"
  })
})
