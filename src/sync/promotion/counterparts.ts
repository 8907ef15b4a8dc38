/** What stands on the second n8n for what the first has: by the bindings, by what was promoted before, by name. Pure. */
import { arr, equals, own } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import type * as Workflow from "../../n8n/model/Workflow.ts"
import * as references from "../references.ts"
import { type Facts, named } from "./facts.ts"
import type { Bindings } from "./promotion.ts"
import type * as Record from "./record.ts"

type Thing = references.Thing

/** Tells what stands in the way. */
export type Add = (reason: string) => void

/** A workflow of the second n8n, and how it was found. */
export interface Counterpart {
  readonly thing: Thing
  readonly how: "bound" | "promoted" | "name"
}

const nodeIds = (workflow: Pick<Workflow.Listed, "nodes"> | undefined) =>
  arr(workflow?.nodes).map((node) => own(node, "id"))

/** Finds counterparts on the n8n at the address `there`. */
export const make = (
  { credentials, sources, tables, targets, workflows }: Facts,
  bindings: Bindings | undefined,
  route: Record.Route,
  there: string
) => {
  const claimed = new Set(Object.values(route.workflows).map(({ id }) => id))

  /** The name of a workflow on the first n8n. */
  const nameOf = (id: string) => sources.find((each) => each.id === id)?.name

  const bound = (kind: keyof Bindings, id: string | undefined, name: string | undefined) => {
    const all = bindings?.[kind] ?? {}
    return [id, name].flatMap((key) => key !== undefined && Object.hasOwn(all, key) ? all[key] ?? [] : [])[0]
  }

  const pick = <A extends Thing>(
    things: ReadonlyArray<A>,
    wanted: string,
    what: string,
    add: Add
  ): A | undefined => {
    const found = named(things, wanted)
    if (typeof found !== "string") return found
    add(
      found === "several"
        ? `${what}: several on ${there} are named '${wanted}'. Bind it to an id.`
        : `${what} is bound to '${wanted}', which ${there} does not have. ${
          suggestion(wanted, things.map(({ name }) => name))
        }`.trim()
    )
    return undefined
  }

  const credential = (
    { id, name, type }: references.Reference & { readonly kind: "credential" },
    add: Add
  ): Thing | undefined => {
    const what = `The credential '${name ?? id}' (${type})`
    const ofType = credentials.things.filter((each) => each.type === type)
    const wanted = bound("credentials", id, name)
    if (wanted !== undefined) {
      // Nobody can look it up, so it is believed.
      if (!credentials.isWhole && named(ofType, wanted) === "none") return { id: wanted, name: name ?? wanted }
      return pick(ofType, wanted, what, add)
    }
    const found = name === undefined ? "none" : ofType.filter((each) => each.name === name)
    if (found !== "none" && found.length === 1) return found[0]
    const choices = ofType.map((each) => `'${each.name}' (${each.id})`).slice(0, 5).join(", ")
    add(
      found !== "none" && found.length > 1
        ? `${what}: ${there} has several of that name: ${choices}. Bind it to an id.`
        : `${what} is not on ${there}${
          credentials.isWhole ? "" : ", as far as its workflows show (n8n 1.x does not list credentials)"
        }. Make it there, or bind it${choices === "" ? "" : `: there are ${choices}`}.`
    )
    return undefined
  }

  const table = (id: string, add: Add): Thing | undefined => {
    const name = tables.there.things.find((each) => each.id === id)?.name
    const what = `The data table '${name ?? id}'`
    const wanted = bound("tables", id, name)
    if (wanted !== undefined) {
      if (!tables.here.isWhole) return { id: wanted, name: name ?? wanted }
      return pick(tables.here.things, wanted, what, add)
    }
    const found = name === undefined ? undefined : tables.here.things.find((each) => each.name === name)
    if (found === undefined) {
      add(`${what} is not on ${there}${tables.here.isWhole ? "" : ", which lists none"}. Make it there, or bind it.`)
    }
    return found
  }

  /** What a workflow of the first n8n is on the second. */
  const workflow = (id: string, add: Add): Counterpart | undefined => {
    const name = nameOf(id)
    const what = `The workflow '${name ?? id}'`
    const wanted = bound("workflows", id, name)
    if (wanted !== undefined) {
      const thing = pick(targets, wanted, what, add)
      return thing && { thing, how: "bound" }
    }
    const before = Object.hasOwn(route.workflows, id) ? route.workflows[id] : undefined
    const promoted = targets.find((each) => each.id === before?.id)
    if (promoted !== undefined) return { thing: promoted, how: "promoted" }
    const same = targets.filter((each) => each.name === name && !claimed.has(each.id))
    if (same.length > 1) add(`${what}: ${there} has several of that name. Bind it to an id.`)
    const [only] = same
    if (only === undefined || same.length > 1) return undefined
    // It was being created when this process or the connection ended.
    const isOurs = before?.id === "" && equals(nodeIds(only), nodeIds(workflows.find((each) => each.id === id)))
    return { thing: only, how: isOurs ? "promoted" : "name" }
  }

  const isBound = (id: string) => bound("workflows", id, nameOf(id)) !== undefined

  return { credential, table, workflow, isBound, nameOf }
}
