/** Policy, audit, credentials and data tables on a real n8n. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Services from "../../../src/app/Services.ts"
import type { N8nError } from "../../../src/base/Errors.ts"
import { CredentialEnv } from "../../../src/credentials/CredentialValues.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { node } from "../../support/workflows.ts"
import * as secrecy from "../../tools/tables/secrecy.ts"
import { chain, code, connected, made, manual, set } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

type Needs = N8nClient.N8nClient | Services.Services

const secret = "a-secret-of-the-suite-4711"

/** Adds the tests to a suite. */
export const guarding = (it: It, v2: boolean) => {
  it.effect("policy: what n8n would take is not sent, and a protected workflow stays as it is", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Guarded", [manual, set("Out", "{}")], chain("T", "Out"))
      yield* n8n.setWorkflowTags(id, ["guarded"])
      const before = yield* n8n.getWorkflow(id)
      const guarded = Effect.provide(
        Policy.layer({ bannedNodes: ["code"], minScheduleMinutes: 5, protectedTags: ["guarded"] })
      )
      const clock = node("Clock", "scheduleTrigger", 1.2, { rule: { interval: [{ field: "seconds" }] } })
      const attempts = [
        tools.createWorkflow.call({
          name: "Coded",
          nodes: [manual, code("C", "return []")],
          connections: {}
        }),
        tools.createWorkflow.call({ name: "Hasty", nodes: [clock], connections: {} }),
        tools.updateWorkflow.call({ id, name: "Changed" }),
        tools.updateWorkflow.call({ id, tags: [] }),
        tools.deleteWorkflow.call({ id, confirm: true })
      ]
      for (const attempt of attempts) {
        const error = yield* Effect.flip(guarded(Effect.asVoid<unknown, N8nError, Needs>(attempt)))
        assert.include(error.message, "The policy forbids it")
      }
      const after = yield* n8n.getWorkflow(id)
      assert.deepStrictEqual([after.updatedAt, after.name, after.tags?.length], [before.updatedAt, "Guarded", 1])
      const { workflows } = yield* n8n.listWorkflows({ limit: 100, archived: false })
      assert.notIncludeMembers(workflows.map(({ name }) => name), ["Coded"])
      yield* guarded(tools.createWorkflow.call({
        name: "Kept",
        nodes: [manual, set("Out", "{}")],
        connections: connected(chain("T", "Out"))
      }))
    }))

  it.effect("audit: finds what is risky on n8n, and shows no value", () =>
    Effect.gen(function*() {
      const id = yield* made("Risky", [
        node("Hook", "webhook", 2, { path: `risky-${crypto.randomUUID()}` }),
        node("Call", "httpRequest", 4.2, {
          url: "http://127.0.0.1:9",
          sendHeaders: true,
          headerParameters: { parameters: [{ name: "Authorization", value: `Bearer ${secret}` }] }
        })
      ], chain("Hook", "Call"))
      const { findings } = yield* tools.audit.call({ workflowId: id })
      assert.includeMembers(findings.map(({ check }) => check), ["literal-secret", "open-webhook", "no-error-workflow"])
      const whole = yield* tools.audit.call({})
      const secrets = whole.findings.find(({ check }) => check === "literal-secret")
      assert.isTrue(secrets?.places.some((place) => place.id === id))
      assert.notInclude(JSON.stringify([findings, whole]), secret)
    }))

  // Keys of n8n 1.x have no scopes of their own.
  if (v2) {
    it.effect("audit: with a key that n8n refuses its own audit, incomplete is not ok", () =>
      Effect.gen(function*() {
        const { createApiKey, url } = yield* RealN8n
        const apiKey = yield* createApiKey(["workflow:list", "workflow:read"])
        const whole = yield* tools.audit.call({}).pipe(
          Effect.provide(Layer.fresh(N8nClient.layer({ url, apiKey }).pipe(Layer.provide(FetchHttpClient.layer))))
        )
        assert.deepInclude(whole, { ok: false, incomplete: true })
      }))
  }

  it.effect("credentials: created from the environment, tested, never shown", () =>
    Effect.gen(function*() {
      const create = (type: string, values: object) =>
        tools.credentialCreate.call({ type, name: `Suite ${type}`, values: { ...values } })
      const created = yield* create("httpHeaderAuth", { name: "X-Api-Key", value: { env: "SUITE_SECRET" } })
      assert.notInclude(JSON.stringify(created), secret)
      for (
        const [type, values] of [
          ["postgres", { host: "127.0.0.1", user: "u", password: { env: "SUITE_SECRET" } }],
          ["bubbleApi", { appName: "127.0.0.1:1/x?", apiToken: { env: "SUITE_SECRET" } }]
        ] as const
      ) {
        assert.include((yield* Effect.flip(create(type, values))).message, "decide where the secret goes")
      }
      if (v2) {
        const postgres = yield* create("postgres", { host: "127.0.0.1", port: 9, user: "u", database: "d" })
        const tested = yield* tools.credentialTest.call({ id: postgres.id })
        assert.isFalse(tested.ok)
        const listed = yield* tools.listCredentials.call({ limit: 100 })
        assert.include(listed.credentials.map(({ id }) => id), created.id)
      } else {
        assert.include(
          (yield* Effect.flip(tools.credentialTest.call({ id: created.id }))).message,
          "cannot test credentials"
        )
      }
    }).pipe(Effect.provideService(CredentialEnv, new Map([["SUITE_SECRET", Redacted.make(secret)]]))))

  it.effect("tables: read and written by expressions, and brought back", () =>
    Effect.gen(function*() {
      if (!v2) {
        assert.include((yield* Effect.flip(tools.tableRead.call({ limit: 20 }))).message, "no data tables")
        return
      }
      const table = `stock_${crypto.randomUUID().slice(0, 8)}`
      const write = (args: Omit<Parameters<typeof tools.tableWrite.call>[0], "table">) =>
        tools.tableWrite.call({ table, ...args })
      const created = yield* write({ op: "create", columns: { sku: "string", qty: "number", done: "boolean" } })
      const rows = Array.from({ length: 30 }, (_, qty) => ({ sku: `${qty % 2 === 0 ? "A 1" : "B%_"}-${qty}`, qty }))
      yield* write({ op: "insert", rows })
      const skus = (where: string) =>
        Effect.map(
          tools.tableRead.call({ table, where, sort: "qty", limit: 100 }),
          ({ rows = [] }) => rows.map(({ qty }) => qty)
        )
      const numbers = (holds: (qty: number) => boolean) => rows.map(({ qty }) => qty).filter(holds)
      assert.deepStrictEqual(yield* skus("qty < 5"), numbers((qty) => qty < 5))
      assert.deepStrictEqual(yield* skus("sku.startsWith('A 1-')"), numbers((qty) => qty % 2 === 0))
      assert.deepStrictEqual(yield* skus("sku.toLowerCase().includes('b')"), numbers((qty) => qty % 2 === 1))
      const n8n = yield* N8nClient.N8nClient
      const all = Effect.map(Stream.runCollect(n8n.streamRows(created.table.id)), (all) =>
        all.map(({ done, qty, sku }) => ({ done, qty, sku })).toSorted((a, b) => Number(a.qty) - Number(b.qty)))
      const before = yield* all
      for (
        const loss of [
          { op: "update", where: "qty < 5", set: { done: true } },
          { op: "delete", where: "qty >= 10" },
          { op: "clear" },
          { op: "dropColumn", column: "qty" }
        ] as const
      ) {
        const { version = "" } = yield* write({ ...loss, confirm: true })
        assert.notDeepEqual<unknown>(yield* all, before)
        yield* write({ op: "restore", version })
        assert.deepStrictEqual(yield* all, before, loss.op)
      }
      const { version = "" } = yield* write({ op: "drop", confirm: true })
      const back = yield* tools.tableWrite.call({ table, op: "restore", version })
      assert.strictEqual(back.count, 30)
    }))

  it.effect("tables: no answer depends on the content of a redacted cell", () =>
    Effect.gen(function*() {
      if (!v2) return
      const some = secrecy.cases.filter((_, index) => index % 11 === 0)
      const [first = [], second = []] = yield* Effect.forEach(
        secrecy.secrets.slice(0, 2),
        (secret) => secrecy.answers(secret, some)
      )
      assert.isAtLeast(some.length, 15)
      assert.deepStrictEqual(second, first)
    }))
}
