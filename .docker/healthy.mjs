/** Ends with 0 when the server of this container answers; over stdio there is nobody to ask, and it lives while it runs. */
import { readFileSync } from "node:fs"

const args = readFileSync("/proc/1/cmdline", "utf8").split("\0").flatMap((arg) => arg.split("="))
const option = (name) => args.includes(name) ? args[args.indexOf(name) + 1] : undefined

const transport = option("--transport") ?? process.env.N8N_MCP_TRANSPORT
const port = option("--port") ?? process.env.N8N_MCP_PORT

if (transport === "http") {
  const answer = await fetch(`http://127.0.0.1:${port}/health`)
  process.exitCode = answer.ok ? 0 : 1
}
