/** Packs `dist`, for `pnpm package`: the library, `dist/server.json`, `dist/*.mcpb`, `dist/plugin` and the command. */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import { bundleManifest, commandManifest, entryPoint, icon, screenshot, serverJson } from "./manifests.ts"
import { commandPackage, dist, metadata, root, writeJson } from "./metadata.ts"

const copy = (from: string, to: string) => cpSync(join(root, from), to, { recursive: true })

/** Files that `pnpm bundle` writes: the program, without the library. */
const program = ["main{,-*}.js", "start.json", "NOTICES.md", "picture.html", "nodes.data*"]

const copyServer = (folder: string) => {
  for (const file of globSync(program, { cwd: dist })) cpSync(join(dist, file), join(folder, file))
}

/** Prints an artefact and its size. */
const report = (artefact: string) => {
  const files = globSync(`${artefact}/**`).map((file) => statSync(file)).filter((each) => each.isFile())
  const size = files.reduce((sum, each) => sum + each.size, 0)
  process.stdout.write(
    `${relative(root, artefact)}  ${size < 1e6 ? `${Math.ceil(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`}\n`
  )
}

/** Packs a folder for npm. */
const makeTarball = (cwd: string, name: string) => {
  // The list of its files is only printed if it fails.
  execFileSync("pnpm", ["pack", "--pack-destination", dist, "--config.ignore-scripts=true"], { cwd, stdio: "pipe" })
  report(join(dist, `${name}-${metadata.version}.tgz`))
}

const makeBundle = () => {
  const folder = mkdtempSync(join(tmpdir(), `${metadata.name}-bundle-`))
  try {
    copyServer(dirname(join(folder, entryPoint)))
    for (const file of ["README.md", "LICENSE"]) copy(file, join(folder, file))
    for (const file of [icon, screenshot]) copy(file, join(folder, basename(file)))
    writeJson(join(folder, "manifest.json"), bundleManifest)
    const outputPath = join(dist, `${metadata.name}-${metadata.version}.mcpb`)
    execFileSync(join(root, "node_modules/.bin/mcpb"), ["pack", folder, outputPath], { stdio: "pipe" })
    report(outputPath)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies the plugin and its marketplace into one folder, to install without a registry; it is the command's package. */
const makePlugin = (folder: string) => {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of [".claude-plugin", "README.md", "LICENSE"]) copy(file, join(folder, file))
  copyServer(join(folder, "dist"))
  writeJson(join(folder, "package.json"), commandManifest)
  report(folder)
}

const plugin = join(dist, "plugin")
makeTarball(root, metadata.name)
writeJson(join(dist, "server.json"), serverJson)
report(join(dist, "server.json"))
makeBundle()
makePlugin(plugin)
makeTarball(plugin, commandPackage)
