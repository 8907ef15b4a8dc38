/** Compares the client with an n8n's description of its API: the operations that it types, and what its methods send. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as N8nClient from "../../src/n8n/N8nClient.ts"
import { generated, type Operation } from "./description.ts"

type Call = (n8n: N8nClient.Service) => Effect.Effect<unknown, unknown>

const page = { limit: 250, cursor: "c" }

const filter: N8nClient.RowFilter = { filters: [{ columnName: "a", condition: "eq", value: 1 }] }

const change: N8nClient.RowChange = { filter, data: { a: 1 } }

const times = { startedAfter: "2026-01-01T00:00:00Z", startedBefore: "2026-01-02T00:00:00Z" }

const drained = <A, E>(stream: Stream.Stream<A, E>) => Stream.runDrain(stream)

/** A call of every method, with every query parameter. */
const calls: {
  readonly [K in Exclude<keyof N8nClient.Service, "instance" | "request" | "stream">]: Call
} = {
  about: (n8n) => n8n.about,
  release: (n8n) => n8n.release,
  audit: (n8n) => n8n.audit(),
  listCommunityPackages: (n8n) => n8n.listCommunityPackages,
  listCredentials: (n8n) => n8n.listCredentials(page),
  streamCredentials: (n8n) => drained(n8n.streamCredentials),
  credentialSchema: (n8n) => n8n.credentialSchema("t"),
  createCredential: (n8n) => n8n.createCredential({ name: "n", type: "t", values: Redacted.make({}) }),
  deleteCredential: (n8n) => n8n.deleteCredential("c"),
  testCredential: (n8n) => n8n.testCredential("c"),
  listDataTables: (n8n) => n8n.listDataTables(page),
  streamDataTables: (n8n) => drained(n8n.streamDataTables),
  getDataTable: (n8n) => n8n.getDataTable("t"),
  createDataTable: (n8n) => n8n.createDataTable({ name: "n", columns: [] }),
  renameDataTable: (n8n) => n8n.renameDataTable("t", "n"),
  deleteDataTable: (n8n) => n8n.deleteDataTable("t"),
  addColumn: (n8n) => n8n.addColumn("t", { name: "c", type: "string" }),
  updateColumn: (n8n) => n8n.updateColumn("t", "c", {}),
  deleteColumn: (n8n) => n8n.deleteColumn("t", "c"),
  listRows: (n8n) => n8n.listRows("t", { ...page, filter, sortBy: "a:asc", search: "s" }),
  streamRows: (n8n) => drained(n8n.streamRows("t")),
  insertRows: (n8n) => n8n.insertRows("t", []),
  updateRows: (n8n) => n8n.updateRows("t", change),
  previewRowUpdate: (n8n) => n8n.previewRowUpdate("t", change),
  upsertRow: (n8n) => n8n.upsertRow("t", change),
  previewRowUpsert: (n8n) => n8n.previewRowUpsert("t", change),
  deleteRows: (n8n) => n8n.deleteRows("t", filter),
  previewRowDeletion: (n8n) => n8n.previewRowDeletion("t", filter),
  clearRows: (n8n) => n8n.clearRows("t"),
  listExecutions: (n8n) => n8n.listExecutions({ ...page, ...times, status: "error", workflowId: "w", projectId: "p" }),
  streamExecutions: (n8n) => drained(n8n.streamExecutions()),
  executionHead: (n8n) => n8n.executionHead("1"),
  readExecution: (n8n) => n8n.readExecution("1", { ignoreDataSizeLimit: true }, () => Effect.void),
  retryExecution: (n8n) => n8n.retryExecution("1", true),
  stopExecution: (n8n) => n8n.stopExecution("1"),
  streamFolders: (n8n) => drained(n8n.streamFolders("p")),
  workflowHistory: (n8n) => n8n.workflowHistory("w"),
  workflowVersion: (n8n) => n8n.workflowVersion("w", "00000000-0000-4000-8000-000000000001"),
  streamProjects: (n8n) => drained(n8n.streamProjects),
  setWorkflowTags: (n8n) => n8n.setWorkflowTags("w", []),
  webhookAddress: (n8n) => Effect.sync(() => n8n.webhookAddress("p")),
  webhookMethods: (n8n) => n8n.webhookMethods("p"),
  callWebhook: (n8n) => n8n.callWebhook("p", { method: "POST", body: {}, seconds: 1 }),
  listWorkflows: (n8n) =>
    n8n.listWorkflows({
      active: true,
      tags: ["t"],
      fullName: "n",
      projectId: "p",
      archived: true,
      limit: 1,
      cursor: btoa(JSON.stringify({ limit: 1, offset: 0 }))
    }),
  streamWorkflows: (n8n) => drained(n8n.streamWorkflows()),
  getWorkflow: (n8n) => n8n.getWorkflow("w", { excludePinnedData: true }),
  workflowName: (n8n) => n8n.workflowName("w"),
  createWorkflow: (n8n) => n8n.createWorkflow({} as never),
  putWorkflow: (n8n) => n8n.putWorkflow("w", {}),
  deleteWorkflow: (n8n) => n8n.deleteWorkflow("w"),
  archiveWorkflow: (n8n) => n8n.archiveWorkflow("w"),
  publishWorkflow: (n8n) => n8n.publishWorkflow("w"),
  unpublishWorkflow: (n8n) => n8n.unpublishWorkflow("w")
}

const url = new URL("https://n8n.test/")

interface Sent {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<string>
}

/** The requests that all methods send to an n8n that answers so; what they make of its answers does not matter. */
const sentTo = Effect.fnUntraced(function*(status: number) {
  const sent: Array<Sent> = []
  const http = HttpClient.make((request, { pathname, searchParams }) =>
    Effect.sync(() => {
      sent.push({ method: request.method, path: pathname, query: [...searchParams.keys()] })
      const isList = pathname.endsWith("/audit")
      return HttpClientResponse.fromWeb(
        request,
        Response.json(status === 200 ? isList ? [] : { data: [] } : { message: "method not allowed" }, { status })
      )
    })
  )
  const n8n = yield* N8nClient.make({ url, apiKey: Redacted.make("key") }).pipe(
    Effect.provideService(HttpClient.HttpClient, http)
  )
  yield* Effect.forEach(Object.values(calls), (call) => Effect.ignore(call(n8n)))
  return sent
})

/** All requests of the API that the client can send: also those that it sends where others are missing. */
export const sent = Effect.map(
  Effect.forEach([200, 405], sentTo),
  (all) =>
    all.flat().filter(({ path }) => path.startsWith("/api/v1/")).map((request) => ({
      ...request,
      path: request.path.slice("/api/v1".length)
    }))
)

const isParameter = (part: string) => part.startsWith("{")

/** The operation of a request: where several paths match, the one that names the most. */
export const operationOf = (operations: ReadonlyArray<Operation>, { method, path }: Sent): Operation | undefined => {
  const parts = path.split("/")
  const matches = operations.filter((operation) => {
    const names = operation.path.split("/")
    return operation.method === method && names.length === parts.length &&
      names.every((name, index) => isParameter(name) || name === parts[index])
  })
  const named = ({ path }: Operation) => path.split("/").filter((part) => !isParameter(part)).length
  return matches.toSorted((a, b) => named(b) - named(a))[0]
}

/** What an n8n's description and the client do not have in common. */
export interface Drift {
  /** Operations that `request` does not type. */
  readonly missing: ReadonlyArray<string>
  /** Query parameters that it does not type, as `GET /path ?name`. */
  readonly missingParameters: ReadonlyArray<string>
  /** Requests of the other methods that this n8n does not have. */
  readonly unknown: ReadonlyArray<string>
}

const name = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** Names of parameters in a path differ between releases. */
const place = (operation: Operation) => name(operation).replace(/\{\w+\}/g, "{}")

/** The operations that `request` types. */
export const typed: ReadonlyArray<Operation> = readFileSync(generated, "utf8").split("\n").flatMap((line) => {
  const [, method, path, rest = ""] = /^  "([A-Z]+) (\S+)": (.*)/.exec(line) ?? []
  const [, query = ""] = /\bquery\??: \{ (.*?) \}/.exec(rest) ?? []
  return method === undefined || path === undefined
    ? []
    : [{ method, path, query: [...query.matchAll(/(?:^|; )(\w+)\??:/g)].map(([, name = ""]) => name) }]
})

/** Compares the client with the operations of an n8n. */
export const drift = (operations: ReadonlyArray<Operation>): Effect.Effect<Drift> =>
  Effect.map(sent, (requests) => {
    const byPlace = new Map(typed.map((each) => [place(each), each]))
    return {
      missing: operations.filter((each) => !byPlace.has(place(each))).map(name),
      missingParameters: operations.flatMap((each) =>
        each.query.filter((parameter) => byPlace.get(place(each))?.query.includes(parameter) === false)
          .map((parameter) => `${name(each)} ?${parameter}`)
      ),
      unknown: [
        ...new Set(requests.filter((request) => operationOf(operations, request) === undefined).map(name))
      ]
    }
  })

/** The file with the operations of the older n8n, recorded by its suite. */
export const recording: string = fileURLToPath(new URL("__snapshots__/operations-1.json", import.meta.url))

/** Prints an operation a line. */
export const print = (operations: ReadonlyArray<Operation>): string =>
  `[\n${operations.map((operation) => JSON.stringify(operation)).join(",\n")}\n]\n`
