import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { runIn } from "../../../support/cli.ts"
import { folderWith, platform } from "../../../support/folders.ts"
import { serve } from "../../../support/HttpN8n.ts"
import { body } from "../../../sync/workflows.ts"

it.live("syncs of several processes take turns, and lose nothing", () =>
  Effect.gen(function*() {
    const folder = yield* folderWith({ "flows/new.json": JSON.stringify(body("New")) })
    const workflows = Array.from({ length: 8 }, (_, at) => ({ ...body(`w${at}`), name: `w${at}`, id: `w${at}` }))
    const { api, url } = yield* serve({ workflows, executions: [] })
    const env = { N8N_URL: url.href, N8N_API_KEY: "k", XDG_STATE_HOME: `${folder}/state` }
    const both = yield* Effect.all(
      [runIn(folder, env, "pull", "flows"), runIn(folder, env, "push", "flows"), runIn(folder, env, "pull", "flows")],
      { concurrency: 3 }
    )
    assert.deepStrictEqual(both.map(({ code }) => code), [0, 0, 0], JSON.stringify(both))
    assert.deepStrictEqual(
      (yield* api.workflows).map(({ name }) => name).toSorted(),
      ["New", ...workflows.map(({ name }) => name)]
    )
    const status = yield* runIn(folder, env, "status", "flows")
    assert.strictEqual(status.code, 0, status.output)
    assert.strictEqual(status.output, "9 same\n")
  }).pipe(Effect.scoped, Effect.provide(platform)))
