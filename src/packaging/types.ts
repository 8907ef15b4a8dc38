/**
 * Completes the declarations in `dist`: tags of all exports, and names for the types of tools, which the compiler
 * writes in full wherever they are used and editors show as dozens of lines.
 */
import { decode, encode } from "@jridgewell/sourcemap-codec"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { RolldownMagicString } from "rolldown"
import { parseSync, Visitor } from "rolldown/utils"
import * as Tool from "../answer/Tool.ts"
import { obj, str } from "../base/Json.ts"
import { all } from "../tools/index.ts"
import { dist, root } from "./metadata.ts"
import { tagsOf } from "./stability.ts"

interface Range {
  readonly start: number
  readonly end: number
}

/** Fields of each tool's input with their descriptions, which models see. */
const inputs = new Map<string, Tool.JsonSchema["properties"]>(
  all.map((tool) => [tool.name, Tool.extended(tool).inputSchema.properties])
)

/** Descriptions for programs of parameters that models know from a word or two. */
const shared: { readonly [name: string]: string } = {
  cursor: "Continues a list: `nextCursor` of the page before.",
  confirm: "Whether the user has agreed; without it, a client that can ask is asked.",
  dryRun: "Whether the call only returns what would change.",
  limit: "Maximum number of rows.",
  offset: "Number of rows to skip.",
  raw: "Whether everything is returned, instead of what fits an answer for a model."
}

/** Declarations of tools by their names. */
const tools = new Map(
  globSync("tools/*/*.d.ts", { cwd: dist }).map((file) => [
    basename(file, ".d.ts").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    file
  ])
)

for (const file of globSync("**/*.d.ts", { cwd: dist })) {
  const target = join(dist, file)
  const code = readFileSync(target, "utf8")
  const text = new RolldownMagicString(code)
  const { comments, program } = parseSync(file, code)
  const codeOf = (node?: Range) => code.slice(node?.start ?? 0, node?.end ?? 0)

  /** Docstring with the tags that it lacks. */
  const docstring = (comment: string) => {
    const tags = Object.entries(tagsOf(file.replace(".d.ts", ""))).filter(([name]) => !comment.includes(name))
    const content = comment.includes("\n") ? comment.trimEnd() : `\n * ${comment.trim()}`
    return `/**${content}\n *\n${tags.map((parts) => ` * ${parts.join(" ")}\n`).join("")} */\n`
  }

  for (const node of program.body) {
    const comment = comments.find(({ end }) => end + 1 === node.start)
    const isExport = node.type === "ExportNamedDeclaration" && !code.startsWith("export {", node.start)
    if (isExport && comment?.value.startsWith("*") === true) {
      text.update(comment.start, node.start, docstring(comment.value.slice(1)))
    }
  }

  new Visitor({
    // The package has no JSON, which is also the type of its values.
    ImportDeclaration({ end, source, specifiers: [specifier], start }) {
      if (!source.value.endsWith(".json")) return
      const json = JSON.parse(readFileSync(join(root, "src", dirname(file), source.value), "utf8"))
      text.update(start, end, `declare const ${specifier?.local.name}: ${JSON.stringify(json)};`)
    },
    // A tool elsewhere than in its file: its type is that of the constant.
    TSImportType({ end, qualifier, start, typeArguments }) {
      const tool = tools.get(codeOf(typeArguments?.params[0]).slice(1, -1))
      if (tool === undefined || codeOf(qualifier ?? undefined) !== "Tool") return
      const from = relative(dirname(file), tool).replace(/^(?!\.)/, "./").replace(".d.ts", ".ts")
      text.update(start, end, `typeof import("${from}").${basename(tool, ".d.ts")}`)
    },
    // A tool: its input and its output become interfaces, which editors show by their names.
    VariableDeclarator({ id }) {
      const type = id.typeAnnotation?.typeAnnotation
      if (type?.type !== "TSTypeReference") return
      const [name, input, output] = type.typeArguments?.params ?? []
      const tool = codeOf(name).slice(1, -1)
      if (tools.get(tool) !== file) return
      const variable = basename(file, ".d.ts")
      const title = variable.slice(0, 1).toUpperCase() + variable.slice(1)
      const declared = (kind: string, comment: string, field = "") =>
        `${docstring(`${comment} of \`${tool}\`.`)}export interface ${title}${kind} extends ${kind} {\n${field}}\n`
      const move = (schema: Range | undefined, kind: string, interfaces: string) => {
        // An interface extends neither a union nor a primitive.
        if (schema === undefined || !codeOf(schema).startsWith("Schema.Struct<")) return
        const { end, start } = schema
        text.appendLeft(start, `${title}${kind}`).move(start, end, code.lastIndexOf("//# source"))
        text.prependRight(start, `type ${kind} = `).appendLeft(end, `;\n${interfaces}`)
      }
      move(input, "Input", declared("Input", "Schema of the arguments"))
      const data = `type Data = Output["Type"];\n${declared("Data", "Data")}`
      move(output, "Output", data + declared("Output", "Schema of the data", `    readonly Type: ${title}Data;\n`))
      const [fields] = input?.type === "TSTypeReference" ? input.typeArguments?.params ?? [] : []
      for (const field of fields?.type === "TSTypeLiteral" ? fields.members : []) {
        if (field.type !== "TSPropertySignature" || comments.some(({ end }) => end + 5 === field.start)) continue
        const name = codeOf(field.key)
        const description = shared[name] ?? str(obj(inputs.get(tool)?.[name])?.["description"])
        if (description !== undefined) text.appendLeft(field.start, `/** ${description} */\n    `)
      }
    }
  }).visit(program)

  if (!text.hasChanged()) continue
  const map = JSON.parse(readFileSync(`${target}.map`, "utf8"))
  const lines = decode(map.mappings)
  const moved = decode(text.generateMap().mappings).map(([first]) => lines[first?.[2] ?? -1] ?? [])
  writeFileSync(target, text.toString())
  writeFileSync(`${target}.map`, JSON.stringify({ ...map, mappings: encode(moved) }))
}
