/** The Claude Code plugin: the server, and a skill that tells when and how to use it. */
import { metadata, repositoryUrl, title } from "./metadata.ts"
import { asked, environment, form } from "./questions.ts"

const author = { name: metadata.author }

/** `.claude-plugin/plugin.json`; the npm package is the plugin's folder, so the server lies in its `dist`. */
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
      env: environment(asked)
    }
  },
  userConfig: form(asked)
}

/** `marketplace.json`, which offers the plugin from a source. */
export const marketplace = (source: string | { readonly source: "npm"; readonly package: string }) => ({
  name: metadata.name,
  description: metadata.description,
  owner: author,
  plugins: [{ name: title, description: metadata.description, source }]
})
