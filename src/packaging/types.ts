/**
 * Names the types of tools in the declarations in `dist`: the compiler writes each tool's type in full wherever it is
 * used, and editors show an answer as dozens of lines.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { root } from "./metadata.ts"

const dist = join(root, "dist")

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

/** Declaration of a tool whose answer is an interface, which editors show by its name. */
const nameAnswer = (file: string): void => {
  const text = readFileSync(join(dist, file), "utf8")
  for (const [head, variable = "", name = ""] of text.matchAll(/^export declare const (\w+): Tool\.Tool<(?="(\w+)")/gm)) {
    byName.set(name, { variable, file })
    const { ranges: [, , output = [0, 0]] } = argumentsAt(text, text.indexOf(head) + head.length)
    const schema = text.slice(...output).trim()
    // An interface extends neither a union nor a primitive.
    if (!schema.startsWith("Schema.Struct<")) continue
    const title = variable.slice(0, 1).toUpperCase() + variable.slice(1)
    const [body = "", map = ""] = (text.slice(0, output[0]) + ` ${title}Output` + text.slice(output[1])).split("//# source")
    writeFileSync(
      join(dist, file),
      `${body.trimEnd()}
type Output = ${schema};
type Data = Output["Type"];
/** Data of \`${name}\`. */
export interface ${title}Data extends Data {
}
/** Schema of the data of \`${name}\`. */
export interface ${title}Output extends Output {
    readonly Type: ${title}Data;
}
//# source${map}`
    )
  }
}

/** Refers to tools by name where the compiler wrote their types in full. */
const refer = (file: string): void => {
  const text = readFileSync(join(dist, file), "utf8")
  let result = ""
  let last = 0
  for (const { 0: head, 1: name = "", index } of text.matchAll(/import\("[^"]*"\)\.Tool<(?="(\w+)")/g)) {
    const tool = byName.get(name)
    if (tool === undefined || index < last) continue
    const path = relative(dirname(file), tool.file).replace(/^(?!\.)/, "./").replace(".d.ts", ".ts")
    result += `${text.slice(last, index)}typeof import("${path}").${tool.variable}`
    last = argumentsAt(text, index + head.length).end
  }
  if (last > 0) writeFileSync(join(dist, file), result + text.slice(last))
}

const files = globSync("tools/**/*.d.ts", { cwd: dist })
for (const file of files) nameAnswer(file)
for (const file of files) refer(file)
