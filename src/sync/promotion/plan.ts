/** Plan of a promotion: the content of each workflow on the second n8n, and the obstacles. */
import * as Effect from "effect/Effect"
import { defined, type Obj, obj } from "../../base/Json.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import * as LiteralSecrets from "../../workflows/LiteralSecrets.ts"
import * as content from "../content.ts"
import * as references from "../references.ts"
import { changedLine, nonEmpty } from "../report.ts"
import * as Counterparts from "./counterparts.ts"
import type { Facts } from "./facts.ts"
import type { Obstacle, PromoteOptions, Promotion } from "./options.ts"
import type * as Record from "./record.ts"

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

export const make = Effect.fnUntraced(function*<R>(
  { bindings, overwrites = false, to }: PromoteOptions<R>,
  facts: Facts,
  route: Record.Route
) {
  const { chosen, faults, placesOf, scope, source, uses, workflows } = facts
  const url = to.instance.url
  const counterparts = Counterparts.make(facts, bindings, route, url)
  const { nameOf } = counterparts
  const obstacles: Array<Obstacle> = faults.map(({ file, reason }) => ({ workflow: file, reason }))

  const items = inOrder(workflows.map((workflow) => {
    const { id, name } = workflow
    const add = (reason: string) => void obstacles.push({ id, workflow: name, reason })
    const called = (uses.get(id) ?? []).flatMap((use) => use.kind === "workflow" ? [use] : [])
    const calls = called.map(({ id }) => id)
    const needs = called.flatMap((use) => use.isUsed && use.id !== id && chosen.has(use.id) ? [use.id] : [])
    return { id, workflow, calls, needs, counterpart: counterparts.workflow(id, add) }
  }))
  /** Counterparts by id on the first n8n; writing adds those that are created. */
  const targetOf = new Map<string, references.NamedRef>(
    items.flatMap(({ counterpart, id }) => counterpart === undefined ? [] : [[id, counterpart.ref]])
  )

  const called = (
    { id, isUsed, name = nameOf(id) }: references.Reference & { readonly kind: "workflow" | "table" },
    add: Counterparts.Add
  ): references.NamedRef | undefined => {
    const known = targetOf.get(id)
    if (known !== undefined || chosen.has(id)) return known
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
    const target = references.map(content.of(workflow, scope), placesOf, (reference) => {
      const add = (reason: string) =>
        isSilent
          ? undefined
          : void obstacles.push(defined({ id: workflow.id, workflow: workflow.name, node: reference.node, reason }))
      switch (reference.kind) {
        case "credential":
          return counterparts.credential(reference, add)
        case "table":
          return counterparts.table(reference, reference.isUsed ? add : () => undefined)
        case "workflow":
          if (chosen.has(reference.id) && !targetOf.has(reference.id)) isIncomplete = true
          return called(reference, add)
      }
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
          changed: changedLine(now, next)
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

export type Plan = Effect.Success<ReturnType<typeof make>>

export type Task = Plan["tasks"][number]
