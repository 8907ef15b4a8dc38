/** `node src/packaging/manifests.ts`: writes `.claude-plugin` from package.json and the options before a release. */
import { join } from "node:path"
import { metadata, root, writeJson } from "./metadata.ts"
import { marketplace, pluginManifest } from "./plugin.ts"

const folder = join(root, ".claude-plugin")

writeJson(join(folder, "plugin.json"), pluginManifest)
writeJson(join(folder, "marketplace.json"), marketplace({ source: "npm", package: metadata.name }))
