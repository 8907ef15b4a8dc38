/** Changes links in n8n's connections and leaves malformed parts unchanged. */
import { equals, mapValues, type Obj, obj, own, without } from "../../base/Json.ts"
import { type Link, linkOf, sameLink } from "../../n8n/model/Connections.ts"
import { isNull } from "../repair/Repairs.ts"

export const add = (connections: unknown, { from, input, output, to }: Link): Obj | undefined => {
  const sources = isNull(connections) ? {} : obj(connections)
  const types = obj(own(sources, from) ?? {})
  const list = own(types, output.type) ?? []
  if (sources === undefined || types === undefined || !Array.isArray(list)) return undefined
  const outputs: Array<unknown> = [...list]
  while (outputs.length <= output.index) outputs.push([])
  const targets = outputs[output.index] ?? []
  if (!Array.isArray(targets)) return undefined
  outputs[output.index] = [...targets, { node: to, type: input.type, index: input.index }]
  return { ...sources, [from]: { ...types, [output.type]: outputs } }
}

const isUnused = (output: unknown) => output === null || Array.isArray(output) && output.length === 0

const removedFrom = (outputs: unknown, from: string, type: string, isRemoved: (link: Link) => boolean): unknown => {
  if (!Array.isArray(outputs)) return outputs
  const rest = outputs.map((targets, index) =>
    Array.isArray(targets)
      ? targets.filter((target) => {
        const link = linkOf(from, { type, index }, target)
        return link === undefined || !isRemoved(link)
      })
      : targets
  )
  if (equals(rest, outputs)) return outputs
  const used = rest.slice(0, rest.findLastIndex((output) => !isUnused(output)) + 1)
  return used.length === 0 ? undefined : used
}

export const isEmpty = (value: unknown): boolean => Object.keys(obj(value) ?? { value }).length === 0

export const remove = (connections: Obj, isRemoved: (link: Link) => boolean): Obj => {
  const rest = mapValues(connections, (value, from) => {
    const types = obj(value)
    return types === undefined ? value : without(
      mapValues(types, (outputs, type) => removedFrom(outputs, from, type, isRemoved)),
      (outputs) => outputs === undefined
    )
  })
  return without(rest, (types, from) => isEmpty(types) && !isEmpty(connections[from]))
}

export const move = (connections: Obj, moved: ReadonlyMap<Link, Link | undefined>): Obj =>
  [...moved.values()].reduce<Obj>(
    (result, link) => link === undefined ? result : add(result, link) ?? result,
    remove(connections, (link) => [...moved.keys()].some((each) => sameLink(each, link)))
  )

export const rename = (connections: Obj, before: string, after: string): Obj => {
  const renamed = (target: unknown) => own(target, "node") === before ? { ...obj(target), node: after } : target
  const renamedIn = (targets: unknown) => Array.isArray(targets) ? targets.map(renamed) : targets
  const targets = mapValues(connections, (value) => {
    const types = obj(value)
    return types === undefined
      ? value
      : mapValues(types, (outputs) => Array.isArray(outputs) ? outputs.map(renamedIn) : outputs)
  })
  return renameKey(targets, before, after)
}

export const renameKey = (value: Obj, before: string, after: string): Obj =>
  Object.hasOwn(value, before)
    ? Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) =>
        key === before ? [[after, inner]] : key === after ? [] : [[key, inner]]
      )
    )
    : value
