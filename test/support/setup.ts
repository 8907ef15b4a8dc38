/** Builds the node catalogue and the page of pictures, as `pnpm build` does, if they are missing or older than their sources. */
import { execFileSync } from "node:child_process"
import { globSync, statSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const modified = (file: string) => statSync(`${root}/${file}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

const build = (script: string, file: string, sources: ReadonlyArray<string>) => {
  if (["package.json", ...globSync([...sources], { cwd: root })].every((source) => modified(source) < modified(file))) {
    return
  }
  execFileSync(process.execPath, [script], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}

export default () => {
  build("src/catalogue/data/nodesData.ts", "dist/nodes.data", [
    "src/catalogue/{data,search}/*.ts",
    "src/catalogue/types/{NodeType,Releases}.ts"
  ])
  build("src/packaging/page.ts", "dist/picture.html", [
    "src/pictures/{page/*,PicturePage.ts,Message.ts,Svg.ts,svgShapes.ts}",
    "src/packaging/page.ts"
  ])
}
