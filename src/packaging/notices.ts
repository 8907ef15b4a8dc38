/** Writes `dist/NOTICES.md`: the licences of the packages in `dist/main.js` and the library. */
import { buildSync } from "esbuild"
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./metadata.ts"

const { metafile } = buildSync({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  mainFields: ["module", "main"],
  logLevel: "error",
  outdir: "dist"
})

/** The package folder of a file: `…/node_modules/@scope/name`. */
const folderOf = (file: string) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []

const notice = (folder: string) => {
  const { license, name, version } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const [file] = globSync("{LICENSE,LICENCE,license,License}*", { cwd: join(root, folder) })
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(root, folder, file), "utf8").trim()
  return `## ${name} ${version}\n\n${text}\n`
}

const folders = new Set(Object.keys(metafile.inputs).flatMap(folderOf))
const notices = [...folders].filter((folder) => existsSync(join(root, folder, "package.json"))).map(notice).toSorted()
writeFileSync(join(root, "dist/NOTICES.md"), `# Bundled packages and their licences\n\n${notices.join("\n")}`)
