/** Map of an n8n's workflows: their links, and what is wrong with them. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { defined } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as Graph from "../workflow/Graph.ts"
import * as Mermaid from "../workflow/Mermaid.ts"
import * as References from "../workflow/References.ts"
import * as Webhooks from "../workflow/Webhooks.ts"
import * as facts from "./facts.ts"

export type EdgeKind = "calls" | "tool" | "error" | "http"

export interface Edge {
  readonly from: string
  readonly to: string
  readonly kind: EdgeKind
  readonly node: string
  readonly state?: facts.State
}

/** Link that fails when it is used; `to` is a workflow's id, a table's, or an address. */
export interface Broken extends Omit<Edge, "kind"> {
  readonly kind: References.Kind
  readonly why: string
}

/** Link to a workflow or table that is decided only at run time. */
export interface Unresolved {
  readonly from: string
  readonly node: string
  readonly kind: References.Kind
  readonly by: string
  readonly mentions?: ReadonlyArray<string>
}

/** Credential or data table that several workflows use. */
export interface Shared {
  readonly kind: "credential" | "table"
  readonly id: string
  readonly name: string
  readonly type?: string
  readonly workflows: ReadonlyArray<string>
}

export interface Contract extends Pick<Edge, "from" | "to" | "node">, facts.Mismatch {}

export interface WorkflowMap {
  /** By id, archived ones too. */
  readonly workflows: ReadonlyMap<string, facts.Facts>
  readonly edges: ReadonlyArray<Edge>
  readonly broken: ReadonlyArray<Broken>
  /** Sub-workflows that nothing calls; `mentionedBy` has workflows whose expressions contain the id. */
  readonly orphans: ReadonlyArray<{
    readonly id: string
    readonly hasOwnTrigger: boolean
    readonly mentionedBy: ReadonlyArray<string>
  }>
  /** Ids of workflows that call each other, or a workflow that calls itself. */
  readonly cycles: ReadonlyArray<ReadonlyArray<string>>
  readonly contracts: ReadonlyArray<Contract>
  /** The most shared first. */
  readonly shared: ReadonlyArray<Shared>
  readonly unresolved: ReadonlyArray<Unresolved>
}

interface Surroundings {
  readonly isV1: boolean
  readonly isOwnHost: (host: string) => boolean
  readonly missing: ReadonlySet<string>
  /** Names of data tables by id; `undefined` if n8n does not list them. */
  readonly tables: ReadonlyMap<string, string> | undefined
}

const isEdge = (kind: References.Kind): kind is EdgeKind =>
  kind === "calls" || kind === "tool" || kind === "error" || kind === "http"

const isIn = (state: facts.State | undefined) => state !== "disabled"

const fault = (from: facts.Facts, to: facts.Facts, { kind, state }: facts.Reference, { isV1 }: Surroundings) =>
  References.faultOf(kind, { id: from.id, isLive: from.isPublished && state !== "draft" }, to, isV1)

/** Workflow that a link leads to, or the expression that decides it; `why` is the reason why the link fails. */
interface Target {
  readonly to?: string
  readonly place?: string
  readonly why?: string | undefined
  readonly decidedBy?: string
}

const resolver = (workflows: ReadonlyMap<string, facts.Facts>, around: Surroundings) => {
  const addresses = [...workflows.values()].filter(({ isArchived }) => !isArchived)
    .flatMap((each) => each.webhooks.map((webhook) => ({ each, webhook })))
  const tableNames = new Set(around.tables?.values())

  const byRequest = (from: facts.Facts, reference: facts.Reference, request: Webhooks.Request): Target => {
    const { base, host, isTest, method, segments, url } = request
    const same = addresses.filter(({ webhook }) => Webhooks.isTo(request, webhook))
    // On another host it may be another n8n's.
    if (host !== undefined && !around.isOwnHost(host)) return same.length > 0 ? { decidedBy: url } : {}
    if (same.length === 0 && (host === undefined || segments.includes(undefined))) return { decidedBy: url }
    const fitting = same.filter(({ webhook }) => Webhooks.takes(webhook, request))
    const targets = fitting.length > 0 ? fitting : same
    const to = (targets.find(({ each }) => each.isPublished) ?? targets[0])?.each
    if (to === undefined) {
      return { place: `/${base}${isTest ? "-test" : ""}/${segments.join("/")}`, why: "no such webhook" }
    }
    if (fitting.length === 0) return { to: to.id, why: `does not take ${method}` }
    return {
      to: to.id,
      why: isTest ? "test address: answers only while the editor listens" : fault(from, to, reference, around)
    }
  }

  return (from: facts.Facts, reference: facts.Reference): Target => {
    const { decidedBy, id, kind, name = "", request } = reference
    if (decidedBy !== undefined) return { decidedBy }
    if (request !== undefined) return byRequest(from, reference, request)
    if (kind === "table") {
      const exists = around.tables === undefined ||
        (id === undefined ? tableNames.has(name) : around.tables.has(id))
      return { place: id ?? name, why: exists ? undefined : "missing" }
    }
    if (id === undefined) return {}
    const callee = workflows.get(id)
    if (callee !== undefined) return { to: id, why: fault(from, callee, reference, around) }
    return { to: id, why: around.missing.has(id) ? "missing" : undefined }
  }
}

const sharedBy = (
  current: ReadonlyArray<facts.Facts>,
  tables: ReadonlyMap<string, string> | undefined
): ReadonlyArray<Shared> => {
  const idOf = new Map([...tables ?? []].map(([id, name]) => [name, id]))
  const uses = current.flatMap(({ credentials, id: by, references }) => [
    ...credentials.map((credential) => ({ kind: "credential" as const, ...credential, by })),
    ...references.flatMap(({ id: byId, kind, name = "" }) => {
      const id = byId ?? idOf.get(name) ?? name
      return kind === "table" && id !== "" ? [{ kind, id, name: tables?.get(id) ?? id, by }] : []
    })
  ])
  return Rows.grouped(uses, ({ id, kind }) => [kind, id]).flatMap(({ first: { by: _, ...shared }, rows }) => {
    const workflows = [...new Set(rows.map(({ by }) => by))]
    return workflows.length === 1 ? [] : [{ ...shared, workflows }]
  }).toSorted((a, b) => b.workflows.length - a.workflows.length)
}

export const make = (all: ReadonlyArray<facts.Facts>, around: Surroundings): WorkflowMap => {
  const workflows = new Map(all.map((each) => [each.id, each]))
  const resolve = resolver(workflows, around)
  // An archived workflow does not run, so that nothing in it counts.
  const current = all.filter(({ isArchived }) => !isArchived)
  const edges: Array<Edge> = []
  const broken: Array<Broken> = []
  const mismatches: Array<Contract> = []
  const unresolved: Array<Unresolved> = []
  for (const from of current) {
    for (const reference of from.references) {
      const { kind, node = "settings.errorWorkflow", passes, state } = reference
      const link = defined({ from: from.id, node, kind, state })
      const { decidedBy, place, to, why } = resolve(from, reference)
      if (decidedBy !== undefined) {
        const mentions = [...new Set(decidedBy.match(/[\w-]{8,}/g))].filter((id) => workflows.has(id))
        unresolved.push({ ...link, by: decidedBy, ...(mentions.length > 0 ? { mentions } : {}) })
      }
      if (to !== undefined && isEdge(kind)) edges.push({ ...link, kind, to })
      if (!isIn(state)) continue
      if (why !== undefined) broken.push({ ...link, to: to ?? place ?? "", why })
      const difference = to === undefined ? undefined : facts.mismatch(passes, workflows.get(to)?.inputs)
      if (to !== undefined && difference !== undefined) mismatches.push({ from: from.id, to, node, ...difference })
    }
  }
  const called = new Set(edges.flatMap(({ from, state, to }) => from !== to && isIn(state) ? [to] : []))
  return {
    workflows,
    edges,
    broken,
    orphans: current.filter((each) => References.isSub(each) && !called.has(each.id)).map((each) => ({
      id: each.id,
      hasOwnTrigger: References.hasOwnTrigger(each),
      mentionedBy: [
        ...new Set(unresolved.flatMap(({ from, mentions }) => mentions?.includes(each.id) === true ? [from] : []))
      ]
    })),
    cycles: Graph.loops(Graph.of(edges.filter(({ kind, state }) => kind !== "error" && isIn(state)))),
    contracts: mismatches,
    shared: sharedBy(current, around.tables),
    unresolved
  }
}

const concurrency = 8

/** Reads every workflow once; those with a draft again, for the version that runs. */
export const read: Effect.Effect<WorkflowMap, Errors.RequestError, N8nClient> = Effect.gen(function*() {
  const n8n = yield* N8nClient
  const release = yield* n8n.release
  const all = new Map<string, facts.Facts>()
  const drafts: Array<string> = []
  yield* Stream.runForEach(n8n.streamWorkflows({ archived: true }), (workflow) =>
    Effect.sync(() => {
      all.set(workflow.id, facts.of(workflow))
      if (workflow.active && Workflow.awaitsPublishing(workflow)) drafts.push(workflow.id)
    }))
  const missing = new Set<string>()
  const reread = (id: string) =>
    n8n.getWorkflow(id, { excludePinnedData: true }).pipe(
      Effect.map((workflow) =>
        all.set(id, facts.of(workflow, workflow.active ? Workflow.running(workflow)?.nodes : undefined))
      ),
      Effect.catchTag("NotFoundError", () => Effect.sync(() => (all.delete(id), missing.add(id)))),
      // The key may list workflows that it may not read, and others may exist that it does not list.
      Effect.ignore
    )
  yield* Effect.forEach(drafts, reread, { concurrency, discard: true })
  const references = [...all.values()].flatMap(({ references }) => references)
  const unknown = new Set(
    references.flatMap(({ id, kind }) => id !== undefined && kind !== "table" && !all.has(id) ? [id] : [])
  )
  yield* Effect.forEach(unknown, reread, { concurrency, discard: true })
  const usesTables = references.some(({ kind }) => kind === "table")
  const tables = usesTables
    ? yield* Stream.runCollect(n8n.streamDataTables).pipe(
      Effect.map((tables) => new Map([...tables].map(({ id, name }) => [id, name]))),
      Effect.orElseSucceed(() => undefined)
    )
    : undefined
  const hosts = [n8n.instance.url, n8n.webhookAddress("")].map((url) => new URL(url).host)
  return make([...all.values()], { isV1: isV1(release), isOwnHost: Webhooks.isHostOf(new Set(hosts)), missing, tables })
}).pipe(Effect.withSpan("WorkflowMap.read"))

const arrows: { readonly [K in Edge["kind"]]: string } = { calls: "-->", tool: "-.->", http: "==>", error: "-.->" }

/** Draws links between workflows: broken ones red, unpublished workflows dashed. */
export const flowchart = ({ broken, workflows }: WorkflowMap, edges: ReadonlyArray<Edge>): string => {
  const ids = new Map([...new Set(edges.flatMap(({ from, to }) => [from, to]))].map((id, index) => [id, `n${index}`]))
  const failing = new Set(broken.map(({ from, kind, node, to }) => JSON.stringify([from, kind, node, to])))
  const isBroken = ({ from, kind, node, to }: Edge) => failing.has(JSON.stringify([from, kind, node, to]))
  const red = edges.flatMap((edge, index) => isBroken(edge) ? [index] : [])
  const unpublished = [...ids].flatMap(([id, key]) => workflows.get(id)?.isPublished === false ? [key] : [])
  const chart = Mermaid.chart(
    [...ids].map(([id, key]) => [key, workflows.get(id)?.name ?? `missing: ${id}`]),
    edges.map(({ from, kind, to }) =>
      `${ids.get(from)} ${arrows[kind]}${kind === "calls" ? "" : `|${kind}|`} ${ids.get(to)}`
    ),
    { name: "unpublished", keys: unpublished }
  )
  return red.length === 0 ? chart : `${chart}\n  linkStyle ${red.join(",")} stroke:red`
}

/** Link on the way to a workflow; `steps` is 1 for those that lead to it directly. */
interface Step extends Edge {
  readonly steps: number
}

/** Links through which a change reaches others, the nearest first; not from an error workflow to its callers. */
export const affected = ({ edges }: WorkflowMap, id: string): ReadonlyArray<Step> => {
  const graph = Graph.of(edges.filter(({ state }) => state !== "disabled"))
  const seen = new Set([id])
  const result: Array<Step> = []
  let next: ReadonlyArray<string> = [id]
  for (let steps = 1; next.length > 0; steps++) {
    const links = next.flatMap(graph.into).filter(({ kind }) => steps === 1 || kind !== "error")
    result.push(...links.map((edge) => ({ ...edge, steps })))
    const reached = links.flatMap(({ from, kind }) => kind === "error" || seen.has(from) ? [] : [from])
    next = [...new Set(reached)]
    for (const from of next) seen.add(from)
  }
  return result
}

/** Part of a map with the workflows that a change of one affects, and those that it uses. */
export const around = (map: WorkflowMap, id: string): WorkflowMap => {
  const uses = map.edges.filter(({ from }) => from === id)
  const ids = new Set([id, ...affected(map, id).map(({ from }) => from), ...uses.map(({ to }) => to)])
  const within = <A extends { readonly from: string; readonly to?: string }>(links: ReadonlyArray<A>) =>
    links.filter(({ from, to }) => ids.has(from) && (to === undefined || ids.has(to) || from === id))
  return {
    workflows: new Map([...map.workflows].filter(([each]) => ids.has(each))),
    edges: within(map.edges),
    broken: within(map.broken),
    orphans: map.orphans.filter((each) => ids.has(each.id)),
    cycles: map.cycles.filter((each) => each.some((id) => ids.has(id))),
    contracts: within(map.contracts),
    shared: map.shared.filter(({ workflows }) => workflows.includes(id)),
    unresolved: within(map.unresolved)
  }
}
