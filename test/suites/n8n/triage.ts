/** Many runs in one question, on a real n8n: what failed, where time and tokens went, which version broke it. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Services from "../../../src/app/Services.ts"
import { arr, num, obj, str } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as tools from "../../../src/tools/index.ts"
import { chain, code, happened, made, webhook } from "./builders.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const group = (groupBy: "node" | "version", workflowId: string) =>
  tools.listExecutions.call({ groupBy, workflowId, limit: 50 })

/** A published workflow that starts with a webhook, and the path of that. */
const live = Effect.fnUntraced(function*(
  name: string,
  nodes: Parameters<typeof made>[1],
  links: Parameters<typeof made>[2]
) {
  const path = `triage-${crypto.randomUUID()}`
  const id = yield* made(name, [webhook(path), ...nodes], links)
  yield* scenarios.publish(id)
  return { id, path }
})

const check = (rule: string) => code("Check", `const { order } = $json.body\n${rule}\nreturn $input.all()`)

/** n8n's own record of the runs of a node. */
const recorded = Effect.fnUntraced(function*(executionId: string, name: string) {
  const execution = yield* scenarios.fetchJson(`executions/${executionId}?includeData=true`)
  return arr(obj(obj(obj(obj(execution)?.["data"])?.["resultData"])?.["runData"])?.[name])
})

/**
 * Adds the tests to a suite. The releases differ: n8n 1 records no version of a run, and early 2.x no time of publication.
 */
export const triage = (it: It, { drafts, v2 }: { readonly v2: boolean; readonly drafts: boolean }) => {
  it.effect("profile: time and tokens of an agent as n8n recorded them, a model's time in its agent's once", () =>
    Effect.gen(function*() {
      const { executionId, workflowId } = yield* scenarios.run("ai", "Triage: agent")
      const { groups = [] } = yield* group("node", workflowId)
      const row = (name: string) =>
        groups.flatMap((each) => "time" in each && each.node === name ? each : [])[0] ?? assert.fail(`no row ${name}`)
      for (const [model, parent] of [["Agent Model", "AI Agent"], ["Chain Model", "Basic LLM Chain"]] as const) {
        const runs = yield* recorded(executionId, model)
        const usages = runs.map((run) =>
          obj(obj(obj(arr(arr(obj(obj(run)?.["data"])?.["ai_languageModel"])[0])[0])?.["json"])?.["tokenUsage"])
        )
        const sum = (key: string) => usages.reduce((total, each) => total + (num(each?.[key]) ?? 0), 0)
        const [prompt, completion] = [sum("promptTokens"), sum("completionTokens")]
        assert.isAbove(prompt, 0)
        assert.deepInclude(row(model), {
          within: parent,
          runs: runs.length,
          tokens: { prompt, completion, p50: prompt + completion, max: prompt + completion }
        })
        assert.isAtLeast(row(parent).time.total, row(model).time.total)
      }
      const outermost = groups.flatMap((each) => "time" in each && each.within === undefined ? each.time.share : [])
      assert.closeTo(outermost.reduce((sum, share) => sum + share, 0), 1, 0.05)
    }))

  it.effect("versions: which one introduced the failures", () =>
    Effect.gen(function*() {
      const { id, path } = yield* live("Triage: versions", [check("")], chain("Orders", "Check"))
      if (!v2) {
        const error = yield* Effect.flip(group("version", id))
        assert.include(error.message, "n8n 1 does not record which version")
        return
      }
      yield* happened(id, path, { order: 1 })
      const before = str(obj(yield* scenarios.fetchJson(`workflows/${id}`))?.["activeVersionId"])
      const { versionId = "" } = yield* tools.workflowEdit.call({
        workflowId: id,
        operations: [{ op: "set", node: "Check", path: "jsCode", value: "throw new Error('no discount')" }]
      })
      if (drafts) yield* tools.activateWorkflow.call({ id })
      // For a moment after publishing, n8n still runs the earlier version.
      const runs = yield* Effect.forEach([1, 2, 3, 4], (order) =>
        Effect.andThen(scenarios.live(Effect.sleep("400 millis")), happened(id, path, { order })))
      const first = runs.find(({ status }) =>
        status === "error"
      )?.executionId
      const failed = runs.filter(({ status }) => status === "error").length
      assert.isAtLeast(failed, 3)
      const { groups = [] } = yield* group("version", id)
      assert.lengthOf(groups, 2)
      assert.deepInclude<unknown>(groups[0], { workflow: "Triage: versions", version: versionId, runs: failed, failed })
      assert.deepInclude(groups[1], { version: before, failed: 0, runs: 5 - failed })
      const [newest] = groups
      assert.strictEqual(newest !== undefined && "firstFailure" in newest ? newest.firstFailure?.id : undefined, first)
      if (drafts) {
        assert.isString(newest !== undefined && "publishedAt" in newest ? newest.publishedAt : undefined)
        assert.notProperty(groups[1], "publishedAt")
      }
    }), 60_000)
}
