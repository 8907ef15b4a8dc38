/** Attempts to get a credential's value out. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import * as Envelope from "../../../src/answer/Envelope.ts"
import * as Tool from "../../../src/answer/Tool.ts"
import { CallContext } from "../../../src/base/CallContext.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import { CredentialEnv } from "../../../src/credentials/Values.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { inWorld, type Needs } from "../../support/world.ts"
import { calls, prepared, seed } from "../calls.ts"
import { filesIn } from "../files.ts"

/** No shape and no name gives it away. */
const secret = "zebra crossing 4711 moonlight"

const env = new Map([["KEY", Redacted.make(secret)]])

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

const create = { type: "httpHeaderAuth", name: "Key", values: { name: "X-Key", value: { env: "KEY" } } }

/** Ways to ask for it. */
const attempts: ReadonlyArray<readonly [string, Obj]> = [
  ["credential_create", create],
  ["credential_create", { ...create, values: { ...create.values, value: secret } }],
  ["credential_create", { ...create, values: { ...create.values, [secret]: "x" } }],
  ["credential_create", { ...create, values: { ...create.values, name: { env: "KEY" } } }],
  ["credential_create", { ...create, values: { ...create.values, name: "={{ $env.KEY }}" } }],
  ["credential_create", { ...create, values: { ...create.values, allowedHttpRequestDomains: "all" } }],
  ["credential_create", { ...create, values: { ...create.values, value: { env: secret } } }],
  ["credential_create", { ...create, type: "../workflows" }],
  ["credential_create", { type: "postgres", name: "PG", values: { host: { env: "KEY" }, password: { env: "KEY" } } }],
  ["credential_create", { type: "postgres", name: "PG", values: { host: "evil.example", password: { env: "KEY" } } }],
  ["credential_create", { type: "nothing", name: "X", values: create.values }]
]

/** An n8n that repeats what it was sent, refusing it. */
const echo = ({ body, method }: { readonly body?: unknown; readonly method: string }) =>
  Effect.sync(() =>
    method === "GET"
      ? undefined
      : Response.json({ message: `Cannot use ${JSON.stringify(obj(body)?.["data"] ?? body)}` }, { status: 400 })
  )

/** Everything that anybody could see of the attempts. */
const traces = (before: typeof echo | undefined, redacts: boolean) => {
  const told: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const logger = Logger.make(({ cause, message }) => void told.push(JSON.stringify([message, String(cause)])))
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const run = (name: string, args: unknown) => {
    const tool = all.find((tool) => tool.name === name)
    return tool === undefined ? Effect.die(name) : tool.run(args).pipe(
      Effect.tapError((error) => Effect.logDebug(error)),
      Effect.match({
        onSuccess: (answer) => void told.push(JSON.stringify(answer)),
        onFailure: (error) => void told.push(JSON.stringify([error, Envelope.fromError(error)]))
      })
    )
  }
  return inWorld(
    ({ api, folder, state }) =>
      prepared(
        folder,
        Effect.gen(function*() {
          for (const [name, args] of attempts) yield* run(name, args)
          // Afterwards every tool is asked for what it knows.
          for (const { name } of all.filter(({ name }) => name !== "test_workflow")) yield* run(name, calls[name])
          for (const { attributes, events, name } of spans) told.push(JSON.stringify([name, [...attributes], events]))
          for (const place of [folder, state]) told.push(JSON.stringify([...yield* filesIn(place)]))
          // It reached n8n, and nothing else.
          const sent = (yield* api.requests).filter(({ body }) => JSON.stringify(body ?? "").includes(secret))
          return { told, sent: sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`) }
        }).pipe(
          Effect.provideService(CredentialEnv, env),
          Effect.provideService(Tool.RedactSecrets, redacts),
          Effect.provideService(CallContext, {
            progress: (_done, _total, message) => Effect.sync(() => void told.push(message)),
            confirm: (question) => Effect.sync(() => (told.push(question), "yes" as const))
          }),
          Effect.provide(Policy.layer({ bannedNodes: ["ssh"], protectedTags: ["none"] })),
          Effect.provideService(Tracer.Tracer, tracer),
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "All")
        )
      ),
    { seed, ...(before === undefined ? {} : { before }) }
  )
}

describe("a credential's value", () => {
  for (const redacts of [true, false]) {
    it.live(`is in no answer, question, log, trace, file or snapshot${redacts ? "" : ", also with --show-secrets"}`, () =>
      Effect.gen(function*() {
        const { sent, told } = yield* traces(undefined, redacts)
        assert.isAbove(sent.length, 0)
        assert.deepStrictEqual([...new Set(sent)], ["POST /api/v1/credentials"])
        assert.isNotEmpty(told)
        for (const text of told) assert.notInclude(text, secret)
      }))
  }

  it.live("is in no answer if n8n repeats it in its refusal", () =>
    Effect.gen(function*() {
      const { told } = yield* traces(echo, true)
      assert.include(told.join(), "Cannot use")
      for (const text of told) assert.notInclude(text, secret)
    }))

  it.live("is in no process list and no output of the command line, at any log level", () =>
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
          server.listen(0, "127.0.0.1", () =>
            resume(Effect.succeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)))
        }),
        () =>
          Effect.sync(() =>
            server.closeAllConnections()
          )
      )
      const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))
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
})
