/** Which operations of n8n's public API the client has: a call of each of its methods, and what it leaves to others. */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { fileURLToPath } from "node:url"
import * as N8nClient from "../../src/n8n/N8nClient.ts"

/** An operation as a document names it, such as `GET /workflows/{id}`, and the query parameters that it takes. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly query: ReadonlyArray<string>
}

type Call = (n8n: N8nClient.Service) => Effect.Effect<unknown, unknown>

const page = { limit: 250, cursor: "c" }

const filter: N8nClient.RowFilter = { filters: [{ columnName: "a", condition: "eq", value: 1 }] }

const change: N8nClient.RowChange = { filter, data: { a: 1 } }

const times = { startedAfter: "2026-01-01T00:00:00Z", startedBefore: "2026-01-02T00:00:00Z" }

const drained = <A, E>(stream: Stream.Stream<A, E>) => Stream.runDrain(stream)

/** A call of every method, with every query parameter. */
const calls: { readonly [K in Exclude<keyof N8nClient.Service, "instance">]: Call } = {
  about: (n8n) => n8n.about,
  release: (n8n) => n8n.release,
  audit: (n8n) => n8n.audit(),
  listCommunityPackages: (n8n) => n8n.listCommunityPackages,
  installCommunityPackage: (n8n) => n8n.installCommunityPackage("p"),
  updateCommunityPackage: (n8n) => n8n.updateCommunityPackage("p"),
  uninstallCommunityPackage: (n8n) => n8n.uninstallCommunityPackage("p"),
  listCredentials: (n8n) => n8n.listCredentials(page),
  streamCredentials: (n8n) => drained(n8n.streamCredentials),
  getCredential: (n8n) => n8n.getCredential("c"),
  credentialSchema: (n8n) => n8n.credentialSchema("t"),
  createCredential: (n8n) => n8n.createCredential({ name: "n", type: "t", values: Redacted.make({}) }),
  updateCredential: (n8n) => n8n.updateCredential("c", {}),
  deleteCredential: (n8n) => n8n.deleteCredential("c"),
  testCredential: (n8n) => n8n.testCredential("c"),
  transferCredential: (n8n) => n8n.transferCredential("c", "p"),
  listDataTables: (n8n) => n8n.listDataTables({ ...page, name: "n", sortBy: "name:asc" }),
  streamDataTables: (n8n) => drained(n8n.streamDataTables()),
  getDataTable: (n8n) => n8n.getDataTable("t"),
  createDataTable: (n8n) => n8n.createDataTable({ name: "n", columns: [] }),
  renameDataTable: (n8n) => n8n.renameDataTable("t", "n"),
  deleteDataTable: (n8n) => n8n.deleteDataTable("t"),
  listColumns: (n8n) => n8n.listColumns("t"),
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
  stopExecutions: (n8n) => n8n.stopExecutions({ status: ["waiting"] }),
  deleteExecution: (n8n) => n8n.deleteExecution("1"),
  executionTags: (n8n) => n8n.executionTags("1"),
  setExecutionTags: (n8n) => n8n.setExecutionTags("1", []),
  listFolders: (n8n) => n8n.listFolders("p", { filter: { name: "n" }, sortBy: "name:asc", skip: 0, take: 1 }),
  streamFolders: (n8n) => drained(n8n.streamFolders("p")),
  getFolder: (n8n) => n8n.getFolder("p", "f"),
  createFolder: (n8n) => n8n.createFolder("p", { name: "n" }),
  updateFolder: (n8n) => n8n.updateFolder("p", "f", {}),
  deleteFolder: (n8n) => n8n.deleteFolder("p", "f", { transferToFolderId: "g" }),
  workflowHistory: (n8n) => n8n.workflowHistory("w"),
  workflowVersion: (n8n) => n8n.workflowVersion("w", "00000000-0000-4000-8000-000000000001"),
  insights: (n8n) => n8n.insights({ startDate: "2026-01-01", endDate: "2026-01-02", projectId: "p" }),
  exportPackage: (n8n) => n8n.exportPackage({ workflowIds: ["w"] }),
  importPackage: (n8n) => n8n.importPackage(new Uint8Array(), { workflowConflictPolicy: "fail" }),
  listProjects: (n8n) => n8n.listProjects(page),
  streamProjects: (n8n) => drained(n8n.streamProjects),
  createProject: (n8n) => n8n.createProject("n"),
  renameProject: (n8n) => n8n.renameProject("p", "n"),
  deleteProject: (n8n) => n8n.deleteProject("p"),
  listProjectMembers: (n8n) => n8n.listProjectMembers("p", page),
  streamProjectMembers: (n8n) => drained(n8n.streamProjectMembers("p")),
  sourceControlStatus: (n8n) => n8n.sourceControlStatus("push"),
  pushSourceControl: (n8n) => n8n.pushSourceControl({ commitMessage: "m", files: [] }),
  pullSourceControl: (n8n) => n8n.pullSourceControl(),
  listTags: (n8n) => n8n.listTags(page),
  streamTags: (n8n) => drained(n8n.streamTags),
  getTag: (n8n) => n8n.getTag("t"),
  createTag: (n8n) => n8n.createTag("n"),
  renameTag: (n8n) => n8n.renameTag("t", "n"),
  deleteTag: (n8n) => n8n.deleteTag("t"),
  workflowTags: (n8n) => n8n.workflowTags("w"),
  setWorkflowTags: (n8n) => n8n.setWorkflowTags("w", []),
  listTestRuns: (n8n) => n8n.listTestRuns("w", { ...page, status: "completed" }),
  streamTestRuns: (n8n) => drained(n8n.streamTestRuns("w")),
  createTestRun: (n8n) => n8n.createTestRun("w"),
  getTestRun: (n8n) => n8n.getTestRun("w", "r"),
  cancelTestRun: (n8n) => n8n.cancelTestRun("w", "r"),
  listTestCases: (n8n) => n8n.listTestCases("w", "r", page),
  streamTestCases: (n8n) => drained(n8n.streamTestCases("w", "r")),
  listUsers: (n8n) => n8n.listUsers({ ...page, includeRole: true, projectId: "p" }),
  streamUsers: (n8n) => drained(n8n.streamUsers()),
  getUser: (n8n) => n8n.getUser("u", { includeRole: true }),
  listVariables: (n8n) => n8n.listVariables({ ...page, projectId: "p", state: "empty" }),
  streamVariables: (n8n) => drained(n8n.streamVariables()),
  createVariable: (n8n) => n8n.createVariable({ key: "k", value: "v" }),
  updateVariable: (n8n) => n8n.updateVariable("v", { key: "k", value: "v" }),
  deleteVariable: (n8n) => n8n.deleteVariable("v"),
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
  createWorkflow: (n8n) => n8n.createWorkflow({}),
  putWorkflow: (n8n) => n8n.putWorkflow("w", {}),
  deleteWorkflow: (n8n) => n8n.deleteWorkflow("w"),
  archiveWorkflow: (n8n) => n8n.archiveWorkflow("w"),
  unarchiveWorkflow: (n8n) => n8n.unarchiveWorkflow("w"),
  transferWorkflow: (n8n) => n8n.transferWorkflow("w", "p"),
  publishWorkflow: (n8n) => n8n.publishWorkflow("w"),
  unpublishWorkflow: (n8n) => n8n.unpublishWorkflow("w")
}

/** An operation that the client leaves out: all paths that begin so, of this method or any. */
interface Refusal {
  readonly method?: string
  readonly path: string
  readonly reason: string
}

const privilege = "who may do what is decided by a person: a prompt injection could take what it likes"

const security = "how n8n is guarded is decided by a person"

const licensed = "needs a licence that nobody here has, so it could not be tried; `promote` does the same without"

/** What the client leaves out deliberately. */
export const refusals: ReadonlyArray<Refusal> = [
  { method: "POST", path: "/users", reason: privilege },
  { method: "DELETE", path: "/users/{id}", reason: privilege },
  { method: "PATCH", path: "/users/{id}/role", reason: privilege },
  { method: "POST", path: "/projects/{projectId}/users", reason: privilege },
  { method: "PATCH", path: "/projects/{projectId}/users/", reason: privilege },
  { method: "DELETE", path: "/projects/{projectId}/users/", reason: privilege },
  { path: "/roles", reason: privilege },
  { path: "/role-mapping-rules", reason: privilege },
  { path: "/settings/", reason: security },
  { path: "/node-type-policies/", reason: security },
  { path: "/promotions/", reason: licensed }
]

/** Query parameters that the client does not send, and why. */
export const refusedParameters: Readonly<Record<string, string>> = {
  "GET /workflows ?offset": "cursors say the same on every version",
  "GET /users ?offset": "cursors say the same on every version",
  "GET /workflows/{workflowId}/history ?cursor": "the newest 250 versions are read",
  "GET /executions ?includeData": "a list with data has no bound; executions are read one by one",
  "GET /executions ?ignoreDataSizeLimit": "only with data",
  "GET /executions ?redactExecutionData": "only with data",
  "GET /executions/{executionId} ?redactExecutionData": "answers are redacted here",
  "GET /discover ?include": "only the scopes are read",
  "GET /discover ?resource": "only the scopes are read",
  "GET /discover ?operation": "only the scopes are read"
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

/** Why an operation is left out, if it is deliberately. */
export const refusalOf = ({ method, path }: Operation): Refusal | undefined =>
  refusals.find((refusal) =>
    (refusal.method === undefined || refusal.method === method) &&
    (path === refusal.path || refusal.method === undefined && path.startsWith(refusal.path) ||
      refusal.path.endsWith("/") && path.startsWith(refusal.path))
  )

/** What an n8n's document and the client do not have in common. */
export interface Drift {
  readonly supported: ReadonlyArray<string>
  readonly refused: ReadonlyArray<string>
  /** Operations that the client should have. */
  readonly missing: ReadonlyArray<string>
  /** Query parameters that the client should be able to send, as `GET /path ?name`. */
  readonly missingParameters: ReadonlyArray<string>
  /** Requests that this n8n does not have. */
  readonly unknown: ReadonlyArray<string>
}

const name = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`

/** Compares the client with the operations of an n8n. */
export const drift = (operations: ReadonlyArray<Operation>): Effect.Effect<Drift> =>
  Effect.map(sent, (requests) => {
    const queries = new Map<Operation, Set<string>>()
    const unknown = new Set<string>()
    for (const request of requests) {
      const operation = operationOf(operations, request)
      if (operation === undefined) {
        unknown.add(name(request))
      } else {
        const query = queries.get(operation) ?? new Set()
        for (const parameter of request.query) query.add(parameter)
        queries.set(operation, query)
      }
    }
    const supported = operations.filter((operation) => queries.has(operation))
    const rest = operations.filter((operation) => !queries.has(operation))
    return {
      supported: supported.map(name),
      refused: rest.filter((operation) => refusalOf(operation) !== undefined).map(name),
      missing: rest.filter((operation) => refusalOf(operation) === undefined).map(name),
      missingParameters: supported.flatMap((operation) =>
        operation.query.filter((parameter) => queries.get(operation)?.has(parameter) !== true)
          .map((parameter) => `${name(operation)} ?${parameter}`)
      ).filter((parameter) => refusedParameters[parameter] === undefined),
      unknown: [...unknown]
    }
  })

interface Parameter {
  readonly in?: string
  readonly name?: string
  readonly $ref?: string
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly parameters?: ReadonlyArray<Parameter> }>>>>
  readonly [key: string]: unknown
}

/** The object that begins at a place in a script. */
const objectAt = (script: string, start: number) => {
  let depth = 0
  for (let at = start, isText = false; at < script.length; at++) {
    const sign = script[at]
    if (isText) {
      if (sign === "\\") at++
      else if (sign === "\"") isText = false
    } else if (sign === "\"") {
      isText = true
    } else if (sign === "{") {
      depth++
    } else if (sign === "}" && --depth === 0) {
      return script.slice(start, at + 1)
    }
  }
  return "{}"
}

/** The operations in the page of n8n's API (`/api/v1/docs/swagger-ui-init.js`), which has its OpenAPI document. */
export const operationsIn = (script: string): ReadonlyArray<Operation> => {
  const document = JSON.parse(objectAt(script, script.indexOf("{", script.indexOf("\"swaggerDoc\"")))) as Document
  const resolve = (parameter: Parameter): Parameter =>
    parameter.$ref === undefined
      ? parameter
      : resolve(
        parameter.$ref.split("/").slice(1).reduce<unknown>(
          (at, key) => (at as Readonly<Record<string, unknown>>)[key.replaceAll("~1", "/")],
          document
        ) as Parameter
      )
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ["get", "post", "put", "patch", "delete"].includes(method))
      .map(([method, { parameters = [] }]) => ({
        method: method.toUpperCase(),
        path,
        query: parameters.map(resolve).flatMap(({ in: place, name }) => place === "query" ? [name ?? ""] : [])
      }))
  ).toSorted((a, b) => `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1)
}

/** The file with the operations of a real n8n, recorded by its suite. */
export const recording = (version: "1" | "2"): string =>
  fileURLToPath(new URL(`__snapshots__/operations-${version}.json`, import.meta.url))

/** Prints an operation a line. */
export const print = (operations: ReadonlyArray<Operation>): string =>
  `[\n${operations.map((operation) => JSON.stringify(operation)).join(",\n")}\n]\n`
