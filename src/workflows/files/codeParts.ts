/**
 * A workflow's JSON and the code in files beside it. Pure.
 *
 * **Details**
 *
 * In the parameters of its nodes `{"$file": "invoices.code/add-vat.js"}` stands for the text of that file, by a path
 * from the workflow's folder. An object that looks like that and is none has one more `$` before its key.
 */
import { arr, mapValues, type Obj, obj, own, str } from "../../base/Json.ts"
import * as names from "./names.ts"

/** Where code stands in a workflow. */
export interface CodePlace {
  /** From the workflow: `["nodes", 2, "parameters", "jsCode"]`. */
  readonly path: ReadonlyArray<string | number>
  /** What its file ends in, such as `js`. */
  readonly extension: string
}

/** Finds the code in a workflow. */
export type CodePlaces = (workflow: Obj) => ReadonlyArray<CodePlace>

/** A place and the file that its code is in. */
export interface Reference {
  readonly path: CodePlace["path"]
  /** Relative to the workflow's folder, with slashes. */
  readonly file: string
}

const extensions: ReadonlySet<string> = new Set(["css", "html", "js", "py", "sql"])

/** Whether a file of this name can hold code: below the workflow's folder, with the ending of a language, not hidden. */
export const isCodeFile = (file: string): boolean =>
  file.length <= 250 && !/[\\:\p{Cc}]/u.test(file) &&
  file.split("/").every((name) => name !== "" && !name.startsWith(".") && name !== "node_modules") &&
  extensions.has(file.slice(file.lastIndexOf(".") + 1))

/** The key and text of an object that is a reference, or looks like one. */
const markOf = (value: unknown): readonly [string, string] | undefined => {
  const [entry, ...others] = Object.entries(obj(value) ?? {})
  return entry !== undefined && others.length === 0 && /^\$+file$/.test(entry[0]) && typeof entry[1] === "string"
    ? [entry[0], entry[1]]
    : undefined
}

type Path = CodePlace["path"]

const walk = (value: unknown, path: Path, change: (value: unknown, path: Path) => unknown): unknown => {
  const changed = change(value, path)
  if (changed !== value) return changed
  if (Array.isArray(value)) return value.map((element, index) => walk(element, [...path, index], change))
  const object = obj(value)
  return object === undefined ? value : mapValues(object, (inner, key) => walk(inner, [...path, key], change))
}

/** Changes what is in the parameters of a workflow's nodes. */
const inParameters = (workflow: unknown, change: (value: unknown, path: Path) => unknown): unknown => {
  const whole = obj(workflow)
  if (whole === undefined || !Array.isArray(whole["nodes"])) return workflow
  const nodes = whole["nodes"].map((node: unknown, index) =>
    obj(own(node, "parameters")) === undefined ?
      node :
      mapValues(obj(node) ?? {}, (inner, key) =>
        key === "parameters" ? walk(inner, ["nodes", index, key], change) : inner)
  )
  return mapValues(whole, (inner, key) => key === "nodes" ? nodes : inner)
}

/** The references in the JSON of a file. */
export const references = (inFile: unknown): ReadonlyArray<Reference> => {
  const all: Array<Reference> = []
  inParameters(inFile, (value, path) => {
    const mark = markOf(value)
    if (mark?.[0] === "$file") all.push({ path, file: mark[1] })
    return value
  })
  return all
}

/** The workflow that the JSON of a file means, with the text of each file that it refers to. */
export const join = (inFile: unknown, textOf: (file: string) => string): unknown =>
  inParameters(inFile, (value) => {
    const mark = markOf(value)
    if (mark === undefined) return value
    return mark[0] === "$file" ? textOf(mark[1]) : { [mark[0].slice(1)]: mark[1] }
  })

/** What goes through git and editors unchanged. */
const canBeFile = (text: string) => text.isWellFormed() && !/[\r\0]|^\uFEFF/.test(text)

/** What is worth a file of its own. */
const isLong = (text: string) => text.length > 200 || text.split("\n").length > 4

const valueAt = (value: unknown, path: Path) =>
  path.reduce<unknown>((inner, key) => typeof key === "number" ? arr(inner)[key] : own(inner, key), value)

/** Names a place whatever is inserted before its node. */
const keyOf = (workflow: unknown, path: Path) => {
  const node = valueAt(workflow, path.slice(0, 2))
  return JSON.stringify([str(own(node, "id")) ?? str(own(node, "name")) ?? path[1], ...path.slice(2)])
}

/** How code was kept in files before, and is to be kept. */
export interface SplitOptions {
  /** The JSON that the file has now. */
  readonly before: unknown
  /** Finds code to be moved into files; without it only what is in files stays there. */
  readonly places: CodePlaces | undefined
  /** The name of the folder for new files of code. */
  readonly folder: string
  /** The names in it. */
  readonly taken: ReadonlyArray<string>
  /** The text of those that the JSON does not refer to. */
  readonly unused: ReadonlyMap<string, string>
}

/** The JSON for a workflow's file, and the text of each file beside it. */
export const split = (workflow: unknown, { before, folder, places, taken, unused }: SplitOptions) => {
  const known = new Map(references(before).map(({ file, path }) => [keyOf(before, path), file]))
  const endings = new Map(
    (places === undefined ? [] : places(obj(workflow) ?? {})).map(({ extension, path }) => [
      JSON.stringify(path),
      extension
    ])
  )
  const files = new Map<string, string>()
  const stems = new Set(
    [...taken, ...[...known.values()].map((file) => file.slice(file.lastIndexOf("/") + 1))]
      .map((name) => `${name.slice(0, name.lastIndexOf("."))}.json`)
  )
  const fileFor = (path: Path, text: string) => {
    const old = known.get(keyOf(workflow, path))
    if (old !== undefined && !files.has(old)) return old
    const extension = endings.get(JSON.stringify(path))
    if (extension === undefined || !isLong(text)) return undefined
    const same = [...unused].find(([file, old]) => old === text && file.endsWith(`.${extension}`) && !files.has(file))
    if (same !== undefined) return same[0]
    const node = str(own(valueAt(workflow, path.slice(0, 2)), "name")) ?? "node"
    const [name = "node"] = names.free(node, stems)
    stems.add(`${name}.json`)
    return `${folder}/${name}.${extension}`
  }
  const value = inParameters(workflow, (inner, path) => {
    const mark = markOf(inner)
    if (mark !== undefined) return { [`$${mark[0]}`]: mark[1] }
    if (typeof inner !== "string" || !canBeFile(inner)) return inner
    const file = fileFor(path, inner)
    if (file === undefined) return inner
    files.set(file, inner)
    return { $file: file }
  })
  return { value, files }
}
