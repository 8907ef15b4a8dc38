/** Links put into and taken out of n8n's connections, whatever else stands there. */
import type { Link, Port } from "../Connections.ts"
import { arr, int, type Obj, obj, str } from "../Json.ts"
import { own } from "../parameters/ParameterDisplay.ts"

const same = (left: Port, right: Port) => left.type === right.type && left.index === right.index

/** Whether both are the same ports of the same nodes. */
export const equal = (left: Link, right: Link): boolean =>
  left.from === right.from && left.to === right.to && same(left.output, right.output) && same(left.input, right.input)

/** The connections with one more; `undefined` where what stands in its place is none. */
export const add = (connections: unknown, { from, input, output, to }: Link): Obj | undefined => {
  const sources = connections === undefined || connections === null ? {} : obj(connections)
  const given = own(sources, from) ?? {}
  const types = obj(given)
  const list = own(types, output.type) ?? []
  if (sources === undefined || types === undefined || !Array.isArray(list)) return undefined
  const outputs: Array<unknown> = [...list]
  while (outputs.length <= output.index) outputs.push([])
  const targets = outputs[output.index] ?? []
  if (!Array.isArray(targets)) return undefined
  outputs[output.index] = [...targets, { node: to, type: input.type, index: input.index }]
  return { ...sources, [from]: { ...types, [output.type]: outputs } }
}

const isEmpty = (value: unknown) => value === null || Array.isArray(value) && value.length === 0

const trimmed = (outputs: ReadonlyArray<unknown>) =>
  outputs.slice(0, outputs.findLastIndex((each) => !isEmpty(each)) + 1)

/** Entries for which `change` gives nothing are left out; the value itself where all stay as they are. */
const mapped = (value: Obj, change: (inner: unknown, key: string) => unknown): Obj => {
  let isChanged = false
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const next = change(inner, key)
    isChanged ||= next !== inner
    return next === undefined ? [] : [[key, next] as const]
  })
  return isChanged ? Object.fromEntries(entries) : value
}

const orNothing = (value: Obj, before: Obj) => value !== before && Object.keys(value).length === 0 ? undefined : value

/** The link that a target stands for; `undefined` where it is none. */
const linkOf = (given: unknown, from: string, type: string, index: number): Link | undefined => {
  const target = obj(given)
  const to = str(target?.["node"])
  return to === undefined ? undefined : {
    from,
    output: { type, index },
    to,
    input: { type: str(target?.["type"]) || type, index: Math.max(int(target?.["index"]) ?? 0, 0) }
  }
}

/**
 * The connections with other links in the place of some: none, or the same ones elsewhere.
 *
 * **Details**
 *
 * Outputs, types and sources that are left empty by it go, too.
 */
export const remove = (connections: Obj, isRemoved: (link: Link) => boolean): Obj =>
  mapped(connections, (given, from) => {
    const types = obj(given)
    if (types === undefined) return given
    const left = mapped(types, (outputs, type) => {
      if (!Array.isArray(outputs)) return outputs
      let isChanged = false
      const kept = outputs.map((targets, index) => {
        if (!Array.isArray(targets)) return targets
        const rest = targets.filter((target) => {
          const link = linkOf(target, from, type, index)
          return link === undefined || !isRemoved(link)
        })
        if (rest.length === targets.length) return targets
        isChanged = true
        return rest
      })
      if (!isChanged) return outputs
      const ends = trimmed(kept)
      return ends.length === 0 ? undefined : ends
    })
    return orNothing(left, types)
  })

/** The connections without what starts there, be it links or not. */
export const removeSource = (connections: Obj, isRemoved: (from: string) => boolean): Obj =>
  mapped(connections, (given, from) => isRemoved(from) ? undefined : given)

/** The connections with a node under another name, in the same order. */
export const rename = (connections: Obj, before: string, after: string): Obj => {
  const targets = mapped(connections, (given) => {
    const types = obj(given)
    return types && mapped(types, (outputs) => {
          if (!Array.isArray(outputs)) return outputs
          const renamed = outputs.map((all) => Array.isArray(all) ? renamedIn(all, before, after) : all)
          return renamed.some((all, index) => all !== outputs[index]) ? renamed : outputs
        }) || given
  })
  return renameKey(targets, before, after)
}

const renamedIn = (targets: ReadonlyArray<unknown>, before: string, after: string) =>
  targets.some((target) => own(target, "node") === before)
    ? targets.map((target) => own(target, "node") === before ? { ...obj(target), node: after } : target)
    : targets

/** The object with a key under another name, in the same order. */
export const renameKey = (value: Obj, before: string, after: string): Obj =>
  Object.hasOwn(value, before)
    ? Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) =>
        key === before ? [[after, inner]] : key === after ? [] : [[key, inner]]
      )
    )
    : value

/** Every link, in n8n's order. */
export const all = (connections: unknown): ReadonlyArray<Link> =>
  Object.entries(obj(connections) ?? {}).flatMap(([from, types]) =>
    Object.entries(obj(types) ?? {}).flatMap(([type, outputs]) =>
      arr(outputs).flatMap((targets, index) =>
        arr(targets).flatMap((target) => linkOf(target, from, type, index) ?? [])
      )
    )
  )
