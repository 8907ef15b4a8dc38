/** Gives nodes other names, and takes nodes away. */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str } from "../Json.ts"
import { own } from "../parameters/ParameterDisplay.ts"
import { quoted } from "../problems/CheckedWorkflow.ts"
import * as Links from "./EditLinks.ts"
import * as Names from "./EditNames.ts"
import type { Of } from "./EditOperation.ts"
import * as Step from "./EditStep.ts"

const count = (many: number, what: string) => `${many} ${what}${many === 1 ? "" : "s"}`

/** A name like it that is not taken, as n8n makes it: `Set`, `Set1`, `Set2`. */
export const unique = (wanted: string, taken: ReadonlySet<string>, initial = wanted): string => {
  if (!taken.has(wanted)) return wanted
  const base = wanted === initial ? wanted : wanted.replace(/(?<=\D)\d{1,9}$/, "")
  let number = Number(wanted.slice(base.length)) + 1
  while (taken.has(`${base}${number}`)) number++
  return `${base}${number}`
}

/** What is left of a node that is gone, and would become another's. */
const leftOf = (workflow: Obj, name: string): string | undefined =>
  own(obj(workflow["pinData"]), name) !== undefined
    ? "pinned data"
    : Links.all(workflow["connections"]).some(({ from }) => from === name)
    ? "connections"
    : undefined

/** Every node but that one, with its parameters changed. */
const withParameters = (workflow: Obj, change: (parameters: Obj, node: Obj) => Obj): Obj => {
  const nodes = arr(workflow["nodes"])
  const changed = nodes.map((given) => {
    const node = obj(given)
    const parameters = obj(node?.["parameters"])
    const next = node === undefined || parameters === undefined ? parameters : change(parameters, node)
    return next === parameters ? given : { ...node, parameters: next }
  })
  return changed.some((node, index) => node !== nodes[index]) ? { ...workflow, nodes: changed } : workflow
}

/** The workflow with one of its objects changed, if it is one. */
const within = (workflow: Obj, key: string, change: (value: Obj) => Obj): Obj => {
  const value = obj(workflow[key])
  const next = value && change(value)
  return next === value ? workflow : { ...workflow, [key]: next }
}

/** Renames a node; connections, pinned data, expressions and scripts follow. */
export const rename = (
  workflow: Obj,
  { node: word, to }: Of<"rename">,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.gen(function*() {
    const found = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = found
    if (to.trim() === "") return yield* Step.refuse("to", "A node's name cannot be empty.", "Say the new name.")
    if (to === name) return { workflow, change: `'${name}' has that name already` }
    const names = new Set(Step.names(workflow))
    if (names.has(to)) {
      return yield* Step.refuse("to", `Another node is named '${to}'.`, `'${unique(to, names)}' is free.`)
    }
    const left = leftOf(workflow, to)
    if (left !== undefined) {
      return yield* Step.refuse("to", `There are ${left} of a node '${to}' that is gone.`, "Take another name.")
    }
    const moved = Step.withNode(workflow, index, { ...node, name: to })
    if (name === "" || Step.isNamesake(workflow, found)) {
      return {
        workflow: moved,
        change: name === "" ? `named nodes[${index}] '${to}'` : `renamed the other '${name}' to '${to}'`
      }
    }
    let expressions = 0
    const followed = withParameters(moved, (parameters) => {
      const next = Names.renamed(parameters, name, to, lookups.parse)
      if (next !== parameters) expressions += Names.naming(next, to, lookups.parse).length
      return next
    })
    const links = Links.all(workflow["connections"]).filter((link) => link.from === name || link.to === name).length
    const follow = [
      ...(links === 0 ? [] : [count(links, "connection")]),
      ...(expressions === 0 ? [] : [count(expressions, "expression")])
    ]
    return {
      workflow: within(
        within(followed, "connections", (connections) => Links.rename(connections, name, to)),
        "pinData",
        (pinData) => Links.renameKey(pinData, name, to)
      ),
      change: `renamed '${name}' to '${to}'${follow.length === 0 ? "" : `, in ${follow.join(" and ")}, too`}`
    }
  })

/** The groups without a node; those of none are left out. */
const ungrouped = (groups: unknown, id: unknown): unknown => {
  if (!Array.isArray(groups)) return groups
  return groups.flatMap((group: unknown) => {
    const members = arr(own(group, "nodeIds"))
    if (!members.includes(id)) return [group]
    const nodeIds = members.filter((each) => each !== id)
    return nodeIds.length === 0 ? [] : [{ ...obj(group), nodeIds }]
  })
}

/** Removes a node with what belongs to it: links, pinned data, its place in groups. */
export const remove = (
  workflow: Obj,
  { node: word }: Of<"remove">,
  lookups: Step.Lookups
): Step.Attempt<Step.Step> =>
  Result.gen(function*() {
    const found = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = found
    const rest = { ...workflow, nodes: arr(workflow["nodes"]).toSpliced(index, 1) }
    // What goes by a name stays while there is a node of that name.
    const stay = new Set(Step.names(rest))
    const isMeant = Step.meaning(workflow, found)
    const means = (word: string) => isMeant(word) && !stay.has(word)
    const links = Links.all(workflow["connections"]).filter(({ from, to }) => means(from) || means(to))
    const unlinked = within(rest, "connections", (connections) =>
      Links.remove(Links.removeSource(connections, means), (link) =>
        means(link.to)))
    const unpinned = within(unlinked, "pinData", (pinData) =>
      means(name) && Object.hasOwn(pinData, name) ? Step.omit(pinData, name) : pinData)
    const id = str(node["id"])
    const isGrouped = id !== undefined && arr(workflow["nodeGroups"]).some((group) =>
      arr(own(group, "nodeIds")).includes(id)
    )
    const naming = !means(name) ?
      [] :
      arr(rest.nodes).flatMap((each) =>
        Names.naming(own(each, "parameters"), name, lookups.parse).map((path) =>
          `${path} of '${String(own(each, "name"))}'`
        )
      )
    const still = naming.length === 0
      ? ""
      : `; ${count(naming.length, "expression")} still name${naming.length === 1 ? "s" : ""} it: ` +
        naming.slice(0, 5).join(", ") + (naming.length > 5 ? " …" : "")
    return {
      workflow: isGrouped ? { ...unpinned, nodeGroups: ungrouped(workflow["nodeGroups"], id) } : unpinned,
      change: `removed ${name === "" ? `nodes[${index}]` : quoted([name])}` +
        (links.length === 0 ? "" : ` and ${count(links.length, "connection")}`) + still
    }
  })
