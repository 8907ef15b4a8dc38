/**
 * Stands between a client and a server over stdio, and writes down what passes: `relay.mjs LOG COMMAND ARGS…`.
 *
 * JavaScript, because a client starts it as a program of its own and stripping types would delay it.
 */
import { spawn } from "node:child_process"
import { appendFileSync } from "node:fs"
import process from "node:process"
import { createInterface } from "node:readline"

const [, , log, command, ...args] = process.argv
const server = spawn(command, args, { stdio: "pipe" })

const handOn = (kind, from, to) => {
  from.on("data", (chunk) => to.write(chunk)).on("end", () => to === server.stdin && to.end())
  createInterface({ input: from }).on("line", (line) => appendFileSync(log, `${JSON.stringify([kind, line])}\n`))
}
handOn("in", process.stdin, server.stdin)
handOn("out", server.stdout, process.stdout)
handOn("err", server.stderr, process.stderr)

server.stdin.on("error", () => {})
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => server.kill(signal))
server.on("close", (code) => process.exit(code ?? 1))
