import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Flowchart from "../../workflows/fleet/Flowchart.ts"
import * as Impact from "../../workflows/fleet/Impact.ts"
import * as WorkflowMap from "../../workflows/fleet/Map.ts"
import * as parameters from "../shared/Parameters.ts"

const edgeKinds = ["calls", "tool", "http", "error"] as const
const lists = ["broken", "orphans", "cycles", "contracts", "unresolved"] as const
const groups = ["credential", "table"] as const

const { optionalKey, String: Text } = Schema

const Link = Schema.Struct({
  from: Text,
  to: Text,
  kind: Schema.Literals(edgeKinds),
  node: Text,
  /** Name of `from`. */
  name: optionalKey(Text),
  unpublished: optionalKey(Schema.Boolean),
  /** Disabled, or only in the draft or the live version. */
  state: optionalKey(Text),
  /** Distance from `id`. */
  steps: optionalKey(Schema.Int)
})

/** Rows of the map as `fleet/Map` describes them, with names. */
const Rows = optionalKey(Schema.Array(Schema.Record(Text, Schema.Json)))

const Output = Schema.Struct({
  total: Schema.Int,
  counts: Schema.Struct({ calls: Schema.Int, tool: Schema.Int, http: Schema.Int, error: Schema.Int }),
  /** With `id`: numbers of workflows that depend on it. */
  affected: optionalKey(Schema.Struct({ direct: Schema.Int, all: Schema.Int, published: Schema.Int })),
  broken: Rows,
  orphans: Rows,
  cycles: Rows,
  contracts: Rows,
  edges: optionalKey(Schema.Array(Link)),
  /** With `id`: its own links. */
  uses: Rows,
  unresolved: Rows,
  shared: Rows,
  /** With `id`: types of its declared inputs. */
  inputs: optionalKey(Schema.Array(Text)),
  /** Names of further ids in this answer. */
  workflows: Rows,
  mermaid: optionalKey(Text),
  note: optionalKey(Text)
})
type Output = typeof Output.Type
type ListKey = typeof lists[number] | "edges" | "uses" | "shared"

/** Rows of each list in the overview, of the links of one workflow, and of the one list that is asked for. */
const rowsPerPage = { few: 5, some: 24, many: 40 }

const byKind = (a: { readonly kind: string }, b: { readonly kind: string }) =>
  edgeKinds.indexOf(a.kind as never) - edgeKinds.indexOf(b.kind as never)

interface Input {
  readonly id?: string | undefined
  readonly kind?: typeof edgeKinds[number] | typeof lists[number] | typeof groups[number] | undefined
  readonly offset: number
}

/** Rows of every list that belong to the question, before they are shortened to pages. */
const rowsOf = (map: WorkflowMap.WorkflowMap, { id, kind }: Input) => {
  const concerns = (...ids: ReadonlyArray<string | undefined>) => id === undefined || ids.includes(id)
  const isAsked = (list: string) => kind === undefined || kind === list
  const ofKind = (row: { readonly kind: string }) => kind === undefined || row.kind === kind
  const edges = id === undefined ? map.edges.toSorted(byKind) : Impact.of(map, id)
  return {
    broken: isAsked("broken") ? map.broken.filter(({ from, to }) => concerns(from, to)) : [],
    orphans: isAsked("orphans") ? map.orphans.filter((each) => concerns(each.id)) : [],
    cycles: isAsked("cycles") ? map.cycles.filter((ids) => concerns(...ids)).map((ids) => ({ ids })) : [],
    contracts: isAsked("contracts") ? map.contracts.filter(({ from, to }) => concerns(from, to)) : [],
    edges: edges.filter(ofKind),
    uses: id === undefined ? [] : map.edges.filter((edge) => edge.from === id && ofKind(edge)),
    unresolved: isAsked("unresolved")
      ? map.unresolved.filter(({ from, mentions }) => concerns(from, ...mentions ?? []))
      : [],
    shared: map.shared.filter((each) => ofKind(each) && concerns(...each.workflows))
  } satisfies { readonly [Key in ListKey]: ReadonlyArray<object> }
}

type Rows = ReturnType<typeof rowsOf>

const nameOf = ({ workflows }: WorkflowMap.WorkflowMap, id: string) => {
  const workflow = workflows.get(id)
  return workflow === undefined ? {} : {
    name: Visible.label(workflow.name),
    ...(workflow.isPublished ? {} : { unpublished: true })
  }
}

/** Page of each list, without the lists that are empty. */
const pageOf = (map: WorkflowMap.WorkflowMap, rows: Rows, { id, kind, offset }: Input) => {
  const link = <A extends { readonly from: string; readonly node: string; readonly by?: string }>(
    { by, from, ...row }: A
  ) => ({
    from,
    ...nameOf(map, from),
    ...row,
    node: Visible.line(row.node),
    ...(by === undefined ? {} : { by: Visible.label(by, 80) })
  })
  const most = id !== undefined && kind === undefined ? rowsPerPage.some : rowsPerPage.many
  const main = id !== undefined ? "edges" : kind === undefined ?
    undefined
    : (lists as ReadonlyArray<string>).includes(kind)
    ? kind
    : (groups as ReadonlyArray<string>).includes(kind)
    ? "shared"
    : "edges"
  const page = <A>(key: ListKey, list: ReadonlyArray<A>) =>
    key === main
      ? list.slice(offset, offset + most)
      : main === undefined || id !== undefined
      ? list.slice(0, rowsPerPage.few)
      : []
  const showsUsers = kind === "credential" || kind === "table"
  return {
    broken: page("broken", rows.broken).map(link),
    orphans: page("orphans", rows.orphans).map(({ hasOwnTrigger, id, mentionedBy }) => ({
      id,
      name: "",
      ...nameOf(map, id),
      ...(hasOwnTrigger ? { hasOwnTrigger } : {}),
      ...(mentionedBy.length > 0 ? { mentionedBy } : {})
    })),
    cycles: page("cycles", rows.cycles),
    contracts: page("contracts", rows.contracts),
    edges: page("edges", rows.edges).map(link),
    uses: page("uses", rows.uses).map(link),
    unresolved: page("unresolved", rows.unresolved).map(link),
    shared: page("shared", rows.shared).map(({ id, kind, name, workflows }) => ({
      kind,
      id,
      name: Visible.line(name),
      count: workflows.length,
      ...(showsUsers ? { workflows } : {})
    }))
  }
}

const affectedBy = ({ workflows }: WorkflowMap.WorkflowMap, steps: ReadonlyArray<Impact.Step>) => {
  const all = new Set(steps.map(({ from }) => from))
  return {
    direct: new Set(steps.flatMap(({ from, steps }) => steps === 1 ? [from] : [])).size,
    all: all.size,
    published: [...all].filter((id) => workflows.get(id)?.isPublished === true).length
  }
}

const idsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
    ? Object.values(value).flatMap(idsIn)
    : []

const call = (args: { readonly [name: string]: string | number | undefined }) => Hints.call("workflow_map", args)

/** Links between all workflows, or those of one. */
export const workflowMap = Tool.make({
  name: "workflow_map",
  title: "Map of workflows",
  searchHint: "dependencies, who calls this sub-workflow, impact of a change, unused sub-workflows, broken calls",
  description:
    "Links between workflows: calls, tools, HTTP, error workflows; broken, unused, cyclic ones; shared credentials. With id: whom a change reaches.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  partialScopes: { "dataTable:list": "names of data tables" },
  input: Schema.Struct({
    id: optionalKey(parameters.workflowId),
    kind: parameters.optional(Schema.Literals([...edgeKinds, ...groups, ...lists]), "Only these."),
    format: Schema.Literals(["graph", "mermaid"])
      .annotate({ description: "mermaid: to show a person.", default: "graph" })
      .pipe(Schema.withDecodingDefaultKey(Effect.succeed("graph" as const))),
    offset: parameters.offset("offset", "Rows to skip.")
  }),
  output: Output,
  handler: (input) =>
    Effect.gen(function*() {
      const { id } = input
      const map = yield* WorkflowMap.read
      // Fails as every tool does for an unknown id.
      if (id !== undefined && !map.workflows.has(id)) yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      const rows = rowsOf(map, input)
      return { map, rows, page: input.format === "mermaid" ? undefined : pageOf(map, rows, input) }
    }),
  summarize: ({ map, page, rows }, input): Output => {
    const count = (kind: string) => map.edges.filter((edge) => edge.kind === kind).length
    const counts = { calls: count("calls"), tool: count("tool"), http: count("http"), error: count("error") }
    const total = [...map.workflows.values()].filter(({ isArchived }) => !isArchived).length
    if (page === undefined) {
      const edges = input.id === undefined ? rows.edges : [...rows.edges, ...rows.uses]
      const shown = edges.slice(input.offset, input.offset + rowsPerPage.many)
      return defined({
        total,
        counts,
        mermaid: Flowchart.ofMap(map, shown),
        note: shown.length < edges.length - input.offset
          ? `${shown.length} of ${edges.length} links. On with ${
            call({ id: input.id, kind: input.kind, format: "mermaid", offset: input.offset + shown.length })
          }`
          : undefined
      })
    }
    const shown = Object.fromEntries(Object.entries(page).filter(([, list]) => list.length > 0))
    const inputs = input.id === undefined ? undefined : map.workflows.get(input.id)?.inputs
    const named = new Set([...page.broken, ...page.edges, ...page.unresolved].map(({ from }) => from))
    for (const { id } of page.orphans) named.add(id)
    const further = new Set([...input.id === undefined ? [] : [input.id], ...idsIn(shown)])
    const workflows = [...further].filter((id) => map.workflows.has(id) && !named.has(id))
      .map((id) => ({ id, name: "", ...nameOf(map, id) }))
    return defined({
      total,
      counts,
      affected: input.id === undefined ? undefined : affectedBy(map, rows.edges as ReadonlyArray<Impact.Step>),
      ...shown,
      inputs: inputs && [...inputs].map(([name, type]) => `${name}: ${type}`),
      workflows: workflows.length > 0 ? workflows : undefined
    })
  },
  totals: ({ page = {}, rows }) =>
    Object.fromEntries(
      Object.entries(page).flatMap(([key, list]) => {
        const all = rows[key as ListKey].length
        return list.length > 0 && list.length < all ? [[key, all]] : []
      })
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
    return (lists as ReadonlyArray<string>).includes(list)
      ? call({ id, kind: list, offset: kind === list ? offset + count : count })
      : undefined
  },
  maxChars: (_, { id, kind }) => id === undefined && kind === undefined ? 4_200 : 9_000,
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
