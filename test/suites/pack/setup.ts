/** Builds the installable packages once, as for a release. */
import { execFileSync } from "node:child_process"
import { root } from "../../../src/packaging/metadata.ts"

export default () => {
  execFileSync("pnpm", ["package"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}
