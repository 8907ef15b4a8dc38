/** What would be written of each workflow, and what stands in the way. */
import * as Effect from "effect/Effect"
import { defined, type Obj, obj } from "../../base/Json.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import * as LiteralSecrets from "../../workflows/LiteralSecrets.ts"
import * as content from "../content.ts"
import * as references from "../references.ts"
import { changedLine } from "../report.ts"
import * as Counterparts from "./counterparts.ts"
import type { Facts } from "./facts.ts"
import type { Obstacle, PromoteOptions, Promotion } from "./promotion.ts"
import type * as Record from "./record.ts"

type Thing = references.Thing

/** Callees before their callers. */
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

/** n8n merges settings: those of its own stay. */
export const kept = (now: Obj, wanted: Obj): Obj => {
  const settings = { ...obj(now["settings"]), ...obj(wanted["settings"]) }
  return Object.keys(settings).length === 0 ? wanted : { ...wanted, settings }
}

/** Of what the second n8n, at this release, does not take or have, and of secrets in parameters. */
const warningsOf = ({ lookups, release, scope }: Facts, workflow: Workflow.Workflow, wanted: Obj) => {
  const all = content.of(workflow, { extras: scope.extras, isV1: false, writesDrafts: true })
  const dropped = Object.keys(all).filter((key) => !Object.hasOwn(wanted, key))
  const lacked = workflow.nodes.filter(({ type, typeVersion }) => lookups.isLacked(type, typeVersion ?? 1))
  return [
    ...LiteralSecrets.warnings(wanted),
    ...(dropped.length === 0 ? [] : [`n8n ${release} does not take: ${dropped.join(", ")}`]),
    ...lacked.map(({ name, type, typeVersion }) => `'${name}': n8n ${release} has no ${type} ${typeVersion}`)
  ]
}

/** Compares every workflow with what it is on the second n8n. */
export const make = Effect.fnUntraced(function*<R>(
  { bindings, from, overwrites = false, to }: PromoteOptions<R>,
  facts: Facts,
  route: Record.Route
) {
  const { chosen, placesOf, scope, uses, workflows } = facts
  const there = to.instance.url
  const counterparts = Counterparts.make(facts, bindings, route, there)
  const { nameOf } = counterparts
  const obstacles: Array<Obstacle> = []

  const items = inOrder(workflows.map((workflow) => {
    const name = workflow.name
    const add = (reason: string) => void obstacles.push({ workflow: name, reason })
    const calls = (uses.get(workflow.id) ?? []).flatMap((use) => use.kind === "workflow" ? [use.id] : [])
    return { id: workflow.id, workflow, calls, counterpart: counterparts.workflow(workflow.id, add) }
  }))
  /** What is there of each; more while it is written. */
  const targetOf = new Map<string, Thing>(
    items.flatMap(({ counterpart, id }) => counterpart === undefined ? [] : [[id, counterpart.thing]])
  )

  const called = (
    { id, isUsed }: references.Reference & { readonly kind: "workflow" | "table" },
    add: Counterparts.Add
  ): Thing | undefined => {
    const known = targetOf.get(id)
    if (known !== undefined || chosen.has(id)) return known
    const found = counterparts.workflow(id, isUsed ? add : () => undefined)?.thing
    if (found === undefined && isUsed && !counterparts.isBound(id)) {
      add(
        nameOf(id) === undefined
          ? `It refers to the workflow ${id}, which ${from.instance.url} does not have. Mend it there, or bind the id.`
          : `It refers to the workflow '${nameOf(id)}', which is not on ${there}. Promote it too, or bind it.`
      )
    }
    return found
  }

  /** The content for the second n8n; what is not there yet keeps its id, and is told in `isLater`. */
  const contentFor = (workflow: Workflow.Workflow, isSilent: boolean) => {
    let isLater = false
    const wanted = references.map(content.of(workflow, scope), placesOf, (reference) => {
      const add = (reason: string) =>
        isSilent ? undefined : void obstacles.push(defined({ workflow: workflow.name, node: reference.node, reason }))
      switch (reference.kind) {
        case "credential":
          return counterparts.credential(reference, add)
        case "table":
          return counterparts.table(reference.id, reference.isUsed ? add : () => undefined)
        case "workflow":
          if (chosen.has(reference.id) && !targetOf.has(reference.id)) isLater = true
          return called(reference, add)
      }
    })
    return { wanted, isLater }
  }

  const tasks = yield* Effect.forEach(items, (item) =>
    Effect.gen(function*() {
      const { counterpart, id, workflow } = item
      const { name } = workflow
      const { wanted } = contentFor(workflow, false)
      const warnings = warningsOf(facts, workflow, wanted)
      const entry: Promotion = defined({
        id,
        name,
        status: "new" as const,
        warnings: warnings.length === 0 ? undefined : warnings
      })
      if (counterpart === undefined) return { ...item, entry, there: undefined }
      const there = yield* to.getWorkflow(counterpart.thing.id)
      const now = content.of(there, scope)
      const hash = content.hash(now)
      const known = { ...entry, target: there.id }
      if (hash === content.hash(kept(now, wanted))) {
        return { ...item, entry: { ...known, status: "same" as const }, there }
      }
      const before = route.workflows[id]
      if (counterpart.how === "name") {
        obstacles.push({
          workflow: name,
          reason:
            `${to.instance.url} has a workflow of that name (${there.id}) that was not promoted from here. Bind '${id}' to '${there.id}' to overwrite it, or rename one of them.`
        })
      }
      const isMoved = before !== undefined && before.id === there.id && before.hash !== hash && !overwrites
      return {
        ...item,
        entry: {
          ...known,
          status: isMoved ? "conflict" as const : "changed" as const,
          changed: changedLine(now, kept(now, wanted))
        },
        there
      }
    }))

  return { obstacles, tasks, contentFor, targetOf }
})

/** What is to be done. */
export type Plan = Effect.Success<ReturnType<typeof make>>

/** One workflow of it. */
export type Task = Plan["tasks"][number]
