import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"

/** No shape and no name gives it away. */
const secret = "zebra crossing 4711 moonlight"

it.live("a credential's value is in no process list and no output of the command line, at any log level", () =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped()
    const bodies: Array<string> = []
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (part: Buffer) => (body += String(part)))
      request.on("end", () => {
        bodies.push(body)
        response.setHeader("content-type", "application/json")
        const isCreation = request.method === "POST"
        response.statusCode = isCreation ? 400 : 200
        response.end(JSON.stringify(
          isCreation
            ? { message: `request.body.data ${body} is wrong` }
            : { properties: { name: { type: "string" }, value: { type: "string" } } }
        ))
      })
    })
    const url = yield* Effect.acquireRelease(
      Effect.callback<string>((resume) => {
        server.listen(
          0,
          "127.0.0.1",
          () => resume(Effect.succeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
        )
      }),
      () => Effect.sync(() => server.closeAllConnections())
    )
    const main = fileURLToPath(new URL("../../../../../src/main.ts", import.meta.url))
    const output = yield* Effect.callback<{ readonly text: string; readonly processes: string }>((resume) => {
      const child = spawn(process.execPath, [main, "credential", "create", "httpHeaderAuth"], {
        env: { PATH: process.env["PATH"], HOME: home, N8N_URL: url, N8N_API_KEY: "k-0123456789", LOG_LEVEL: "trace" }
      })
      let text = ""
      let processes = ""
      child.stdout.on("data", (part: Buffer) => (text += String(part)))
      child.stderr.on("data", (part: Buffer) => (text += String(part)))
      child.stdin.end(JSON.stringify({ name: "X-Key", value: secret }))
      for (const file of ["cmdline", "environ"]) processes += readFileSync(`/proc/${child.pid}/${file}`, "utf8")
      child.on("exit", () => resume(Effect.succeed({ text, processes })))
    })
    assert.include(bodies.join(), secret)
    assert.include(output.text, "is wrong")
    assert.notInclude(output.text, secret)
    assert.include(output.processes, "credential")
    assert.notInclude(output.processes, secret)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
