import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { obj } from "../../src/base/Json.ts"
import { layerUnconfigured, N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import { WorkflowStore } from "../../src/workflows/store/WorkflowStore.ts"
import { inWorld } from "../support/world.ts"
import { body, change, contents, create, edit, json, put } from "./workflows.ts"

const statuses = ({ entries }: Sync.Report) => Object.fromEntries(entries.map(({ name, status }) => [name, status]))

describe("pull", () => {
  it.effect("writes plain JSON under safe names, and a second pull changes no byte", () =>
    inWorld(function*({ folder }) {
      for (
        const name of ["Orders", "orders", "ORDERS!", "con", "package", "a/b:c*?", "..", "請求書", "x".repeat(120)]
      ) {
        yield* create(name)
      }
      const report = yield* Sync.pull("flows")
      assert.isTrue(report.entries.length === 9 && report.entries.every(({ action }) => action === "created"))
      const files = yield* contents(`${folder}/flows`)
      const names = Object.keys(files).filter((name) => name !== ".n8n-sync.json")
      assert.deepStrictEqual(names.toSorted(), [
        "a-b-c.json",
        "con-2.json",
        "orders-2.json",
        "orders-3.json",
        "orders.json",
        "package-2.json",
        "workflow.json",
        `${"x".repeat(60)}.json`,
        "請求書.json"
      ])
      const { id, ...orders } = yield* json(`${folder}/flows/a-b-c.json`)
      assert.isString(id)
      assert.deepStrictEqual(orders, body("a/b:c*?"))
      const again = yield* Sync.pull("flows")
      assert.isTrue(again.isSame)
      assert.deepStrictEqual(yield* contents(`${folder}/flows`), files)
    }))

  it.effect("reports which side changed, pulls n8n's changes into the file's own layout, and leaves conflicts", () =>
    inWorld(function*({ folder }) {
      const ids: { [name: string]: string } = {}
      for (const name of ["Same", "Here", "There", "Both", "GoneHere", "GoneThere"]) ids[name] = yield* create(name)
      yield* Sync.pull(".")
      const fs = yield* FileSystem.FileSystem
      const there = `${folder}/there.json`
      const tabbed = JSON.stringify({ meta: { own: 1 }, ...(yield* json(there)) }, null, "\t")
      yield* put(there, tabbed)
      yield* change(ids["There"] ?? "", "2")
      yield* edit(`${folder}/here.json`, "value: 1", "value: 3")
      yield* edit(`${folder}/both.json`, "value: 1", "value: 4")
      yield* change(ids["Both"] ?? "", "5")
      yield* fs.remove(`${folder}/gonehere.json`)
      yield* WorkflowStore.use((store) => store.remove(ids["GoneThere"] ?? ""))
      yield* create("NewThere")
      yield* put(`${folder}/new.json`, body("NewHere"))
      const before = yield* contents(folder)
      assert.deepStrictEqual(statuses(yield* Sync.status(".")), {
        Same: "same",
        Here: "changed here",
        There: "changed there",
        Both: "both",
        GoneHere: "gone here",
        GoneThere: "gone there",
        NewThere: "new there",
        NewHere: "new here"
      })
      assert.deepStrictEqual(yield* contents(folder), before)
      const dry = yield* Sync.pull(".", { dryRun: true })
      assert.deepStrictEqual(yield* contents(folder), before)
      const report = yield* Sync.pull(".")
      assert.deepStrictEqual(report, dry)
      assert.isTrue(report.hasConflicts)
      assert.deepStrictEqual(
        report.entries.flatMap(({ action, changed, name }) => action === undefined ? [] : [[name, action, changed]]),
        [["NewThere", "created", undefined], [
          "There",
          "updated",
          "changed 'Code' (jsCode: \"…eturn [{ json: { value: 1 } }]\" → \"…eturn [{ json: { value: 2 } }]\")"
        ]]
      )
      const after = yield* contents(folder)
      assert.strictEqual(after["there.json"], tabbed.replace("value: 1", "value: 2"))
      for (const file of ["both.json", "here.json", "new.json", "gonethere.json", "same.json"]) {
        assert.strictEqual(after[file], before[file], file)
      }

      const settled = yield* Sync.pull(".", { resolve: "there", deletes: true })
      assert.deepStrictEqual(
        settled.entries.flatMap(({ action, name }) => action === undefined ? [] : [[name, action]]),
        [["Both", "updated"], ["GoneHere", "created"], ["GoneThere", "removed"]]
      )
      assert.include((yield* contents(folder))["both.json"] ?? "", "value: 5")
      assert.deepStrictEqual(statuses(yield* Sync.status(".")), {
        Same: "same",
        Here: "changed here",
        There: "same",
        Both: "same",
        GoneHere: "same",
        NewThere: "same",
        NewHere: "new here"
      })
    }))

  it.effect("follows renames on either side by the id, and finds again what a lost state knew", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const id = yield* create("Old")
      const other = yield* create("Other")
      yield* Sync.pull(".")
      yield* fs.makeDirectory(`${folder}/team`)
      yield* fs.rename(`${folder}/old.json`, `${folder}/team/mine.json`)
      assert.deepStrictEqual(statuses(yield* Sync.status(".")), { Old: "same", Other: "same" })
      yield* change(id, "1", "New")
      yield* Sync.pull(".")
      assert.strictEqual((yield* json(`${folder}/team/mine.json`))["name"], "New")
      yield* fs.remove(`${folder}/.n8n-sync.json`)
      yield* change(other, "2")
      assert.deepStrictEqual(statuses(yield* Sync.status(".")), { New: "same", Other: "both" })
      yield* Sync.pull(".", { resolve: "here" })
      assert.deepStrictEqual(statuses(yield* Sync.status(".")), { New: "same", Other: "changed here" })
      assert.deepStrictEqual(obj((yield* json(`${folder}/.n8n-sync.json`))["workflows"])?.[id], {
        file: "team/mine.json",
        ...(yield* Effect.map(
          N8nClient.use((n8n) => n8n.getWorkflow(id)),
          ({ updatedAt, versionId }) => ({ versionId, updatedAt })
        )),
        hash: obj(obj((yield* json(`${folder}/.n8n-sync.json`))["workflows"])?.[id])?.["hash"]
      })
    }))

  it.effect("never takes a broken file for a deleted one, nor two files for one workflow", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      for (const name of ["A", "B", "C"]) yield* create(name)
      yield* Sync.pull(".")
      yield* put(`${folder}/a.json`, "<<<<<<< HEAD")
      yield* put(`${folder}/b.json`, "{\"name\":\"B\"}")
      yield* fs.copyFile(`${folder}/c.json`, `${folder}/copy.json`)
      yield* put(`${folder}/settings.json`, "{}")
      const before = yield* contents(folder)
      const report = yield* Sync.pull(".", { resolve: "there", deletes: true })
      assert.deepStrictEqual(report.entries.map(({ file, status }) => [file, status]), [
        ["a.json", "invalid"],
        ["b.json", "invalid"],
        ["c.json", "invalid"],
        ["copy.json", "invalid"]
      ])
      assert.isTrue(report.hasErrors)
      assert.deepStrictEqual(yield* contents(folder), before)
    }))

  it.effect("refuses the state of another n8n, a damaged one, and what is outside of the files root", () =>
    inWorld(function*({ folder }) {
      yield* create("A")
      yield* Sync.pull(".")
      yield* edit(`${folder}/.n8n-sync.json`, "http://n8n.test", "http://other.test")
      const other = yield* Effect.flip(Sync.pull("."))
      assert.include(other.message, "synced with http://other.test, not with http://n8n.test")
      const unconfigured = layerUnconfigured(["N8N_URL"])
      assert.strictEqual(
        (yield* Effect.flip(Effect.provide(Sync.status("."), unconfigured))).message,
        "n8n is not configured: N8N_URL not set"
      )
      yield* put(`${folder}/.n8n-sync.json`, "{")
      assert.include((yield* Effect.flip(Sync.status("."))).message, "cannot be read")
      assert.include((yield* Effect.flip(Sync.pull("../elsewhere"))).message, "files root")
      assert.include((yield* Effect.flip(Sync.status("sub", { only: ["nope"] }))).message, "no workflow 'nope'")
    }))
})
