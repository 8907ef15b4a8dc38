import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import * as Services from "../../../src/app/Services.ts"
import type { Obj } from "../../../src/base/Json.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Policy from "../../../src/workflows/policy/Policy.ts"
import { node } from "../../support/workflows.ts"

const safeHook = node("Hook", "webhook", 2.1, { path: "a", authentication: "headerAuth" }, {
  credentials: { httpHeaderAuth: { id: "c1", name: "Key" } }
})

const workflow = (id: string, nodes: ReadonlyArray<Obj>, more: Obj = {}) => ({
  id,
  name: `Workflow ${id}`,
  active: true,
  nodes,
  connections: {},
  settings: { errorWorkflow: "ok" },
  ...more
})

const secret = "hunter2-9f8e7d6c5b4a"

const risky = (id: string) =>
  workflow(id, [
    node("Open", "webhook", 1, { path: id }),
    node("Call", "httpRequest", 4.4, {
      headerParameters: { parameters: [{ name: "Authorization", value: `Bearer ${secret}` }] }
    })
  ], { settings: {} })

const execution = { id: "1", workflowId: "ok", status: "success", startedAt: "2026-11-22T00:00:00.000Z" }

const clean = {
  workflows: [workflow("ok", [safeHook, node("On error", "errorTrigger")])],
  executions: [execution],
  credentials: [{ id: "c1", name: "Key", type: "httpHeaderAuth" }]
}

const on = (seed: FakeN8n.Seed, options: FakeN8n.Options = {}) =>
  Layer.provideMerge(FakeN8n.layer(seed, options), Services.layerMemory)

const kinds = (findings: ReadonlyArray<{ readonly check: string; readonly count: number }>) =>
  Object.fromEntries(findings.map(({ check, count }) => [check, count]))

describe("audit", () => {
  for (const version of ["2", "1"] as const) {
    it.effect(`reports nothing without risks on ${version}`, () =>
      Effect.gen(function*() {
        const { data, message } = yield* tools.audit.answer({})
        assert.deepStrictEqual(data, { ok: true, workflows: 1, findings: [] })
        assert.include(message, "nothing found")
      }).pipe(Effect.provide(on(clean, { version }))))

    it.effect(`finds each risk on ${version}, says how to fix it, and shows no value`, () =>
      Effect.gen(function*() {
        const { data } = yield* tools.audit.answer({})
        assert.isFalse(data.ok)
        assert.deepStrictEqual(kinds(data.findings), {
          "literal-secret": 1,
          "open-webhook": 1,
          "unused-credential": 1,
          "no-error-workflow": 1,
          "outdated-node": version === "2" ? 2 : 1
        })
        for (const { fix, what } of data.findings) {
          assert.isNotEmpty(fix)
          assert.isNotEmpty(what)
        }
        assert.deepStrictEqual(data.findings[0]?.places, [{
          id: "bad",
          name: "Workflow bad",
          at: ["'Call': parameters.headerParameters.parameters[0].value"]
        }])
        assert.deepStrictEqual(data.findings.find(({ check }) => check === "unused-credential")?.places, [
          { id: "c2", name: "Old" }
        ])
        assert.notInclude(JSON.stringify(data), secret)
      }).pipe(
        Effect.provide(on({
          ...clean,
          workflows: [...clean.workflows, risky("bad")],
          credentials: [...clean.credentials, { id: "c2", name: "Old", type: "slackApi" }]
        }, { version }))
      ))
  }

  it.effect("of one workflow says all, also of one that is not published", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(kinds((yield* tools.audit.call({})).findings), { "literal-secret": 1, "outdated-node": 2 })
      const { findings, workflows } = yield* tools.audit.call({ workflowId: "draft" })
      assert.strictEqual(workflows, 1)
      assert.deepStrictEqual(kinds(findings), {
        "literal-secret": 1,
        "open-webhook": 1,
        "no-error-workflow": 1,
        "outdated-node": 2
      })
    }).pipe(Effect.provide(on({ ...clean, workflows: [...clean.workflows, { ...risky("draft"), active: false }] }))))

  it.effect("knows what is guarded: switched off, an allow-list of addresses, a chat that is not public", () =>
    Effect.gen(function*() {
      const { findings } = yield* tools.audit.call({})
      assert.deepStrictEqual(findings.filter(({ check }) => check === "open-webhook"), [])
    }).pipe(Effect.provide(on({
      ...clean,
      workflows: [
        ...clean.workflows,
        workflow("guarded", [
          node("Off", "webhook", 2.1, { path: "b" }, { disabled: true }),
          node("Inside", "webhook", 2.1, { path: "c", options: { ipWhitelist: "10.0.0.0/8" } }),
          { ...node("Chat", "x", 1.4), type: "@n8n/n8n-nodes-langchain.chatTrigger" }
        ])
      ]
    }))))

  it.effect("names what breaks the operator's policy", () =>
    Effect.gen(function*() {
      const { findings } = yield* tools.audit.call({})
      assert.deepStrictEqual(findings.map(({ check, places }) => [check, places[0]?.at]), [
        ["policy", ["bannedNodes: 'webhook' is banned, and 'Hook' is one"]]
      ])
    }).pipe(Effect.provide(Layer.provideMerge(Policy.layer({ bannedNodes: ["webhook"] }), on(clean)))))

  it.effect("works without n8n's own audit, and calls itself incomplete", () =>
    Effect.gen(function*() {
      const { data, message } = yield* tools.audit.answer({})
      assert.deepInclude(data, { ok: false, incomplete: true, findings: [] })
      assert.include(data.note, "securityAudit:generate")
      assert.include(message, "without n8n's own audit")
    }).pipe(Effect.provide(on(clean, {
      before: ({ url }) =>
        Effect.sync(() => url.endsWith("/audit") ? Response.json({ message: "Forbidden" }, { status: 403 }) : undefined)
    }))))

  it.effect("shows n8n's own findings, without what every n8n has", () => {
    const location = (nodeType: string) => ({
      kind: "node",
      workflowId: "ok",
      workflowName: "Workflow ok",
      nodeName: nodeType,
      nodeType: `n8n-nodes-base.${nodeType}`
    })
    const section = (title: string, ...types: ReadonlyArray<string>) => ({
      title,
      description: "d",
      recommendation: `Mend ${title}`,
      location: types.map(location)
    })
    const report = {
      "Nodes Risk Report": {
        risk: "nodes",
        sections: [
          section("Official risky nodes", "code", "ssh"),
          section("Unprotected webhooks in instance", "webhook"),
          { ...section("Security settings"), settings: { features: {} } }
        ]
      }
    }
    return Effect.gen(function*() {
      const { findings } = yield* tools.audit.call({})
      assert.deepStrictEqual(findings, [{
        check: "n8n",
        severity: "medium",
        count: 1,
        what: "Official risky nodes",
        fix: "Mend Official risky nodes",
        places: [{ id: "ok", name: "Workflow ok", at: ["ssh"] }]
      }])
    }).pipe(Effect.provide(on(clean, {
      before: ({ url }) => Effect.sync(() => url.endsWith("/audit") ? Response.json(report) : undefined)
    })))
  })

  const many = (count: number) => ({
    ...clean,
    workflows: Array.from({ length: count }, (_, index) => risky(`w${index}`))
  })

  /** Places of all pages; `fix` runs after each page. */
  const read = Effect.fnUntraced(function*(args: object, fix: Effect.Effect<unknown> = Effect.void) {
    const places: Array<string> = []
    let cursor: string | undefined
    let pages = 0
    do {
      const answer = yield* tools.audit.run({ ...args, ...(cursor === undefined ? {} : { cursor }) })
      const text = JSON.stringify(answer)
      assert.notInclude(text, "_truncated")
      assert.isAtMost(countTokens(text), 3_000)
      const page = answer.data as typeof tools.audit.output.Type
      places.push(
        ...page.findings.flatMap(({ check, places }) =>
          places.flatMap(({ at = [], id }) => at.map((each) => `${check} ${id} ${each}`))
        )
      )
      cursor = page.nextCursor
      pages++
      yield* fix
    } while (cursor !== undefined)
    return { places, pages }
  })

  it.effect("reaches every finding of 250 workflows in small pages, the kinds and their counts in the first", () =>
    Effect.gen(function*() {
      const { findings } = yield* tools.audit.call({ limit: 3 })
      assert.deepStrictEqual(
        findings.map(({ check, count, places, severity }) => [severity, check, count, places.length]),
        [
          ["high", "literal-secret", 250, 3],
          ["high", "open-webhook", 250, 0],
          ["medium", "unused-credential", 1, 0],
          ["medium", "no-error-workflow", 250, 0],
          ["low", "outdated-node", 500, 0]
        ]
      )
      const { pages, places } = yield* read({ limit: 1_000 })
      assert.lengthOf(new Set(places), 1_250)
      assert.lengthOf(places, 1_250)
      assert.isAtMost(pages, 20)
    }).pipe(Effect.provide(on(many(250)))))

  it.effect("hides none when what was reported is fixed between two pages", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const { places } = yield* read(
        { limit: 2, only: ["open-webhook"] },
        Effect.forEach(["w0", "w1", "w2"], (id) => api.edit(id, (workflow) => ({ ...workflow, nodes: [safeHook] })))
      )
      // n8n sorts by id: w2 comes last.
      assert.sameMembers(
        places,
        ["w0", "w1", "w10", "w11", "w3"].map((id) => `open-webhook ${id} Open`).slice(0, 2).concat(
          ["w10", "w11", "w3", "w4", "w5", "w6", "w7", "w8", "w9"].map((id) => `open-webhook ${id} Open`)
        )
      )
    }).pipe(Effect.provide(on(many(12), { version: "1" }))))

  it.effect("runs only the checks that are asked for, and n8n's own only for its checks", () =>
    Effect.gen(function*() {
      const api = yield* FakeN8n.FakeN8n
      const checks = (args: object) =>
        Effect.map(tools.audit.call(args), ({ findings }) => findings.map(({ check }) => check))
      assert.deepStrictEqual(yield* checks({ severity: "high" }), ["literal-secret", "open-webhook"])
      assert.deepStrictEqual(yield* checks({ only: ["outdated-node", "open-webhook"], except: ["outdated-node"] }), [
        "open-webhook"
      ])
      const asked = (yield* api.requests).filter(({ url }) => url.endsWith("/audit"))
      assert.lengthOf(asked, 0)
      const error = yield* Effect.flip(tools.audit.call({ only: ["open-webhok"] }))
      assert.deepInclude(error, { _tag: "ValidationError", field: "only" })
      assert.include(JSON.stringify(error), "open-webhook")
      assert.deepInclude(yield* Effect.flip(tools.audit.call({ cursor: "?" })), { field: "cursor" })
    }).pipe(Effect.provide(on(many(2)))))
})
