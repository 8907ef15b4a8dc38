/** Writes `AGENTS.md`, how programs use the package, and the examples beside it in `dist/examples`. */
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import * as tools from "../tools/index.ts"
import { dist, metadata, root } from "./metadata.ts"
import { tagsOf } from "./stability.ts"

const examples = globSync("test/suites/pack/tasks/*.ts", { cwd: root }).toSorted()

const firstLine = (file: string) => /^\/\*\* ?(.*?)(?: \*\/)?$/m.exec(readFileSync(join(root, file), "utf8"))?.[1] ?? ""

const modules = Object.entries(metadata.exports).flatMap(([entry, file]) =>
  file?.endsWith(".ts") !== true || file.includes("*") ? [] : [{ entry: entry.slice(2), file }]
)

const list = (stability: string) =>
  modules.filter(({ entry, file }) =>
    /^[A-Z]/.test(entry) && tagsOf(file.slice("./src/".length, -".ts".length))["@stability"] === stability
  ).map(({ entry }) => `\`/${entry}\``).join(", ")

const toolset = ([set, members]: readonly [string, ReadonlyArray<{ readonly name: string }>]) => {
  const variables = members.map(({ name }) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()))
  return `- \`/tools/${set}/…\`: ${variables.map((each) => `\`${each}\``).join(", ")}`
}

/** Text of `AGENTS.md`. */
export const text = `# ${metadata.name} ${metadata.version} in a program

${metadata.description} This page is for agents that write programs with it. Its types are the reference: read the \`.d.ts\` beside each module, not your memory.

- Install \`effect@^4.1.0\` beside it; there are no other dependencies. Effect 4 is not Effect 3: read \`node_modules/effect/ai-docs\`.
- Import Effect by module: \`import * as Effect from "effect/Effect"\`.
- \`${metadata.name}\` has everything as namespaces: \`import { N8nClient, Services, tools } from "${metadata.name}"\`. In a bundle, import a tool by its path: \`import { getExecution } from "${metadata.name}/tools/executions/getExecution"\`.
- \`N8nClient.layerConfig()\` reads \`N8N_URL\` and \`N8N_API_KEY\`, and needs an \`HttpClient\`: \`FetchHttpClient.layer\`.
- \`tool.call(input)\` is for programs: typed and untruncated. \`tool.answer(input)\` is what a model sees. What a tool needs is in its type; \`Services.layer\` or, in a test, \`Services.layerMemory\` provides everything but the client.
- Errors are matched by tag: \`NotFoundError\`, \`ValidationError\`, and \`ApiError\`, whose \`reason\` says what happened.
- Test with \`FakeN8n.layer({ workflows, executions })\` of \`${metadata.name}/testing\`: the real client, and an n8n in memory. Do not mock the client.
- \`@stability\` of each export says whether it changes only with a major version. Stable: ${
  list("stable")
}, \`/tools/…\`, \`/mcp\`, \`/testing\`. All else may change with a minor version: \`/domain\`, ${list("unstable")}.

## Tools

${Object.entries(tools.toolsets).map(toolset).join("\n")}

## Examples

Each is a whole program, compiled and run before a release.

${examples.map((file) => `- [${basename(file)}](dist/examples/${basename(file)}): ${firstLine(file)}`).join("\n")}
`

if (import.meta.main) {
  writeFileSync(join(root, "AGENTS.md"), text)
  mkdirSync(join(dist, "examples"), { recursive: true })
  for (const file of examples) copyFileSync(join(root, file), join(dist, "examples", basename(file)))
}
