/** Recorded replays of `--demo`: what this n8n returns for the same copies. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { writeFileSync } from "node:fs"
import { arr, obj, str } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import json from "../../../src/demo/replays.json" with { type: "json" }
import { copies, recorded } from "../../support/demoReplay.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

const file = new URL("../../../src/demo/replays.json", import.meta.url)

const withoutTimes = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (key, inner) => key === "time" ? undefined : inner))

/** Adds the test of the demo's recordings to a suite; `N8N_MCP_RECORD` writes them. */
export const demonstrating = (it: Vitest.MethodsNonLive<RealN8n>) => {
  it.effect("demo: n8n returns what is recorded for its replays", () =>
    Effect.gen(function*() {
      const recordings: Record<string, Demo.RecordedRun> = {}
      for (const { body, copy: { connections, name, nodes, settings } } of yield* copies) {
        const id = yield* scenarios.create(Object.assign({ name }, { nodes, connections, settings }))
        yield* scenarios.publish(id)
        const path = str(obj(obj(arr(nodes)[0])?.["parameters"])?.["path"]) ?? ""
        const { text } = yield* scenarios.callWebhook(path, { body })
        yield* scenarios.awaitStatus(text)
        recordings[Demo.keyOf({ nodes, connections }, body)] = recorded(
          yield* scenarios.fetchJson(`executions/${text}?includeData=true`)
        )
        yield* scenarios.remove(id)
      }
      if (process.env["N8N_MCP_RECORD"] !== undefined) writeFileSync(file, `${JSON.stringify(recordings, null, 2)}\n`)
      else assert.deepStrictEqual<unknown>(withoutTimes(recordings), withoutTimes(json))
    }), 60_000)
}
