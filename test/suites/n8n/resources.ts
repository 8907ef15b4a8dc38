/** The whole public API of a real n8n through the client. */
import { assert, type Vitest } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Services from "../../../src/app/Services.ts"
import type * as Errors from "../../../src/base/Errors.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as operations from "../../n8n/operations.ts"
import { chain, made, manual, set } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as releases from "./releases.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** The page with n8n's OpenAPI document: `openapi.yml` itself is broken in some releases. */
const documentPage = Effect.gen(function*() {
  const { url } = yield* RealN8n
  const http = yield* HttpClient.HttpClient
  const response = yield* http.get(new URL("/api/v1/docs/swagger-ui-init.js", url))
  return yield* response.text
}).pipe(
  Effect.scoped,
  Effect.provide(FetchHttpClient.layer),
  Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
)

const hint = (error: Errors.N8nError) =>
  N8nClient.isUnlicensed(error) ? "unlicensed" : N8nClient.isUnsupported(error) ? "unsupported" : error.message

/** Adds the tests to a suite. */
export const resources = (it: It, version: string) => {
  const v2 = version.startsWith("2.")

  it.effect("drift: the client has every operation of this n8n but those that it refuses", () =>
    Effect.gen(function*() {
      const document = operations.operationsIn(yield* documentPage)
      const { missing, missingParameters } = yield* operations.drift(document)
      assert.deepStrictEqual({ missing, missingParameters }, { missing: [], missingParameters: [] })
      const major = v2 ? "2" : "1"
      if (version !== releases.inCi[major]) return
      const { expect } = yield* Effect.promise(() => import("vitest"))
      yield* Effect.promise(() => expect(operations.print(document)).toMatchFileSnapshot(operations.recording(major)))
    }))

  it.effect("client: what this n8n lacks is told apart from what its licence lacks", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Stays", [manual, set("Out", "{}")], chain("T", "Out"))
      const refused = (effect: Effect.Effect<unknown, Errors.N8nError>) => Effect.map(Effect.flip(effect), hint)
      assert.deepStrictEqual(
        yield* Effect.all({
          tables: v2 ? Effect.succeed("unsupported") : refused(Stream.runCollect(n8n.streamDataTables())),
          packages: v2 ? Effect.succeed("unsupported") : refused(n8n.listCommunityPackages),
          archive: v2 ? Effect.succeed("unsupported") : refused(n8n.archiveWorkflow(id)),
          projects: refused(Stream.runCollect(n8n.streamProjects)),
          variables: refused(Stream.runCollect(n8n.streamVariables())),
          folders: refused(Stream.runCollect(n8n.streamFolders("personal"))),
          status: refused(n8n.sourceControlStatus("push"))
        }),
        {
          tables: "unsupported",
          packages: "unsupported",
          archive: "unsupported",
          projects: "unlicensed",
          variables: "unlicensed",
          folders: v2 ? "unlicensed" : "unsupported",
          status: v2 ? "unlicensed" : "unsupported"
        }
      )
      yield* n8n.deleteWorkflow(id)
    }))

  it.effect("client: tags, users, credentials and executions", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const tag = yield* n8n.createTag("before")
      assert.strictEqual((yield* n8n.renameTag(tag.id, "after")).name, "after")
      assert.deepStrictEqual(yield* n8n.getTag(tag.id), { id: tag.id, name: "after" })
      const id = yield* made("Tagged", [manual, set("Out", "{}")], chain("T", "Out"))
      yield* n8n.setWorkflowTags(id, ["after"])
      assert.deepStrictEqual((yield* n8n.workflowTags(id)).map(({ name }) => name), ["after"])
      yield* n8n.deleteTag(tag.id)
      assert.deepStrictEqual(yield* n8n.workflowTags(id), [])
      yield* n8n.deleteWorkflow(id)

      const [owner] = yield* Stream.runCollect(n8n.streamUsers({ includeRole: true }))
      assert.deepInclude(owner, { email: "owner@example.com", role: "global:owner" })
      assert.strictEqual((yield* n8n.getUser("owner@example.com")).id, owner?.id)

      const secret = "a-secret-that-nobody-sees"
      const values = Redacted.make({ name: "X-Key", value: secret })
      const credential = yield* n8n.createCredential({ name: "Key", type: "httpHeaderAuth", values })
      const wrong = yield* Effect.flip(
        n8n.createCredential({ name: "Key", type: "httpHeaderAuth", values: Redacted.make({ [secret]: secret }) })
      )
      assert.notInclude(JSON.stringify(wrong), secret)
      if (v2) {
        assert.strictEqual((yield* n8n.testCredential(credential.id)).status, "Error")
        assert.strictEqual((yield* n8n.updateCredential(credential.id, { name: "Other" })).name, "Other")
      }
      assert.hasAllKeys((yield* n8n.credentialSchema("httpBasicAuth")).properties, [
        "user",
        "password",
        ...v2 ? ["allowedHttpRequestDomains", "allowedDomains"] : []
      ])
      yield* n8n.deleteCredential(credential.id)
      assert.strictEqual((yield* Effect.flip(n8n.deleteCredential(credential.id)))._tag, "NotFoundError")
      assert.strictEqual((yield* Effect.flip(n8n.deleteExecution("999999")))._tag, "NotFoundError")
    }))

  if (!v2) return

  it.effect("client: data tables", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const table = yield* n8n.createDataTable({
        name: "Orders",
        columns: [{ name: "sku", type: "string" }, { name: "qty", type: "number" }]
      })
      const ids = yield* n8n.insertRows(table.id, Array.from({ length: 600 }, (_, qty) => ({ sku: `s${qty}`, qty })))
      assert.strictEqual(ids.length, 600)
      const many = { filter: { filters: [{ columnName: "qty", condition: "gte" as const, value: 100 }] } }
      const rows = yield* Stream.runCollect(n8n.streamRows(table.id, { ...many, sortBy: "qty:desc" }))
      assert.deepStrictEqual([rows.length, rows[0]?.["qty"], rows.at(-1)?.["qty"]], [500, 599, 100])
      const one = { filters: [{ columnName: "sku", condition: "eq" as const, value: "s5" }] }
      const { after, before } = yield* n8n.previewRowUpdate(table.id, { filter: one, data: { qty: 50 } })
      assert.deepStrictEqual([before[0]?.["qty"], after[0]?.["qty"]], [5, 50])
      assert.strictEqual((yield* n8n.updateRows(table.id, { filter: one, data: { qty: 6 } }))[0]?.["qty"], 6)
      const none = { filters: [{ columnName: "sku", condition: "eq" as const, value: "new" }] }
      const inserted = yield* n8n.previewRowUpsert(table.id, { filter: none, data: { sku: "new" } })
      assert.deepStrictEqual([inserted.before, inserted.after[0]?.id], [[], 0])
      assert.strictEqual((yield* n8n.upsertRow(table.id, { filter: none, data: { sku: "new" } }))[0]?.["sku"], "new")
      assert.strictEqual((yield* n8n.previewRowDeletion(table.id, one)).length, 1)
      assert.strictEqual((yield* n8n.deleteRows(table.id, one))[0]?.["sku"], "s5")
      assert.deepStrictEqual(yield* n8n.deleteRows(table.id, one), [])
      const column = yield* n8n.addColumn(table.id, { name: "due", type: "date" })
      yield* n8n.updateColumn(table.id, column.id, { name: "on", index: 0 })
      assert.deepStrictEqual((yield* n8n.listColumns(table.id)).map(({ name }) => name), ["on", "sku", "qty"])
      yield* n8n.deleteColumn(table.id, column.id)
      assert.strictEqual((yield* n8n.renameDataTable(table.id, "Sales")).name, "Sales")
      const found = yield* Stream.runCollect(n8n.streamDataTables({ name: "sal" }))
      assert.deepStrictEqual(found.map(({ id }) => id), [table.id])
      assert.strictEqual(yield* n8n.clearRows(table.id), 600)
      yield* n8n.deleteDataTable(table.id)
      assert.strictEqual((yield* Effect.flip(n8n.getDataTable(table.id)))._tag, "NotFoundError")
    }))

  it.effect("client: archives, packs and unpacks workflows, and reads what else there is", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Packed", [manual, set("Out", "{}")], chain("T", "Out"))
      const archive = yield* n8n.exportPackage({ workflowIds: [id] })
      assert.deepStrictEqual(Array.from(archive.subarray(0, 2)), [0x1f, 0x8b])
      const { workflows } = yield* n8n.importPackage(archive, {
        workflowConflictPolicy: "new-version",
        workflowIdPolicy: "new"
      })
      assert.deepInclude(workflows[0], { name: "Packed", sourceWorkflowId: id })
      assert.strictEqual(yield* n8n.stopExecutions({ status: ["waiting"], workflowId: id }), 0)
      assert.isTrue((yield* n8n.archiveWorkflow(id)).isArchived)
      assert.isFalse((yield* n8n.unarchiveWorkflow(id)).isArchived)
      for (const each of new Set([id, ...workflows.map(({ localId }) => localId)])) yield* n8n.deleteWorkflow(each)

      assert.isAtLeast((yield* n8n.insights()).total.value, 0)
      assert.isArray(yield* n8n.listCommunityPackages)
      const [report] = yield* n8n.audit({ categories: ["instance"] })
      assert.strictEqual(report?.risk, "instance")
    }))
}
