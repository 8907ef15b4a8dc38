/** What people install is made once, as a release makes it. */
import { execFileSync } from "node:child_process"
import { root } from "../../../src/packaging/metadata.ts"

export default () => {
  execFileSync("pnpm", ["package"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}
