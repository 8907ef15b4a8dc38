/** Renames and removes nodes, also in the expressions and scripts of other nodes. */
import * as Result from "effect/Result"
import type { Parse } from "../../base/JavaScript.ts"
import { arr, type Obj, obj, own, str, without } from "../../base/Json.ts"
import { member } from "../../base/JsonPath.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { nodes } from "../../n8n/model/Workflow.ts"
import { inText, mapTexts, type Reference, type Text, texts } from "../check/Expressions.ts"
import * as Graph from "../Graph.ts"
import * as Step from "./step.ts"

/** Free name in n8n's style: `Set`, `Set1`, `Set2`. */
export const unique = (wanted: string, taken: ReadonlySet<string>, initial = wanted): string => {
  if (!taken.has(wanted)) return wanted
  const base = wanted === initial ? wanted : wanted.replace(/(?<=\D)\d{1,9}$/, "")
  let number = Number(wanted.slice(base.length)) + 1
  while (taken.has(`${base}${number}`)) number++
  return `${base}${number}`
}

/** Cheap check before parsing: without escapes, code contains the name literally. */
const mayName = (text: string, name: string) =>
  (text.includes(name) || text.includes("\\")) && /\$\s*(?:\(|node\b|items\b)/.test(text)

const referencesOf = (text: Text, name: string, parse: Parse): ReadonlyArray<Reference> =>
  text.kind === "unmarked" || !mayName(text.text, name)
    ? []
    : inText(text, parse).references.filter((reference) => reference.name === name)

const naming = (parameters: unknown, name: string, parse: Parse): ReadonlyArray<string> =>
  texts(parameters).flatMap((text) => referencesOf(text, name, parse).length > 0 ? [text.path] : [])

const escapes: { readonly [sign: string]: string } = { "\\": "\\\\", "\n": "\\n", "\r": "\\r" }

/** String literal with the given quotes; brackets that would end an expression are escaped. */
export const literal = (name: string, quote: string) => {
  const escaped = name.replaceAll(/[\\\n\r]/g, (sign) => escapes[sign] ?? sign)
    .replaceAll(quote, `\\${quote}`)
    .replaceAll("}}", "}\\x7d")
    .replaceAll("{{", "{\\x7b")
  return quote + (quote === "`" ? escaped.replaceAll("${", "\\${") : escaped) + quote
}

const replacement = (code: string, as: Reference["as"], before: string, after: string) =>
  as === "literal"
    ? literal(after, code[0] ?? "'")
    : /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(after) && code.endsWith(before)
    ? code.slice(0, code.length - before.length) + after
    : `${code.includes("?.") ? "?." : ""}[${literal(after, "\"")}]`

const inString = (text: Text, before: string, after: string, parse: Parse) =>
  referencesOf(text, before, parse).toSorted((a, b) => b.start - a.start).reduce(
    (result, { as, end, start }) =>
      result.slice(0, start) + replacement(result.slice(start, end), as, before, after) + result.slice(end),
    text.text
  )

export const renameIn = (parameters: Obj, before: string, after: string, parse: Parse): Obj =>
  // Without references, parameters may be nested too deeply for recursion.
  naming(parameters, before, parse).length === 0
    ? parameters
    : mapTexts(parameters, (text) => inString(text, before, after, parse))

/** Remains of a removed node that a node of this name would take over. */
const remainderOf = (workflow: Obj, name: string): string | undefined =>
  own(obj(workflow["pinData"]), name) !== undefined
    ? "pinned data"
    : Graph.make(workflow["connections"]).out(name).length > 0
    ? "connections"
    : undefined

const within = (value: Obj, key: string, change: (inner: Obj) => Obj): Obj => {
  const inner = obj(value[key])
  return inner === undefined ? value : { ...value, [key]: change(inner) }
}

export const rename: Step.Edit<"rename"> = (workflow, { node: word, to }, lookups) =>
  Result.gen(function*() {
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = entry
    if (to.trim() === "") return yield* Step.refuse("to", "A node's name cannot be empty.", "Provide a new name.")
    if (to === name) return { workflow, changes: [`'${name}' already has that name`] }
    const names = new Set(Step.names(workflow))
    if (names.has(to)) {
      return yield* Step.refuse("to", `Another node is named '${to}'.`, `'${unique(to, names)}' is free.`)
    }
    const left = remainderOf(workflow, to)
    if (left !== undefined) {
      return yield* Step.refuse(
        "to",
        `The workflow still has ${left} of a removed node '${to}'.`,
        "Choose another name."
      )
    }
    const moved = Step.withNode(workflow, index, { ...node, name: to })
    if (name === "" || Step.isNamesake(workflow, entry)) {
      return {
        workflow: moved,
        changes: [
          name === "" ? `named ${member("nodes", index)} '${to}'` : `renamed the other '${name}' to '${to}'`
        ]
      }
    }
    let expressions = 0
    const renamed = arr(moved["nodes"]).map((value) => {
      const node = obj(value)
      return node === undefined ? value : within(node, "parameters", (parameters) => {
        expressions += naming(parameters, name, lookups.parse).length
        return renameIn(parameters, name, to, lookups.parse)
      })
    })
    const links = Graph.around(Graph.make(workflow["connections"]), [name]).length
    const follow = [
      ...(links === 0 ? [] : [counted(links, "connection")]),
      ...(expressions === 0 ? [] : [counted(expressions, "expression")])
    ]
    return {
      workflow: within(
        within({ ...moved, nodes: renamed }, "connections", (connections) => Connections.rename(connections, name, to)),
        "pinData",
        (pinData) => Connections.renameKey(pinData, name, to)
      ),
      changes: [`renamed '${name}' to '${to}'${follow.length === 0 ? "" : `, in ${follow.join(" and ")}, too`}`]
    }
  })

const withoutMember = (groups: unknown, id: unknown): unknown => {
  if (!Array.isArray(groups)) return groups
  return groups.flatMap((group: unknown) => {
    const members = arr(own(group, "nodeIds"))
    if (!members.includes(id)) return [group]
    const nodeIds = members.filter((each) => each !== id)
    return nodeIds.length === 0 ? [] : [{ ...obj(group), nodeIds }]
  })
}

export const remove: Step.Edit<"remove"> = (workflow, { node: word }, lookups) =>
  Result.gen(function*() {
    const entry = yield* Step.locate(workflow, word, "node", lookups)
    const { index, name, node } = entry
    const rest = { ...workflow, nodes: arr(workflow["nodes"]).toSpliced(index, 1) }
    // References by name stay while another node has that name.
    const stay = new Set(Step.names(rest))
    const words = new Set([...Step.wordsFor(workflow, entry)].filter((word) => !stay.has(word)))
    const links = Graph.around(Graph.make(workflow["connections"]), words)
    const unlinked = within(rest, "connections", (connections) =>
      Connections.remove(
        without(connections, (_, from) => words.has(from)),
        links
      ))
    const unpinned = words.has(name) ? within(unlinked, "pinData", (pinData) => Step.omit(pinData, name)) : unlinked
    const id = str(node["id"])
    const isGrouped = id !== undefined &&
      arr(workflow["nodeGroups"]).some((group) => arr(own(group, "nodeIds")).includes(id))
    return {
      workflow: isGrouped ? { ...unpinned, nodeGroups: withoutMember(workflow["nodeGroups"], id) } : unpinned,
      changes: [
        `removed ${name === "" ? member("nodes", index) : Rows.names([name])}` +
        (links.length === 0 ? "" : ` and ${counted(links.length, "connection")}`)
      ],
      ...(words.has(name) ? { removed: name } : {})
    }
  })

/** `; 1 expression still names it: …`, for a removed node. */
export const stillNamed = (workflow: Obj, name: string, { parse }: Step.Lookups): string => {
  const paths = Step.names(workflow).includes(name) ?
    [] :
    nodes(workflow).flatMap((node) =>
      naming(node["parameters"], name, parse).map((path) => `${path} of '${String(node["name"])}'`)
    )
  return paths.length === 0
    ? ""
    : `; ${counted(paths.length, "expression")} still name${paths.length === 1 ? "s" : ""} it: ` +
      paths.slice(0, 5).join(", ") + (paths.length > 5 ? " …" : "")
}
