import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Services from "../../../src/app/Services.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as fixtures from "../../support/fixtures.ts"

const onN8n = (version: "1" | "2") => Layer.merge(Services.layerMemory, FakeN8n.layer(fixtures.seed, { version }))
const withoutN8n = Layer.merge(Services.layerMemory, N8nClient.layerUnconfigured(["N8N_URL", "N8N_API_KEY"]))

const get = tools.nodeGet.call
const http = "n8n-nodes-base.httpRequest"

describe("node_get", () => {
  layer(onN8n("2"))("with an n8n", (it) => {
    const type = "n8n-nodes-base.slack"

    it.effect("lists the parameters that apply, with an example", () =>
      Effect.gen(function*() {
        const { data } = yield* tools.nodeGet.run({ type, resource: "message", operation: "post" })
        assert.deepInclude(data, { type, name: "Slack" })
        assert.property(data, "example")
      }))

    it.effect("names the nearest where there is no such type, version or resource", () =>
      Effect.gen(function*() {
        const hint = (args: object) =>
          Effect.map(Effect.flip(tools.nodeGet.run({ type, ...args })), (error) => Hints.text(error.hint))
        assert.include(yield* hint({ type: "n8n-nodes-base.slak" }), type)
        assert.include(yield* hint({ resource: "mesage" }), "'message'")
        assert.include(yield* hint({ version: 99 }), "2")
        const github = { type: "n8n-nodes-base.github", resource: "issue", operation: "getAll" }
        assert.include(yield* hint(github), "repository: getIssues")
        assert.include(
          (yield* Effect.flip(tools.nodeGet.run(github))).message,
          "resource 'issue', has no operation 'getAll'"
        )
        assert.strictEqual((yield* Effect.flip(tools.nodeGet.run({ type: "" }))).message, "Node type is required")
      }))

    it.effect("names the fields of what comes out, as n8n's packages know them", () =>
      Effect.gen(function*() {
        const github = { type: "n8n-nodes-base.github", resource: "repository" }
        const issues = yield* get({ ...github, operation: "getIssues" })
        assert.includeMembers((issues.itemFields ?? "").split(" "), ["title", "html_url", "labels[]", "user{}"])
        // Of an earlier version, and of what is simplified on the way, they are not known.
        assert.notProperty(yield* get({ ...github, operation: "getIssues", version: 1 }), "itemFields")
        const gmail = { type: "n8n-nodes-base.gmail", resource: "message", operation: "get" }
        assert.notProperty(yield* get(gmail), "itemFields")
      }))

    it.effect("says what took a deprecated type's place", () =>
      Effect.gen(function*() {
        const { notes } = yield* get({ type: "n8n-nodes-base.function" })
        assert.include(notes ?? [], "Deprecated: use n8n-nodes-base.code.")
        const { notes: line } = yield* get({ type: "n8n-nodes-base.line" })
        assert.include(line ?? [], "Deprecated, without a successor.")
      }))
  })

  layer(onN8n("1"))("with an older n8n", (it) => {
    it.effect("speaks of the versions that it has", () =>
      Effect.gen(function*() {
        const { example, version, versions } = yield* get({ type: http })
        assert.deepStrictEqual([version, versions?.at(-1), example?.typeVersion], [4.3, 4.3, 4.3])
        const newer = yield* get({ type: http, version: 4.5 })
        assert.include(newer.notes ?? [], "n8n 1.123.81, which is connected, lacks version 4.5.")
      }))

    it.effect("says that it lacks a type, and does not propose it", () =>
      Effect.gen(function*() {
        const type = "n8n-nodes-base.microsoftExcelSharePoint"
        const { notes } = yield* get({ type })
        assert.include(notes ?? [], "n8n 1.123.81, which is connected, lacks this type.")
        const { nodes } = yield* tools.nodeSearch.call({ keyword: "microsoft excel sharepoint", limit: 20 })
        assert.notInclude(nodes.map(({ id }) => id), type)
      }))

    it.effect("gives the version that node_search gives", () =>
      Effect.gen(function*() {
        const { nodes } = yield* tools.nodeSearch.call({ keyword: "http request", limit: 1 })
        assert.deepInclude(nodes[0], { id: http, version: 4.3 })
      }))
  })

  layer(withoutN8n)("without an n8n", (it) => {
    it.effect("speaks of the newest", () =>
      Effect.gen(function*() {
        const { version, versions } = yield* get({ type: http })
        assert.deepStrictEqual([version, versions?.at(-1)], [4.5, 4.5])
      }))
  })
})
