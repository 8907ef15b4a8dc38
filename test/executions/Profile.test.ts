import { assert, describe, it } from "@effect/vitest"
import * as Profile from "../../src/executions/Profile.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { document, failed, from, fromApi, items, node, run } from "./runData.ts"

const epoch = 1_795_419_716_000

/** A run from a time to another, in milliseconds after the start. */
const span = (start: number, time: number, data: unknown = { main: [items({ a: 1 })] }, more: object = {}) =>
  run(0, data, { startTime: epoch + start, executionTime: time, ...more })

const use = (execution: N8nApi.Execution, more: object = {}) => Profile.use(fromApi({ ...execution, ...more }))

const row = (profile: Profile.Profile, name: string) =>
  profile.rows.find((each) => each.node === name) ?? assert.fail(`no row of ${name}`)

const usage = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
  totalTokens: promptTokens + completionTokens
})

/** Run of a sub-node for a node. */
const sub = (start: number, time: number, parent: string, type: string, json: object) =>
  span(start, time, { [type]: [[{ json }]] }, { source: [from(parent)], inputOverride: { [type]: [[{ json: {} }]] } })

const modelOf = (parent: string, starts: ReadonlyArray<number>, more: object = { tokenUsage: usage(11, 7) }) =>
  starts.map((start) => sub(start, 300, parent, "ai_languageModel", { response: {}, ...more }))

describe("Profile", () => {
  it("takes time, items and bytes per execution, slowest first, with the share of all", () => {
    const execution = (id: string, slow: number) =>
      use(
        document({
          Start: [span(0, 5)],
          Work: [span(5, slow, { main: [items(...Array.from({ length: slow / 10 }, (_, i) => ({ i })))] })]
        }),
        { id }
      )
    const { findings, rows } = Profile.profile([execution("1", 20), execution("2", 40), execution("3", 100)])
    assert.deepStrictEqual(rows.map((each) => each.node), ["Work", "Start"])
    const sizes = [2, 4, 10].map((count) =>
      JSON.stringify(items(...Array.from({ length: count }, (_, i) => ({ i })))).length - 2
    )
    assert.deepStrictEqual(rows[0], {
      workflowId: "wf1",
      node: "Work",
      executions: 3,
      runs: 3,
      time: { total: 160, p50: 40, p95: 100, share: 0.91 },
      items: { p50: 4, max: 10 },
      bytes: { p50: sizes[1] ?? 0, max: sizes[2] ?? 0 }
    })
    assert.deepStrictEqual(findings, [])
  })

  it("counts the time of a model and of tools in their agent's once, also where n8n recorded only its last part", () => {
    // As 2.41 and 1.123 record an agent of version 3: it is resumed after its tools, which ran beside each other.
    const { rows } = Profile.profile([use(document({
      Start: [span(0, 10)],
      Agent: [span(1_000, 400, { main: [items({ output: "x" })] }, { source: [from("Start")] })],
      Model: modelOf("Agent", [20, 1_050]),
      Tool: [sub(400, 500, "Agent", "ai_tool", {}), sub(500, 450, "Agent", "ai_tool", {})],
      Embeddings: [sub(600, 100, "Tool", "ai_embedding", {})]
    }))])
    const agent = row({ rows } as Profile.Profile, "Agent")
    assert.deepInclude(agent.time, { total: 400 + 300 + 550, share: 0.99 })
    assert.isUndefined(agent.within)
    assert.deepInclude(row({ rows } as Profile.Profile, "Tool"), { within: "Agent", runs: 2 })
    assert.strictEqual(row({ rows } as Profile.Profile, "Tool").time.total, 550)
    assert.deepInclude(row({ rows } as Profile.Profile, "Embeddings"), { within: "Tool" })
    assert.deepStrictEqual(row({ rows } as Profile.Profile, "Model").tokens, {
      prompt: 22,
      completion: 14,
      p50: 36,
      max: 36
    })
  })

  it("sums tokens, and marks those that n8n estimated", () => {
    const estimated = { tokenUsageEstimate: usage(100, 10) }
    const profile = Profile.profile([
      use(document({ Model: modelOf("Chain", [0]) }), { id: "1" }),
      use(document({ Model: [...modelOf("Chain", [0]), ...modelOf("Chain", [400], estimated)] }), { id: "2" })
    ])
    const tokens = { prompt: 122, completion: 24, p50: 18, max: 128, estimated: true as const }
    assert.deepStrictEqual(row(profile, "Model").tokens, tokens)
  })

  it("counts a called run's time in its caller's once, if both are among the executions", () => {
    const called = {
      id: "2",
      workflowId: "child",
      data: {
        resultData: { runData: { Inner: [span(10, 80)] } },
        parentExecution: { executionId: "1", workflowId: "wf1" }
      }
    }
    const caller = use(document({ Start: [span(0, 10)], Call: [span(10, 90)] }), { id: "1" })
    const both = Profile.profile([caller, use(document({}), called)])
    assert.deepInclude(row(both, "Inner"), { workflowId: "child", calledBy: "wf1" })
    assert.deepStrictEqual(both.rows.map(({ node: name, time }) => [name, time.share]), [
      ["Call", 0.9],
      ["Inner", 0.8],
      ["Start", 0.1]
    ])
    const alone = Profile.profile([use(document({}), called)])
    assert.isUndefined(row(alone, "Inner").calledBy)
    assert.strictEqual(row(alone, "Inner").time.share, 1)
  })

  it("draws no conclusions from items that n8n hides, and counts executions without data", () => {
    const hidden = use(document({ Model: modelOf("Chain", [0]) }), {
      data: {
        resultData: { runData: { Model: modelOf("Chain", [0]) } },
        redactionInfo: { isRedacted: true, reason: "workflow_redaction_policy" }
      }
    })
    const { empty, redacted, rows } = Profile.profile([hidden, use(document({}, { data: null }), { id: "78" })])
    assert.deepStrictEqual([empty, redacted], [1, 1])
    assert.notProperty(rows[0], "tokens")
    assert.notProperty(rows[0], "bytes")
    assert.strictEqual(rows[0]?.time.total, 300)
  })

  describe("findings", () => {
    const request = node("Get", "n8n-nodes-base.httpRequest")

    const kinds = (execution: N8nApi.Execution) =>
      Profile.profile([use(execution)]).findings.map(({ finding, node: name }) => `${finding} ${name}`)

    /** A loop with this number of items per round. */
    const loop = (rounds: number, perRound: number, nodes: ReadonlyArray<object> = [request]) =>
      document({
        Loop: Array.from({ length: rounds }, (_, i) =>
          span(i * 30, 1, { main: [[], items(...Array.from({ length: perRound }, (_, at) => ({ at })))] })),
        Get: Array.from({ length: rounds }, (_, i) =>
          span(i * 30 + 1, 29, undefined, { source: [from("Loop", 1, i)], data: { main: [items({ i })] } }))
      }, { nodes: [node("Loop", "n8n-nodes-base.splitInBatches"), ...nodes] })

    it("one request per item in a loop", () => {
      assert.deepStrictEqual(kinds(loop(40, 1)), ["n+1 Get"])
      const [finding] = Profile.profile([use(loop(40, 1))]).findings
      assert.include(finding?.detail, "40 runs with one item each in execution 77, 29 ms per run")
    })

    it("a node with credentials makes requests too, a Code node does not", () => {
      const mail = node("Get", "n8n-nodes-base.gmail", { credentials: { gmailOAuth2: { id: "1", name: "Mail" } } })
      assert.deepStrictEqual(kinds(loop(40, 1, [mail])), ["n+1 Get"])
      assert.deepStrictEqual(kinds(loop(40, 1, [node("Get")])), [])
    })

    it("not a loop in batches, nor a short one", () => {
      assert.deepStrictEqual(kinds(loop(40, 10)), [])
      assert.deepStrictEqual(kinds(loop(9, 1)), [])
    })

    it("more than 10 MB from one node", () => {
      const execution = (megabytes: number) =>
        document({ Load: [span(0, 50, { main: [items(...Array(10).fill("x".repeat(megabytes * 100_000)))] })] })
      assert.deepStrictEqual(kinds(execution(11)), ["large data Load"])
      assert.deepStrictEqual(kinds(execution(9)), [])
    })

    it("runs that were slower by the pause between tries", () => {
      const retried = (times: ReadonlyArray<number>, settings: object = {}) =>
        document({ Get: times.map((time, i) => span(i * 3_000, time)) }, {
          nodes: [{ ...request, retryOnFail: true, ...settings }]
        })
      const { findings } = Profile.profile([use(retried([20, 30, 1_040, 25]))])
      const finding = findings.find((each) => each.finding === "retries")
      assert.include(finding?.detail, "1 of 4 successful runs took at least the pause between tries (1000 ms)")
      const has = (execution: N8nApi.Execution) => kinds(execution).includes("retries Get")
      assert.isTrue(has(retried([20, 340], { waitBetweenTries: 300 })))
      assert.isFalse(has(retried([20, 340])))
      // Every run is slow: that says nothing about tries.
      assert.isFalse(has(retried([1_500, 2_900])))
      assert.isFalse(has(retried([20, 1_040], { retryOnFail: false })))
      const error = document({ Get: [span(0, 20), { ...failed(1, { message: "no" }), executionTime: 2_040 }] }, {
        nodes: [{ ...request, retryOnFail: true }]
      })
      assert.isFalse(has(error))
    })

    it("time in which no node worked", () => {
      // As n8n records a Wait of 70 seconds: only what came after it.
      const waited = document({ Start: [span(0, 10)], Wait: [span(70_010, 1)], End: [span(70_011, 4)] })
      const { findings } = Profile.profile([use(waited)])
      assert.deepStrictEqual(findings, [{
        workflowId: "wf1",
        node: "Wait",
        finding: "waiting",
        detail: "70 s of 70.02 s passed while no node worked, most before this one"
      }])
      assert.deepStrictEqual(kinds(document({ Start: [span(0, 10)], End: [span(900, 4)] })), [])
    })
  })
})
