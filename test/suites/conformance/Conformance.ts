/** Runs the official conformance suite once against every server; tests read its results. */
import * as NodeServices from "@effect/platform-node/NodeServices"
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
import * as Versions from "../../../src/mcp/eras/Versions.ts"
import { ConformanceError } from "./ConformanceError.ts"
import { all, type Expected, type Server, type Verdict } from "./expected.ts"
import { start } from "./servers.ts"

/** A check of a scenario. */
export class Check extends Schema.Class<Check>("Check")({
  id: Schema.String,
  status: Schema.Literals(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]),
  errorMessage: Schema.optionalKey(Schema.String)
}) {}

/** A check that every scenario with messages reports, which alone says nothing about the scenario. */
const universalCheck = "wire-schema-valid"

/** The verdict of a scenario's checks; a warning, which is a recommendation not followed, fails. */
export const verdict = (checks: ReadonlyArray<Check>): Verdict => {
  if (checks.some(({ status }) => status === "FAILURE" || status === "WARNING")) return "failed"
  return checks.some(({ id, status }) => status === "SUCCESS" && id !== universalCheck) ? "passed" : "untested"
}

/** The label of the version that the suite chooses for a scenario that is of no version. */
const beyond = "the suite's own"

/** The checks of a scenario at one protocol version; empty if it was not run or broke off. */
export interface Outcome {
  readonly version: string
  readonly checks: ReadonlyArray<Check>
}

/** The results of the suite. */
export interface Service {
  /** The names of all scenarios. */
  readonly scenarios: ReadonlyArray<string>
  /** The outcomes of a scenario on its server, at each of its protocol versions. */
  readonly outcomes: (expected: Expected) => ReadonlyArray<Outcome>
}

const command = (args: ReadonlyArray<string>) =>
  ChildProcess.make(process.execPath, [
    fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js")),
    ...args
  ], { env: { PATH: process.env["PATH"], NO_COLOR: "1" }, stdin: "ignore" })

/** All scenarios with their protocol versions that we support. */
const listed = Effect.gen(function*() {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const lines = yield* spawner.lines(command(["list", "--server"]))
  return new Map(lines.flatMap((line) => {
    const [, name, versions = ""] = /^ {2}- (\S+) \[(.*)\]$/.exec(line) ?? []
    const spoken = versions.split(",").filter((version) => Versions.supported.includes(version))
    return name === undefined ? [] : [[name, spoken.length === 0 ? [beyond] : spoken] as const]
  }))
})

/** The protocol versions of each scenario. */
type Versions = ReadonlyMap<string, ReadonlyArray<string>>

const versionsOf = (scenarios: Versions, { at, scenario }: Expected) =>
  at === undefined ? scenarios.get(scenario) ?? [] : [at]

/** One run of the suite. */
interface Run {
  readonly server: Server
  readonly version: string
  readonly args: ReadonlyArray<string>
}

/** The runs: one per server and version, and separate ones for scenarios at an older version. */
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

/** The scenario of a folder, which is named `server-<scenario>-<time>`. */
const scenarioOf = (folder: string) => folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "")

/** Runs the suite and reads its result files, which contain more than the exit code. */
const examine = Effect.fn("examine")(function*({ args, server, version }: Run, url: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "effect-n8n-mcp-conformance-" })
  yield* spawner.exitCode(command(["server", "--url", `${url}/mcp`, ...args, "--output-dir", folder])).pipe(
    // A server that hangs must not lose the results of the others.
    Effect.timeoutOrElse({ duration: "40 seconds", orElse: () => Effect.void })
  )
  // A scenario that broke off leaves a folder without checks, so its test fails.
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
  Effect.timeout("3 minutes"),
  Effect.mapError((error) =>
    error._tag === "ConformanceError" ? error : new ConformanceError({ step: "the suite", detail: error.message })
  )
)

/** The service with the results of the suite. */
export class Conformance extends Context.Service<Conformance, Service>()("effect-n8n-mcp/test/Conformance") {
  /** Starts the servers and runs the suite. */
  static readonly layer: Layer.Layer<Conformance, ConformanceError> = Layer.effect(Conformance, make).pipe(
    // A log line per request would hide failures.
    Layer.provide([NodeServices.layer, Logger.layer([])])
  )
}
