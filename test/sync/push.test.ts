import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as PlatformError from "effect/PlatformError"
import * as TestClock from "effect/testing/TestClock"
import { arr } from "../../src/base/Json.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import * as WorkflowFiles from "../../src/workflows/files/WorkflowFiles.ts"
import { Snapshots } from "../../src/workflows/store/Snapshots.ts"
import { WorkflowStore } from "../../src/workflows/store/WorkflowStore.ts"
import { withFileSystem } from "../support/folders.ts"
import * as TestTime from "../support/TestTime.ts"
import { node } from "../support/workflows.ts"
import { inWorld } from "../support/world.ts"
import { deletesNothingUnread } from "./doubtful.ts"
import { deletesNothingPresent, keepsItsForm } from "./otherForms.ts"
import { body, change, contents, create, edit, get, json, put } from "./workflows.ts"

const actions = ({ entries }: Sync.Report<Sync.Outcome>) =>
  entries.flatMap(({ action, error, name }) =>
    action === undefined && error === undefined ? [] : [[name, action ?? error?.message]]
  )

const all = N8nClient.use((n8n) => n8n.listWorkflows({ archived: true, limit: 100 })).pipe(
  Effect.map(({ workflows }) => workflows.map(({ name }) => name).toSorted())
)

describe("push", () => {
  let isRefusing = false

  it.effect("warns of what a file refers to and this n8n lacks, in the dry run and when it writes", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      yield* Sync.pull(".")
      const hook = node("Hook", "webhook", 2, { path: "a", authentication: "basicAuth" }, {
        credentials: { httpBasicAuth: { id: "ZZ", name: "Login of another n8n" } }
      })
      yield* fs.writeFileString(
        `${folder}/new.json`,
        JSON.stringify({ ...body("New"), nodes: [hook], connections: {}, settings: { errorWorkflow: "gone" } })
      )
      const expected = [
        "Its error workflow is 'gone', which does not exist. Use the id of a workflow that exists on this n8n.",
        "'Hook': This n8n has no credential 'Login of another n8n' (ZZ) of the type 'httpBasicAuth': every run fails. " +
        "Create it on this n8n, and set its id and name."
      ]
      const warnings = ({ entries }: Sync.Report<Sync.Outcome>) =>
        entries.flatMap(({ warnings = [] }) => warnings).filter((each) => expected.includes(each))
      assert.deepStrictEqual(warnings(yield* Sync.push(".", { dryRun: true })), expected)
      assert.deepStrictEqual(warnings(yield* Sync.push(".")), expected)
    }))

  for (const version of ["2", "1"] as const) {
    it.effect(`writes what changed here and only that, keeps a snapshot, and gives new files their id: n8n ${version}`, () =>
      inWorld(function*({ folder }) {
        const fs = yield* FileSystem.FileSystem
        const here = yield* create("Here")
        const there = yield* create("There")
        yield* create("Gone")
        yield* Sync.pull(".")
        yield* edit(`${folder}/here.json`, "value: 1", "value: 2")
        yield* put(`${folder}/new.json`, { ...body("New"), ...(version === "2" ? { description: "what for" } : {}) })
        yield* fs.remove(`${folder}/gone.json`)
        yield* change(there, "3")
        const before = yield* contents(folder)
        const dry = yield* Sync.push(".", { dryRun: true, deletes: true })
        const planned = [["Gone", "removed"], ["Here", "updated"], ["New", "created"]]
        assert.deepStrictEqual(actions(dry), planned)
        assert.deepStrictEqual(yield* contents(folder), before)
        assert.deepStrictEqual(yield* all, ["Gone", "Here", "There"])

        const report = yield* Sync.push(".")
        assert.deepStrictEqual(actions(report), planned.slice(1))
        assert.deepStrictEqual(yield* all, ["Gone", "Here", "New", "There"])
        assert.include(JSON.stringify((yield* get(here)).nodes), "value: 2")
        const { instance } = yield* N8nClient
        const [snapshot] = yield* Snapshots.use((snapshots) => snapshots.list(instance, here))
        assert.strictEqual(snapshot?.operation, "sync_push")
        const made = report.entries.find(({ name }) => name === "New")?.id ?? ""
        assert.strictEqual((yield* json(`${folder}/new.json`))["id"], made)
        if (version === "2") assert.strictEqual((yield* get(made))["description"], "what for")
        assert.deepStrictEqual(
          (yield* Sync.status(".")).entries.map(({ name, status }) => [name, status]),
          [["Gone", "gone here"], ["Here", "same"], ["New", "same"], ["There", "changed there"]]
        )
        assert.deepStrictEqual(actions(yield* Sync.push(".", { deletes: true })), [["Gone", "removed"]])
        assert.deepStrictEqual(yield* all, ["Here", "New", "There"])
        assert.deepStrictEqual(actions(yield* Sync.push(".")), [])
      }, version))
  }

  for (const version of ["2", "1"] as const) {
    it.effect(`publishes what an earlier push left, and named workflows; unpublished ones stay unpublished: n8n ${version}`, () =>
      inWorld(function*({ folder }) {
        const n8n = yield* N8nClient
        const startable = (name: string) => {
          const [, code = {}] = arr(body(name)["nodes"])
          const clock = node("Start", "scheduleTrigger", 1.2, {}, { id: "t" })
          return { ...body(name), nodes: [clock, code] }
        }
        const live = (yield* n8n.createWorkflow(startable("Live") as never)).id
        yield* n8n.publishWorkflow(live)
        const off = (yield* n8n.createWorkflow(startable("Off") as never)).id
        yield* Sync.pull(".")
        yield* edit(`${folder}/live.json`, "value: 1", "value: 2")
        yield* put(`${folder}/new.json`, startable("New"))
        yield* TestTime.run(Sync.push("."))
        const state = Effect.map(
          n8n.listWorkflows({ archived: true, limit: 100 }),
          ({ workflows }) =>
            Object.fromEntries(workflows.map((each) => [each.name, Workflow.awaitsPublishing(each) ? "waits" : "runs"]))
        )
        assert.deepStrictEqual(yield* state, { Live: version === "2" ? "waits" : "runs", New: "waits", Off: "waits" })
        const report = yield* TestTime.run(Sync.push(".", { publishes: true }))
        assert.deepStrictEqual(actions(report), [...version === "2" ? [["Live", "updated"]] : [], ["New", "updated"]])
        assert.isTrue(report.entries.every(({ action, published }) => action === undefined || published === true))
        assert.deepStrictEqual(yield* state, { Live: "runs", New: "runs", Off: "waits" })
        assert.deepStrictEqual(actions(yield* TestTime.run(Sync.push(".", { publishes: true }))), [])
        assert.deepStrictEqual(actions(yield* TestTime.run(Sync.push(".", { only: [off], publishes: true }))), [[
          "Off",
          "updated"
        ]])
        assert.deepStrictEqual(yield* state, { Live: "runs", New: "runs", Off: "runs" })
      }, version))
  }

  it.effect("leaves out what changed on both sides and says what did, until it is settled, and writes the others", () =>
    inWorld(function*({ folder }) {
      const both = yield* create("Both")
      yield* create("Here")
      yield* Sync.pull(".")
      yield* edit(`${folder}/here.json`, "value: 1", "value: 2")
      yield* edit(`${folder}/both.json`, "value: 1", "value: 3")
      yield* change(both, "4")
      const codeLine = (value: number) =>
        `changed 'Code' (jsCode: "…eturn [{ json: { value: 1 } }]" → "…eturn [{ json: { value: ${value} } }]")`
      for (const dryRun of [true, false]) {
        const report = yield* Sync.push(".", { dryRun })
        assert.isTrue(report.hasConflicts)
        assert.deepStrictEqual(actions(report), [["Here", "updated"]])
        assert.strictEqual(
          report.entries.find(({ status }) => status === "both")?.detail,
          `Here: ${codeLine(3)}; on n8n: ${codeLine(4)}`
        )
      }
      assert.include(JSON.stringify((yield* get(both)).nodes), "value: 4")
      assert.include((yield* contents(folder))["both.json"], "value: 3")
      const [conflict] = yield* Sync.diff(".")
      const value = (is: number) => `return [{ json: { value: ${is} } }]`
      assert.deepStrictEqual(
        conflict !== undefined && "view" in conflict ? [conflict.from, conflict.view.nodes[0]?.fields] : [],
        ["there", [{ path: "parameters.jsCode", before: value(4), after: value(3) }]]
      )
      yield* Sync.pull(".", { resolve: "here" })
      assert.deepStrictEqual(actions(yield* Sync.push(".")), [["Both", "updated"]])
      assert.include(JSON.stringify((yield* get(both)).nodes), "value: 3")
      assert.isTrue((yield* Sync.status(".")).isSame)
    }))

  describe("from a fresh checkout, without a record,", () => {
    /** Writes a workflow as n8n exports it into a file, with these changes. */
    const exported = Effect.fnUntraced(function*(folder: string, id: string, changes: (text: string) => string) {
      const workflow = yield* get(id)
      const text = changes(JSON.stringify({ ...body("A"), ...workflow, id }))
      yield* put(`${folder}/a.json`, text)
    })
    const valued = (value: number) => (text: string) => text.replace("value: 1", `value: ${value}`)
    const unaware = (text: string) => valued(2)(text).replace("\"updatedAt\"", "\"createdAt\"")
    const unknown = (text: string) => text.replace(/("versionId":")[^"]*/, "$1gone")
    const zoned = (text: string) => text.replace("\"settings\":{", "\"settings\":{\"timezone\":\"Asia/Tokyo\",")
    const statuses = Effect.map(Sync.status("."), ({ entries }) => entries.map(({ status }) => status))
    const rename = (id: string) =>
      Effect.gen(function*() {
        yield* TestClock.adjust("1 second")
        const n8n = yield* N8nClient
        const { connections, nodes } = yield* n8n.getWorkflow(id)
        yield* n8n.putWorkflow(id, { name: "Renamed", nodes, connections, settings: { executionOrder: "v1" } })
      })

    for (
      const [title, changes, there, status] of [
        ["only the file changed", valued(2), undefined, "changed here"],
        ["only the settings of the file changed", zoned, undefined, "changed here"],
        ["the file changed, and n8n's name did", valued(2), "name", "both"],
        ["the file changed, and n8n's name did, which it cannot tell", unaware, "name", "changed here"],
        ["only n8n changed", (text: string) => text, "nodes", "changed there"],
        ["both changed", valued(2), "nodes", "both"],
        ["n8n has the earlier nodes again", valued(2), "again", "changed here"],
        ["n8n does not know the version", unknown, "nodes", "both"]
      ] as const
    ) {
      it.effect(`a file with n8n's version is judged by it: ${title}`, () =>
        inWorld(function*({ folder }) {
          const id = yield* create("A")
          yield* exported(folder, id, changes)
          if (there === "name") yield* rename(id)
          if (there === "nodes" || there === "again") yield* change(id, "7")
          if (there === "again") yield* change(id, "1")
          assert.deepStrictEqual(yield* statuses, [status])
          const { hasConflicts } = yield* Sync.push(".")
          assert.strictEqual(hasConflicts, status === "both")
          const pushed = status === "changed here"
          assert.deepStrictEqual(yield* statuses, [pushed ? "same" : status])
          if (!pushed) return
          // The file names the version that it is now a copy of.
          const { updatedAt, versionId } = yield* get(id)
          assert.deepInclude(yield* json(`${folder}/a.json`), {
            versionId,
            ...title.includes("cannot") ? {} : { updatedAt }
          })
        }))
    }
  })

  it.live("publishes again what it writes, but no draft that waits in a workflow that it leaves alone", () =>
    inWorld(function*({ api, folder }) {
      const make = (name: string) =>
        Effect.map(
          WorkflowStore.use((store) =>
            store.write({ kind: "new" }, {
              ...body(name),
              nodes: [node("Hook", "webhook", 2, { path: name }, { id: "h" })],
              connections: {}
            }, { source: "file", publish: "now" })
          ),
          ({ workflow: { id } }) => id
        )
      const [changed, other] = [yield* make("Changed"), yield* make("Other")]
      yield* api.edit(other, (workflow) => ({ ...workflow, nodes: [node("Hook", "webhook", 2, { path: "their" })] }))
      yield* Sync.pull(".")
      yield* edit(`${folder}/changed.json`, "\"Changed\"", "\"Changed, renamed\"")
      const held = yield* Sync.push(".")
      assert.deepStrictEqual(held.entries.find(({ id }) => id === changed)?.held, [
        "name: \"Changed\" → \"Changed, renamed\""
      ])
      assert.strictEqual((yield* get(changed)).name, "Changed")
      const fs = yield* FileSystem.FileSystem
      assert.include(yield* fs.readFileString(`${folder}/changed.json`), "Changed, renamed")
      const before = (yield* get(other)).activeVersionId
      const report = yield* Sync.push(".", { publishes: "keep" })
      assert.deepStrictEqual(actions(report), [["Changed, renamed", "updated"]])
      assert.strictEqual((yield* get(changed)).name, "Changed, renamed")
      assert.strictEqual((yield* get(other)).activeVersionId, before)
    }))

  it.effect("deletes nothing while a file is unreadable, for any selection", () =>
    inWorld(({ folder }) => deletesNothingUnread(folder)))

  it.effect("deletes nothing while its id is in any file of the folder", () =>
    inWorld(({ folder }) => deletesNothingPresent(folder)))

  for (const version of ["2", "1"] as const) {
    it.live(`writes what changed in a file of any form, which it keeps: n8n ${version}`, () =>
      inWorld(({ folder }) => keepsItsForm(folder), version))
  }

  it.effect("deletes nothing while a folder or a link may contain its file", () =>
    inWorld(function*({ folder }) {
      const fs = yield* FileSystem.FileSystem
      const id = yield* create("Moved")
      yield* Sync.pull(".")
      const outside = yield* fs.makeTempDirectoryScoped()
      yield* fs.rename(`${folder}/moved.json`, `${outside}/moved.json`)
      yield* fs.symlink(`${outside}/moved.json`, `${folder}/kept.json`)
      const linked = yield* Sync.push(".", { deletes: true })
      assert.deepStrictEqual(linked.entries.map(({ file, status }) => [file, status]), [
        ["kept.json", "invalid"],
        ["moved.json", "invalid"]
      ])
      yield* fs.remove(`${folder}/kept.json`)
      yield* fs.makeDirectory(`${folder}/closed`)
      const closed = yield* Sync.push(".", { deletes: true }).pipe(
        Effect.provide(WorkflowFiles.layer({ roots: [folder] })),
        withFileSystem(({ readDirectoryEntries }) => ({
          readDirectoryEntries: (path) =>
            path.endsWith("closed")
              ? Effect.fail(PlatformError.systemError({
                _tag: "PermissionDenied",
                module: "FileSystem",
                method: "readDirectory"
              }))
              : readDirectoryEntries(path)
        })),
        Effect.provide(NodeServices.layer)
      )
      assert.isTrue(closed.hasErrors)
      assert.strictEqual((yield* get(id)).name, "Moved")
    }))

  for (const version of ["2", "1"] as const) {
    it.effect(`has failed if a publication was refused, but not where there is nothing to publish: n8n ${version}`, () =>
      inWorld(function*({ api, folder }) {
        const write = (name: string, type: string) =>
          put(`${folder}/${name}.json`, {
            ...body(name),
            nodes: [node("Start", type, 1, {}, { id: "s" })],
            connections: {}
          })
        yield* write("sub", "executeWorkflowTrigger")
        const sub = yield* TestTime.run(Sync.push(".", { publishes: true }))
        assert.isFalse(sub.hasErrors)
        yield* write("live", "cron")
        isRefusing = true
        const refused = yield* TestTime.run(Sync.push(".", { publishes: true }))
        isRefusing = false
        assert.isTrue(refused.hasErrors)
        const entry = refused.entries.find(({ name }) => name === "live")
        assert.deepInclude(entry, { action: "created", notPublished: true })
        assert.match(entry?.warnings?.[0] ?? "", /^created, but it could not be published: /)
        assert.isFalse((yield* api.workflows).find(({ name }) => name === "live")?.active)
      }, {
        version,
        through: (client) =>
          HttpClient.transform(client, (answer, request) =>
            isRefusing && /\/(activate|publish)$/.test(request.url)
              ? Effect.succeed(
                HttpClientResponse.fromWeb(request, Response.json({ message: "not today" }, { status: 400 }))
              )
              : answer)
      }))
  }

  it.effect("fails where no file is a workflow, and names what is there", () =>
    inWorld(function*({ folder }) {
      yield* create("There")
      assert.isFalse((yield* Sync.push(".")).hasErrors)
      yield* put(`${folder}/package.json`, "{}")
      assert.match((yield* Effect.flip(Sync.push("."))).message, /^There are no workflows in '.*', only package\.json/)
    }))

  it.effect("overwrites nothing that someone else writes during a push", () => {
    let interfere = false
    return inWorld(function*({ folder }) {
      const id = yield* create("Here")
      yield* Sync.pull(".")
      yield* edit(`${folder}/here.json`, "value: 1", "value: 2")
      interfere = true
      const report = yield* Sync.push(".")
      assert.deepStrictEqual(actions(report), [["Here", `Workflow '${id}' changed while it was being synced`]])
      assert.isTrue(report.hasErrors)
      assert.include(JSON.stringify((yield* get(id)).nodes), "value: 9")
      assert.include((yield* contents(folder))["here.json"] ?? "", "value: 2")
      assert.deepStrictEqual((yield* Sync.status(".")).entries.map(({ status }) => status), ["both"])
    }, {
      before: ({ method, url }, n8n) => {
        if (!interfere || method !== "GET" || !/workflows\/\w+$/.test(url)) return Effect.void
        const id = url.slice(url.lastIndexOf("/") + 1)
        return n8n.edit(id, (workflow) => ({ ...workflow, ...body("Here", "9"), versionId: "theirs" }) as never)
      }
    })
  })

  it.effect("syncs tags and, if requested, pinned and static data", () =>
    inWorld(function*({ folder }) {
      const n8n = yield* N8nClient
      const { id } = yield* n8n.createWorkflow({
        ...body("Data"),
        pinData: { Code: [{ json: { a: 1 } }] },
        staticData: { last: 5 }
      } as never)
      yield* n8n.setWorkflowTags(id, ["b", "a"])
      yield* Sync.pull(".")
      const plain = yield* json(`${folder}/data.json`)
      assert.notProperty(plain, "pinData")
      assert.deepStrictEqual(plain["tags"], [{ name: "a" }, { name: "b" }])
      assert.isTrue((yield* Sync.pull(".", { extras: ["pinData", "staticData"] })).entries[0]?.action === "updated")
      const whole = yield* json(`${folder}/data.json`)
      assert.deepStrictEqual(whole["pinData"], { Code: [{ json: { a: 1 } }] })
      assert.deepStrictEqual(whole["staticData"], { last: 5 })
      yield* edit(`${folder}/data.json`, "\"a\": 1", "\"a\": 2")
      yield* edit(`${folder}/data.json`, "\"name\": \"b\"", "\"name\": \"c\"")
      const report = yield* Sync.push(".")
      assert.deepStrictEqual(actions(report), [["Data", "updated"]])
      const now = yield* get(id)
      assert.deepStrictEqual(now["pinData"], { Code: [{ json: { a: 2 } }] })
      assert.deepStrictEqual(now.tags?.map(({ name }) => name).toSorted(), ["a", "c"])
      assert.isTrue((yield* Sync.status(".")).isSame)
    }))
})
