/** The compose file as Compose itself reads it, where it is installed: Docker's plugin, or Debian's `docker-compose`. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { declarations } from "../../../src/app/config/Declarations.ts"

const file = fileURLToPath(new URL("../../../.docker/compose.yaml", import.meta.url))

const compose = (args: ReadonlyArray<string>, env: Record<string, string> = {}) => {
  const options = { encoding: "utf8", env: { PATH: process.env["PATH"], ...env } } as const
  const plugin = spawnSync("docker", ["compose", ...args], options)
  return plugin.status === 0 ? plugin : spawnSync("docker-compose", [...args], options)
}

const isThere = compose(["version"]).status === 0

describe.skipIf(!isThere)("compose.yaml", () => {
  it("is valid, and needs the database's password", () => {
    assert.strictEqual(compose(["-f", file, "config", "--quiet"], { POSTGRES_PASSWORD: "secret" }).stderr, "")
    assert.include(compose(["-f", file, "config", "--quiet"]).stderr, "POSTGRES_PASSWORD")
  })

  it("gives the three servers variables that they have, and the database's address", () => {
    const { stdout } = compose(["-f", file, "config"], { POSTGRES_PASSWORD: "secret" })
    assert.lengthOf(stdout.match(/N8N_MCP_STATE: postgres:\/\/n8n_mcp:secret@state\/n8n_mcp/g) ?? [], 3)
    const known: ReadonlyArray<string> = Object.values(declarations).map(({ variable }) => variable)
    for (const [variable] of stdout.matchAll(/N8N_(?:MCP_)?[A-Z_]+(?=:)/g)) assert.include(known, variable)
  })
})
