/**
 * Manifests of what people install. Before a release, `node src/packaging/manifests.ts` writes `.claude-plugin` and the
 * version of package.json wherever else it is.
 */
import * as Struct from "effect/Struct"
import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { general } from "../app/config/Declarations.ts"
import * as tools from "../tools/index.ts"
import { commandPackage, metadata, repositoryUrl, root, title, writeJson } from "./metadata.ts"

/** The README's first sentence, for people who choose what to install; package.json's is for lists of a line each. */
const pitch = (/^An? .+?\.$/m.exec(readFileSync(join(root, "README.md"), "utf8"))?.[0] ?? metadata.description)
  .replace(/\[(.+?)\]\(.+?\)/g, "$1")

interface Question {
  readonly key: string
  readonly variable: string
  readonly title: string
  /** Replaces the option's description if that is too long for a form. */
  readonly description?: string
  readonly type: "string" | "boolean" | "directory"
  readonly required: boolean
  readonly default?: string | boolean
}

/** Questions about n8n and write access; all other options have suitable defaults. */
const questions: ReadonlyArray<Question> = [
  { key: "n8n_url", variable: "N8N_URL", title: "Address of n8n", type: "string", required: true },
  {
    key: "api_key",
    variable: "N8N_API_KEY",
    title: "n8n API key",
    description: "Create it in n8n under Settings > n8n API",
    type: "string",
    required: true
  },
  {
    key: "read_only",
    variable: "N8N_MCP_READ_ONLY",
    title: "Read only",
    type: "boolean",
    required: false,
    default: false
  }
]

const declarations = Object.values(general)

const form = (questions: ReadonlyArray<Question>) =>
  Object.fromEntries(questions.map(({ key, variable, ...question }) => {
    const declaration = declarations.find((each) => each.variable === variable)
    if (declaration === undefined) throw new Error(`There is no option for ${variable}`)
    const { description, isSecret } = declaration
    return [key, { description, ...question, ...(isSecret ? { sensitive: true } : {}) }]
  }))

const environment = (questions: ReadonlyArray<Question>) =>
  Object.fromEntries(questions.map(({ key, variable }) => [variable, `\${user_config.${key}}`]))

const bundleQuestions: ReadonlyArray<Question> = [
  ...questions,
  // Desktop apps start servers in any folder, even the disk's root.
  {
    key: "files_root",
    variable: "N8N_MCP_FILES_ROOT",
    title: "Folder of workflow files",
    type: "directory",
    required: false,
    default: "${DOCUMENTS}"
  }
]

export const entryPoint = "server/main.js"

/** Icon of 512 pixels, in the repository and, under its last name, in the bundle. */
export const icon = ".github/images/icon.png"

/** Page of a failed run, from `picture` of the demo. */
export const screenshot = ".github/images/screenshot.png"

const privacy = `${repositoryUrl}/blob/main/.github/docs/security.md#what-leaves-your-machine`

const longDescription = [
  "Ask why a run failed, build and change workflows, test them without sending anything, prove a change on recorded runs, and publish it.",
  "- *Why did last night's run of the order import fail?*",
  "- *Build a workflow that posts new leads to Slack, and test it.*",
  "- *Upgrade this workflow's old nodes, and prove that it still does the same.*",
  "Data goes from your n8n to your MCP client, and nowhere else; there is no telemetry."
].join("\n\n")

/** The bundle's `manifest.json`, version 0.3: 0.4 only adds support for Python. */
export const bundleManifest = {
  manifest_version: "0.3",
  name: metadata.name,
  display_name: title,
  version: metadata.version,
  description: pitch,
  long_description: longDescription,
  icon: basename(icon),
  screenshots: [basename(screenshot)],
  privacy_policies: [privacy],
  author: { name: metadata.author },
  repository: { type: metadata.repository.type, url: repositoryUrl },
  homepage: metadata.homepage,
  support: metadata.bugs.url,
  license: metadata.license,
  keywords: metadata.keywords,
  server: {
    type: "node",
    entry_point: entryPoint,
    mcp_config: {
      command: "node",
      args: [`\${__dirname}/${entryPoint}`],
      env: environment(bundleQuestions)
    }
  },
  tools: tools.standard.map(({ description, name }) => ({ name, description })),
  compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: metadata.engines.node } },
  user_config: form(bundleQuestions)
}

const author = { name: metadata.author }

/** `package.json` of the command. */
export const commandManifest = {
  name: commandPackage,
  type: "module",
  ...Struct.pick(metadata, [
    "version",
    "mcpName",
    "description",
    "keywords",
    "homepage",
    "bugs",
    "repository",
    "license",
    "author",
    "bin",
    "engines"
  ])
}

/** `.claude-plugin/plugin.json`. The plugin's folder is the command's npm package, so the server is in its `dist`. */
export const pluginManifest = {
  name: title,
  version: metadata.version,
  description: pitch,
  author,
  homepage: metadata.homepage,
  repository: repositoryUrl,
  license: metadata.license,
  keywords: metadata.keywords,
  skills: "./.claude-plugin/skills/",
  mcpServers: {
    [title]: { command: "node", args: ["${CLAUDE_PLUGIN_ROOT}/dist/main.js"], env: environment(questions) }
  },
  userConfig: form(questions)
}

/** `.claude-plugin/marketplace.json`, which offers the plugin in whose folder it is: a built checkout, or `dist/plugin`. */
const marketplace = {
  name: metadata.name,
  description: pitch,
  owner: author,
  plugins: [{ name: title, description: pitch, source: "./" }]
}

const input = ({ choices, description, format, isSecret, variable }: typeof declarations[number]) => {
  const question = questions.find((each) => each.variable === variable)
  return {
    name: variable,
    description: question?.description ?? description,
    format,
    ...(question?.required === true ? { isRequired: true } : {}),
    ...(isSecret ? { isSecret: true } : {}),
    ...(choices.length > 0 ? { choices } : {})
  }
}

/** Content of `server.json`, in the schema of 2025-12-11. */
export const serverJson = {
  $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  name: metadata.mcpName,
  title,
  description: metadata.description,
  version: metadata.version,
  websiteUrl: metadata.homepage,
  icons: [
    { src: `${repositoryUrl.replace("//github.com", "//raw.githubusercontent.com")}/main/${icon}`, sizes: ["512x512"] }
  ],
  repository: { url: repositoryUrl, source: "github" },
  packages: [
    {
      registryType: "npm",
      identifier: commandPackage,
      version: metadata.version,
      runtimeHint: "npx",
      transport: { type: "stdio" },
      environmentVariables: declarations.map(input)
    }
  ]
}

/** Files that name the version, with the text before it. */
const mentions: ReadonlyArray<readonly [files: string, before: RegExp]> = [
  ["src/base/Version.ts", /(?<=version = ")[\d.]+/g],
  [".github/docs/*.md", /(?<=effect-n8n-mcp(?:-cli)?(?:-|","version":"))\d[\d.]*\d/g],
  [".github/ISSUE_TEMPLATE/bug.yml", /(?<=effect-n8n-mcp )[\d.]+/g]
]

/** Files with another version than package.json, and what they must contain. */
export const outdated = (): ReadonlyArray<readonly [file: string, text: string]> =>
  mentions.flatMap(([files, before]) =>
    globSync(files, { cwd: root }).flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8")
      const current = text.replace(before, metadata.version)
      return text === current ? [] : [[file, current] as const]
    })
  )

if (import.meta.main) {
  for (const [file, text] of outdated()) writeFileSync(join(root, file), text)
  const folder = join(root, ".claude-plugin")
  writeJson(join(folder, "plugin.json"), pluginManifest)
  writeJson(join(folder, "marketplace.json"), marketplace)
}
