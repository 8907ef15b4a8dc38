import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import { findAll, NodeCatalogue } from "../../../src/catalogue/NodeCatalogue.ts"
import { reachesOutside } from "../../../src/catalogue/types/Outside.ts"
import { catalogue } from "../../support/catalogue.ts"

const base = (type: string) => `n8n-nodes-base.${type}`

describe("which nodes reach outside", () => {
  it.effect("by what their types need and how n8n classes them", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const find = yield* findAll(yield* (yield* NodeCatalogue).types)
      const outside = (type: string, more: object = {}) =>
        reachesOutside(find(type), { name: type, type, ...more }, parse)
      const inside =
        "set if switch filter merge splitInBatches code html xml crypto dateTime convertToFile respondToWebhook"
      for (const type of inside.split(" ")) assert.isFalse(outside(base(type)), type)
      const out =
        "httpRequest emailSend postgres slack wait form executeWorkflow executeCommand readWriteFile dataTable rssFeedRead"
      for (const type of out.split(" ")) assert.isTrue(outside(base(type)), type)
      assert.isTrue(outside("n8n-nodes-acme.unheardOf"))
      for (const type of ["lmChatOpenAi", "toolWorkflow", "mcpClientTool", "toolHttpRequest", "retrieverWorkflow"]) {
        assert.isTrue(outside(`@n8n/n8n-nodes-langchain.${type}`), type)
      }
      // An agent by itself does not: its model does.
      assert.isFalse(outside("@n8n/n8n-nodes-langchain.agent"))
    }).pipe(Effect.provide(catalogue)))

  it.effect("by the credential of the operation that is chosen, or that is set", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const find = yield* findAll([base("crypto"), base("respondToWebhook"), base("set")])
      const outside = (type: string, more: object) => reachesOutside(find(type), { name: type, type, ...more }, parse)
      const { crypto, respondToWebhook } = { crypto: base("crypto"), respondToWebhook: base("respondToWebhook") }
      assert.isFalse(outside(crypto, { typeVersion: 2, parameters: { action: "hash" } }))
      assert.isTrue(outside(crypto, { typeVersion: 2, parameters: { action: "hmac" } }))
      assert.isFalse(outside(respondToWebhook, { typeVersion: 1.1, parameters: { respondWith: "json" } }))
      assert.isTrue(outside(respondToWebhook, { typeVersion: 1.1, parameters: { respondWith: "jwt" } }))
    }).pipe(Effect.provide(catalogue)))

  it.effect("by code that sends requests or loads modules, not by code that only computes", () =>
    Effect.gen(function*() {
      const parse = yield* JavaScript.parser
      const find = yield* findAll([base("code")])
      const outside = (jsCode: string) =>
        reachesOutside(
          find(base("code")),
          { name: "C", type: base("code"), typeVersion: 2, parameters: { jsCode } },
          parse
        )
      for (
        const code of [
          "return await this.helpers.httpRequest({ url })",
          "await $helpers . request('x')",
          "const r = await fetch(url)",
          "const fs = require('fs')",
          "const { x } = await import ('y')"
        ]
      ) assert.isTrue(outside(code), code)
      for (
        const code of [
          "return $input.all()",
          "const fetched = items.map((i) => i.json.fetch)",
          "return [{ json: { text: 'we require a name' } }]"
        ]
      ) assert.isFalse(outside(code), code)
    }).pipe(Effect.provide(catalogue)))

  it.effect("by state of earlier runs, by SQL with other sources, and in any other package", () =>
    Effect.gen(function*() {
      const vectorStore = "@n8n/n8n-nodes-langchain.vectorStoreInMemoryLoad"
      const parse = yield* JavaScript.parser
      const types = [base("removeDuplicates"), base("merge"), base("set"), base("editImage"), base("sort"), vectorStore]
      const find = yield* findAll(types)
      const outside = (type: string, more: object = {}) =>
        reachesOutside(find(type), { name: type, type, ...more }, parse)
      assert.isFalse(outside(base("removeDuplicates"), { typeVersion: 2, parameters: {} }))
      for (const operation of ["removeItemsSeenInPreviousExecutions", "clearDeduplicationHistory", "={{ $json.o }}"]) {
        assert.isTrue(outside(base("removeDuplicates"), { typeVersion: 2, parameters: { operation } }))
      }
      assert.isTrue(outside(vectorStore))
      assert.isTrue(outside(base("editImage")))
      const merge = (query: string) =>
        outside(base("merge"), { typeVersion: 3.2, parameters: { mode: "combineBySql", query } })
      assert.isFalse(merge("SELECT a.x, COUNT(*) FROM input1 a LEFT JOIN input2 ON a.id = input2.id GROUP BY a.x"))
      assert.isFalse(
        merge("WITH t AS (SELECT id, 'x, y' AS n FROM input1) SELECT * FROM t JOIN input2 ON t.id IN (1, 2);")
      )
      assert.isFalse(merge("SELECT UPPER(a) AS A FROM input1, input2 WHERE b LIKE '%CSV%' -- from csv('x')"))
      for (
        const query of [
          "SELECT * FROM CSV('http://x')",
          "SELECT * FROM input1, CSV('http://x')",
          "SELECT * FROM /**/ CSV('http://x')",
          "SELECT * FROM -- a\nCSV('http://x')",
          "SELECT * FROM input1 JOIN TXT ('x')",
          "SELECT * FROM 'http://x/a.csv'",
          "SELECT * FROM input1, 'a.csv'",
          "SELECT * FROM [a.csv]",
          "SELECT * FROM ?",
          "SELECT a->b() FROM input1",
          "SELECT ``return 1`` FROM input1",
          "SELECT * FROM input1; ATTACH FILESTORAGE DATABASE x('y')",
          "={{ $json.query }}",
          "REQUIRE 'x'",
          "SELECT * INTO JSON('x') FROM input1"
        ]
      ) {
        assert.isTrue(merge(query), query)
      }
      const sort = (code: string) => outside(base("sort"), { typeVersion: 1, parameters: { type: "code", code } })
      assert.isFalse(sort("return a.json.n - b.json.n"))
      assert.isTrue(sort("helpers.httpRequest({ url }); return 0"))
      assert.isTrue(reachesOutside(find(base("set")), { name: "S", type: "n8n-nodes-acme.set" }, parse))
    }).pipe(Effect.provide(catalogue)))
})
