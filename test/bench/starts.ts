/**
 * `pnpm bench starts`: how long starts over stdio take, with the options of a typical `.mcp.json`, of the plugin and of
 * the bundle and without any, in both eras, beside a bare SDK server and npm's `n8n-mcp`; n8n is simulated.
 *
 * **Details**
 *
 * Each round starts every one once, in another order. Prints medians: the first answer, the list of tools, the processor
 * time and the memory then, and the first list of workflows, each since the start of the process. The exit code is 1 if
 * a criterion is missed. `--quick`: five rounds. `--no-peer`: without `n8n-mcp`, which is installed on first use.
 */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Record from "effect/Record"
import { bundleManifest, pluginManifest } from "../../src/packaging/manifests.ts"
import * as contenders from "./contenders.ts"
import * as HttpProcess from "./load/HttpProcess.ts"
import { file, finish, machine, main, quick } from "./main.ts"
import * as McpProcess from "./McpProcess.ts"
import { once, takeTurns } from "./measure.ts"
import * as peer from "./peer.ts"
import { atMost, type Criterion, format, median, table } from "./results.ts"

interface Starter {
  readonly name: string
  readonly era: McpProcess.Era
  readonly command: McpProcess.Command
  readonly listWorkflows: McpProcess.Call
}

/** Values of a person's answers in a manifest's variables. */
const filled = (env: Readonly<Record<string, string>>, answers: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(env).map((
      [name, value]
    ) => [name, value.replace(/\$\{user_config\.(\w+)\}/, (_, key: string) => answers[key] ?? "")])
  )

const startersOf = (home: string, url: URL, installed: peer.Installed | undefined): ReadonlyArray<Starter> => {
  const all = contenders.make(home, installed ?? { main: "", sqlite: "sql.js" })
  const target = { url, apiKey: "bench" }
  const answers = { n8n_url: url.href, api_key: target.apiKey, read_only: "false", files_root: home }
  const ours = all.ours.command(target)
  const { N8N_API_KEY = "", N8N_URL = "", HOME = "", PATH = "" } = ours.env
  const base = { HOME, PATH }
  const forms: Readonly<Record<string, McpProcess.Command>> = {
    "without options": { ...ours, env: { ...base, N8N_URL, N8N_API_KEY } },
    ".mcp.json with --files-root": {
      ...ours,
      args: [...ours.args, "--files-root", home],
      env: { ...base, N8N_URL, N8N_API_KEY }
    },
    plugin: {
      ...ours,
      env: { ...base, ...filled(Object.values(pluginManifest.mcpServers)[0]?.env ?? {}, answers) }
    },
    bundle: { ...ours, env: { ...base, ...filled(bundleManifest.server.mcp_config.env, answers) } }
  }
  const listWorkflows = all.ours.listWorkflows("Workflow 1")
  return [
    ...(["modern", "legacy"] as const).flatMap((era) =>
      Object.entries(forms).map(([form, command]) => ({ name: `${form}, ${era}`, era, command, listWorkflows }))
    ),
    { name: "bare", era: "legacy", command: all.floor.command(target), listWorkflows: all.floor.listWorkflows("") },
    ...(installed === undefined ? [] : [{
      name: "n8n-mcp",
      era: "legacy" as const,
      command: all.peer.command(target),
      listWorkflows: all.peer.listWorkflows("Workflow 1")
    }])
  ]
}

const measure = Effect.fnUntraced(function*({ command, era, listWorkflows, name }: Starter) {
  const began = performance.now()
  const server = yield* McpProcess.start(name, command, era)
  yield* server.request("tools/list")
  const listed = performance.now() - began
  const { cpuMillis = 0, memory = 0 } = yield* server.usage
  yield* server.call(listWorkflows)
  const called = performance.now() - began
  yield* server.end
  return { first: server.startMillis, listed, cpuMillis, memory, called }
}, Effect.scoped)

const columns = ["first", "listed", "cpuMillis", "memory", "called"] as const

type Sample = Readonly<Record<typeof columns[number], number>>

const titles: Readonly<Record<typeof columns[number], string>> = {
  first: "first answer, ms",
  listed: "tools/list, ms",
  cpuMillis: "processor until then, ms",
  memory: "memory then, MB",
  called: "first list of workflows, ms"
}

const mostRatio = { modern: 1, legacy: 1.3 }
const mostMegabytes = 62
const mostFirstCall = { modern: 1.2, legacy: 1.4 }

const criteria = (all: ReadonlyArray<Starter & { readonly median: Sample }>): ReadonlyArray<Criterion> => {
  const bare = all.find(({ name }) => name === "bare")?.median
  return bare === undefined ? [] : all.filter(({ name }) => name.includes(",")).flatMap(({ era, median, name }) => [
    ...(["first", "listed"] as const).map((column) =>
      atMost(`${name}: ${titles[column]} ÷ the bare server's`, median[column] / bare[column], 2, mostRatio[era])
    ),
    atMost(`${name}: ${titles.memory}`, median.memory, 1, mostMegabytes),
    atMost(`${name}: ${titles.called} ÷ the bare server's`, median.called / bare.called, 2, mostFirstCall[era])
  ])
}

const starts = Command.make(
  "starts",
  {
    quick: quick("Five rounds"),
    peer: Flag.Boolean("peer").pipe(Flag.withDescription("Beside npm's n8n-mcp"), Flag.withDefault(true))
  },
  Effect.fnUntraced(function*({ peer: hasPeer, quick }) {
    const fs = yield* FileSystem.FileSystem
    const home = yield* fs.makeTempDirectoryScoped({ prefix: "bench-starts-" })
    const load = machine()
    const installed = hasPeer ? yield* peer.install() : undefined
    const n8n = yield* HttpProcess.start("n8n", [file("instance/stub.ts"), "20", "0"], home)
    const all = startersOf(home, new URL(`http://127.0.0.1:${n8n.port}/`), installed)
    const one = (name: string) => {
      const starter = all.find((each) => each.name === name)
      return starter === undefined ? Effect.die(name) : measure(starter)
    }
    const names = all.map(({ name }) => name)
    const rounds = quick ? 5 : 21
    // The first round reads from disk and fills the cache of compiled code.
    yield* takeTurns(names, once, one)
    const samples = yield* takeTurns(names, { atLeast: rounds, atMost: rounds, seconds: 0 }, one)
    const results = all.map((starter) => ({
      ...starter,
      median: Record.map(
        titles,
        (_, column) => median((samples[starter.name] ?? []).map((sample) => sample[column]))
      )
    }))
    const medians = table(
      [`medians of ${rounds}`, ...columns.map((column) => titles[column])],
      results.map(({ median, name }) => [name, ...columns.map((column) => format(median[column], 0))])
    )
    yield* finish([load, medians], criteria(results))
  }, Effect.scoped)
).pipe(Command.withDescription("Measure starts with and without options"))

main(starts)
