/** Builds `dist/server.json`, `dist/*.mcpb` and `dist/plugin` from `dist` and the tarball of `pnpm package`. */
import { packExtension } from "@anthropic-ai/mcpb"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { bundleManifest, entryPoint, icon, screenshot, serverJson } from "./manifests.ts"
import { metadata, root, writeJson } from "./metadata.ts"

const dist = join(root, "dist")

const copy = (from: string, to: string) => cpSync(join(root, from), to, { recursive: true })

const copyServer = (folder: string) => {
  const parts = readdirSync(dist).filter((name) => /^main(-.*)?\.js$/.test(name))
  for (const file of [...parts, "NOTICES.md", "start.json", "picture.html", "nodes.data", "nodes.data.LICENSE.md"]) {
    copy(`dist/${file}`, join(folder, file))
  }
}

const makeBundle = async () => {
  const folder = mkdtempSync(join(tmpdir(), `${metadata.name}-bundle-`))
  try {
    copyServer(dirname(join(folder, entryPoint)))
    for (const file of ["README.md", "LICENSE"]) copy(file, join(folder, file))
    for (const file of [icon, screenshot]) copy(file, join(folder, basename(file)))
    writeJson(join(folder, "manifest.json"), bundleManifest)
    const outputPath = join(dist, `${metadata.name}-${metadata.version}.mcpb`)
    if (!await packExtension({ extensionPath: folder, outputPath, silent: false })) {
      throw new Error("The bundle could not be built")
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies the plugin and its marketplace into one folder, to install without a registry. */
const makePlugin = () => {
  const folder = join(dist, "plugin")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of [".claude-plugin", "README.md", "LICENSE"]) copy(file, join(folder, file))
  copyServer(join(folder, "dist"))
}

writeJson(join(dist, "server.json"), serverJson)
await makeBundle()
makePlugin()
