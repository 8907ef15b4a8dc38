import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { vi } from "vitest"
import { folderWith, platform } from "../../../../support/folders.ts"
import { serve } from "../../../../support/HttpN8n.ts"
import { runIn } from "../../../../support/inProcess.ts"
import { main, node } from "../../../../support/workflows.ts"

// Read when the module of the terminal loads, of which each file of tests has its own.
vi.hoisted(() => vi.stubEnv("FORCE_COLOR", "1"))
afterAll(() => void vi.unstubAllEnvs())

const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

/** A name that moves the cursor, forges lines and CI commands, hides text and holds a token. */
const hostile = (name: string) =>
  `${name}\r\n::error::forged\n##vso[task.complete]\u001B[2K\u0007\u009B1m\u202E\u{E0041} ${token}`

const workflow = (id: string, url: string) => ({
  id,
  name: hostile(id),
  active: true,
  nodes: [
    node(hostile("Hook"), "webhook", 2, { path: "x" }, { id: "h" }),
    node(hostile("Call"), "httpRequest", 4.2, {
      url,
      headerParameters: { parameters: [{ name: "Authorization", value: "Bearer hunter2-9f8e" }] }
    }, { id: "c" })
  ],
  connections: { [hostile("Hook")]: main(hostile("Call")) },
  settings: {}
})

describe("the command line", () => {
  it.live("prints hostile names from n8n in one visible line, without secrets", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ "cases/a.test.json": JSON.stringify({ workflow: "w1", pins: { Nope: [] } }) })
      const { url } = yield* serve({ workflows: [workflow("w1", "a"), workflow("w2", "a")], executions: [] }, {
        before: ({ method }) =>
          Effect.sync(() =>
            method === "PUT" ? Response.json({ message: hostile("request/body") }, { status: 400 }) : undefined
          )
      })
      const env = { N8N_URL: url.href, N8N_API_KEY: "k" }
      const isSafe = (command: string, output: string) => {
        assert.notMatch(output, /(?!\n)\p{Cc}|[\p{Bidi_Control}\u{E0041}]/u, command)
        assert.notMatch(output, /^\s*::|##vso\[/m, command)
        assert.notInclude(output, token, command)
      }
      const colours = new RegExp(`${String.fromCharCode(27)}\\[(?:0|3[1-3]|90)m`, "g")
      const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
        const { output } = yield* runIn(folder, env, ...args)
        // Colours that a report paints are not made visible with the names in it.
        assert.notMatch(output, /\\u001b\[(?:0|3[1-3])m/, args.join(" "))
        isSafe(args.join(" "), output.replaceAll(colours, ""))
        return output
      })
      const expects = (part: string, ...args: ReadonlyArray<string>) =>
        Effect.map(run(...args), (output) => assert.include(output, part, args.join(" ")))
      yield* expects("contains a literal secret", "pull", "flows")
      yield* expects("open-webhook", "audit")
      const file = (yield* fs.readDirectory(`${folder}/flows`)).find((name) => name.startsWith("w1"))
      const text = yield* fs.readFileString(`${folder}/flows/${file}`)
      yield* fs.writeFileString(`${folder}/flows/${file}`, text.replace("\"url\": \"a\"", "\"url\": \"b\""))
      yield* expects("parameters.url", "diff", "flows")
      yield* expects("failed", "push", "flows")
      yield* expects("could not run", "test", "cases")
      for (
        const args of [
          ["check", "--n8n"],
          ["check", "flows"],
          ["health", "--format", "text"],
          ["upgrade", "--n8n", "--dry-run"],
          ["edit", "{\"op\":\"replace\",\"find\":\"Bearer\",\"with\":\"X\"}", "--id", "w1", "--dry-run"],
          ["prove", "w1"],
          ["prove", "w1", "--drill"]
        ]
      ) yield* run(...args)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
