/** Workflows and files for syncing a folder with n8n. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as TestClock from "effect/testing/TestClock"
import { type Obj, obj } from "../../src/base/Json.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import type * as Sync from "../../src/sync/Sync.ts"
import { main, node } from "../support/workflows.ts"

/** A workflow of one node with a parameter. */
export const body = (name: string, value = "1"): Obj => ({
  name,
  nodes: [
    { id: "n1", name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, position: [0, 0], parameters: {} },
    node("Code", "code", 2, { jsCode: `return [{ json: { value: ${value} } }]` }, { id: "n2", position: [200, 0] })
  ],
  connections: { Start: main("Code") },
  settings: { executionOrder: "v1" }
})

/** Creates a workflow on n8n; returns its id. */
export const create = (name: string, value?: string) =>
  Effect.flatMap(N8nClient, (n8n) => n8n.createWorkflow(body(name, value) as never)).pipe(Effect.map(({ id }) => id))

/** Changes a workflow on n8n one second later. */
export const change = (id: string, value: string, name?: string) =>
  Effect.gen(function*() {
    yield* TestClock.adjust("1 second")
    const n8n = yield* N8nClient
    const now = yield* n8n.getWorkflow(id)
    yield* n8n.putWorkflow(id, { ...body(name ?? now.name, value) })
  })

/** Texts of all files in a folder, by name. */
export const contents = (folder: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const names = (yield* fs.readDirectory(folder, { recursive: true })).toSorted()
    const files: { [name: string]: string } = {}
    for (const name of names) {
      const { type } = yield* fs.stat(`${folder}/${name}`)
      if (type === "File") files[name] = yield* fs.readFileString(`${folder}/${name}`)
    }
    return files
  })

/** JSON in a file. */
export const json = (file: string) =>
  Effect.map(FileSystem.FileSystem.use((fs) => fs.readFileString(file)), (text) => obj(JSON.parse(text)) ?? {})

/** Writes a value as JSON, or a text, into a file. */
export const put = (file: string, content: unknown) =>
  FileSystem.FileSystem.use((fs) =>
    fs.writeFileString(file, typeof content === "string" ? content : JSON.stringify(content))
  )

export const get = (id: string) => N8nClient.use((n8n) => n8n.getWorkflow(id))

/** What became of each workflow. */
export const outcomes = ({ entries }: Sync.Report<Sync.Outcome>) =>
  entries.map(({ action, error, refused, status }) => refused ? "refused" : action ?? error?.message ?? status)

/** Changes the text of a file. */
export const edit = (file: string, from: string, to: string) =>
  FileSystem.FileSystem.use((fs) =>
    Effect.flatMap(fs.readFileString(file), (text) => fs.writeFileString(file, text.replace(from, to)))
  )

/** A proxy that passes a write on after a while, even if its sender no longer waits. */
export const slow =
  (millis: (request: HttpClientRequest.HttpClientRequest) => number) => (client: HttpClient.HttpClient) =>
    HttpClient.transform(client, (answer, request) => {
      const delay = request.method === "GET" ? 0 : millis(request)
      return delay === 0 ? answer : Effect.flatMap(Effect.forkDetach(Effect.delay(answer, delay)), Fiber.join)
    })
