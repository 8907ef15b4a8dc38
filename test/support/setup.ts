/** Builds the node catalogue, as `pnpm build` does, if it is missing or older than its sources. */
import { execFileSync } from "node:child_process"
import { globSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const modified = (file: string) => statSync(`${root}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

export default () => {
  const sources = [
    "package.json",
    ...globSync(["src/catalogue/{data,search}/*.ts", "src/catalogue/types/{NodeType,Releases}.ts"], { cwd: root })
  ]
  if (sources.every((file) => modified(file) < modified("dist/nodes.data"))) return
  execFileSync(process.execPath, ["src/catalogue/data/build.ts"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}
