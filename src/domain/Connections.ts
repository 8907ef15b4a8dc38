/**
 * How nodes are joined: names, ports, indices, connection types.
 *
 * n8n keeps connections by source: `{[source]: {[type]: [links of output 0, links of output 1, …]}}`. The type is
 * `main` for items and `ai_tool`, `ai_languageModel`, … for what a sub-node lends to an AI node; there the source is
 * the sub-node.
 */
import * as Schema from "effect/Schema"

const Target = Schema.Struct({
  node: Schema.String,
  type: Schema.optionalKey(Schema.String),
  index: Schema.optionalKey(Schema.Finite)
})

/** n8n's own shape; unused outputs are `null` or empty. */
export const Connections = Schema.Record(
  Schema.String,
  Schema.Record(Schema.String, Schema.NullOr(Schema.Array(Schema.NullOr(Schema.Array(Target)))))
)
export type Connections = typeof Connections.Type

/** One output or input of a node. */
export interface Port {
  readonly type: string
  readonly index: number
}

/** One connection. */
export interface Link {
  readonly from: string
  readonly output: Port
  readonly to: string
  readonly input: Port
}

/** Every connection, in n8n's order. */
export const links = (connections: Connections): ReadonlyArray<Link> =>
  Object.entries(connections).flatMap(([from, byType]) =>
    Object.entries(byType).flatMap(([type, outputs]) =>
      (outputs ?? []).flatMap((targets, index) =>
        (targets ?? []).map((target) => ({
          from,
          output: { type, index },
          to: target.node,
          input: { type: target.type ?? type, index: target.index ?? 0 }
        }))
      )
    )
  )

/** `main[1]`, and `ai_tool` for the first port of another type. */
export const portLabel = ({ index, type }: Port): string => type === "main" || index > 0 ? `${type}[${index}]` : type

/** Whether both ends are the first main port, the link that needs no mention. */
export const isPlain = ({ input, output }: Link): boolean =>
  input.type === "main" && input.index === 0 && output.type === "main" && output.index === 0

/** What a node's ports depend on. */
export interface NodeShape {
  readonly type: string
  readonly typeVersion?: number
  readonly parameters?: unknown
  readonly onError?: string | null
}

const ruleNames = (parameters: unknown): ReadonlyArray<string> | undefined => {
  const expression = Schema.decodeUnknownOption(SwitchExpression)(parameters)
  if (expression._tag === "Some") {
    return Array.from({ length: expression.value.numberOutputs ?? 4 }, (_, index) => String(index))
  }
  const decoded = Schema.decodeUnknownOption(SwitchRules)(parameters)
  if (decoded._tag === "None") return undefined
  const { options, rules } = decoded.value
  const names = rules.values.map((rule, index) => rule.outputKey || String(index))
  return options?.fallbackOutput === "extra" ? [...names, options.renameFallbackOutput || "Fallback"] : names
}

const SwitchExpression = Schema.Struct({
  mode: Schema.Literal("expression"),
  numberOutputs: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })))
})

const SwitchRules = Schema.Struct({
  rules: Schema.Struct({ values: Schema.Array(Schema.Struct({ outputKey: Schema.optionalKey(Schema.String) })) }),
  options: Schema.optionalKey(
    Schema.Struct({
      fallbackOutput: Schema.optionalKey(Schema.Unknown),
      renameFallbackOutput: Schema.optionalKey(Schema.String)
    })
  )
})

/** The names a person sees on a node's main outputs; `undefined` where there is one, or they are not known. */
const mainOutputs = (node: NodeShape): ReadonlyArray<string> | undefined => {
  switch (node.type) {
    case "n8n-nodes-base.if":
      return ["true", "false"]
    case "n8n-nodes-base.splitInBatches":
      return (node.typeVersion ?? 1) >= 3
        ? ["done", "loop"]
        : (node.typeVersion ?? 1) >= 2
        ? ["loop", "done"]
        : undefined
    case "n8n-nodes-base.compareDatasets":
      return ["In A only", "Same", "Different", "In B only"]
    case "n8n-nodes-base.switch":
      return ruleNames(node.parameters)
  }
  return undefined
}

/** Whether the node has an output for errors: the one after its others. */
export const hasErrorOutput = (node: NodeShape): boolean => node.onError === "continueErrorOutput"

/**
 * The name a person sees on an output, where it has one: `true`, `loop`, `error`, a Switch rule's name.
 *
 * **Details**
 *
 * `count` is how many main outputs there are, as far as it is known: where a node's names are not, its last output is
 * the one for errors.
 */
export const outputName = (node: NodeShape, { index, type }: Port, count = 2): string | undefined => {
  if (type !== "main") return undefined
  const names = mainOutputs(node)
  return hasErrorOutput(node) && index === (names?.length ?? Math.max(1, count - 1)) ? "error" : names?.[index]
}

/** How many main outputs of a node are connected, or lie before one that is. */
export const connectedOutputs = (out: ReadonlyArray<Link>): number =>
  out.reduce((count, { output }) => output.type === "main" ? Math.max(count, output.index + 1) : count, 0)

/** One row of the graph that get_workflow_connections answers. */
export interface GraphNode {
  readonly node: string
  readonly id: string
  readonly type: string
  readonly inputs: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<string>
  readonly ports?: ReadonlyArray<{
    readonly output: string
    readonly name?: string
    readonly to: string
    readonly input: string
  }>
}

const unique = (names: ReadonlyArray<string>) => [...new Set(names)]

/** Who feeds whom, node by node, in the workflow's order. */
export const graph = (
  nodes: ReadonlyArray<NodeShape & { readonly id?: string; readonly name: string }>,
  connections: Connections
): ReadonlyArray<GraphNode> => {
  const all = links(connections)
  const bySource = Map.groupBy(all, (link) => link.from)
  const byTarget = Map.groupBy(all, (link) => link.to)
  return nodes.map((node) => {
    const out = bySource.get(node.name) ?? []
    const count = connectedOutputs(out)
    const ports = out.filter((link) => !isPlain(link)).map((link) => {
      const name = outputName(node, link.output, count)
      return {
        output: portLabel(link.output),
        ...(name === undefined ? {} : { name }),
        to: link.to,
        input: portLabel(link.input)
      }
    })
    return {
      node: node.name,
      id: node.id ?? "",
      type: node.type,
      inputs: unique((byTarget.get(node.name) ?? []).map((link) => link.from)),
      outputs: unique(out.map((link) => link.to)),
      ...(ports.length === 0 ? {} : { ports })
    }
  })
}

/** Connections by source with only what is not `main[0]` spelled out: `{Source: [{to, output?, input?}]}`. */
export const simplified = (connections: Connections) =>
  Object.fromEntries(
    [...Map.groupBy(links(connections), (link) => link.from)].map(([from, out]) => [
      from,
      out.map((link) => ({
        to: link.to,
        ...(isPlain(link) ? {} : { output: portLabel(link.output), input: portLabel(link.input) })
      }))
    ])
  )
