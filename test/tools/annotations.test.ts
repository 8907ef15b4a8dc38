import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as Tool from "../../src/answer/Tool.ts"
import * as tools from "../../src/tools/index.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, seed, writeFiles } from "./calls.ts"

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

/** What differs without anybody having done anything else. */
const passing = new Set(["updatedAt", "createdAt", "versionId", "activeVersionId", "versionCounter", "activeVersion"])

type Here = Parameters<Parameters<typeof inWorld>[0]>[0]

/** All that a call could have changed: n8n's workflows, and the files. */
const state = ({ api, folder }: Here) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const names = (yield* fs.readDirectory(folder)).toSorted()
    const files = yield* Effect.forEach(names, (name) => fs.readFileString(`${folder}/${name}`))
    return JSON.parse(
      JSON.stringify([yield* api.workflows, names, files], (key, value) => passing.has(key) ? undefined : value)
    )
  })

/** Calls of n8n's that write; what it audits or tests for a `POST` stays as it is. */
const writes = (api: Here["api"]) =>
  Effect.map(
    api.requests,
    (requests) => requests.filter(({ method, url }) => method !== "GET" && !/\/(audit|test)$/.test(url)).length
  )

/** The n8n in memory runs nothing, and has no version to restore. */
const untried = new Set([
  "test_workflow",
  "workflow_prove",
  "retry_execution",
  "stop_execution",
  "workflow_restore",
  "table_write"
])

describe("behaviour hints", () => {
  it.live.each(all.filter(({ name }) => !untried.has(name)).map((tool) => ({ tool, name: tool.name })))(
    "of $name are what it does",
    ({ name, tool: { annotations, run } }) =>
      inWorld(function*(here) {
        yield* writeFiles(here.folder)
        const before = yield* state(here)
        yield* run(calls[name])
        const once = yield* state(here)
        if (annotations.readOnlyHint) {
          assert.deepStrictEqual(once, before)
          assert.strictEqual(yield* writes(here.api), 0)
        }
        yield* Effect.ignore(run(calls[name]))
        const twice = yield* state(here)
        if (annotations.idempotentHint) assert.deepStrictEqual(twice, once)
        // n8n's start page tells its release, and nothing of anybody's.
        const asked = (yield* here.api.requests).filter(({ url }) => new URL(url).pathname !== "/")
        if (!annotations.openWorldHint) assert.deepStrictEqual(asked, [])
      }, { seed })
  )

  it("say of what changes something, or lets something run, that it does", () => {
    const named = (is: (annotations: Tool.Annotations) => boolean) =>
      all.filter(({ annotations }) => is(annotations)).map(({ name }) => name).toSorted()
    assert.deepStrictEqual(
      named(({ destructiveHint, readOnlyHint }) => !readOnlyHint && !destructiveHint),
      ["connection_create", "credential_create", "node_add", "workflow_create", "workflow_prove"]
    )
    assert.deepStrictEqual(named(({ idempotentHint }) => !idempotentHint), [
      "bulk_edit",
      "create_workflow",
      "create_workflow_from_file",
      "credential_create",
      "node_add",
      "retry_execution",
      "table_write",
      "test_workflow",
      "workflow_create",
      "workflow_edit",
      "workflow_prove",
      "workflow_restore"
    ])
  })
})
