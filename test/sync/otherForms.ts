/** Files that contain a workflow in any form, on any n8n. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { Obj } from "../../src/base/Json.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import * as Sync from "../../src/sync/Sync.ts"
import { body, json } from "./workflows.ts"

const other = { ...body("Other"), id: "other00000000000" }

type File = readonly [file: string, text: string | Uint8Array, isOwn?: boolean]

/** Name and text of a file for each form of a workflow, and whether it is read as the workflow's file. */
export const forms = (workflow: Obj): { readonly [form: string]: File } => {
  const text = JSON.stringify(workflow, null, 2)
  const { connections: _, ...unlinked } = workflow
  const { id, ...nameless } = workflow
  const own = (value: unknown) => ["kept.json", JSON.stringify(value, null, 2), true] as const
  const strange = (value: unknown) => ["kept.json", JSON.stringify(value, null, 2)] as const
  return {
    "a list of one": own([workflow]),
    "a list of several": strange([other, workflow]),
    "in workflow": own({ workflow }),
    "in data": own({ data: workflow }),
    "in workflows": own({ workflows: [workflow] }),
    "a page of n8n's API": own({ data: [workflow], nextCursor: null }),
    "two wrappers": own({ data: { workflow } }),
    "a string of JSON": own(text),
    "a string in a wrapper": own({ content: text }),
    "by its id": own({ [String(id)]: nameless }),
    "connections as a list": own({ ...workflow, connections: [] }),
    "no connections": strange(unlinked),
    "no nodes": strange({ id, name: "Moved" }),
    "a run's record": strange({ id: "5", workflowData: workflow }),
    "cut off": ["kept.json", text.slice(0, -9)],
    "marks of a merge": ["kept.json", `<<<<<<< HEAD\n${text}\n=======\n{}\n>>>>>>> b\n`],
    "in UTF-16": ["kept.json", new Uint8Array(Buffer.from(`\uFEFF${text}`, "utf16le")), true],
    "in a subfolder": ["a/b/kept.json", JSON.stringify([workflow]), true],
    "in a hidden file": [".kept.json", JSON.stringify([workflow]), true],
    "in a hidden folder": [".old/kept.json", text],
    "another extension": ["kept.json.bak", text],
    "no extension": ["kept", text],
    "lines of JSON": ["kept.jsonl", `${JSON.stringify(other)}\n${JSON.stringify(workflow)}\n`],
    "a block of Markdown": ["kept.json", `# Moved\n\n\`\`\`json\n${text}\n\`\`\`\n\nNotes\n`, true],
    "Markdown": ["kept.md", `# Moved\n\n\`\`\`json\n${text}\n\`\`\`\n`],
    "YAML": ["kept.yaml", `name: Moved\nid: ${id}\nnodes: []\n`],
    "code": ["kept.ts", `export default { id: "${id}", nodes: [] }`],
    "escaped in HTML": ["kept.html", `<pre>${text.replaceAll("\"", "&quot;")}</pre>`],
    "a large file": ["kept.txt", `${" ".repeat(300_000)}${text}${" ".repeat(300_000)}`],
    "in another workflow": ["other.json", JSON.stringify({ ...other, pinData: { Start: [{ json: workflow }] } })]
  }
}

/** Fails if a push deletes a workflow of n8n while its id is in a file of the folder. */
export const deletesNothingPresent = (folder: string, names?: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const n8n = yield* N8nClient
    const { id } = yield* n8n.createWorkflow(body("Moved") as never)
    const only = [id]
    yield* Sync.pull(".", { only })
    const workflow = yield* json(`${folder}/moved.json`)
    yield* fs.remove(`${folder}/moved.json`)
    for (const [form, [file, text, isOwn = false]] of Object.entries(forms(workflow))) {
      if (names?.includes(form) === false) continue
      const path = `${folder}/${file}`
      yield* fs.makeDirectory(path.slice(0, path.lastIndexOf("/")), { recursive: true })
      yield* fs.writeFile(path, typeof text === "string" ? new TextEncoder().encode(text) : text)
      for (const dryRun of isOwn ? [true, false] : []) {
        if (form === "connections as a list" && !dryRun) continue
        const { entries } = yield* Sync.push(".", { only, dryRun, deletes: true })
        const status = form === "connections as a list" ? "changed here" : "same"
        assert.deepStrictEqual(entries.map((each) => [each.file, each.status]), [[file, status]], form)
        assert.deepStrictEqual((yield* Sync.status(".", { only })).entries.map((each) => each.status), [status], form)
      }
      for (const selected of isOwn ? [] : [{ only }, { only: ["moved.json"] }, { among: ["moved.json"] }]) {
        for (const dryRun of [true, false]) {
          const pushed = yield* Sync.push(".", { ...selected, dryRun, deletes: true })
          assert.deepStrictEqual(pushed.entries.flatMap(({ action }) => action ?? []), [], form)
          assert.isTrue(pushed.hasErrors, form)
          assert.include(
            pushed.entries.map(({ detail = "", error }) => `${detail} ${error?.message}`).join(),
            `'${file}'`,
            form
          )
        }
        const [{ detail = "", status } = { status: "same" }] = (yield* Sync.status(".", selected)).entries
        assert.strictEqual(status, "invalid", form)
        assert.notInclude(detail, "is gone", form)
      }
      assert.strictEqual((yield* n8n.getWorkflow(id)).name, "Moved", form)
      yield* fs.remove(path)
    }
    // Neither a reference nor a link is the workflow, nor what tools keep.
    yield* fs.writeFileString(`${folder}/readme.md`, `[Moved](https://n8n.test/workflow/${id})`)
    yield* fs.writeFileString(`${folder}/refs.json`, JSON.stringify({ workflowId: id, workflow: { value: id } }))
    yield* fs.makeDirectory(`${folder}/.git`)
    yield* fs.writeFileString(`${folder}/.git/kept.json`, JSON.stringify([workflow]))
    assert.deepStrictEqual((yield* Sync.push(".", { only, deletes: true })).entries.map(({ action }) => action), [
      "removed"
    ])
    assert.strictEqual((yield* Effect.flip(n8n.getWorkflow(id)))._tag, "NotFoundError")
  })

/** Fails if a push of a file in one of the forms does not change the workflow of n8n, or a pull changes the form. */
export const keepsItsForm = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const n8n = yield* N8nClient
    const { id } = yield* n8n.createWorkflow(body("Formed") as never)
    const only = [id]
    yield* Sync.pull(".", { only })
    const workflow = yield* json(`${folder}/formed.json`)
    yield* fs.remove(`${folder}/formed.json`)
    const code = Effect.map(n8n.getWorkflow(id), ({ nodes }) => JSON.stringify(nodes))
    for (const [form, [file, content, isOwn = false]] of Object.entries(forms(workflow))) {
      if (!isOwn || /connections|its id|folder/.test(form)) continue
      const encoding = typeof content === "string" ? "utf8" : "utf16le"
      const text = Buffer.from(content as string).toString(encoding)
      const path = `${folder}/${file}`
      const write = (value: string) =>
        fs.writeFile(path, Buffer.from(text.replace("value: 1", `value: ${value}`), encoding))
      yield* write("2")
      const { entries } = yield* Sync.push(".", { only })
      assert.deepStrictEqual(entries.map((each) => [each.file, each.action, each.error]), [[
        file,
        "updated",
        undefined
      ]])
      assert.include(yield* code, "value: 2", form)
      const now = yield* n8n.getWorkflow(id)
      yield* n8n.putWorkflow(id, {
        ...body(now.name, "3"),
        nodes: JSON.parse(JSON.stringify(now.nodes).replace("value: 2", "value: 3"))
      })
      const pulled = yield* Sync.pull(".", { only })
      assert.deepStrictEqual(pulled.entries.map((each) => [each.file, each.action]), [[file, "updated"]], form)
      const after = Buffer.from(yield* fs.readFile(path)).toString(encoding)
      assert.strictEqual(after, text.replace("value: 1", "value: 3"), form)
      yield* write("1")
      yield* Sync.push(".", { only })
      yield* fs.remove(path)
    }
    yield* n8n.deleteWorkflow(id)
  })
