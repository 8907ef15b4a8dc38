/** The walkthrough's fix, the copies that its replays make, and the form in which their runs are recorded. */
import * as Effect from "effect/Effect"
import { arr, obj, str } from "../../src/base/Json.ts"
import * as Demo from "../../src/demo/Demo.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { inWorld } from "./world.ts"

const workflowId = "cR5mSyNc9bVh4KqE"

/** Leaves customers without an email address out. */
export const fix = tools.workflowEdit.call({
  workflowId,
  operations: [{
    op: "set",
    node: "Agreed to marketing?",
    path: "conditions.conditions[0].leftValue",
    value: "={{ $json.consent && Boolean($json.email) }}"
  }]
})

export const replay = (reference = workflowId) => tools.testWorkflow.call({ workflowId: reference, replay: "239" })

/** The two copies, each with the body of its request: of the published version, and of the fixed draft. */
export const copies = Effect.suspend(() => {
  const all: Array<{ readonly copy: N8nApi.Workflow; readonly body: unknown }> = []
  const runs = (copy: N8nApi.Workflow, body: unknown) => {
    all.push({ copy, body })
    return Response.json({ message: "only its copy is of interest" }, { status: 501 })
  }
  return inWorld(function*() {
    yield* Effect.ignore(replay())
    yield* fix
    yield* Effect.ignore(replay())
    return all
  }, { seed: Demo.seed, runs })
})

/** Recorded form of an execution of n8n. */
export const recorded = (execution: unknown): Demo.RecordedRun => {
  const { lastNodeExecuted, runData } = obj(obj(obj(execution)?.["data"])?.["resultData"]) ?? {}
  const runs = Object.entries(obj(runData) ?? {}).map(([node, runs]) => ({ node, run: obj(arr(runs)[0]) ?? {} }))
  return {
    status: str(obj(execution)?.["status"]) ?? "",
    last: str(lastNodeExecuted) ?? "",
    runs: runs.toSorted((a, b) => Number(a.run["executionIndex"]) - Number(b.run["executionIndex"])).map(
      ({ node, run }) => {
        const before = obj(arr(run["source"])[0])
        const outputs = arr(obj(run["data"])?.["main"]).map((items) => arr(items).map((item) => obj(item) ?? {}))
        return {
          node,
          ...(before === undefined
            ? {}
            : { from: [str(before["previousNode"]) ?? "", Number(before["previousNodeOutput"] ?? 0)] as const }),
          time: Number(run["executionTime"]),
          // The first two nodes return the request, with headers.
          ...(Number(run["executionIndex"]) < 2 ? {} : { outputs })
        }
      }
    )
  }
}
