/** The official conformance suite, run once against every server; tests look at what it found. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Path from "effect/Path"
import * as ChildProcess from "effect/process/ChildProcess"
import * as ChildProcessSpawner from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import { fileURLToPath } from "node:url"
import { ConformanceError } from "./ConformanceError.ts"
import { all, type Expected, type Server, type Verdict } from "./expected.ts"
import { start } from "./servers.ts"

/** One thing that a scenario looked at. */
export class Check extends Schema.Class<Check>("Check")({
  id: Schema.String,
  status: Schema.Literals(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: Schema.optionalKey(Schema.String)
}) {}

/** Emitted for every scenario that exchanged a message: alone it says nothing of the scenario. */
const ofEveryScenario = "wire-schema-valid"

/** What the checks of a scenario come to; a warning is a recommendation not followed, and fails. */
export const verdict = (checks: ReadonlyArray<Check>): Verdict => {
  if (checks.some(({ status }) => status === "FAILURE" || status === "WARNING")) return "failed"
  return checks.some(({ id, status }) => status === "SUCCESS" && id !== ofEveryScenario) ? "passed" : "untested"
}

/** Stands for the version that the suite chooses, where a scenario is for none that the SDK speaks. */
const beyond = "beyond the SDK"

/** What a scenario looked at, at one protocol version; nothing where it was not run or broke off. */
export interface Outcome {
  readonly version: string
  readonly checks: ReadonlyArray<Check>
}

/** What was found. */
export interface Service {
  /** Every scenario of the suite. */
  readonly scenarios: ReadonlyArray<string>
  /** Of one scenario on its server, at every protocol version that it is for and the SDK speaks. */
  readonly outcomes: (expected: Expected) => ReadonlyArray<Outcome>
}

const command = (args: ReadonlyArray<string>) =>
  ChildProcess.make(process.execPath, [
    fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js")),
    ...args
  ], { env: { PATH: process.env["PATH"], NO_COLOR: "1" }, stdin: "ignore" })

/** Every scenario with the versions of ours that it is for. */
const listed = Effect.gen(function*() {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const lines = yield* spawner.lines(command(["list", "--server"]))
  return new Map(lines.flatMap((line) => {
    const [, name, versions = ""] = /^ {2}- (\S+) \[(.*)\]$/.exec(line) ?? []
    const spoken = versions.split(",").filter((version) => SUPPORTED_PROTOCOL_VERSIONS.includes(version))
    return name === undefined ? [] : [[name, spoken.length === 0 ? [beyond] : spoken] as const]
  }))
})

/** Scenarios, and the protocol versions that each is run at. */
type Versions = ReadonlyMap<string, ReadonlyArray<string>>

const versionsOf = (scenarios: Versions, { at, scenario }: Expected) =>
  at === undefined ? scenarios.get(scenario) ?? [] : [at]

/** One start of the suite. */
interface Run {
  readonly server: Server
  readonly version: string
  readonly args: ReadonlyArray<string>
}

/** As few starts as there are servers and versions; what is asked of an older version has one of its own. */
const runsOf = (scenarios: Versions): ReadonlyArray<Run> => {
  const runs = new Map<string, Run>()
  for (const expected of all) {
    const { at, scenario, server } = expected
    for (const version of versionsOf(scenarios, expected)) {
      const args = [
        ...at === undefined ? ["--suite", "all"] : ["--scenario", scenario, "--force"],
        ...version === beyond ? [] : ["--spec-version", version]
      ]
      runs.set([server, ...args].join(" "), { server, version, args })
    }
  }
  return [...runs.values()]
}

const Checks = Schema.fromJsonString(Schema.Array(Check))

/** Folders are named `server-<scenario>-<time>`. */
const scenarioOf = (folder: string) => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "")

/** Runs, then reads what was written; the exit code tells of failures only, which are known from there. */
const examine = Effect.fn("examine")(function*({ args, server, version }: Run, url: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "effect-n8n-mcp-conformance-" })
  yield* spawner.exitCode(command(["server", "--url", `${url}/mcp`, ...args, "--output-dir", folder])).pipe(
    // A server that hangs must not take the verdicts of the others with it.
    Effect.timeoutOrElse({ duration: "40 seconds", orElse: () => Effect.void })
  )
  // A scenario that broke off has left a folder without checks: its test then misses it.
  const files = (yield* fs.readDirectory(folder, { recursive: true })).filter((file) => file.endsWith("checks.json"))
  return yield* Effect.forEach(files, (file) =>
    fs.readFileString(path.join(folder, file)).pipe(
      Effect.flatMap(Schema.decodeEffect(Checks)),
      Effect.map((checks) => ({ server, version, scenario: scenarioOf(path.dirname(file)), checks }))
    ))
})

const make = Effect.gen(function*() {
  const scenarios = yield* listed
  const urls = yield* start
  const runs = runsOf(scenarios)
  const found = (yield* Effect.forEach(runs, (run) => examine(run, urls[run.server]), { concurrency: 3 })).flat()
  return {
    scenarios: [...scenarios.keys()],
    outcomes: (expected: Expected) =>
      versionsOf(scenarios, expected).map((version) => ({
        version,
        checks: found.find((each) =>
          each.scenario === expected.scenario && each.server === expected.server && each.version === version
        )?.checks ?? []
      }))
  }
}).pipe(
  Effect.timeout("90 seconds"),
  Effect.mapError((error) =>
    error._tag === "ConformanceError" ? error : new ConformanceError({ step: "the suite", detail: error.message })
  )
)

/** What the suite found. */
export class Conformance extends Context.Service<Conformance, Service>()("effect-n8n-mcp/test/Conformance") {
  /** Starts the servers and runs the suite. */
  static readonly layer: Layer.Layer<Conformance, ConformanceError> = Layer.effect(Conformance, make).pipe(
    // A line for each request would bury what failed.
    Layer.provide([NodeServices.layer, Logger.layer([])])
  )
}
