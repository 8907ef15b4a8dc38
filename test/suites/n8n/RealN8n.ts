/** A real n8n for the suite: installed once, and started for each layer until its scope ends. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FileSystem from "effect/FileSystem"
import * as Cookies from "effect/http/Cookies"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as ChildProcess from "effect/process/ChildProcess"
import type * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import type { DatabaseSync } from "node:sqlite"
import * as processes from "../../support/processes.ts"
import * as elsewhere from "./elsewhere.ts"
import * as FakeOpenAi from "./FakeOpenAi.ts"
import { install, type Installed } from "./install.ts"
import { RealN8nError } from "./RealN8nError.ts"

/** Access to the instance, including what the public API does not show. */
export interface Service {
  readonly version: string
  readonly url: URL
  /** An API key with all scopes of the owner. */
  readonly apiKey: Redacted.Redacted<string>
  /** The owner's session on the editor's internal API: paths start after `/rest`, any 4xx fails. */
  readonly asOwner: HttpClient.HttpClient
  /** Creates an API key with only these scopes. */
  readonly createApiKey: (scopes: ReadonlyArray<string>) => Effect.Effect<Redacted.Redacted<string>, RealN8nError>
  /**
   * Kills n8n without a shutdown while these executions run, and restarts it with the same data, port and keys; what
   * happens meanwhile is the second argument.
   */
  readonly crash: <E = never, R = never>(
    executions: ReadonlyArray<string>,
    meanwhile?: Effect.Effect<void, E, R>
  ) => Effect.Effect<void, E | RealN8nError, R>
  /** The base URL of the simulated OpenAI for the scenarios' AI nodes. */
  readonly openAiUrl: URL
  /** Address at which n8n reaches the servers of a test. */
  readonly host: string
  /** Uses n8n's SQLite database, while n8n runs. */
  readonly database: <A>(use: (database: DatabaseSync) => A) => Effect.Effect<A, RealN8nError>
}

/** A running n8n with an owner and an API key. */
export class RealN8n extends Context.Service<RealN8n, Service>()("effect-n8n-mcp/test/n8n/RealN8n") {
  /**
   * Installs the version if needed, starts it, and stops it when the scope ends.
   *
   * **Details**
   *
   * `env` adds to and overrides the harness's variables for n8n, such as `EXECUTIONS_DATA_MAX_DISPLAY_SIZE`.
   *
   * **Gotchas**
   *
   * It uses the real clock, even under a TestClock.
   */
  static readonly layer = (
    version: string,
    options: { readonly env?: Readonly<Record<string, string>> } = {}
  ): Layer.Layer<RealN8n, RealN8nError | processes.ProcessError> =>
    Layer.effect(
      RealN8n,
      elsewhere.named === undefined ? make(version, options.env ?? {}) : makeElsewhere(version, elsewhere.named)
    ).pipe(
      Layer.provide([NodeServices.layer, FetchHttpClient.layer, Layer.succeed(Clock.Clock, Clock.Clock.defaultValue())])
    )
}

const owner = {
  email: "owner@example.com",
  firstName: "Test",
  lastName: "Owner",
  password: "Passw0rd123"
}

const listening = Effect.acquireRelease(
  Effect.callback<ReturnType<typeof createServer>, RealN8nError>((resume) => {
    const server = createServer()
    server.once(
      "error",
      ({ message: detail }) => resume(Effect.fail(new RealN8nError({ step: "finding a free port", detail })))
    )
    server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
)

/** Two free ports, opened at the same time so that they differ. */
const freePorts = Effect.all([listening, listening]).pipe(
  Effect.map((servers) =>
    servers.map((server) => {
      const address = server.address()
      return typeof address === "object" ? address?.port ?? 0 : 0
    })
  ),
  Effect.scoped
)

// Ends n8n when its stdin ends, so that it does not outlive a killed test run.
const watchdog = `data:text/javascript,${
  encodeURIComponent(
    `import { isMainThread } from "node:worker_threads"
if (isMainThread && process.argv.at(-1) === "start") {
  process.stdin.resume().on("end", () => process.kill(-process.pid, "SIGKILL"))
}`
  )
}`

/** The folders, port and keys of an instance, the same for all its starts. */
interface Place {
  readonly version: string
  readonly installed: Installed
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly port: number
  readonly broker: number
  readonly tail: processes.Tail
}

const starting = (version: string) => `starting n8n ${version}`

const at = ({ port }: Place) => new URL(`http://127.0.0.1:${port}/`)

/** Starts a process and waits until it answers; it ends with the scope. Errors contain its output. */
const launch = Effect.fn("launch")(function*(place: Place) {
  const { broker, env, folder, installed, port, tail, version } = place
  const http = yield* HttpClient.HttpClient
  const answers = (path: string, status: number) =>
    http.get(new URL(path, at(place))).pipe(
      Effect.timeout("2 seconds"),
      Effect.filterOrFail((response) => response.status === status, () => ({ message: `${path} does not answer yet` })),
      Effect.retry(Schedule.spaced("250 millis"))
    )
  const failed = (detail: string) => new RealN8nError({ step: starting(version), detail: `${detail}\n${tail.text()}` })

  const handle = yield* ChildProcess.make(installed.node, ["--import", watchdog, installed.bin, "start"], {
    cwd: folder,
    // Nothing of the test run's environment, such as N8N_*, DB_*, NODE_ENV or proxies.
    env: {
      PATH: process.env["PATH"],
      HOME: folder,
      TMPDIR: folder,
      TZ: "UTC",
      GENERIC_TIMEZONE: "UTC",
      N8N_USER_FOLDER: folder,
      N8N_PORT: String(port),
      N8N_LISTEN_ADDRESS: "127.0.0.1",
      N8N_HOST: "127.0.0.1",
      N8N_RUNNERS_BROKER_PORT: String(broker),
      N8N_DIAGNOSTICS_ENABLED: "false",
      N8N_VERSION_NOTIFICATIONS_ENABLED: "false",
      N8N_TEMPLATES_ENABLED: "false",
      N8N_PERSONALIZATION_ENABLED: "false",
      N8N_COMMUNITY_PACKAGES_ENABLED: "false",
      N8N_SECURE_COOKIE: "false",
      N8N_LOG_LEVEL: "warn",
      ...env
    },
    killSignal: "SIGKILL"
  }).pipe(Effect.mapError((error) => failed(error.message)))
  yield* processes.follow(handle, tail).pipe(Effect.ignore, Effect.forkScoped)

  const died = handle.exitCode.pipe(
    Effect.matchEffect({
      onFailure: (error) => failed(error.message),
      onSuccess: (code) => failed(`ended with ${code}`)
    })
  )
  yield* answers("healthz/readiness", 200).pipe(
    // For a while the API answers 404 to everything; then it requires a key.
    Effect.andThen(answers("api/v1/workflows", 401)),
    Effect.mapError((error) => failed(error.message)),
    Effect.raceFirst(died),
    Effect.timeoutOrElse({ duration: "10 minutes", orElse: () => failed("not ready after 10 minutes") })
  )
})

/** Launches in a nested scope, which is returned so that the process can be ended before the layer. */
const launchWithin = Effect.fn("launchWithin")(function*(place: Place) {
  const scope = yield* Scope.fork(yield* Effect.scope)
  yield* launch(place).pipe(Scope.provide(scope), Effect.onError(() => Scope.close(scope, Exit.void)))
  return scope
})

/** Makes a place and launches there, with other ports if these are taken by now. */
const settle = Effect.fn("settle")(
  function*(version: string, env: Readonly<Record<string, string>>) {
    const fs = yield* FileSystem.FileSystem
    const installed = yield* install(version)
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: `n8n-${version}-` })
    const attempt = Effect.gen(function*() {
      const [port = 0, broker = 0] = yield* freePorts
      const place: Place = { version, installed, env, folder, port, broker, tail: processes.makeTail(200) }
      return { place, running: yield* launchWithin(place) }
    })
    return yield* attempt.pipe(
      Effect.retry({ times: 3, while: ({ detail }) => detail.includes("already in use") })
    )
  },
  (effect, version) =>
    Effect.catchTag(
      effect,
      "PlatformError",
      ({ message }) => new RealN8nError({ step: starting(version), detail: message })
    )
)

const Scopes = Schema.Struct({ data: Schema.Array(Schema.String) })
const Key = Schema.Struct({ data: Schema.Struct({ rawApiKey: Schema.String }) })

/** Creates the owner and API keys through the editor's internal API. */
const setUp = Effect.fn("setUp")(function*(place: Place) {
  const http = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest(HttpClientRequest.prependUrl(new URL("rest", at(place)).href)),
    HttpClient.filterStatusOk
  )
  const failed = ({ message }: { readonly message: string }) =>
    new RealN8nError({ step: `setting up n8n ${place.version}`, detail: `${message}\n${place.tail.text()}` })

  const session = yield* HttpClientRequest.post("/owner/setup").pipe(
    HttpClientRequest.bodyJsonUnsafe(owner),
    http.execute,
    // It is ready, but not all routes are registered yet.
    Effect.retry(Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: "1 minute" }))),
    Effect.map(({ cookies }) => Cookies.toCookieHeader(cookies)),
    Effect.mapError(failed)
  )
  const asOwner = HttpClient.mapRequest(http, HttpClientRequest.setHeader("cookie", session))
  let keys = 0
  const createApiKey: Service["createApiKey"] = (scopes) =>
    HttpClientRequest.post("/api-keys").pipe(
      HttpClientRequest.bodyJsonUnsafe({ label: `tests ${++keys}`, scopes, expiresAt: null }),
      asOwner.execute,
      Effect.flatMap(HttpClientResponse.schemaBodyJson(Key)),
      Effect.map(({ data }) => Redacted.make(data.rawApiKey)),
      Effect.mapError(failed)
    )
  const apiKey = yield* asOwner.get("/api-keys/scopes").pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Scopes)),
    Effect.mapError(failed),
    Effect.flatMap(({ data }) => createApiKey(data))
  )
  return { apiKey, asOwner, createApiKey }
})

const make = Effect.fn("RealN8n.make")(function*(version: string, env: Readonly<Record<string, string>>) {
  const openAiUrl = yield* FakeOpenAi.serve.pipe(
    Effect.mapError(({ message }) => new RealN8nError({ step: starting(version), detail: message }))
  )
  const settled = yield* settle(version, env)
  const { place } = settled
  let { running } = settled
  const { apiKey, asOwner, createApiKey } = yield* setUp(place)

  const context = yield* Effect.context<
    Scope.Scope | HttpClient.HttpClient | ChildProcessSpawner.ChildProcessSpawner
  >()
  /** Whether a run has got beyond its trigger, in the log from which n8n restores it: that is written a moment later. */
  const isLogged = (id: string) => {
    const events = readFileSync(join(place.folder, ".n8n/n8nEventLog.log"), "utf8").split("\n").flatMap((line) =>
      line.includes(`"executionId":"${id}"`) ? /"n8n\.node\.\w+"/.exec(line)?.[0] ?? [] : []
    )
    return events.length > 1 && events.at(-1) === "\"n8n.node.started\""
  }
  const crash: Service["crash"] = (executions, meanwhile = Effect.void) =>
    Effect.gen(function*() {
      yield* Effect.repeat(Effect.sync(() => executions.every(isLogged)), {
        schedule: Schedule.spaced("50 millis"),
        until: (isReady) => isReady,
        times: 600
      }).pipe(Effect.provideService(Clock.Clock, Clock.Clock.defaultValue()))
      yield* Scope.close(running, Exit.void)
      yield* meanwhile
      running = yield* Effect.provideContext(launchWithin(place), context)
    })

  const database: Service["database"] = (use) =>
    Effect.tryPromise({
      try: async () => {
        const { DatabaseSync } = await import("node:sqlite")
        const opened = new DatabaseSync(join(place.folder, ".n8n/database.sqlite"), { timeout: 20_000 })
        try {
          return use(opened)
        } finally {
          opened.close()
        }
      },
      catch: (error) => new RealN8nError({ step: "using the database of n8n", detail: String(error) })
    })

  return RealN8n.of({
    version,
    url: at(place),
    apiKey,
    createApiKey,
    asOwner,
    crash,
    database,
    openAiUrl,
    host: "127.0.0.1"
  })
})

/** Why a test that needs it is skipped where n8n is elsewhere. */
const missing = {
  createApiKey: "keys with fewer scopes need the owner's session",
  crash: "its process cannot be killed",
  database: "its database cannot be reached",
  asOwner: "the editor's API needs the owner's session",
  openAiUrl: "n8n may not reach the simulated OpenAI",
  host: "n8n may not reach a server of this test"
}

/** An n8n by URL; a test that needs more than its public API is skipped. */
const makeElsewhere = Effect.fn("RealN8n.makeElsewhere")(
  function*(version: string, named: NonNullable<typeof elsewhere.named>) {
    const known = { version, ...yield* elsewhere.make(named) }
    const getters = Object.entries(missing).map(([name, why]) => [name, { get: () => elsewhere.skip(why) }])
    // oxlint-disable-next-line no-unsafe-type-assertion -- `missing` has the rest
    return Object.defineProperties(known, Object.fromEntries(getters)) as Service
  }
)
