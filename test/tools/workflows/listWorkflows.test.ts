import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as TestTime from "../../support/TestTime.ts"
import { workflow } from "../../support/workflows.ts"

const entry = (id: string, name: string, more = {}) => workflow(id, [], { name, active: false, tags: [], ...more })

const seed = {
  workflows: [
    entry("a", "Orders", { active: true, tags: [{ name: "shop" }] }),
    entry("b", "Old orders", { isArchived: true }),
    entry("c", "Reports", { tags: [{ name: "shop" }, { name: "weekly" }] })
  ],
  executions: []
}

layer(FakeN8n.layer(seed))("list_workflows", (it) => {
  const ids = (args: object) =>
    Effect.map(
      tools.listWorkflows.call({ limit: 20, offset: 0, ...args }),
      ({ workflows }) => workflows.map(({ id }) => id)
    )

  it.effect("finds by name, state and tags, archived ones only with raw", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* ids({}), ["a", "c"])
      assert.deepStrictEqual(yield* ids({ raw: true }), ["a", "b", "c"])
      assert.deepStrictEqual(yield* ids({ name: "ORDERS" }), ["a"])
      assert.deepStrictEqual(yield* ids({ active: false }), ["c"])
      assert.deepStrictEqual(yield* ids({ tags: ["shop", "weekly"] }), ["c"])
    }))

  it.effect("answers ids and names in one call, and names what is not there", () =>
    Effect.gen(function*() {
      const { missing, nextCursor, workflows } = yield* tools.listWorkflows.call({
        ids: ["c", "b", "https://n8n.example.test/workflow/c", "zz"],
        names: ["oRDERS", "Old orders", "Order", "reports"]
      })
      assert.deepStrictEqual(workflows.map(({ id }) => id), ["c", "a"])
      assert.isUndefined(nextCursor)
      assert.deepStrictEqual(missing, [
        { id: "b", why: "archived" },
        { id: "zz", why: "unknown" },
        { id: "Old orders", why: "archived" },
        { id: "Order", why: "unknown" }
      ])
      assert.deepStrictEqual(yield* ids({ ids: ["b"], raw: true }), ["b"])
      assert.deepStrictEqual(yield* ids({ ids: ["a", "c"], active: true }), ["a"])
    }))

  it.effect("continues a page of ids and names, and answers as many as there are", () =>
    Effect.gen(function*() {
      const many = Array.from({ length: 60 }, (_, index) => entry(`m${index}`, `Many ${index}`))
      const names = many.map(({ name }) => name)
      const all = yield* tools.listWorkflows.call({ names }).pipe(
        Effect.provide(FakeN8n.layer({ workflows: many, executions: [] }))
      )
      assert.strictEqual(all.workflows.length, 60)
      const first = yield* tools.listWorkflows.call({ ids: ["a", "c"], limit: 1 })
      assert.deepStrictEqual(first.workflows.map(({ id }) => id), ["a"])
      const second = yield* tools.listWorkflows.call({ ids: ["a", "c"], limit: 1, cursor: first.nextCursor ?? "" })
      assert.deepStrictEqual(second.workflows.map(({ id }) => id), ["c"])
      assert.isUndefined(second.nextCursor)
    }))

  it.effect("refuses a cursor of another list, and what would be in everything", () =>
    Effect.gen(function*() {
      for (const args of [{ cursor: "nonsense" }, { ids: ["a"], cursor: "x" }, { uses: "a" }]) {
        const field = "cursor" in args ? "cursor" : "uses"
        assert.deepInclude(yield* Effect.flip(tools.listWorkflows.run(args)), { _tag: "ValidationError", field })
      }
    }))
})

it.effect("list_workflows takes a name literally, in any script", () => {
  const names = ["100% Café", "a_b", "CAFE\u0301 2", "が", "か", "b*(c"]
  const found = (name: string) =>
    Effect.map(tools.listWorkflows.call({ name }), ({ workflows }) => workflows.map(({ name }) => name))
  return Effect.gen(function*() {
    assert.deepStrictEqual(yield* Effect.forEach(["か", "B*(", "_", "cafe"], found), [
      ["か"],
      ["b*(c"],
      ["a_b"],
      ["100% Café", "CAFE\u0301 2"]
    ])
  }).pipe(Effect.provide(
    FakeN8n.layer({ workflows: names.map((name, index) => entry(`n${index}`, name)), executions: [] })
  ))
})

const slack = (name: string) => ({ name, type: "n8n-nodes-base.slack", parameters: { text: "hi" } })

/** n8n here lists by id. */
const idOf = (index: number) => `w${String(index).padStart(4, "0")}`

const many = {
  workflows: Array.from({ length: 120 }, (_, index) =>
    entry(idOf(index), `Flow ${index}`, {
      nodes: index % 40 === 7 ? [slack("Tell"), slack("Tell again")] : [{ name: "No", type: "n8n-nodes-base.noOp" }]
    })),
  executions: []
}

layer(FakeN8n.layer(many))("list_workflows with uses", (it) => {
  it.effect("finds what uses a node type, with the names of the nodes, looking through all", () =>
    Effect.gen(function*() {
      const { scanned, workflows } = yield* tools.listWorkflows.call({ uses: "n8n-nodes-base.slack" })
      assert.deepStrictEqual(workflows.map(({ id, uses = [] }) => [id, uses.map(({ node }) => node)]), [
        ["w0007", ["Tell", "Tell again"]],
        ["w0047", ["Tell", "Tell again"]],
        ["w0087", ["Tell", "Tell again"]]
      ])
      assert.strictEqual(scanned, 120)
    }))

  it.effect("continues where the previous page ended, and combines with other conditions", () =>
    Effect.gen(function*() {
      const first = yield* tools.listWorkflows.call({ uses: "slack", limit: 2 })
      assert.deepStrictEqual(first.workflows.map(({ id }) => id), ["w0007", "w0047"])
      const second = yield* tools.listWorkflows.call({ uses: "slack", limit: 2, cursor: first.nextCursor ?? "" })
      assert.deepStrictEqual(second.workflows.map(({ id }) => id), ["w0087"])
      assert.notProperty(second, "nextCursor")
      const named = yield* tools.listWorkflows.call({ uses: "slack", name: "flow 47" })
      assert.deepStrictEqual(named.workflows.map(({ id }) => id), ["w0047"])
    }))
})

const endless = {
  workflows: Array.from({ length: 2_100 }, (_, index) => entry(idOf(index), `Flow ${index}`)),
  executions: []
}

const slow = FakeN8n.layer(endless, { before: () => Effect.sleep("1 second") })

layer(slow)("list_workflows with uses on a large n8n", (it) => {
  it.effect("stops after a time, says so, and continues from there", () =>
    TestTime.run(Effect.gen(function*() {
      let scanned = 0
      let cursor: string | undefined
      do {
        const page: typeof tools.listWorkflows.output.Type = yield* tools.listWorkflows.call({
          uses: "nothing has this",
          ...(cursor === undefined ? {} : { cursor })
        })
        scanned += page.scanned ?? 0
        cursor = page.nextCursor
        if (cursor === undefined) assert.notProperty(page, "hint")
        else assert.include(page.hint, `Only ${page.scanned} workflows searched`)
        assert.isAtMost(page.scanned ?? 0, 1_100)
      } while (cursor !== undefined)
      assert.strictEqual(scanned, 2_100)
    })))
})

const large = JSON.stringify({
  data: Array.from(
    { length: 14 },
    (_, index) => entry(`w${index}`, `Flow ${index}`, { nodes: [{ ...slack("Tell"), notes: "x".repeat(1_000_000) }] })
  ),
  nextCursor: null
})

layer(FakeN8n.layer(many, {
  before: ({ url }) => {
    const { searchParams } = new URL(url)
    const isLarge = Number(searchParams.get("limit")) > 13
    return Effect.sync(() => isLarge ? new Response(`[${"\"x\",".repeat(17_000_000)}1]`) : new Response(large))
  }
}))("list_workflows of workflows that are too large for one page", (it) => {
  it.effect("reads fewer per request", () =>
    Effect.gen(function*() {
      const { workflows } = yield* tools.listWorkflows.call({ uses: "slack" })
      assert.lengthOf(workflows, 14)
    }))
})

describe("list_workflows with columns", () => {
  const started = "2026-11-22T10:00:00.000Z"
  const shown = {
    workflows: [
      entry("a", "受注", {
        active: true,
        settings: { errorWorkflow: "e" },
        nodes: [
          { name: "Hook", type: "n8n-nodes-base.webhook", parameters: { path: "orders" } },
          { name: "Off", type: "n8n-nodes-base.cron", disabled: true, parameters: {} },
          { name: "Set", type: "n8n-nodes-base.set", parameters: {} }
        ]
      }),
      entry("b", "Gone handler", { settings: { errorWorkflow: "zz" } }),
      entry("e", "Errors", { nodes: [{ name: "On error", type: "n8n-nodes-base.errorTrigger", parameters: {} }] })
    ],
    executions: [
      { id: "7", workflowId: "a", status: "success", startedAt: started },
      { id: "8", workflowId: "a", status: "error", startedAt: started }
    ]
  }
  const show = ["draft", "errorWorkflow", "triggers", "lastRun", "nodeCount"] as const

  for (const version of ["2", "1"] as const) {
    it.effect(`shows them on n8n ${version}, and says which it cannot know`, () =>
      Effect.gen(function*() {
        const api = yield* FakeN8n.FakeN8n
        yield* api.edit("a", (workflow) => ({ ...workflow, nodes: [...workflow.nodes, slack("New")] as never }))
        const { errorWorkflows, hint, workflows } = yield* tools.listWorkflows.call({ show })
        const draft = (draft: boolean) => version === "2" ? { draft } : {}
        assert.deepStrictEqual(workflows.map(({ active: _, name: __, ...row }) => row), [
          {
            id: "a",
            ...draft(true),
            errorWorkflow: "e",
            triggers: ["webhook /orders"],
            lastRun: { id: "8", status: "error", at: "2026-11-22T10:00:00Z" },
            nodeCount: 4
          },
          { id: "b", ...draft(false), errorWorkflow: "zz", triggers: [], lastRun: null, nodeCount: 0 },
          { id: "e", ...draft(false), errorWorkflow: null, triggers: ["errorTrigger"], lastRun: null, nodeCount: 1 }
        ])
        assert.deepStrictEqual(errorWorkflows, { e: "Errors", zz: "Deleted Workflow" })
        if (version === "2") assert.isUndefined(hint)
        else assert.strictEqual(hint, "n8n 1 has no drafts and does not list waiting runs.")
        const { workflows: handled } = yield* tools.listWorkflows.call({ uses: "errorWorkflow" })
        assert.deepStrictEqual(handled.map(({ id, uses }) => [id, uses]), [
          ["a", [{ path: "settings.errorWorkflow", value: "e" }]],
          ["b", [{ path: "settings.errorWorkflow", value: "zz" }]]
        ])
      }).pipe(Effect.provide(FakeN8n.layer(shown as unknown as FakeN8n.Seed, { version }))))
  }

  it.effect("asks for no more than one execution of each row, and adds few tokens", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const plain = yield* tools.listWorkflows.run({})
      const before = (yield* api.requests).length
      const answer = yield* tools.listWorkflows.run({ show: ["lastRun", "errorWorkflow", "draft"] })
      assert.isAtMost((yield* api.requests).length - before, 23)
      assert.isAtMost((countTokens(JSON.stringify(answer)) - countTokens(JSON.stringify(plain))) / 20, 20)
    }).pipe(Effect.provide(FakeN8n.layer(many))))
})
