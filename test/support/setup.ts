/** The node catalogue is built, as `pnpm build` does, when it is not there or older than what it is made of. */
import { execFileSync } from "node:child_process"
import { globSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const made = (file: string) => statSync(`${root}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

export default () => {
  const from = [
    "package.json",
    ...globSync(["src/catalogue/{data,search}/*.ts", "src/catalogue/types/{NodeType,Releases}.ts"], { cwd: root })
  ]
  if (from.every((file) => made(file) < made("dist/nodes.data"))) return
  execFileSync(process.execPath, ["src/catalogue/data/build.ts"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}
