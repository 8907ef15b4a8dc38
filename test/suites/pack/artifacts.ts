/** The files that `pnpm package` builds, and helpers to test them. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport, type StdioServerParameters } from "@modelcontextprotocol/sdk/client/stdio.js"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { commandPackage, metadata, root } from "../../../src/packaging/metadata.ts"

const artifact = (ending: string) => join(root, "dist", `${metadata.name}-${metadata.version}.${ending}`)

/** The library. */
export const tarball = artifact("tgz")
export const command = join(root, "dist", `${commandPackage}-${metadata.version}.tgz`)
export const bundle = artifact("mcpb")

/** Output of `pnpm package`. */
export const printed = artifact("log")

export const read = (file: string) => readFileSync(join(root, file), "utf8")
export const readJson = (file: string) => JSON.parse(read(file))

/** Runs a command and returns what it prints; an error includes what it printed. */
export const run = (command: string, args: ReadonlyArray<string>, cwd: string) => {
  const { status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64_000_000
  })
  if (status === 0) return stdout
  throw new Error(`${command} ${args.join(" ")} exited with ${status}\n${stdout}${stderr}`)
}

/** Runs a function in an empty folder outside any installation, and removes the folder. */
export const inFolder = async <A>(use: (folder: string) => A | Promise<A>): Promise<A> => {
  const folder = mkdtempSync(join(tmpdir(), "effect-n8n-mcp-pack-"))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts a server over stdio and returns its version, its tools and the answer to one call. */
export const talk = async (server: StdioServerParameters) => {
  const client = new Client({ name: "test", version: "0" })
  await client.connect(new StdioClientTransport({ ...server, stderr: "ignore" }))
  try {
    const { tools } = await client.listTools()
    const { content } = await client.callTool({ name: "get_execution", arguments: { id: "239" } })
    return { version: client.getServerVersion()?.version, tools: tools.map(({ name }) => name), content }
  } finally {
    await client.close()
  }
}
