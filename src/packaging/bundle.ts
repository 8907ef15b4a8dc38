/** Manifest of the `.mcpb` bundle, which desktop apps install with a double click. */
import * as tools from "../tools/index.ts"
import { metadata, repositoryUrl, title } from "./metadata.ts"
import { environment, filesRoot, form, questions } from "./questions.ts"

const bundleQuestions = [...questions, filesRoot]

export const entryPoint = "server/main.js"

/** The bundle's `manifest.json`, version 0.3: 0.4 only adds support for Python. */
export const bundleManifest = {
  manifest_version: "0.3",
  name: metadata.name,
  display_name: title,
  version: metadata.version,
  description: metadata.description,
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
  tools: tools.byDefault.map(({ description, name }) => ({ name, description })),
  compatibility: { platforms: ["darwin", "win32", "linux"], runtimes: { node: metadata.engines.node } },
  user_config: form(bundleQuestions)
}
