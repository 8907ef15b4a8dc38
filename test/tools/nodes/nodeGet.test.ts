import { assert, describe, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Services from "../../../src/app/Services.ts"
import usual from "../../../src/catalogue/types/subNodes.json" with { type: "json" }
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as fixtures from "../../support/scenarios/recorded.ts"

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

    it.effect("names the nearest for an unknown type, version or resource", () =>
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

    it.effect("has all parameters for a program; for a model, names of those that can be asked for", () =>
      Effect.gen(function*() {
        const page = { type: "n8n-nodes-base.notion", resource: "databasePage", operation: "getAll" }
        for (const ask of [{ type: "n8n-nodes-base.emailSend" }, page, { type: "@n8n/n8n-nodes-langchain.openAi" }]) {
          const all = yield* get(ask)
          assert.notProperty(all, "more")
          const { data } = yield* tools.nodeGet.answer(ask)
          const more = data.more ?? []
          const shown = Object.keys(data.parameters ?? {})
          assert.sameMembers([...shown, ...more], Object.keys(all.parameters ?? {}))
          if (more.length === 0) continue
          const rest = yield* tools.nodeGet.answer({ ...ask, parameters: more })
          assert.sameMembers(Object.keys(rest.data.parameters ?? {}), [...more])
        }
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
  })

  layer(withoutN8n)("without an n8n", (it) => {
    it.effect("speaks of the newest", () =>
      Effect.gen(function*() {
        const { version, versions } = yield* get({ type: http })
        assert.deepStrictEqual([version, versions?.at(-1)], [4.5, 4.5])
      }))
  })
})

describe("node_get of several types", () => {
  layer(onN8n("2"))("with n8n 2", (it) => {
    const ai = (name: string) => `@n8n/n8n-nodes-langchain.${name}`

    it.effect("answers each within its budget, and names one that there is not", () =>
      Effect.gen(function*() {
        const types = [http, ai("agent"), "n8n-nodes-base.slak", "n8n-nodes-base.googleSheets", ai("lmChatOpenAi")]
        const more = ["n8n-nodes-base.slack", "n8n-nodes-base.notion", ai("vectorStoreInMemory")]
        const { data } = yield* tools.nodeGet.answer({ types: [...types, ...more] })
        const nodes = data.nodes ?? []
        assert.deepStrictEqual(nodes.map((node) => node["type"]), [...types, ...more])
        for (const node of nodes) assert.isAtMost(countTokens(JSON.stringify(node)), 1_500, String(node["type"]))
        assert.include(nodes[2]?.["error"], "'n8n-nodes-base.slak' not found. Did you mean 'n8n-nodes-base.slack'")
        const alone = yield* get({ type: http })
        assert.deepStrictEqual<unknown>(nodes[0], { ...alone })
        assert.notInclude(JSON.stringify(yield* tools.nodeGet.run({ types: [...types, ...more] })), "_truncated")
      }))

    it.effect("refuses none, too many, and what only applies to one", () =>
      Effect.gen(function*() {
        for (
          const [args, field] of [
            [{}, "type"],
            [{ types: [] }, "type"],
            [{ types: Array.from({ length: 9 }, () => http) }, "types"],
            [{ types: [http], type: http }, "type"],
            [{ types: [http], resource: "x" }, "resource"]
          ] as const
        ) {
          assert.deepInclude(yield* Effect.flip(tools.nodeGet.run(args)), { _tag: "ValidationError", field })
        }
        assert.deepInclude(yield* Effect.flip(tools.nodeGet.run({ types: ["nothing.like.it"] })), {
          _tag: "NotFoundError"
        })
      }))

    it.effect("wires an agent with a node on each port, and switches on what only then has one", () =>
      Effect.gen(function*() {
        const { example, subNodes = {}, wired } = yield* get({ type: ai("agent") })
        assert.isUndefined(example)
        assert.deepStrictEqual(Object.keys(subNodes), ["ai_languageModel", "ai_memory", "ai_tool", "ai_outputParser"])
        assert.deepInclude(wired?.nodes[0]?.["parameters"], { hasOutputParser: true })
        assert.lengthOf(wired?.nodes ?? [], 5)
        assert.deepStrictEqual(wired?.connections["OpenAI Chat Model"], {
          ai_languageModel: [[{ node: "AI Agent", type: "ai_languageModel", index: 0 }]]
        })
        // Another mode would be another purpose: its port is named only.
        const store = yield* get({ type: ai("vectorStoreInMemory") })
        assert.property(store.subNodes, "ai_document")
        assert.notInclude(JSON.stringify(store.wired?.connections), "ai_document")
      }))

    it.effect("knows only types that serve the port", () =>
      Effect.gen(function*() {
        for (const [port, types] of Object.entries(usual)) {
          for (const type of types) {
            const { outputs = [] } = yield* get({ type })
            assert.isTrue(outputs.some((output) => output.startsWith(port)), `${type}: ${outputs}`)
          }
        }
      }))
  })

  layer(onN8n("1"))("with an older n8n", (it) => {
    it.effect("wires versions that it has", () =>
      Effect.gen(function*() {
        const { subNodes, wired } = yield* get({ type: "@n8n/n8n-nodes-langchain.agent" })
        for (const node of wired?.nodes ?? []) {
          const { notes = [] } = yield* get({ type: String(node["type"]), version: Number(node["typeVersion"]) })
          assert.notInclude(notes.join(), "lacks")
        }
        assert.isDefined(subNodes)
      }))
  })
})
