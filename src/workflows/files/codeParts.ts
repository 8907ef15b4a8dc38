/**
 * Splits code out of a workflow's JSON and joins it again. Pure. In the parameters of its nodes `{"$file":
 * "invoices.code/add-vat.js"}` stands for the text of that file, by a path from the workflow's folder. An object that
 * only looks like a reference has one more `$` before its key.
 */
import { obj, own, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { CodePlace, CodePlaces } from "../../workflow/NodeParameters.ts"
import * as names from "./names.ts"

export interface Reference {
  readonly path: CodePlace["path"]
  /** Relative to the workflow's folder, with slashes. */
  readonly file: string
}

const extensions: ReadonlySet<string> = new Set(["css", "html", "js", "py", "sql"])

/** Whether a file can contain code: below the workflow's folder, with the extension of a language, not hidden. */
export const isCodeFile = (file: string): boolean =>
  file.length <= 250 && !/[\\:\p{Cc}]/u.test(file) &&
  file.split("/").every((name) => name !== "" && !name.startsWith(".") && name !== "node_modules") &&
  extensions.has(file.slice(file.lastIndexOf(".") + 1))

/** Key and text of an object that is a reference, or looks like one. */
const markOf = (value: unknown): readonly [string, string] | undefined => {
  const [entry, ...others] = Object.entries(obj(value) ?? {})
  return entry !== undefined && others.length === 0 && /^\$+file$/.test(entry[0]) && typeof entry[1] === "string"
    ? [entry[0], entry[1]]
    : undefined
}

type Path = CodePlace["path"]

const inParameters = (workflow: unknown, change: (value: unknown, path: Path) => unknown): unknown =>
  JsonPath.walk(workflow, [], (value, path) => {
    const [top, index, key] = path
    return top === "nodes" && typeof index === "number" && key === "parameters" ? change(value, path) : value
  })

export const references = (inFile: unknown): ReadonlyArray<Reference> => {
  const all: Array<Reference> = []
  inParameters(inFile, (value, path) => {
    const mark = markOf(value)
    if (mark?.[0] === "$file") all.push({ path, file: mark[1] })
    return value
  })
  return all
}

export const join = (inFile: unknown, textOf: (file: string) => string): unknown =>
  inParameters(inFile, (value) => {
    const mark = markOf(value)
    if (mark === undefined) return value
    return mark[0] === "$file" ? textOf(mark[1]) : { [mark[0].slice(1)]: mark[1] }
  })

const canBeFile = (text: string) => text.isWellFormed() && !/[\r\0]|^\uFEFF/.test(text)

/** Key of a place, independent of the order of nodes. */
const keyParts = (workflow: unknown, path: Path): Path => {
  const node = JsonPath.get(workflow, path.slice(0, 2))
  return [str(own(node, "id")) ?? str(own(node, "name")) ?? path[1] ?? "", ...path.slice(2)]
}

const keyOf = (workflow: unknown, path: Path) => JSON.stringify(keyParts(workflow, path))

/**
 * JSON of a workflow's own file, and the texts of its code files. `before` is the current JSON of the file. Without
 * `places`, only code that is in files already stays there. `folder` is for new code files, `taken` are the names in
 * it, and `unused` the texts there that the JSON does not refer to.
 */
export const split = (
  workflow: unknown,
  before: unknown,
  places: CodePlaces | undefined,
  { folder, taken, unused }: {
    readonly folder: string
    readonly taken: ReadonlyArray<string>
    readonly unused: ReadonlyMap<string, string>
  }
) => {
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
  /** File of the node's code under another parameter, which is gone: an upgrade renames `functionCode` to `jsCode`. */
  const renamed = (path: Path) => {
    if (!/code$/i.test(String(path.at(-1)))) return undefined
    const [name] = keyParts(workflow, path)
    const gone = [...known].filter(([key]) => {
      const [owner, ...rest] = JSON.parse(key) as Path
      return owner === name && typeof JsonPath.get(workflow, [...path.slice(0, 2), ...rest]) !== "string"
    })
    return gone.length === 1 ? gone[0]?.[1] : undefined
  }
  const fileFor = (path: Path, text: string) => {
    const old = known.get(keyOf(workflow, path)) ?? renamed(path)
    if (old !== undefined && !files.has(old)) return old
    const extension = endings.get(JSON.stringify(path))
    if (extension === undefined || !(text.length > 200 || text.split("\n").length > 4)) return undefined
    const same = [...unused].find(([file, old]) => old === text && file.endsWith(`.${extension}`) && !files.has(file))
    if (same !== undefined) return same[0]
    const node = str(own(JsonPath.get(workflow, path.slice(0, 2)), "name")) ?? "node"
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
