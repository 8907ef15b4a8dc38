import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import { readFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import * as Tool from "../../../src/answer/Tool.ts"
import * as N8nChecks from "../../../src/app/doctor/N8nChecks.ts"
import { DatabaseError } from "../../../src/base/Database.ts"
import * as NodeCatalogue from "../../../src/catalogue/NodeCatalogue.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import {
  type Answer,
  answers,
  fails,
  neverAnswers,
  neverEnds,
  refuses,
  says,
  scriptedClient
} from "../../n8n/clients.ts"
import { listening } from "../../support/listening.ts"
import * as TestTime from "../../support/TestTime.ts"

/** The answer after 20 seconds. */
const slowly = (answer: Answer): Answer => (request, url) => Effect.delay(answer(request, url), "20 seconds")

const tls = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url))

/** Four that need a key, of which two need nothing but execution:read, and one that needs none. */
const names = new Set(["list_workflows", "get_workflow", "get_execution", "get_execution_by_node", "node_search"])
const reading = Tool.offered(tools.all, true).filter((tool) => names.has(tool.name))

const listing = Tool.offered(tools.all, true).filter(({ name }) => name === "list_executions")

const look = (more: Partial<N8nChecks.Subject> = {}) =>
  N8nChecks.examine({ tools: reading, filesRoots: [tmpdir()], state: tmpdir(), ...more }).pipe(
    Effect.provide(NodeCatalogue.layer().pipe(Layer.provideMerge(NodeServices.layer)))
  )

const examine = (url: string, more?: Partial<N8nChecks.Subject>) =>
  look(more).pipe(
    Effect.provide(
      N8nClient.layer({ url: new URL(url), apiKey: Redacted.make("canary-key") }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
    ),
    Effect.map((checks) => {
      assert.notInclude(JSON.stringify(checks), "canary-key")
      return new Map(checks.map((check) => [check.name, check]))
    })
  )

const sentry = Buffer.from(JSON.stringify({ release: "n8n@2.41.1" })).toString("base64")
const startPage = `<html><head><meta name="n8n:config:sentry" content="${sentry}"></head></html>`

/** An n8n that answers what is given for some paths. */
const n8n = (answers: Record<string, Answered>): RequestListener => (request, response) => {
  const path = (request.url ?? "").split("?")[0] ?? ""
  const { body, status = 200 } = answers[path] ?? { status: 404, body: { message: "not found" } }
  const isPage = typeof body === "string"
  response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json" })
  response.end(isPage ? body : JSON.stringify(body))
}

interface Answered {
  readonly status?: number
  readonly body: unknown
}

const listed: Answered = { body: { data: [], nextCursor: null } }
const forbidden: Answered = { status: 403, body: { message: "Forbidden" } }

/** Address of an n8n whose key has these scopes. */
const n8nWithScopes = (scopes: ReadonlyArray<string>, workflows: Answered = listed) =>
  listening(n8n({
    "/": { body: startPage },
    "/api/v1/workflows": workflows,
    "/api/v1/discover": { body: { data: { scopes } } }
  }))

describe("doctor", () => {
  it("says whether proxy variables are in effect", () => {
    const status = (variables: Record<string, string>) => N8nChecks.proxy(variables).map((check) => check.status)
    assert.deepStrictEqual(status({ HTTPS_PROXY: "" }), [])
    assert.deepStrictEqual(status({ HTTPS_PROXY: "http://proxy:3128" }), ["warning"])
    assert.deepStrictEqual(status({ https_proxy: "http://proxy:3128", NODE_USE_ENV_PROXY: "1" }), ["ok"])
  })

  it.live("finds a good n8n good", () =>
    Effect.gen(function*() {
      const all = new Set(reading.flatMap((tool) => [...tool.scopes, ...Object.keys(tool.partialScopes ?? {})]))
      const url = yield* n8nWithScopes([...all])
      const checks = yield* examine(url)
      assert.deepStrictEqual([...checks.values()].map(({ status }) => status), Array.from(checks.values(), () => "ok"))
      assert.strictEqual(checks.get("n8n")?.detail, "version 2.41.1")
      assert.isTrue(N8nChecks.isHealthy([...checks.values()]))
    }))

  it.live("names the tools, or parts of them, that a narrow key does not allow, and the scopes to add", () =>
    Effect.gen(function*() {
      const scopesOf = (scopes: ReadonlyArray<string>, workflows = listed, more: Partial<N8nChecks.Subject> = {}) =>
        Effect.flatMap(n8nWithScopes(scopes, workflows), (url) => examine(url, more))
      const narrow = yield* scopesOf(["execution:read"], forbidden)
      assert.strictEqual(narrow.get("API key")?.status, "ok")
      assert.strictEqual(narrow.get("Scopes")?.status, "warning")
      assert.include(narrow.get("Scopes")?.detail, "allows 2 of 4 tools, not list_workflows, get_workflow")
      assert.include(narrow.get("Scopes")?.cure, "workflow:list, workflow:read")
      const part = yield* scopesOf(["execution:list", "workflow:list", "workflow:read"], listed, { tools: listing })
      assert.deepInclude(part.get("Scopes"), {
        status: "warning",
        detail: "the key allows all 1 tool; without list_executions (groupBy failure, node and version)"
      })
      assert.include(part.get("Scopes")?.cure, "Give it execution:read in n8n")
      assert.strictEqual((yield* scopesOf([], forbidden)).get("Scopes")?.status, "failed")
    }))

  it.live.each<readonly [what: string, answer: RequestListener, check: string, says: string, cure: string]>([
    [
      "a wrong key",
      n8n({ "/": { body: startPage }, "/api/v1/workflows": { status: 401, body: { message: "Unauthorized" } } }),
      "API key",
      "HTTP 401",
      "N8N_API_KEY"
    ],
    [
      "a web page that is not n8n's",
      n8n({ "/": { body: "<html>Welcome to nginx!</html>" }, "/api/v1/workflows": { body: "<html></html>" } }),
      "API key",
      "a web page instead of JSON",
      "N8N_URL"
    ],
    [
      "a login that everything is redirected to",
      (_, response) => response.writeHead(302, { location: "https://login.example.test/?next=n8n" }).end(),
      "n8n",
      "redirect to https://login.example.test",
      "N8N_URL"
    ],
    [
      "another API",
      n8n({ "/": { body: { hello: "world" } }, "/api/v1/workflows": { body: { items: [] } } }),
      "API key",
      "data is required",
      "N8N_URL"
    ]
  ])("names %s, and the variable to change", ([, answer, check, says, cure]) =>
    Effect.gen(function*() {
      const checks = yield* examine(yield* listening(answer))
      const one = checks.get(check)
      assert.strictEqual(one?.status, "failed")
      assert.include(one?.detail, says)
      assert.include(one?.cure, cure)
      assert.strictEqual(checks.get("Scopes")?.status, "skipped")
    }))

  it.live("knows a self-signed certificate, and a port without TLS", () =>
    Effect.gen(function*() {
      const secure = yield* listening(n8n({}), { key: tls("key"), cert: tls("cert") })
      const untrusted = (yield* examine(secure)).get("n8n")
      assert.include(untrusted?.detail, "DEPTH_ZERO_SELF_SIGNED_CERT")
      assert.include(untrusted?.cure, "NODE_EXTRA_CA_CERTS")
      const plain = yield* listening(n8n({}))
      const mixed = (yield* examine(plain.replace("http:", "https:"))).get("n8n")
      assert.include(mixed?.cure, "N8N_URL must start with http://")
    }))

  it.effect("looks at the demo's n8n in memory too", () =>
    Effect.gen(function*() {
      const checks = yield* look().pipe(Effect.provide(FakeN8n.layer(Demo.seed)))
      assert.isTrue(N8nChecks.isHealthy(checks))
    }))

  it.effect("reports a missing files root, and a state folder that cannot be created", () =>
    Effect.gen(function*() {
      const file = new URL(import.meta.url).pathname
      const checks = yield* look({ filesRoots: ["/nowhere/at/all", file], state: `${file}/state` })
      const [missing, noFolder] = checks.filter((check) => check.name === "Files root")
      assert.include(missing?.detail, "/nowhere/at/all is missing")
      assert.include(noFolder?.detail, "is not a folder")
      assert.strictEqual(missing?.status, "warning")
      const state = checks.find((check) => check.name === "State folder")
      assert.strictEqual(state?.status, "failed")
      assert.include(state?.cure, "XDG_STATE_HOME")
    }).pipe(Effect.provide(FakeN8n.layer(Demo.seed))))

  it.effect("reports a files root that is not writable", () =>
    Effect.gen(function*() {
      const refused = PlatformError.systemError({ _tag: "PermissionDenied", module: "FileSystem", method: "access" })
      const checks = yield* N8nChecks.examine({ tools: reading, filesRoots: [tmpdir()], state: tmpdir() }).pipe(
        Effect.updateService(FileSystem.FileSystem, (fs) => ({ ...fs, access: () => Effect.fail(refused) })),
        Effect.provide(NodeCatalogue.layer().pipe(Layer.provideMerge(NodeServices.layer)))
      )
      const root = checks.find(({ name }) => name === "Files root")
      assert.strictEqual(root?.status, "warning")
      assert.include(root?.detail, "cannot be written: the file tools will only read")
      assert.include(root?.cure, "Make it writable for this user, or set --files-root")
    }).pipe(Effect.provide(FakeN8n.layer(Demo.seed))))

  it.effect("reports the version of a database's tables, and whether it answers", () =>
    Effect.gen(function*() {
      const state = (run: Exclude<N8nChecks.Subject["state"], string>["run"]) =>
        Effect.map(
          look({ state: { address: "db.example.com/n8n", version: 3, run } }),
          (checks) => checks.find(({ name }) => name === "State database")
        )
      const tables = (version: number) =>
        state(() => Effect.succeed([{ server: "15.4", tables: version }]) as Effect.Effect<never>)
      assert.deepStrictEqual(yield* tables(3), {
        name: "State database",
        status: "ok",
        detail: "PostgreSQL 15.4 at db.example.com/n8n, tables of version 3"
      })
      assert.deepInclude(yield* tables(4), {
        status: "warning",
        detail: "PostgreSQL 15.4 at db.example.com/n8n, tables of version 4; this server creates version 3"
      })
      const down = yield* state(() => Effect.fail(new DatabaseError({ message: "no answer within 5 s" })))
      assert.strictEqual(down?.status, "failed")
      assert.include(down?.detail, "db.example.com/n8n: no answer within 5 s; snapshots cannot be stored")
    }).pipe(Effect.provide(FakeN8n.layer(Demo.seed))))

  it.effect("reports the available node types, and a missing file of them", () =>
    Effect.gen(function*() {
      const line = (checks: ReadonlyArray<N8nChecks.Check>) => checks.find(({ name }) => name === "Catalogue")
      assert.match(line(yield* look())?.detail ?? "", /^5\d\d node types, as of n8n 2\.41\.1$/)
      const none = NodeCatalogue.layer({ dataFile: "/nowhere/nodes.data" })
      const missing = line(
        yield* N8nChecks.examine({ tools: reading, filesRoots: [], state: tmpdir() }).pipe(
          Effect.provide(none.pipe(Layer.provideMerge(NodeServices.layer)))
        )
      )
      assert.strictEqual(missing?.status, "failed")
      assert.include(missing?.detail, "/nowhere/nodes.data")
      assert.include(missing?.cure, "install effect-n8n-mcp again")
    }).pipe(Effect.provide(FakeN8n.layer(Demo.seed))))

  it("renders a table, in colour only when asked to", () => {
    const checks: ReadonlyArray<N8nChecks.Check> = [
      { name: "Node", status: "ok", detail: "24" },
      { name: "API key", status: "failed", detail: "refused", cure: "get another" }
    ]
    assert.deepStrictEqual(N8nChecks.render(checks, false), [
      "✓ Node     24",
      "✗ API key  refused",
      "           → get another"
    ])
    assert.include(N8nChecks.render(checks, true)[1], "\u001b[31m✗\u001b[0m API key")
  })
})

describe("the doctor's answer", () => {
  const page = `<meta name="n8n:config:sentry" content="${btoa("{\"release\":\"n8n@2.41.1\"}")}">`

  it.effect.each(
    [
      {
        what: "that is silent",
        script: [neverAnswers],
        n8n: "failed",
        details: /no answer from https\S+ within \d+ s/
      },
      {
        what: "that never ends an answer",
        script: [neverEnds],
        n8n: "failed",
        details: /no answer from https\S+ within \d+ s/
      },
      { what: "of which every answer takes 20 s", script: [slowly(says(page)), slowly(answers)], n8n: "ok" },
      { what: "that is silent after its start page", script: [says(page), neverAnswers], n8n: "ok" },
      { what: "that drips after its start page", script: [says(page), neverEnds], n8n: "ok" },
      { what: "that refuses connections", script: [fails("ECONNREFUSED")], n8n: "failed", details: /ECONNREFUSED/ },
      { what: "that limits requests", script: [refuses(429, { "retry-after": "25" })], n8n: "warning" }
    ] as const
  )("comes within 50 seconds from an n8n $what", ({ n8n: status, script, ...rest }) =>
    Effect.gen(function*() {
      const { n8n } = yield* scriptedClient(script)
      const { exit, seconds } = yield* TestTime.measure(look().pipe(Effect.provideService(N8nClient.N8nClient, n8n)))
      assert.isBelow(seconds, 50)
      const checks = yield* exit
      const check = checks.find(({ name }) => name === "n8n")
      assert.isDefined(check)
      assert.strictEqual(check.status, status)
      if ("details" in rest) assert.match(check.detail, rest.details)
      assert.isTrue(checks.filter(({ status }) => status === "failed").every(({ cure = "" }) => cure !== ""))
      assert.isFalse(N8nChecks.isHealthy(checks))
      // What needs no n8n is looked at all the same.
      assert.strictEqual(checks.find(({ name }) => name === "Catalogue")?.status, "ok")
    }))
})
