/** Counterparts on the second n8n: by the bindings, by earlier promotions, by name. Pure. */
import { equals } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import { nodeIds } from "../locals.ts"
import * as references from "../references.ts"
import { type Facts, named } from "./facts.ts"
import type { Bindings } from "./options.ts"
import type * as Record from "./record.ts"

type NamedRef = references.NamedRef

export type Add = (reason: string) => void

export interface Counterpart {
  readonly ref: NamedRef
  readonly how: "bound" | "promoted" | "name"
}

export const make = (
  { credentials, source, tables, targets, workflows }: Facts,
  bindings: Bindings | undefined,
  route: Record.Route,
  url: string
) => {
  const claimed = new Set(Object.values(route.workflows).map(({ id }) => id))

  const nameOf = (id: string) => source.refs.find((each) => each.id === id)?.name

  const bound = (kind: keyof Bindings, id: string | undefined, name: string | undefined) => {
    const all = bindings?.[kind] ?? {}
    return [id, name].flatMap((key) => key !== undefined && Object.hasOwn(all, key) ? all[key] ?? [] : [])[0]
  }

  const pick = <A extends NamedRef>(
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

  const credential = (
    { id, name, type }: references.Reference & { readonly kind: "credential" },
    add: Add
  ): NamedRef | undefined => {
    const what = `The credential '${name ?? id}' (${type})`
    const ofType = credentials.refs.filter((each) => each.type === type)
    const binding = bound("credentials", id, name)
    if (binding !== undefined) {
      // It cannot be looked up, so the binding is trusted.
      if (!credentials.isComplete && named(ofType, binding) === "none") return { id: binding, name: name ?? binding }
      return pick(ofType, binding, what, add)
    }
    const namesakes = name === undefined ? [] : ofType.filter((each) => each.name === name)
    if (namesakes.length === 1) return namesakes[0]
    const choices = ofType.map((each) => `'${each.name}' (${each.id})`).slice(0, 5).join(", ")
    add(
      namesakes.length > 1
        ? `${what}: ${url} has several of that name: ${choices}. Bind it to an id.`
        : `${what} is not on ${url}${
          credentials.isComplete ? "" : ", as far as its workflows show (n8n 1.x does not list credentials)"
        }. Create it there, or bind it${choices === "" ? "" : ` to one of ${choices}`}.`
    )
    return undefined
  }

  const table = (
    { id, name: shown }: references.Reference & { readonly kind: "workflow" | "table" },
    add: Add
  ): NamedRef | undefined => {
    const name = tables.source.refs.find((each) => each.id === id)?.name ?? (source.tables ? undefined : shown)
    const what = `The data table '${name ?? id}'`
    const { isComplete, refs } = tables.target
    const binding = bound("tables", id, name)
    if (binding !== undefined) {
      return isComplete ? pick(refs, binding, what, add) : { id: binding, name: name ?? binding }
    }
    const namesake = name === undefined ? undefined : refs.find((each) => each.name === name)
    if (namesake === undefined) {
      add(`${what} is not on ${url}${isComplete ? "" : ", which does not list tables"}. Create it there, or bind it.`)
    }
    return namesake
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
    const isOurs = before?.id === "" && equals(nodeIds(only), nodeIds(workflows.find((each) => each.id === id)))
    return { ref: only, how: isOurs ? "promoted" : "name" }
  }

  const isBound = (id: string) => bound("workflows", id, nameOf(id)) !== undefined

  return { credential, table, workflow, isBound, nameOf }
}
