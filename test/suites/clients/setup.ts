/** Builds the program that the clients start, with the node catalogue and the page of pictures. */
import { execFileSync } from "node:child_process"
import { root } from "../../../src/packaging/metadata.ts"
import prepare from "../../support/setup.ts"

export default () => {
  prepare()
  execFileSync("pnpm", ["-s", "bundle"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] })
}
