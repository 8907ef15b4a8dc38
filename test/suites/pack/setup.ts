/** Builds the installable packages once, as for a release. */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { root } from "../../../src/packaging/metadata.ts"
import { printed } from "./artifacts.ts"

export default () => {
  const output = execFileSync("pnpm", ["package"], { cwd: root, stdio: ["ignore", "pipe", "inherit"] })
  writeFileSync(printed, output)
}
