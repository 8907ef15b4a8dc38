import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import * as WorkflowMap from "../../fleet/Map.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

const edgeKinds = ["calls", "tool", "http", "error"] as const
const lists = ["broken", "orphans", "cycles", "contracts", "unresolved"] as const
const groups = ["credential", "table"] as const

const Link = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  kind: Schema.Literals(edgeKinds),
  node: Schema.String,
  /** Name of `from`. */
  name: Schema.optionalKey(Schema.String),
  unpublished: Schema.optionalKey(Schema.Boolean),
  /** State of the link, unless normal: disabled, or only in the draft or the live version. */
  state: Schema.optionalKey(Schema.String),
  /** Distance from `id`. */
  steps: Schema.optionalKey(Schema.Int)
})

/** Rows of `fleet/Map`, with the names of workflows. */
const Rows = Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json)))

const Output = Schema.Struct({
  total: Schema.Int,
  counts: Schema.Struct({ calls: Schema.Int, tool: Schema.Int, http: Schema.Int, error: Schema.Int }),
  /** With `id`: numbers of workflows that depend on it. */
  affected: Schema.optionalKey(Schema.Struct({ direct: Schema.Int, all: Schema.Int, published: Schema.Int })),
  broken: Rows,
  orphans: Rows,
  cycles: Rows,
  contracts: Rows,
  edges: Schema.optionalKey(Schema.Array(Link)),
  /** With `id`: its own links. */
  uses: Rows,
  unresolved: Rows,
  shared: Rows,
  /** With `id`: types of its declared inputs. */
  inputs: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Names of the other ids in this answer. */
  workflows: Rows,
  mermaid: Schema.optionalKey(Schema.String),
  note: Schema.optionalKey(Schema.String)
})
type Output = typeof Output.Type

const byKind = (a: { readonly kind: string }, b: { readonly kind: string }) =>
  edgeKinds.indexOf(a.kind as never) - edgeKinds.indexOf(b.kind as never)

interface Input {
  readonly id?: string | undefined
  readonly kind?: typeof edgeKinds[number] | typeof lists[number] | typeof groups[number] | undefined
  readonly offset: number
}

const nameOf = ({ workflows }: WorkflowMap.WorkflowMap, id: string) => {
  const workflow = workflows.get(id)
  return workflow === undefined ? {} : {
    name: Visible.label(workflow.name),
    ...(workflow.isPublished ? {} : { unpublished: true })
  }
}

const isOneOf = (names: ReadonlyArray<string>, name: string | undefined) => name !== undefined && names.includes(name)

/** Name of the list that was asked for; `undefined` for the overview. */
const mainOf = ({ id, kind }: Pick<Input, "id" | "kind">): string | undefined => {
  if (kind === undefined) return id === undefined ? undefined : "edges"
  if (isOneOf(lists, kind)) return kind
  return isOneOf(groups, kind) ? "shared" : "edges"
}

const edgesOf = (map: WorkflowMap.WorkflowMap, { id, kind }: Input) =>
  (id === undefined ? map.edges.toSorted(byKind) : WorkflowMap.affected(map, id))
    .filter((edge) => kind === undefined || edge.kind === kind)

const usesOf = ({ edges }: WorkflowMap.WorkflowMap, { id, kind }: Input) =>
  edges.filter((edge) => edge.from === id && (kind === undefined || edge.kind === kind))

/** Links of a diagram. */
const linksOf = (map: WorkflowMap.WorkflowMap, input: Input) => [...edgesOf(map, input), ...usesOf(map, input)]

/** The first rows of the lists in the answer, those of the main one from the offset on. */
const listsOf = (map: WorkflowMap.WorkflowMap, input: Input, count: number) => {
  const { id, kind, offset } = input
  const main = mainOf(input)
  const concerns = (...ids: ReadonlyArray<string | undefined>) => id === undefined || ids.includes(id)
  const list = <A, B extends object>(key: string, all: ReadonlyArray<A>, show: (row: A) => B) => {
    const start = key === main ? offset : 0
    const isShown = kind === undefined || key === main || key === "uses" && main === "edges"
    return isShown ? all.slice(start, start + count).map(show) : []
  }
  const link = <A extends { readonly from: string; readonly node: string; readonly by?: string }>(
    { by, from, ...row }: A
  ) => ({
    from,
    ...nameOf(map, from),
    ...row,
    node: Visible.line(row.node),
    ...(by === undefined ? {} : { by: Visible.label(by, 80) })
  })
  return {
    broken: list("broken", map.broken.filter(({ from, to }) => concerns(from, to)), link),
    orphans: list(
      "orphans",
      map.orphans.filter((each) => concerns(each.id)),
      ({ hasOwnTrigger, id, mentionedBy }) => ({
        id,
        name: "",
        ...nameOf(map, id),
        ...(hasOwnTrigger ? { hasOwnTrigger } : {}),
        ...(mentionedBy.length > 0 ? { mentionedBy } : {})
      })
    ),
    cycles: list("cycles", map.cycles.filter((ids) => concerns(...ids)), (ids) => ({ ids })),
    contracts: list("contracts", map.contracts.filter(({ from, to }) => concerns(from, to)), (each) => each),
    edges: list("edges", edgesOf(map, input), link),
    uses: list("uses", usesOf(map, input), link),
    unresolved: list(
      "unresolved",
      map.unresolved.filter(({ from, mentions = [] }) => concerns(from, ...mentions)),
      link
    ),
    shared: list(
      "shared",
      map.shared.filter((each) => (!isOneOf(groups, kind) || each.kind === kind) && concerns(...each.workflows)),
      ({ id, kind: group, name, workflows }) => ({
        kind: group,
        id,
        name: Visible.line(name),
        count: workflows.length,
        ...(kind === undefined ? {} : { workflows })
      })
    )
  }
}

const affectedBy = (map: WorkflowMap.WorkflowMap, id: string) => {
  const steps = WorkflowMap.affected(map, id)
  const all = new Set(steps.map(({ from }) => from))
  return {
    direct: new Set(steps.flatMap(({ from, steps }) => steps === 1 ? [from] : [])).size,
    all: all.size,
    published: [...all].filter((id) => map.workflows.get(id)?.isPublished === true).length
  }
}

const call = (args: { readonly [name: string]: string | number | undefined }) => Hints.call("workflow_map", args)

/** Links between all workflows, or those of one. */
export const workflowMap = Tool.make({
  name: "workflow_map",
  title: "Map of workflows",
  searchHint: "dependencies, who calls this sub-workflow, impact of a change, unused sub-workflows, broken calls",
  description: "Map links between workflows, also broken, unused, cyclic. With id: what a change affects.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  partialScopes: { "dataTable:list": "names of data tables" },
  input: Schema.Struct({
    id: Schema.optionalKey(parameters.workflowId),
    kind: parameters.optional(Schema.Literals([...edgeKinds, ...groups, ...lists]), "Only these."),
    format: parameters.graphFormat,
    offset: parameters.rowOffset
  }),
  output: Output,
  handler: (input) =>
    Effect.gen(function*() {
      const { id } = input
      const map = yield* WorkflowMap.read
      // Fails as every tool does for an unknown id.
      if (id !== undefined && !map.workflows.has(id)) yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      return { map, rows: Infinity }
    }),
  ending: ({ map }, input) => ({
    size: input.format === "mermaid"
      ? linksOf(map, input).length - input.offset
      : Math.max(...Object.values(listsOf(map, input, Infinity)).map(({ length }) => length)),
    after: (rows) => ({ map, rows })
  }),
  summarize: ({ map, rows }, input): Output => {
    const { id, kind, offset } = input
    const count = (kind: string) => map.edges.filter((edge) => edge.kind === kind).length
    const counts = { calls: count("calls"), tool: count("tool"), http: count("http"), error: count("error") }
    const total = [...map.workflows.values()].filter(({ isArchived }) => !isArchived).length
    if (input.format === "mermaid") {
      const edges = linksOf(map, input)
      const page = edges.slice(offset, offset + rows)
      const next = call({ id, kind, format: "mermaid", offset: offset + page.length })
      return defined({
        total,
        counts,
        mermaid: WorkflowMap.flowchart(map, page),
        note: page.length < edges.length - offset
          ? `${page.length} of ${edges.length} links. Continue with ${next}`
          : undefined
      })
    }
    const lists = listsOf(map, input, rows)
    const rowsByList = Object.fromEntries(
      Object.entries(lists).filter(([, rows]) => rows.length > 0)
    )
    const inputs = id === undefined ? undefined : map.workflows.get(id)?.inputs
    const idsWithNames = new Set([
      ...[...lists.broken, ...lists.edges, ...lists.unresolved].map(({ from }) => from),
      ...lists.orphans.map(({ id }) => id)
    ])
    const further = new Set([...id === undefined ? [] : [id], ...JsonPath.strings(rowsByList).map(([, text]) => text)])
    const workflows = [...further].filter((id) => map.workflows.has(id) && !idsWithNames.has(id))
      .map((id) => ({ id, name: "", ...nameOf(map, id) }))
    return defined({
      total,
      counts,
      affected: id === undefined ? undefined : affectedBy(map, id),
      ...rowsByList,
      inputs: inputs && [...inputs].map(([name, type]) => `${name}: ${type}`),
      workflows: workflows.length > 0 ? workflows : undefined
    })
  },
  totals: ({ map }, input) =>
    Object.fromEntries(
      Object.entries(listsOf(map, input, Infinity)).map(([key, { length }]) => [key, length])
    ),
  next: ({ id, kind, offset }, { counts }) => (path, count) => {
    const [list = ""] = path.split(".")
    if (list === "shared") {
      return call({ id, kind: kind ?? "credential", offset: kind === undefined ? 0 : offset + count })
    }
    if (list === "edges" && id === undefined && kind === undefined) {
      let left = count
      const next = edgeKinds.find((each) => left < counts[each] || (left -= counts[each], false)) ?? "calls"
      return call({ kind: next, offset: left })
    }
    if (list === "edges") return call({ id, kind, offset: offset + count })
    return isOneOf(lists, list)
      ? call({ id, kind: list, offset: kind === list ? offset + count : count })
      : undefined
  },
  budget: (_, { id, kind }) => ({ total: id === undefined && kind === undefined ? 3_000 : 5_400 }),
  message: ({ affected, broken = [], mermaid, orphans = [], total }, { id, kind }) => ({
    en: affected !== undefined
      ? `${
        counted(affected.all, "workflow")
      } depend on '${id}', ${affected.direct} directly; ${affected.published} published`
      : `Mapped ${counted(total, "workflow")}${
        kind === undefined && mermaid === undefined && broken.length + orphans.length === 0
          ? ": nothing broken or unused"
          : ""
      }`,
    ja: "ワークフローの関係を取得しました"
  })
})
