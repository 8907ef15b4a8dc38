import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { bundle, main, remove } from "../../../support/Process.ts"

beforeAll(bundle, 60_000)
afterAll(remove)

/** Runs the bundled server on this Node, which says that it is another version. */
const runAs = (version: string, ...args: ReadonlyArray<string>) =>
  new Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }>((resolve) => {
    const disguise = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: ${
      JSON.stringify(version)
    } } })`
    execFile(
      process.execPath,
      ["--import", `data:text/javascript,${encodeURIComponent(disguise)}`, main, ...args],
      { env: { PATH: process.env["PATH"] } },
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, stdout, stderr })
    )
  })

describe("the first file", () => {
  it.each(["12.22.12", "22.18.0"])("refuses Node %s and says how to go on", async (version) => {
    for (const args of [[], ["--version"]]) {
      assert.deepStrictEqual(await runAs(version, ...args), {
        code: 1,
        stdout: "",
        stderr:
          `effect-n8n-mcp needs Node 22.19 or later, but this is Node ${version} at ${process.execPath}. Run it with npx -y -p node@24 node ${main}, or install Node 24.\n`
      })
    }
  })

  it.each(["22.19.0", "100.0.0"])("goes on with Node %s", async (version) => {
    const { code, stderr, stdout } = await runAs(version, "--version")
    assert.deepStrictEqual([code, stderr], [0, ""])
    assert.match(stdout, /\d+\.\d+\.\d+\n$/)
  })
})
