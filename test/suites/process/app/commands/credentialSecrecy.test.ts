import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { text } from "node:stream/consumers"
import { main } from "../../../../support/cli.ts"
import { folderWith, platform } from "../../../../support/folders.ts"
import { listening } from "../../../../support/listening.ts"

/** No shape and no name gives it away. */
const secret = "zebra crossing 4711 moonlight"

it.live("a credential's value is in no process list and no output of the command line, at any log level", () =>
  Effect.gen(function*() {
    const HOME = yield* folderWith()
    const bodies: Array<string> = []
    const N8N_URL = yield* listening(async (request, response) => {
      const body = await text(request)
      bodies.push(body)
      const isCreation = request.method === "POST"
      response.writeHead(isCreation ? 400 : 200, { "content-type": "application/json" }).end(JSON.stringify(
        isCreation
          ? { message: `request.body.data ${body} is wrong` }
          : { properties: { name: { type: "string" }, value: { type: "string" } } }
      ))
    })
    const child = spawn(process.execPath, [main, "credential", "create", "httpHeaderAuth"], {
      env: { PATH: process.env["PATH"], HOME, N8N_URL, N8N_API_KEY: "k-0123456789", LOG_LEVEL: "trace" }
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += String(part)))
    child.stdin.end(JSON.stringify({ name: "X-Key", value: secret }))
    const shown = ["cmdline", "environ"].map((file) => readFileSync(`/proc/${child.pid}/${file}`, "utf8")).join()
    yield* Effect.promise(() => once(child, "close"))
    assert.include(bodies.join(), secret)
    assert.include(output, "is wrong")
    assert.notInclude(output, secret)
    assert.include(shown, "credential")
    assert.notInclude(shown, secret)
  }).pipe(Effect.scoped, Effect.provide(platform)))
