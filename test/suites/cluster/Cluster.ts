/** Three servers behind nginx, which share a PostgreSQL, before one n8n: each can be stopped, killed and started. */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import { headersOf, request } from "../../mcp/eras/modern.ts"
import { folderWith, platform } from "../../support/folders.ts"
import * as HttpN8n from "../../support/HttpN8n.ts"
import * as IdentityProvider from "../../support/IdentityProvider.ts"
import { freePort, installed, start } from "../../support/Process.ts"
import { main } from "../../support/workflows.ts"
import * as Postgres from "../state/Postgres.ts"
import * as Nginx from "./Nginx.ts"

/** A server did not start. */
class ClusterError extends Data.TaggedError("ClusterError")<{ readonly message: string }> {}

/** The static token of all servers. */
export const token = "a-token-of-the-cluster-0123456789"

/** An answer of the server, of nginx, or of nobody. */
export interface Answer {
  /** 0 if the connection broke. */
  readonly status: number
  readonly text: string
}

/** Sends a request; nothing fails. */
export const post = (url: string, body: object, headers: Readonly<Record<string, string>>) =>
  Effect.promise((): Promise<Answer> =>
    fetch(url, { method: "POST", headers, body: JSON.stringify(body) }).then(
      async (response) => ({ status: response.status, text: await response.text() }),
      (error: Error) => ({ status: 0, text: String(error.cause ?? error) })
    )
  )

/** Calls a tool in one of MCP's eras. */
export const call = (
  url: string,
  era: "modern" | "legacy",
  params: object,
  { as = token, headers = {} }: { readonly as?: string; readonly headers?: Readonly<Record<string, string>> } = {}
) => {
  const all = { authorization: `Bearer ${as}`, ...headers }
  if (era === "modern") {
    const message = request("tools/call", params, { elicitation: {} })
    return post(`${url}/mcp`, message, { ...headersOf(message), ...all })
  }
  return post(`${url}/mcp`, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...all
  })
}

/** The result of a call that was answered. */
export const resultOf = ({ text }: Answer): Obj => obj(obj(JSON.parse(text))?.["result"]) ?? {}

/** The data of a tool's answer. */
export const dataOf = (answer: Answer): Obj => obj(obj(resultOf(answer)["structuredContent"])?.["data"]) ?? {}

/** A server of the cluster. */
export interface Replica {
  readonly url: string
  /** As the operator does: calls in flight are answered. */
  readonly stop: Effect.Effect<void>
  readonly kill: Effect.Effect<void>
  readonly start: Effect.Effect<void, ClusterError>
  readonly errors: () => string
}

const replica = Effect.fnUntraced(function*(
  program: string,
  port: number,
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>
) {
  let running: ReturnType<typeof start> | undefined
  let before = ""
  const end = (signal: NodeJS.Signals) =>
    Effect.callback<void>((resume) => {
      const server = running
      if (server === undefined || server.child.exitCode !== null) return resume(Effect.void)
      running = undefined
      server.child.once("exit", () => {
        before += server.errors()
        resume(Effect.void)
      })
      server.child.kill(signal)
    })
  yield* Effect.addFinalizer(() => end("SIGKILL"))
  return {
    url: `http://127.0.0.1:${port}`,
    stop: end("SIGTERM"),
    kill: end("SIGKILL"),
    errors: () => before + (running?.errors() ?? ""),
    start: Effect.callback<void, ClusterError>((resume) => {
      const server = start(["--transport", "http", "--port", String(port), ...args], { ...env }, program)
      running = server
      server.child.stderr.on("data", () => {
        if (server.errors().includes("address=")) resume(Effect.void)
      })
      server.child.once("exit", () => resume(Effect.fail(new ClusterError({ message: server.errors() }))))
    })
  } satisfies Replica
})

/** What a cluster is started with. */
export interface Options {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** The n8n; a simulated one if absent. */
  readonly n8n?: { readonly url: string; readonly apiKey: string }
}

/** A simulated n8n that can go away and come back. */
const simulated = Effect.gen(function*() {
  const { server, url } = yield* HttpN8n.serve(Demo.seed)
  return {
    url: url.href,
    apiKey: "key",
    stop: Effect.callback<void>((resume) => {
      server.close(() => resume(Effect.void))
      server.closeAllConnections()
    }),
    start: Effect.callback<void>((resume) => {
      server.listen(Number(url.port), "127.0.0.1", () => resume(Effect.void))
    })
  }
})

/** A running cluster. */
interface Service {
  /** The balancer's address. */
  readonly url: string
  readonly replicas: ReadonlyArray<Replica>
  readonly database: Postgres.Postgres
  /** The simulated n8n. */
  readonly n8n: { readonly stop: Effect.Effect<void>; readonly start: Effect.Effect<void> }
  /** Starts the identity provider, each time with new keys. */
  readonly issuer: ReturnType<typeof IdentityProvider.start>
}

/** Starts a cluster, which ends with the scope. */
const make = Effect.fnUntraced(function*({ args = [], env = {}, n8n }: Options) {
  const database = yield* Postgres.make
  yield* database.start
  const own = yield* simulated
  const target = n8n ?? own
  const { main } = yield* installed
  const issuerPort = yield* freePort
  const balancerPort = yield* freePort
  const ports = [yield* freePort, yield* freePort, yield* freePort]
  const url = `http://127.0.0.1:${balancerPort}`
  const replicas = yield* Effect.forEach(
    ports,
    (port) =>
      Effect.flatMap(folderWith(), (folder) =>
        replica(main, port, args, {
          N8N_URL: target.url,
          N8N_API_KEY: target.apiKey,
          N8N_MCP_AUTH_TOKEN: token,
          N8N_MCP_STATE: database.url,
          N8N_MCP_OAUTH_ISSUER: `http://127.0.0.1:${issuerPort}`,
          N8N_MCP_PUBLIC_URL: url,
          XDG_STATE_HOME: folder,
          ...env
        }))
  )
  yield* Effect.forEach(replicas, (each) => each.start, { concurrency: 3 })
  yield* Nginx.start(ports, balancerPort)
  return Cluster.of({ url, replicas, database, n8n: own, issuer: IdentityProvider.start(issuerPort) })
})

/** A cluster that the tests of a layer share. */
export class Cluster extends Context.Service<Cluster, Service>()("effect-n8n-mcp/test/cluster/Cluster") {
  static readonly layer = (options: Options = {}): Layer.Layer<Cluster, unknown> =>
    Layer.effect(Cluster, make(options)).pipe(Layer.provide(platform))
}

/** The id of a new workflow. */
export const newWorkflow = (url: string, name: string) =>
  Effect.map(
    call(url, "modern", {
      name: "create_workflow",
      arguments: {
        name,
        nodes: [
          { name: "Start", type: "n8n-nodes-base.manualTrigger", typeVersion: 1, position: [0, 0], parameters: {} },
          { name: "Next", type: "n8n-nodes-base.noOp", typeVersion: 1, position: [200, 0], parameters: {} }
        ],
        connections: { Start: main("Next") }
      }
    }),
    (answer) => {
      const { id } = dataOf(answer)
      if (typeof id !== "string") throw new ClusterError({ message: answer.text })
      return id
    }
  )

/** The name that n8n has for a workflow. */
export const nameOf = (url: string, id: string) =>
  Effect.map(call(url, "modern", { name: "get_workflow", arguments: { id } }), (answer) => dataOf(answer)["name"])

/** The versions of a workflow that were kept. */
export const versionsOf = (url: string, id: string) =>
  Effect.map(
    call(url, "modern", { name: "workflow_history", arguments: { id } }),
    (answer) => arr(dataOf(answer)["versions"]).map((version) => String(obj(version)?.["version"]))
  )
