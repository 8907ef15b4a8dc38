/** Checks of every condition that this server needs, with a cure for each that is not met. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Envelope from "../../answer/Envelope.ts"
import type * as Tool from "../../answer/Tool.ts"
import type { Service as Database } from "../../base/Database.ts"
import * as Deadline from "../../base/Deadline.ts"
import * as Errors from "../../base/Errors.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import { hasStatus, N8nClient } from "../../n8n/N8nClient.ts"
import * as TestCopies from "../../trials/TestCopies.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Layout from "../report/Layout.ts"

export interface Check {
  readonly name: string
  readonly status: "ok" | "warning" | "failed" | "skipped"
  readonly detail: string
  readonly cure?: string
}

export const ok = (name: string, detail: string): Check => ({ name, status: "ok", detail })

export const warning = (name: string, detail: string, cure: string): Check => ({
  name,
  status: "warning",
  detail,
  cure
})

export const failed = (name: string, detail: string, cure: string): Check => ({ name, status: "failed", detail, cure })

const failedBy = (name: string, error: Errors.N8nError): Check =>
  failed(name, Errors.inOneLine(error), Envelope.fromError(error).hint ?? "")

const skipped = (name: string): Check => ({ name, status: "skipped", detail: "not reached" })

/** Check of the variables that name a proxy, which Node's `fetch` reads only if it is asked to. */
export const proxy = (variables: Readonly<Record<string, string | undefined>>): ReadonlyArray<Check> => {
  const set = Object.keys(variables).filter((name) =>
    /^https?_proxy$/i.test(name) && (variables[name] ?? "").trim() !== ""
  ).toSorted()
  if (set.length === 0) return []
  const named = set.join(", ")
  return [
    variables["NODE_USE_ENV_PROXY"] === "1"
      ? ok("Proxy", `${named} in effect, except for hosts in NO_PROXY`)
      : warning(
        "Proxy",
        `${named} set, but not in effect: requests to n8n go there directly`,
        "If n8n is only reached through the proxy, set NODE_USE_ENV_PROXY=1 beside it (Node 22.21, or 24.5 and later)."
      )
  ]
}

const versionCheck = (version: string | undefined): Check =>
  version === undefined
    ? warning(
      "n8n",
      "answers, but its start page does not name a version",
      "Harmless if its editor is switched off; otherwise check that N8N_URL is n8n's address."
    )
    : ok("n8n", `version ${version}`)

const allowance = (scopes: ReadonlyArray<string> | undefined, all: ReadonlyArray<Tool.Any>): Check => {
  if (scopes === undefined) return ok("Scopes", "this n8n does not report what the key may do")
  const tools = all.filter((tool) => tool.scopes.length > 0)
  const lacking = tools.filter((tool) => !tool.scopes.every((scope) => scopes.includes(scope)))
  const parts = tools.filter((tool) => !lacking.includes(tool)).flatMap(({ name, partialScopes }) =>
    Object.entries(partialScopes).filter(([scope]) => !scopes.includes(scope))
      .map(([scope, part]) => ({ scope, part: `${name} (${part})` }))
  )
  if (lacking.length === 0 && parts.length === 0) {
    return ok("Scopes", `${tools.length} of the ${all.length} tools need n8n; the key allows all of them`)
  }
  const missing = new Set(
    [...lacking.flatMap((tool) => tool.scopes), ...parts.map(({ scope }) => scope)]
      .filter((scope) => !scopes.includes(scope))
  )
  const allowed = lacking.length === 0
    ? `all ${counted(tools.length, "tool")}`
    : `${tools.length - lacking.length} of ${tools.length} tools, not ${lacking.map(({ name }) => name).join(", ")}`
  const withoutParts = parts.length === 0 ? "" : `; without ${parts.map(({ part }) => part).join(", ")}`
  const report = lacking.length === tools.length ? failed : warning
  return report(
    "Scopes",
    `the key allows ${allowed}${withoutParts}`,
    `Give it ${[...missing].join(", ")} in n8n under Settings > n8n API.`
  )
}

/** Test copies on n8n, in use or abandoned; without any, there is no check. */
const testCopies = TestCopies.list.pipe(
  Effect.map((copies): ReadonlyArray<Check> =>
    copies.length === 0 ? [] : [warning(
      "Test copies",
      `${copies.length} on n8n: ${Rows.listed(copies.map(({ id, name }) => `${id} '${name}'`), 3)}`,
      "A test may be running; abandoned ones are deleted by the next test_workflow, after an hour at the latest."
    )]
  ),
  Effect.orElseSucceed((): ReadonlyArray<Check> => [])
)

/** Check of the key by a listing, which is refused for a missing scope only if the key is valid. */
const key = Effect.gen(function*() {
  return yield* (yield* N8nClient).listWorkflows({ archived: true, limit: 1 }).pipe(
    Effect.as(ok("API key", "accepted")),
    Effect.catch((error) =>
      Effect.succeed(
        hasStatus(403)(error)
          ? ok("API key", "accepted, without the scope to list workflows")
          : failedBy("API key", error)
      )
    )
  )
})

export interface Subject {
  readonly tools: ReadonlyArray<Tool.Any>
  /** Absolute. */
  readonly filesRoots: ReadonlyArray<string>
  /** Whether the file tools are offered without a folder, to say what to set. */
  readonly offersFiles?: boolean
  /** Place of the state: an absolute folder, created at the first write, or a database and the version of its tables. */
  readonly state: string | { readonly address: string; readonly run: Database["run"]; readonly version: number }
}

const filesRoot = Effect.fnUntraced(function*(root: string | undefined) {
  const fs = yield* FileSystem.FileSystem
  const type = yield* fs.stat(root ?? "").pipe(Effect.map((info) => info.type), Effect.orElseSucceed(() => undefined))
  const isWritable = yield* fs.access(root ?? "", { writable: true }).pipe(
    Effect.as(true),
    Effect.orElseSucceed(() => false)
  )
  if (root !== undefined && type === "Directory" && isWritable) return ok("Files root", root)
  const reason = root === undefined
    ? "none, since the working directory contains the home folder: the file tools will refuse"
    : type === "Directory"
    ? `${root} cannot be written: the file tools will only read`
    : `${root} is ${type === undefined ? "missing" : "not a folder"}: the file tools will refuse`
  const first = type === "Directory" ? "Make it writable for this user, or set" : "Set"
  return warning(
    "Files root",
    reason,
    `${first} --files-root (N8N_MCP_FILES_ROOT), or the profile's filesRoot, to a folder.`
  )
})

/** Check of the nearest existing folder, since the state's is created at first use. */
const stateFolder = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const nearest = yield* ConfigFile.nearest(folder)
  const isWritable = yield* fs.access(nearest, { writable: true }).pipe(
    Effect.andThen(fs.stat(nearest)),
    Effect.map(({ type }) => type === "Directory"),
    Effect.orElseSucceed(() => false)
  )
  if (isWritable) return ok("State folder", folder)
  return failed(
    "State folder",
    `${nearest} cannot be written: snapshots cannot be stored, so nothing would be written to n8n`,
    "Set --state (N8N_MCP_STATE), the profile's state or XDG_STATE_HOME to a writable folder."
  )
})

/** Check of the database, which updates older tables. */
const stateDatabase = ({ address, run, version }: Exclude<Subject["state"], string>) =>
  run((sql) =>
    sql<{ readonly server: string; readonly tables: number }>`
      SELECT current_setting('server_version') AS server, max(migration_id)::int AS tables FROM n8n_mcp_migrations`
  ).pipe(
    Effect.map(([{ server, tables } = { server: "?", tables: 0 }]) => {
      const detail = `PostgreSQL ${server} at ${address}, tables of version ${tables}`
      return tables <= version ? ok("State database", detail) : warning(
        "State database",
        `${detail}; this server creates version ${version}`,
        "A newer server updated them: update this one too."
      )
    }),
    Effect.catch(({ message }) =>
      Effect.succeed(failed(
        "State database",
        `${address}: ${message}; snapshots cannot be stored, so nothing would be written to n8n`,
        "Check --state (N8N_MCP_STATE) or the profile's state, that this machine can reach it, and that its user may create tables."
      ))
    )
  )

const catalogue = Effect.gen(function*() {
  const { release, types } = yield* NodeCatalogue
  return ok("Catalogue", `${(yield* types).length} node types, as of n8n ${yield* release}`)
}).pipe(Effect.catch((error) => Effect.succeed(failedBy("Catalogue", error))))

/** Time limit of all requests to n8n together, in seconds. */
const timeoutSeconds = 40

const upstream = Effect.fnUntraced(function*(tools: ReadonlyArray<Tool.Any>) {
  const about = yield* Effect.result(N8nClient.use((n8n) => n8n.about))
  if (about._tag === "Failure") {
    return [failedBy("n8n", about.failure), skipped("API key"), skipped("Scopes")]
  }
  const accepted = yield* key
  return [
    versionCheck(about.success.version),
    accepted,
    ...(accepted.status === "ok" ? [allowance(about.success.scopes, tools), ...yield* testCopies] : [skipped("Scopes")])
  ]
})

/** Checks of address, key and scopes. */
export const connection = (tools: ReadonlyArray<Tool.Any>) => Deadline.renewed(timeoutSeconds)(upstream(tools))

export const examine = Effect.fnUntraced(function*(
  { filesRoots, offersFiles = false, state, tools }: Subject
) {
  const local = [
    // Older versions of Node end before this.
    ok("Node", process.versions.node),
    ...proxy(process.env),
    ...yield* Effect.forEach(filesRoots.length > 0 || !offersFiles ? filesRoots : [undefined], filesRoot),
    yield* typeof state === "string" ? stateFolder(state) : stateDatabase(state),
    yield* catalogue
  ]
  return [...local, ...yield* connection(tools)]
})

export const isHealthy = (checks: ReadonlyArray<Check>): boolean => checks.every((check) => check.status !== "failed")

const marks = { ok: "✓", warning: "!", failed: "✗", skipped: "-" } as const
const colours = { ok: 32, warning: 33, failed: 31, skipped: 90 } as const

export const render = (checks: ReadonlyArray<Check>, isColoured: boolean): ReadonlyArray<string> => {
  const width = Math.max(...checks.map((check) => check.name.length))
  return checks.flatMap(({ cure, detail, name, status }) => [
    `${Layout.paint(marks[status], colours[status], isColoured)} ${name.padEnd(width)}  ${
      Visible.label(detail, 1_000)
    }`,
    ...(cure === undefined ? [] : [`  ${" ".repeat(width)}  → ${Visible.label(cure, 1_000)}`])
  ])
}
