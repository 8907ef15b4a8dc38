import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Search from "../../../src/catalogue/search/Search.ts"
import lists from "../../../src/catalogue/search/wordLists.json" with { type: "json" }
import * as ToolVariant from "../../../src/catalogue/types/ToolVariant.ts"
import * as nodeTypes from "../../support/nodeTypes.ts"
import { blindQueries, queries } from "./queries.ts"

const serialized = Search.serialize([...nodeTypes.all.values()], lists)
const index = Search.open(serialized)
const { documents } = index

const short = (id: string) => id.replace("@n8n/n8n-nodes-langchain.", "ai.").replace("n8n-nodes-base.", "")
const ids = new Set(documents.map(({ row }) => short(row.id)))
/** The node that a tool variant is made of. */
const baseOf = (type: string) => ids.has(type) ? type : type.replace(/Tool$/, "")
const search = (query: Partial<Search.Query>) => Effect.runSync(Search.search(index, { limit: 10, ...query }))
const idsFor = (keyword: string, more: Partial<Search.Query> = {}) =>
  search({ keyword, ...more }).nodes.map(({ id }) => short(id))
const refused = (category: string) => Effect.runSync(Effect.flip(Search.search(index, { category, limit: 10 })))

const groups = { ...queries, ...blindQueries }
const asked = Object.entries(groups).flatMap(([group, all]) =>
  Object.entries(all).map(([query, types]) => {
    const hits = search({ keyword: query })
    const right = new Set(types.split(" ").flatMap((type) => [type, `${type}Tool`]))
    const place = hits.nodes.findIndex(({ id }) => right.has(short(id)))
    return { group, query, place, bytes: Buffer.byteLength(JSON.stringify(hits)) }
  })
)
const share = (of: typeof asked, best: number) =>
  of.filter(({ place }) => place >= 0 && place < best).length / of.length
const misses = (of: typeof asked, best: number) =>
  of.filter(({ place }) => place < 0 || place >= best).map(({ query }) => query).join(", ")

describe("the right node", () => {
  it("is one that exists, wherever the vocabulary or a query names it", () => {
    const named = [
      ...Object.values(groups).flatMap((all) => Object.values(all)).flatMap((types) => types.split(" ").map(baseOf)),
      ...Object.keys(lists.phrases),
      ...lists.kinds.flatMap(({ types }) => types.split(" ")),
      ...lists.mostUsed.split(" "),
      ...lists.unwanted.split(" "),
      ...Object.values(lists.categories).flatMap((types) => types.split(" "))
    ]
    assert.deepStrictEqual(named.filter((type) => !ids.has(type)), [])
  })

  it.each(Object.keys(groups).map((group) => ({ group })))("is near the top for the queries of $group", ({ group }) => {
    const of = asked.filter((each) => each.group === group)
    assert.isAtLeast(share(of, 1), 0.8, misses(of, 1))
    assert.isAtLeast(share(of, 3), 0.88, misses(of, 3))
    assert.isAtLeast(share(of, 10), 0.96, misses(of, 10))
  })

  it("is found in few bytes", () => {
    assert.isAtMost(Math.max(...asked.map(({ bytes }) => bytes)), 1_430)
  })

  it.each([
    ["gogle shets", "googleSheets"],
    ["htpRequest", "httpRequest"],
    ["salesfroce", "salesforce"],
    ["SLACK TRIGGER", "slackTrigger"],
    ["googleSheetTriger", "googleSheetsTrigger"],
    ["scheduled", "scheduleTrigger"],
    ["aggregating", "aggregate"],
    ["translation", "googleTranslate"],
    ["  n8n-nodes-base.httpRequest ", "httpRequest"],
    ["@n8n/n8n-nodes-langchain.lmChatOpenAi", "ai.lmChatOpenAi"],
    ["N8N-NODES-BASE.IF", "if"]
  ])("of '%s' is '%s'", (keyword, first) => assert.strictEqual(idsFor(keyword)[0], first))

  it.each([
    ["stripe", "stripe"],
    ["telegram message", "telegram"],
    ["hubspot contact", "hubspot"]
  ])("of a service, '%s', is its action, and its trigger when something starts", (keyword, action) => {
    assert.strictEqual(idsFor(keyword)[0], action)
    assert.strictEqual(idsFor(`create ${keyword}`)[0], action)
    for (const asked of [`${keyword} trigger`, `when a new ${keyword} is created`]) {
      assert.strictEqual(idsFor(asked)[0], `${action}Trigger`, asked)
    }
    assert.include(idsFor(keyword), `${action}Trigger`)
  })

  it("of unknown words has no results", () => {
    assert.deepStrictEqual(search({ keyword: "qqqwwwzzz" }), { count: 0, nodes: [] })
  })
})

describe("a name", () => {
  const namesakes = Map.groupBy(documents, ({ row }) => row.name)
  const firstOf = (keyword: string) => search({ keyword }).nodes[0]?.id

  it("finds its node first, and its tool where it is about tools", () => {
    const missed = documents.filter(({ outdated }) => !outdated).flatMap(({ row, tool }) => [
      ...[row.name, row.name.toLowerCase(), `${row.name} node`].filter((keyword) =>
        !namesakes.get(row.name)?.some((each) => [each.row.id, each.tool?.id].includes(firstOf(keyword)))
      ),
      ...(tool && firstOf(tool.name) !== tool.id ? [tool.name] : [])
    ])
    assert.deepStrictEqual(missed, [])
  })

  it("of a node that is hidden or deprecated finds first what replaced it, if anything did, then the node", () => {
    const taken = new Set(
      documents.filter(({ outdated }) => !outdated).flatMap(({ row, tool }) => [row.name, tool?.name])
    )
    const missed = documents.filter(({ outdated, row }) => outdated && !taken.has(row.name)).filter(
      ({ row, successors, tool }) => {
        const ids = search({ keyword: row.name }).nodes.map(({ id }) => id).filter((id) => id !== tool?.id)
        return ids[0] !== (successors[0] ?? row.id) || ids.indexOf(row.id) !== Math.min(successors.length, 2)
      }
    )
    assert.deepStrictEqual(missed.map(({ row }) => row.name), [])
  })

  it("that n8n lists as a node's alias finds the node among the first three", () => {
    const current = documents.filter(({ outdated }) => !outdated)
    const aliases = Map.groupBy(
      current.flatMap(({ row }) =>
        nodeTypes.get(row.id).descriptions.flatMap(({ codex }) => codex?.alias ?? []).map((alias) => ({
          alias,
          id: row.id
        }))
      ),
      ({ alias }) => alias.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")
    )
    assert.isAbove(aliases.size, 250)
    const missed = [...aliases].filter(([alias, owners]) => {
      const first = search({ keyword: alias }).nodes.slice(0, 3)
      return !first.some(({ id }) => owners.some((owner) => owner.id === id))
    })
    assert.deepStrictEqual(missed.map(([alias]) => alias), [])
  })

  it.each<[keyword: string, ...nodes: ReadonlyArray<string>]>([
    ["if", "if", "switch"],
    ["webhook", "webhook", "respondToWebhook"],
    ["pg", "postgres"],
    ["code", "code", "ai.toolCode"],
    ["gsheets", "googleSheets"]
  ])("'%s' finds %s", (keyword, ...nodes) => assert.deepStrictEqual(idsFor(keyword).slice(0, nodes.length), nodes))
})

describe("hidden and deprecated types", () => {
  it("is found by its name alone, behind what replaced it", () => {
    assert.strictEqual(idsFor("cron")[0], "scheduleTrigger")
    assert.include(idsFor("cron"), "cron")
    assert.notInclude(idsFor("run on a cron schedule"), "cron")
    assert.strictEqual(idsFor("n8n-nodes-base.function")[0], "function")
    assert.notInclude(idsFor("javascript function"), "function")
    assert.notInclude(idsFor("fix output parser"), "ai.outputParserAutofixing")
    assert.include(idsFor("outputParserAutofixing"), "ai.outputParserAutofixing")
  })

  it("is in no list", () => {
    const outdated = new Set(documents.filter(({ outdated }) => outdated).map(({ row }) => row.id))
    assert.isAbove(outdated.size, 40)
    for (const query of [{}, { category: "Core Nodes" }, { category: "ai" }]) {
      assert.isFalse(search({ ...query, limit: 50 }).nodes.some(({ id }) => outdated.has(id)))
    }
  })
})

describe("the tool variant of a node", () => {
  it.each([
    ["slack tool for agent", "slack"],
    ["http request tool", "httpRequest"],
    ["gmail for an ai agent", "gmail"],
    ["n8n-nodes-base.googleSheetsTool", "googleSheets"],
    ["エージェントのツール slack", "slack"]
  ])(
    "comes before the node for '%s'",
    (keyword, first) => assert.deepStrictEqual(idsFor(keyword).slice(0, 2), [`${first}Tool`, first])
  )

  it("comes before nodes that only have to do with agents", () => {
    assert.include(idsFor("give the agent access to postgres").slice(0, 3), "postgresTool")
    assert.include(idsFor("let the ai agent send an email").slice(0, 5), "gmailTool")
  })

  it("is a type that n8n makes", () => {
    const [variant] = search({ keyword: "gmail tool", limit: 1 }).nodes
    const made = ToolVariant.variant("n8n-nodes-base.gmailTool", nodeTypes.get("n8n-nodes-base.gmail"))
    assert.strictEqual(variant?.id, made?.type)
    assert.strictEqual(variant?.name, made?.descriptions[0]?.displayName)
  })

  it("is left out where neither a tool nor an agent is asked for, and where n8n makes none", () => {
    for (const keyword of ["slack", "send an email", "http request", "gmail trigger"]) {
      assert.isFalse(idsFor(keyword, { limit: 50 }).some((type) => !ids.has(type)), keyword)
    }
    assert.notInclude(idsFor("code tool for agent", { limit: 50 }), "codeTool")
  })
})

describe("a category", () => {
  it.each([
    ["TRIGGERS", "webhook"],
    ["http", "httpRequest"],
    ["databases", "postgres"],
    ["ai", "ai.agent"],
    ["Communication", "slack"],
    ["data & storage", "googleSheets"],
    ["core nodes", "code"],
    ["vector store", "ai.vectorStoreInMemory"]
  ])("'%s' lists its most used nodes, with '%s'", (category, has) => {
    const { count, nodes } = search({ category })
    assert.include(nodes.map(({ id }) => short(id)), has)
    assert.isAtLeast(count, nodes.length)
  })

  it("keeps the others out", () => {
    assert.strictEqual(idsFor("slack", { category: "trigger" })[0], "slackTrigger")
    assert.notInclude(idsFor("slack", { category: "trigger" }), "slack")
    assert.deepStrictEqual(idsFor("slack", { category: "database" }), [])
  })

  it("that does not exist is refused with those that do", () => {
    assert.include(refused("comunication").hint, "Communication")
    assert.include(refused("zzzzzzzz").hint, "There are: ")
    assert.strictEqual(refused("__proto__").field, "category")
    assert.strictEqual(refused("!!").field, "category")
  })
})

describe("a question", () => {
  it("without words lists the most used", () => {
    assert.deepStrictEqual(idsFor("").slice(0, 3), ["httpRequest", "code", "set"])
    assert.deepStrictEqual(search({}), search({ keyword: "  ", functionality: "", category: " " }))
    assert.strictEqual(idsFor("trigger")[0], "webhook")
    assert.isTrue(search({ keyword: "triggers" }).nodes.every(({ id }) => /Trigger$|webhook$/.test(id)))
  })

  it("takes what the node is for as words", () => {
    assert.strictEqual(search({ functionality: "run on a schedule" }).nodes[0]?.id, "n8n-nodes-base.scheduleTrigger")
    assert.strictEqual(idsFor("google", { functionality: "append a row to a sheet" })[0], "googleSheets")
  })

  it("is answered for any keyword", () => {
    const many = Array.from({ length: 2_000 }, (_, at) => `word${at}`).join(" ")
    const odd = [".*+?^${}()|[]\\", "(slack|", "__proto__", "constructor toString", "🚀🚀", "スラック", "\u0000\ud800"]
    for (const keyword of ["slack ".repeat(2_000), "x".repeat(10_000), many, ...odd]) {
      const { count, nodes } = search({ keyword })
      assert.isAtMost(nodes.length, count, keyword)
    }
  })

  it("is answered with as many rows as fit, the first one complete", () => {
    for (const limit of [1, 3, 10, 50]) {
      const { nodes } = search({ category: "trigger", limit })
      assert.isAtMost(nodes.length, limit)
      assert.isAtMost(Buffer.byteLength(JSON.stringify(nodes)), Math.max(limit * 140, 900))
      if (limit <= 3) assert.strictEqual(nodes.length, limit)
    }
    assert.deepStrictEqual(search({ keyword: "n8n-nodes-base.slack", limit: 1 }).nodes, [{
      id: "n8n-nodes-base.slack",
      name: "Slack",
      description: "Consume Slack API",
      categories: ["Communication", "HITL"],
      version: 2.7,
      parameters: { resource: ["channel", "file", "message", "reaction", "star", "user", "…"] }
    }])
  })

  it("finds the nodes of other packages too", () => {
    const node = {
      name: "acmeCloud",
      displayName: "Acme Cloud",
      description: "Sends anvils",
      group: ["output"],
      version: [1, 2],
      inputs: ["main"],
      outputs: ["main"],
      properties: []
    }
    const own = { type: "n8n-nodes-acme.acmeCloud", descriptions: [node] }
    const more = Search.open(serialized, [own])
    for (const keyword of ["acme", "send an anvil", "n8n-nodes-acme.acmeCloud"]) {
      const [first] = Effect.runSync(Search.search(more, { keyword, limit: 10 })).nodes
      assert.strictEqual(first?.id, "n8n-nodes-acme.acmeCloud", keyword)
    }
  })
})
