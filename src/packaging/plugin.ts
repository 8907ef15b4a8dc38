/** Claude Code plugin: the server, and a skill on when and how to use it. */
import { metadata, repositoryUrl, title } from "./metadata.ts"
import { environment, form, questions } from "./questions.ts"

const author = { name: metadata.author }

/** `.claude-plugin/plugin.json`. The plugin's folder is the npm package, so the server is in its `dist`. */
export const pluginManifest = {
  name: title,
  version: metadata.version,
  description: metadata.description,
  author,
  homepage: metadata.homepage,
  repository: repositoryUrl,
  license: metadata.license,
  keywords: metadata.keywords,
  skills: "./.claude-plugin/skills/",
  mcpServers: {
    [title]: {
      command: "node",
      args: ["${CLAUDE_PLUGIN_ROOT}/dist/main.js"],
      env: environment(questions)
    }
  },
  userConfig: form(questions)
}

/** `.claude-plugin/marketplace.json`, which offers the plugin from `source`. */
export const marketplace = (source: string | { readonly source: "npm"; readonly package: string }) => ({
  name: metadata.name,
  description: metadata.description,
  owner: author,
  plugins: [{ name: title, description: metadata.description, source }]
})
