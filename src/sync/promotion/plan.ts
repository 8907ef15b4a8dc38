/** Plan of a promotion: facts about both n8ns, counterparts on the second, the content of each workflow there, obstacles. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import * as Rows from "../../base/Rows.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnlicensed, isUnsupported, isV1, N8nClient, writesDrafts } from "../../n8n/N8nClient.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import * as References from "../../workflow/References.ts"
import { noWorkflows, type WorkflowFolder } from "../../workflows/files/WorkflowFiles.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as content from "../content.ts"
import { concurrency, hasNodes, nodeIds } from "../locals.ts"
import { nonEmpty } from "../outcomes.ts"
import {
  type Bindings,
  liveWorkflows,
  type Obstacle,
  ofClient,
  ofFolder,
  type PromoteOptions,
  type Promotion,
  type Route,
  type Source
} from "./source.ts"

export const refuse = (reason: string, hint: string) => Errors.invalid("only", reason, hint)

/** Reference with this id, else the only one with this name. */
const named = <A extends References.NamedRef>(
  refs: ReadonlyArray<A>,
  idOrName: string
): A | "none" | "several" => {
  const byId = refs.find(({ id }) => id === idOrName)
  const byName = refs.filter(({ name }) => name === idOrName)
  return byId ?? (byName.length > 1 ? "several" : byName[0] ?? "none")
}

const namedCredentials = (workflows: ReadonlyArray<Workflow.Listed>) =>
  References.credentials(workflows).filter(({ name }) => name !== "")

interface Known<A> {
  readonly refs: ReadonlyArray<A>
  readonly isComplete: boolean
}

/** Collects a list of n8n's; falls back to `known` if this n8n does not list them. */
const listed = <A>(stream: Stream.Stream<A, Errors.RequestError>, known: ReadonlyArray<A>) =>
  Stream.runCollect(stream).pipe(
    Effect.map((refs): Known<A> => ({ refs: [...refs], isComplete: true })),
    Effect.catchIf(
      (error) => isUnsupported(error) || isUnlicensed(error),
      () => Effect.succeed({ refs: known, isComplete: false })
    )
  )

const nothing = { refs: [], isComplete: true }

/** Ids of workflows of the source; links are to it, and not to the second n8n. */
const choose = (
  all: Source["refs"],
  { place }: Source,
  from: PromoteOptions<unknown>["from"],
  names: ReadonlyArray<string>
) =>
  Effect.forEach(names, (text) => Reference.pick(all, text, place)).pipe(
    Effect.map((workflows) => workflows.flat().map(({ id }) => id)),
    Effect.updateContext((context: Context.Context<never>) =>
      from === "folder" ? Context.omit(N8nClient)(context) : Context.add(context, N8nClient, from)
    )
  )

export const readFacts = Effect.fnUntraced(function*(
  { except = [], extras = [], from, only, to }: PromoteOptions<unknown>,
  folder: WorkflowFolder,
  userPath: string
) {
  const release = yield* to.release
  const scope: content.Scope = { extras, isV1: isV1(release), writesDrafts: writesDrafts(release) }
  const [source, targets] = yield* Effect.all([
    from === "folder" ? ofFolder(folder, userPath, scope, only ?? []) : ofClient(from),
    liveWorkflows(to)
  ], { concurrency: 2 })
  const all = [...source.refs, ...source.faults.map(({ file }) => ({ id: file, name: file }))]
  if (all.length === 0) return yield* noWorkflows(source.place, source.others)
  const chosen = new Set(only === undefined ? all.map(({ id }) => id) : yield* choose(all, source, from, only))
  for (const id of yield* choose(all, source, from, except)) chosen.delete(id)
  const faults = source.faults.filter(({ file }) => chosen.delete(file))
  const workflows = yield* Effect.forEach([...chosen], source.get, { concurrency })
  const lookups = yield* NodeLookups.make(workflows.flatMap(({ nodes }) => nodes.map(({ type }) => type)), release)
  const uses = new Map(workflows.map((workflow) => [workflow.id, References.of(workflow)]))
  const isUsed = (kind: References.Kind) => [...uses.values()].flat().some((use) => use.kind === kind)
  return {
    release,
    scope,
    source,
    faults,
    targets,
    chosen,
    workflows,
    lookups,
    uses,
    credentials: isUsed("credential") ? yield* listed(to.streamCredentials, namedCredentials(targets)) : nothing,
    tables: isUsed("table")
      ? {
        source: source.tables ? yield* listed(source.tables, []) : nothing,
        target: yield* listed(to.streamDataTables, [])
      }
      : { source: nothing, target: nothing }
  }
})

export type Facts = Effect.Success<ReturnType<typeof readFacts>>

/** Whether a reference names a workflow. */
const isWorkflow = ({ kind }: References.Reference) => kind !== "credential" && kind !== "table" && kind !== "http"

/** Whether the workflow fails without the target; `api` may mean another n8n, that the node has a credential for. */
const isNeeded = ({ kind, unused }: References.Reference) => kind !== "api" && kind !== "caller" && unused !== "unread"

type Add = (reason: string) => void

interface Counterpart {
  readonly ref: References.NamedRef
  readonly how: "bound" | "promoted" | "name"
}

const counterpartsOf = (
  { credentials, source, tables, targets, workflows }: Facts,
  bindings: Bindings | undefined,
  route: Route,
  url: string
) => {
  const claimed = new Set(Object.values(route.workflows).map(({ id }) => id))

  const nameOf = (id: string) => source.refs.find((each) => each.id === id)?.name

  const bound = (kind: keyof Bindings, id: string | undefined, name: string | undefined) => {
    const all = bindings?.[kind] ?? {}
    return [id, name].flatMap((key) => key !== undefined && Object.hasOwn(all, key) ? all[key] ?? [] : [])[0]
  }

  const pick = <A extends References.NamedRef>(
    refs: ReadonlyArray<A>,
    binding: string,
    what: string,
    add: Add
  ): A | undefined => {
    const ref = named(refs, binding)
    if (typeof ref !== "string") return ref
    add(
      ref === "several"
        ? `${what}: several on ${url} are named '${binding}'. Bind it to an id.`
        : `${what} is bound to '${binding}', which ${url} does not have. ${
          suggestion(binding, refs.map(({ name }) => name))
        }`.trim()
    )
    return undefined
  }

  /** Counterpart of a credential or a table: that of the bindings, else the only one with its name. */
  const byName = (
    kind: "credentials" | "tables",
    { id, name }: { readonly id?: string | undefined; readonly name?: string | undefined },
    { isComplete, refs }: Known<References.NamedRef>,
    what: string,
    unlisted: string,
    add: Add
  ): References.NamedRef | undefined => {
    const binding = bound(kind, id, name)
    if (binding !== undefined) {
      // It cannot be looked up in an incomplete list, so the binding is trusted.
      return !isComplete && named(refs, binding) === "none"
        ? { id: binding, name: name ?? binding }
        : pick(refs, binding, what, add)
    }
    const namesakes = refs.filter((each) => each.name === name)
    if (namesakes.length === 1) return namesakes[0]
    const choices = Rows.listed(
      (namesakes.length > 1 ? namesakes : refs).map((each) => `${Rows.quote(each.name)} (${each.id})`),
      5
    )
    add(
      namesakes.length > 1
        ? `${what}: ${url} has several of that name: ${choices}. Bind it to an id.`
        : `${what} is not on ${url}${isComplete ? "" : `, ${unlisted}`}. Create it there, or bind it${
          choices === "" ? "" : ` to one of ${choices}`
        }.`
    )
    return undefined
  }

  const credential = (reference: References.Reference, add: Add) => {
    const { id, name, type = "" } = reference
    const known = { ...credentials, refs: credentials.refs.filter((each) => each.type === type) }
    const unlisted = "as far as its workflows show (n8n 1.x does not list credentials)"
    return byName("credentials", reference, known, `The credential '${name ?? id}' (${type})`, unlisted, add)
  }

  const table = ({ id, name: shown }: References.Reference, add: Add) => {
    const name = tables.source.refs.find((each) => each.id === id)?.name ?? (source.tables ? undefined : shown)
    const what = `The data table '${name ?? id}'`
    return byName("tables", { id, name }, tables.target, what, "which does not list tables", add)
  }

  const workflow = (id: string, add: Add): Counterpart | undefined => {
    const name = nameOf(id)
    const what = `The workflow '${name ?? id}'`
    const binding = bound("workflows", id, name)
    if (binding !== undefined) {
      const ref = pick(targets, binding, what, add)
      return ref && { ref, how: "bound" }
    }
    const before = Object.hasOwn(route.workflows, id) ? route.workflows[id] : undefined
    const promoted = targets.find((each) => each.id === before?.id)
    if (promoted !== undefined) return { ref: promoted, how: "promoted" }
    const same = targets.filter((each) => each.name === name && !claimed.has(each.id))
    if (same.length > 1) add(`${what}: ${url} has several of that name. Bind it to an id.`)
    const [only] = same
    if (only === undefined || same.length > 1) return undefined
    // An earlier promotion may have been interrupted while it created the workflow.
    const isOurs = before?.id === "" && hasNodes(only, nodeIds(workflows.find((each) => each.id === id)))
    return { ref: only, how: isOurs ? "promoted" : "name" }
  }

  const isBound = (id: string) => bound("workflows", id, nameOf(id)) !== undefined

  return { credential, table, workflow, isBound, nameOf }
}

const inOrder = <A extends { readonly id: string; readonly calls: ReadonlyArray<string> }>(all: ReadonlyArray<A>) => {
  const byId = new Map(all.map((each) => [each.id, each]))
  const seen = new Set<string>()
  const order: Array<A> = []
  const visit = (each: A | undefined) => {
    if (each === undefined || seen.has(each.id)) return
    seen.add(each.id)
    for (const id of each.calls) visit(byId.get(id))
    order.push(each)
  }
  for (const each of all) visit(each)
  return order
}

/** Adds the settings that the second n8n has already, since n8n merges settings. */
export const withTargetSettings = (now: Obj, target: Obj): Obj => {
  const settings = { ...obj(now["settings"]), ...obj(target["settings"]) }
  return Object.keys(settings).length === 0 ? target : { ...target, settings }
}

/** Ids of workflows with an obstacle, and of those that depend on them, which get one as well. */
const block = (
  tasks: ReadonlyArray<{ readonly entry: Promotion; readonly needs: ReadonlyArray<string> }>,
  obstacles: Array<Obstacle>
): ReadonlySet<string> => {
  const blocked = new Set(obstacles.flatMap(({ id }) => id ?? []))
  const stopped = new Set([
    ...blocked,
    ...tasks.flatMap(({ entry: { id, status } }) => status === "conflict" ? [id] : [])
  ])
  const nameOf = new Map(tasks.map(({ entry: { id, name } }) => [id, name]))
  for (let before = -1; before < stopped.size;) {
    before = stopped.size
    for (const { entry: { id, name, status }, needs } of tasks) {
      const need = stopped.has(id) || status === "same" ? undefined : needs.find((each) => stopped.has(each))
      if (need === undefined) continue
      stopped.add(id)
      blocked.add(id)
      obstacles.push({ id, workflow: name, reason: `It depends on '${nameOf.get(need)}', which is not promoted.` })
    }
  }
  return blocked
}

const warningsOf = ({ lookups, release, scope }: Facts, workflow: Workflow.Workflow, target: Obj) => {
  const all = content.of(workflow, { extras: scope.extras, isV1: false, writesDrafts: true })
  const dropped = Object.keys(all).filter((key) => !Object.hasOwn(target, key))
  const unavailable = workflow.nodes.filter(({ type, typeVersion }) => lookups.isLacked(type, typeVersion ?? 1))
  return [
    ...LiteralSecrets.warnings(target),
    ...(dropped.length === 0 ? [] : [`n8n ${release} does not support: ${dropped.join(", ")}`]),
    ...unavailable.map(({ name, type, typeVersion }) => `'${name}': n8n ${release} has no ${type} ${typeVersion}`)
  ]
}

export const planOf = Effect.fnUntraced(function*<R>(
  { bindings, overwrites = false, to }: PromoteOptions<R>,
  facts: Facts,
  route: Route
) {
  const { chosen, faults, scope, source, uses, workflows } = facts
  const url = to.instance.url
  const counterparts = counterpartsOf(facts, bindings, route, url)
  const { nameOf } = counterparts
  const obstacles: Array<Obstacle> = faults.map(({ file, reason }) => ({ workflow: file, reason }))

  const items = inOrder(workflows.map((workflow) => {
    const { id, name } = workflow
    const add = (reason: string) => void obstacles.push({ id, workflow: name, reason })
    const called = (uses.get(id) ?? []).flatMap((use) =>
      isWorkflow(use) && use.id !== undefined ? [{ use, to: use.id }] : []
    )
    const calls = called.map(({ to }) => to)
    const needs = called.flatMap(({ to, use }) => isNeeded(use) && to !== id && chosen.has(to) ? [to] : [])
    return { id, workflow, calls, needs, counterpart: counterparts.workflow(id, add) }
  }))
  const targetOf = new Map<string, References.NamedRef>(
    items.flatMap(({ counterpart, id }) => counterpart === undefined ? [] : [[id, counterpart.ref]])
  )

  const called = (
    id: string,
    reference: References.Reference,
    add: Add
  ): References.NamedRef | undefined => {
    const known = targetOf.get(id)
    if (known !== undefined || chosen.has(id)) return known
    const isUsed = isNeeded(reference)
    const { name = nameOf(id) } = reference
    const counterpart = counterparts.workflow(id, isUsed ? add : () => undefined)?.ref
    if (counterpart === undefined && isUsed && !counterparts.isBound(id)) {
      add(
        nameOf(id) === undefined
          ? `It refers to the workflow ${
            name === undefined ? id : `'${name}' (${id})`
          }, which ${source.place} does not have. Fix it there, or bind the id.`
          : `It refers to the workflow '${nameOf(id)}', which is not on ${url}. Promote it too, or bind it.`
      )
    }
    return counterpart
  }

  /** Content for the second n8n. It `isIncomplete` while a workflow that it calls does not exist there. */
  const contentFor = (workflow: Workflow.Workflow, isSilent: boolean) => {
    let isIncomplete = false
    const target = References.replace(content.of(workflow, scope), (reference) => {
      const add = (reason: string) =>
        isSilent
          ? undefined
          : void obstacles.push(defined({ id: workflow.id, workflow: workflow.name, node: reference.node, reason }))
      const { decidedBy, id, kind, name } = reference
      if (decidedBy !== undefined) return undefined
      if (kind === "credential") {
        return (id ?? name) === undefined ? undefined : counterparts.credential(reference, add)
      }
      // A table by its name is found by it there too.
      if (id === undefined) return undefined
      if (kind === "table") return counterparts.table(reference, isNeeded(reference) ? add : () => undefined)
      if (!isWorkflow(reference)) return undefined
      if (chosen.has(id) && !targetOf.has(id)) isIncomplete = true
      return called(id, reference, add)
    })
    return { target, isIncomplete }
  }

  const tasks = yield* Effect.forEach(items, (item) =>
    Effect.gen(function*() {
      const { counterpart, id, workflow } = item
      const { name } = workflow
      const { target } = contentFor(workflow, false)
      const entry: Promotion = defined({
        id,
        name,
        status: "new" as const,
        warnings: nonEmpty(warningsOf(facts, workflow, target))
      })
      if (counterpart === undefined) return { ...item, entry, current: undefined }
      const current = yield* to.getWorkflow(counterpart.ref.id)
      const now = content.of(current, scope)
      const hash = content.hash(now)
      const known = { ...entry, target: current.id }
      const next = withTargetSettings(now, target)
      if (hash === content.hash(next)) return { ...item, entry: { ...known, status: "same" as const }, current }
      const before = route.workflows[id]
      if (counterpart.how === "name") {
        obstacles.push({
          id,
          workflow: name,
          reason:
            `${url} has a workflow of that name (${current.id}) that was not promoted from here. Bind '${id}' to '${current.id}' to overwrite it, or rename one of them.`
        })
      }
      const isMoved = before !== undefined && before.id === current.id && before.hash !== hash && !overwrites
      return {
        ...item,
        entry: {
          ...known,
          status: isMoved ? "conflict" as const : "changed" as const,
          changed: content.changedLine(now, next)
        },
        current
      }
    }))

  const blocked = block(tasks, obstacles)
  return {
    obstacles,
    blocked,
    tasks: tasks.map((task) =>
      blocked.has(task.id) ? { ...task, entry: { ...task.entry, blocked: true as const } } : task
    ),
    contentFor,
    targetOf
  }
})

export type Plan = Effect.Success<ReturnType<typeof planOf>>

export type Task = Plan["tasks"][number]
