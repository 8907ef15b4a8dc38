/**
 * Completes the declarations in `dist`: tags of all exports, and names for the types of tools, which the compiler
 * writes in full wherever they are used and editors show as dozens of lines.
 */
import { decode, encode } from "@jridgewell/sourcemap-codec"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import * as Tool from "../answer/Tool.ts"
import { obj, str } from "../base/Json.ts"
import { all } from "../tools/index.ts"
import { root } from "./metadata.ts"
import type { Edit } from "./modules.ts"
import { tagsOf } from "./stability.ts"

const dist = join(root, "dist")
const read = (file: string) => readFileSync(join(dist, file), "utf8")

const linesIn = (text: string) => text.split("\n").length - 1

/** Writes a file after edits, and its map with the lines that they move. */
const edit = (file: string, text: string, edits: ReadonlyArray<Edit>): void => {
  if (edits.length === 0) return
  const map = JSON.parse(read(`${file}.map`))
  const lines = decode(map.mappings)
  let result = text
  for (const { end, start, text: inserted } of edits.toReversed()) {
    result = result.slice(0, start) + inserted + result.slice(end)
    const added = Array.from({ length: linesIn(inserted) }, () => [])
    lines.splice(linesIn(text.slice(0, start)) + 1, linesIn(text.slice(start, end)), ...added)
  }
  writeFileSync(join(dist, file), result)
  writeFileSync(join(dist, `${file}.map`), JSON.stringify({ ...map, mappings: encode(lines) }))
}

/** Type arguments after `<` at an offset: their ranges, and the end of the list. */
const argumentsAt = (text: string, start: number) => {
  const ranges: Array<readonly [start: number, end: number]> = []
  let depth = 0
  let begin = start
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ""
    // The arrow of a function closes nothing.
    const isEnd = ")]}".includes(character) || (character === ">" && text[at - 1] !== "=")
    if (isEnd && depth === 0) return { ranges: [...ranges, [begin, at] as const], end: at + 1 }
    if (character === "," && depth === 0) {
      ranges.push([begin, at])
      begin = at + 1
    }
    if (isEnd) depth--
    else if ("([{<".includes(character)) depth++
  }
  throw new Error(`Unbalanced type arguments: ${text.slice(start, start + 80)}`)
}

interface Declaration {
  readonly variable: string
  readonly file: string
}

const byName = new Map<string, Declaration>()

const descriptions = new Map<string, Tool.JsonSchema["properties"]>(
  all.map((tool) => [tool.name, Tool.extended(tool).inputSchema.properties])
)

/** Fields of an input with their descriptions, which models see, as comments. */
const described = (fields: string, name: string): string =>
  fields.replaceAll(/(?<!\*\/\n)^ {4}readonly (\w+):/gm, (line, field: string) => {
    const text = str(obj(descriptions.get(name)?.[field])?.["description"])
    return text === undefined ? line : `    /** ${text} */\n${line}`
  })

/** Makes the input and the answer of a tool interfaces, which editors show by their names. */
const nameSchemas = (file: string): void => {
  const text = read(file)
  const last = text.lastIndexOf("//# source")
  const edits = [...text.matchAll(/^export declare const (\w+): Tool\.Tool<(?="(\w+)")/gm)].flatMap(
    ({ 0: head, 1: variable = "", 2: name = "", index }): ReadonlyArray<Edit> => {
      byName.set(name, { variable, file })
      const title = variable.slice(0, 1).toUpperCase() + variable.slice(1)
      const { ranges: [, input, output] } = argumentsAt(text, index + head.length)
      const named = (range: readonly [number, number] | undefined, kind: string, write: (type: string) => string) => {
        const [start, end] = range ?? [0, 0]
        const type = text.slice(start, end).trim()
        // An interface extends neither a union nor a primitive.
        if (!type.startsWith("Schema.Struct<")) return []
        return [{ start, end, text: ` ${title}${kind}` }, { start: last, end: last, text: write(type) }]
      }
      return [
        ...named(input, "Input", (type) =>
          `type Input = ${described(type, name)};
/** Schema of the arguments of \`${name}\`. */
export interface ${title}Input extends Input {
}
`),
        ...named(output, "Output", (type) =>
          `type Output = ${type};
type Data = Output["Type"];
/** Data of \`${name}\`. */
export interface ${title}Data extends Data {
}
/** Schema of the data of \`${name}\`. */
export interface ${title}Output extends Output {
    readonly Type: ${title}Data;
}
`)
      ]
    }
  )
  edit(file, text, edits.toSorted((a, b) => a.start - b.start))
}

/** Refers to tools by name where the compiler wrote their types in full. */
const refer = (file: string): void => {
  const text = read(file)
  const edits: Array<Edit> = []
  for (const { 0: head, 1: name = "", index } of text.matchAll(/import\("[^"]*"\)\.Tool<(?="(\w+)")/g)) {
    const tool = byName.get(name)
    if (tool === undefined || index < (edits.at(-1)?.end ?? 0)) continue
    const path = relative(dirname(file), tool.file).replace(/^(?!\.)/, "./").replace(".d.ts", ".ts")
    const { end } = argumentsAt(text, index + head.length)
    edits.push({ start: index, end, text: `typeof import("${path}").${tool.variable}` })
  }
  edit(file, text, edits)
}

/** Adds the tags that a docstring of an export lacks. */
const tag = (file: string): void => {
  const text = read(file)
  const tags = Object.entries(tagsOf(file.replace(".d.ts", "")))
  const edits = [...text.matchAll(/^\/\*\*((?:(?!\*\/)[^])*)\*\/\n(?=export (?!\*|\{|default))/gm)].map(
    ({ 0: comment, 1: body = "", index }) => {
      const lines = tags.filter(([name]) => !body.includes(name)).map((parts) => ` * ${parts.join(" ")}\n`)
      const content = body.includes("\n") ? body.trimEnd() : `\n * ${body.trim()}`
      return { start: index, end: index + comment.length, text: `/**${content}\n *\n${lines.join("")} */\n` }
    }
  )
  edit(file, text, edits)
}

/** Replaces imports of JSON by their types, for the package has none; JSON is also the type of its values. */
const inlineJson = (file: string): void => {
  const text = read(file)
  edit(
    file,
    text,
    [...text.matchAll(/^import (\w+) from "(\.\/\w+\.json)";/gm)].map(({ 0: all, 1: name, 2: path = "", index }) => {
      const json = JSON.parse(readFileSync(join(root, "src", dirname(file), path), "utf8"))
      return { start: index, end: index + all.length, text: `declare const ${name}: ${JSON.stringify(json)};` }
    })
  )
}

const tools = globSync("tools/**/*.d.ts", { cwd: dist })
for (const file of tools) nameSchemas(file)
for (const file of tools) refer(file)
for (const file of globSync("**/*.d.ts", { cwd: dist })) {
  inlineJson(file)
  tag(file)
}
