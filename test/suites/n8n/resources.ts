/** The whole public API of a real n8n through the client. */
import { assert, type Vitest } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Services from "../../../src/app/Services.ts"
import type * as Errors from "../../../src/base/Errors.ts"
import { arr, obj, str } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as description from "../../n8n/description.ts"
import * as operations from "../../n8n/operations.ts"
import { reasonOf } from "../../support/reason.ts"
import { chain, made, manual, set } from "./builders.ts"
import { RealN8n } from "./RealN8n.ts"
import * as releases from "./releases.ts"
import * as scenarios from "./scenarios.ts"

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

/** Adds the tests to a suite. The releases differ: n8n 1 has no data tables, packages and archive. */
export const resources = (it: It, version: string) => {
  const v2 = !version.startsWith("1.")

  it.effect("drift: the client types every operation of this n8n, and sends nothing else", () =>
    Effect.gen(function*() {
      const document = description.documentIn(yield* documentPage)
      const all = description.operationsOf(document)
      if (version === releases.inCi[v2 ? "2" : "1"]) {
        const { expect } = yield* Effect.promise(() => import("vitest"))
        const [text, file] = v2
          ? [description.print(document), description.generated] as const
          : [operations.print(all), operations.recording] as const
        yield* Effect.promise(() => expect(text).toMatchFileSnapshot(file))
        const requests = description.printRequests(document)
        yield* Effect.promise(() => expect(requests).toMatchFileSnapshot(description.requests(v2 ? "2" : "1")))
      }
      const { missing, missingParameters, unknown } = yield* operations.drift(all)
      assert.deepStrictEqual({ missing, missingParameters }, { missing: [], missingParameters: [] })
      // An older n8n lacks what newer ones have.
      if (version === releases.inCi["2"]) assert.deepStrictEqual([all.length, unknown], [154, []])
    }))

  it.effect("client: what this n8n lacks is distinguished from what its licence lacks", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Stays", [manual, set("Out", "{}")], chain("T", "Out"))
      const refused = (effect: Effect.Effect<unknown, Errors.N8nError>) => Effect.map(Effect.flip(effect), hint)
      assert.deepStrictEqual(
        yield* Effect.all({
          tables: v2 ? Effect.succeed("unsupported") : refused(Stream.runCollect(n8n.streamDataTables)),
          packages: v2 ? Effect.succeed("unsupported") : refused(n8n.listCommunityPackages),
          archive: v2 ? Effect.succeed("unsupported") : refused(n8n.archiveWorkflow(id)),
          projects: refused(Stream.runCollect(n8n.streamProjects)),
          variables: refused(Stream.runCollect(n8n.stream("GET /variables"))),
          folders: refused(Stream.runCollect(n8n.streamFolders("personal"))),
          status: refused(n8n.request("GET /source-control/status", { query: { direction: "push" } }))
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

  it.effect("client: n8n says of names of tags that it refuses that they exist, and we say why", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Tagged", [manual, set("Out", "{}")], chain("T", "Out"))
      const names = ["x".repeat(24), "😀".repeat(24), "❤️".repeat(24)]
      yield* n8n.setWorkflowTags(id, [...names, ` ${names[0]} `])
      const { body } = yield* scenarios.request("GET", `workflows/${id}/tags`)
      assert.sameMembers(arr(body).map((each) => String(obj(each)?.["name"])), names)
      for (const name of [...names.map((each) => each + "y"), " "]) {
        const { body, status } = yield* scenarios.request("POST", "tags", { name })
        assert.deepStrictEqual([status, body], [409, { message: "Tag already exists" }])
        assert.match((yield* Effect.flip(n8n.setWorkflowTags(id, [name]))).message, /has 25 characters|has no name/)
      }
      for (const each of arr(body)) yield* scenarios.request("DELETE", `tags/${str(obj(each)?.["id"])}`)
      yield* n8n.deleteWorkflow(id)
    }))

  it.effect("client: tags, users, credentials and executions", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const { id: tagId } = yield* n8n.request("POST /tags", { body: { name: "before" } })
      const path = { tagId }
      assert.strictEqual((yield* n8n.request("PUT /tags/{tagId}", { path, body: { name: "after" } })).name, "after")
      const Named = Schema.Struct({ name: Schema.String })
      assert.deepStrictEqual(yield* n8n.request("GET /tags/{tagId}", { path, schema: Named }), { name: "after" })
      const Sized = Schema.Struct({ size: Schema.Finite })
      const unlike = yield* Effect.flip(n8n.request("GET /tags/{tagId}", { path, schema: Sized }))
      assert.strictEqual(reasonOf(unlike), "Unreadable")
      yield* Effect.forEach(
        Array.from({ length: 8 }, (_, at) => at),
        (at) => n8n.request("POST /tags", { body: { name: `many ${at}` } }),
        { concurrency: 8 }
      )
      const tags = yield* Stream.runCollect(n8n.stream("GET /tags", { query: { limit: 3 } }))
      assert.lengthOf(tags.filter(({ name }) => name.startsWith("many ")), 8)
      yield* n8n.request("DELETE /tags/{tagId}", { path })

      const [owner] = yield* Stream.runCollect(n8n.stream("GET /users", { query: { includeRole: true } }))
      assert.deepInclude(owner, { email: "owner@example.com", role: "global:owner" })
      const byEmail = yield* n8n.request("GET /users/{id}", { path: { id: "owner@example.com" } })
      assert.strictEqual(byEmail.id, owner?.id)

      const secret = "a-secret-that-nobody-sees"
      const values = Redacted.make({ name: "X-Key", value: secret })
      const credential = yield* n8n.createCredential({ name: "Key", type: "httpHeaderAuth", values })
      const wrong = yield* Effect.flip(
        n8n.createCredential({ name: "Key", type: "httpHeaderAuth", values: Redacted.make({ [secret]: secret }) })
      )
      assert.notInclude(JSON.stringify(wrong), secret)
      const body = Redacted.make({ name: "Key", type: "httpHeaderAuth", data: { [secret]: secret } })
      const alsoWrong = yield* Effect.flip(n8n.request("POST /credentials", { body }))
      assert.strictEqual(alsoWrong._tag, "ApiError")
      assert.notInclude(JSON.stringify(alsoWrong), secret)
      if (v2) {
        assert.strictEqual((yield* n8n.testCredential(credential.id)).status, "Error")
        const changed = yield* n8n.request("PATCH /credentials/{credentialId}", {
          path: { credentialId: credential.id },
          body: { name: "Other" }
        })
        assert.strictEqual(changed.name, "Other")
      }
      assert.hasAllKeys((yield* n8n.credentialSchema("httpBasicAuth")).properties, [
        "user",
        "password",
        ...v2 ? ["allowedHttpRequestDomains", "allowedDomains"] : []
      ])
      yield* n8n.deleteCredential(credential.id)
      assert.strictEqual((yield* Effect.flip(n8n.deleteCredential(credential.id)))._tag, "NotFoundError")
      const noExecution = n8n.request("DELETE /executions/{executionId}", { path: { executionId: 999_999 } })
      assert.deepInclude(yield* Effect.flip(noExecution), {
        _tag: "NotFoundError",
        resourceType: "Execution",
        resourceId: "999999"
      })
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
      const columns = yield* n8n.request("GET /data-tables/{dataTableId}/columns", { path: { dataTableId: table.id } })
      assert.deepStrictEqual(columns.map(({ name }) => name), ["on", "sku", "qty"])
      yield* n8n.deleteColumn(table.id, column.id)
      assert.strictEqual((yield* n8n.renameDataTable(table.id, "Sales")).name, "Sales")
      const all = yield* Stream.runCollect(n8n.streamDataTables)
      assert.include(all.map(({ id }) => id), table.id)
      assert.strictEqual(yield* n8n.clearRows(table.id), 600)
      yield* n8n.deleteDataTable(table.id)
      assert.strictEqual((yield* Effect.flip(n8n.getDataTable(table.id)))._tag, "NotFoundError")
    }))

  it.effect("client: archives, packs and unpacks workflows, and reads what else there is", () =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient.N8nClient
      const id = yield* made("Packed", [manual, set("Out", "{}")], chain("T", "Out"))
      const archive = yield* n8n.request("POST /n8n-packages/export", { body: { workflowIds: [id] } })
      assert.deepStrictEqual(Array.from(archive.subarray(0, 2)), [0x1f, 0x8b])
      const form = new FormData()
      form.append("package", new Blob([archive.slice()]), "import.n8np")
      form.append("workflowConflictPolicy", "new-version")
      form.append("workflowIdPolicy", "new")
      const { workflows } = yield* n8n.request("POST /n8n-packages/import", { body: form })
      assert.deepInclude(workflows[0], { name: "Packed", sourceWorkflowId: id })
      const stop = n8n.request("POST /executions/stop", { body: { status: ["waiting"], workflowId: id } })
      assert.strictEqual((yield* stop).stopped, 0)
      assert.isTrue((yield* n8n.archiveWorkflow(id)).isArchived)
      const back = yield* n8n.request("POST /workflows/{workflowId}/unarchive", { path: { workflowId: id } })
      assert.isFalse(back.isArchived)
      for (const each of new Set([id, ...workflows.map(({ localId }) => localId)])) yield* n8n.deleteWorkflow(each)

      assert.isAtLeast((yield* n8n.request("GET /insights/summary")).total.value, 0)
      assert.isArray(yield* n8n.listCommunityPackages)
      assert.include((yield* n8n.audit()).map(({ risk }) => risk), "instance")
    }))
}
