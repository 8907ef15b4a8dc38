/** Packs `dist`, for `pnpm package`: the npm package, `dist/server.json`, `dist/*.mcpb` and `dist/plugin`. */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join, relative } from "node:path"
import { bundleManifest, entryPoint, icon, screenshot, serverJson } from "./manifests.ts"
import { dist, metadata, root, writeJson } from "./metadata.ts"

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

const makeTarball = () => {
  // The list of its files is only printed if it fails.
  execFileSync("pnpm", ["pack", "--pack-destination", dist, "--config.ignore-scripts=true"], {
    cwd: root,
    stdio: "pipe"
  })
  report(join(dist, `${metadata.name}-${metadata.version}.tgz`))
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

/** Copies the plugin and its marketplace into one folder, to install without a registry. */
const makePlugin = () => {
  const folder = join(dist, "plugin")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of [".claude-plugin", "README.md", "LICENSE"]) copy(file, join(folder, file))
  copyServer(join(folder, "dist"))
  report(folder)
}

makeTarball()
writeJson(join(dist, "server.json"), serverJson)
report(join(dist, "server.json"))
makeBundle()
makePlugin()
