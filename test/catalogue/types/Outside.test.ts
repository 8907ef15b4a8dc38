import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import type { Obj } from "../../../src/base/Json.ts"
import { findAll, NodeCatalogue } from "../../../src/catalogue/NodeCatalogue.ts"
import { reachesOutside } from "../../../src/catalogue/types/Outside.ts"
import { catalogue } from "../../support/catalogue.ts"

const base = (type: string) => `n8n-nodes-base.${type}`
const ai = (type: string) => `@n8n/n8n-nodes-langchain.${type}`
const lines = (text: string) => text.trim().split(/\n */)

const outsideOf = Effect.gen(function*() {
  const parse = yield* JavaScript.parser
  const find = yield* findAll(yield* (yield* NodeCatalogue).types)
  return (type: string, typeVersion = 1, parameters: Obj = {}, as = type) =>
    reachesOutside(find(type), { name: type, type: as, typeVersion, parameters }, parse)
})

const inside = "set if switch filter merge splitInBatches code html xml crypto dateTime convertToFile respondToWebhook"
const out = "httpRequest emailSend postgres slack wait form executeWorkflow executeCommand readWriteFile dataTable"
  + " rssFeedRead editImage"
const outsideForAgents = "lmChatOpenAi toolWorkflow mcpClientTool toolHttpRequest retrieverWorkflow"
  + " vectorStoreInMemoryLoad"

const code = lines(`
  return await this.helpers.httpRequest({ url })
  await $helpers . request('x')
  const r = await fetch(url)
  const fs = require('fs')
  const { x } = await import ('y')`)
const codeThatComputes = lines(`
  return $input.all()
  const fetched = items.map((i) => i.json.fetch)
  return [{ json: { text: 'we require a name' } }]`)

const sql = [
  "SELECT * FROM -- a\nCSV('http://x')",
  ...lines(`
    SELECT * FROM CSV('http://x')
    SELECT * FROM input1, CSV('http://x')
    SELECT * FROM /**/ CSV('http://x')
    SELECT * FROM input1 JOIN TXT ('x')
    SELECT * FROM 'http://x/a.csv'
    SELECT * FROM input1, 'a.csv'
    SELECT * FROM [a.csv]
    SELECT * FROM ?
    SELECT a->b() FROM input1
    SELECT \`\`return 1\`\` FROM input1
    SELECT * FROM input1; ATTACH FILESTORAGE DATABASE x('y')
    ={{ $json.query }}
    REQUIRE 'x'
    SELECT * INTO JSON('x') FROM input1`)
]
const sqlThatComputes = lines(`
  SELECT a.x, COUNT(*) FROM input1 a LEFT JOIN input2 ON a.id = input2.id GROUP BY a.x
  WITH t AS (SELECT id, 'x, y' AS n FROM input1) SELECT * FROM t JOIN input2 ON t.id IN (1, 2);
  SELECT UPPER(a) AS A FROM input1, input2 WHERE b LIKE '%CSV%' -- from csv('x')`)

layer(catalogue)("nodes that reach outside", (it) => {
  it.effect("by what their types need and how n8n classes them, in n8n's packages alone", () =>
    Effect.gen(function*() {
      const outside = yield* outsideOf
      for (const type of inside.split(" ")) assert.isFalse(outside(base(type)), type)
      for (const type of [...out.split(" ").map(base), ...outsideForAgents.split(" ").map(ai)]) {
        assert.isTrue(outside(type), type)
      }
      // An agent by itself does not: its model does.
      assert.isFalse(outside(ai("agent")))
      assert.isTrue(outside("n8n-nodes-acme.unheardOf"))
      assert.isTrue(outside(base("set"), 3, {}, "n8n-nodes-acme.set"))
    }))

  const crypto = base("crypto")
  const respond = base("respondToWebhook")
  const once = base("removeDuplicates")
  const sort = (code: string) => ({ type: "code", code })
  const merge = (query: string) => ({ mode: "combineBySql", query })

  it.effect.each<readonly [what: string, isOutside: boolean, type: string, version: number, parameters: Obj]>([
    ["the credential of an operation", false, crypto, 2, { action: "hash" }],
    ["the credential of an operation", true, crypto, 2, { action: "hmac" }],
    ["the credential of a setting", false, respond, 1.1, { respondWith: "json" }],
    ["the credential of a setting", true, respond, 1.1, { respondWith: "jwt" }],
    ["state of earlier runs", false, once, 2, {}],
    ["state of earlier runs", true, once, 2, { operation: "removeItemsSeenInPreviousExecutions" }],
    ["state of earlier runs", true, once, 2, { operation: "clearDeduplicationHistory" }],
    ["state of earlier runs", true, once, 2, { operation: "={{ $json.o }}" }],
    ["code in a Sort", false, base("sort"), 1, sort("return a.json.n - b.json.n")],
    ["code in a Sort", true, base("sort"), 1, sort("helpers.httpRequest({ url }); return 0")],
    ...code.map((jsCode) => ["code", true, base("code"), 2, { jsCode }] as const),
    ...codeThatComputes.map((jsCode) => ["code", false, base("code"), 2, { jsCode }] as const),
    ...sql.map((query) => ["SQL", true, base("merge"), 3.2, merge(query)] as const),
    ...sqlThatComputes.map((query) => ["SQL", false, base("merge"), 3.2, merge(query)] as const)
  ])(
    "by %s: %s for %s %s with %j",
    ([, isOutside, ...node]) => Effect.map(outsideOf, (outside) => assert.strictEqual(outside(...node), isOutside))
  )
})
