/** `init`: asks for address and key, tests them, and writes a configuration that every command finds. */
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { applyEdits, modify } from "jsonc-parser"
import { dirname, join, resolve } from "node:path"
import { text as textOf } from "node:stream/consumers"
import * as Hints from "../../answer/Hints.ts"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { sha256 } from "../../base/Hash.ts"
import { arr, obj, str } from "../../base/Json.ts"
import { nodeCommand } from "../../base/NodeCommand.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import * as N8nClient from "../../n8n/N8nClient.ts"
import * as tools from "../../tools/index.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as ConfigPlace from "../config/ConfigPlace.ts"
import * as Options from "../config/Options.ts"
import * as PlainOptions from "../config/PlainOptions.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as N8nChecks from "../doctor/N8nChecks.ts"
import * as Layout from "../report/Layout.ts"
import * as Terminal from "../Terminal.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { exit, name as program, offeredTools, row } from "./row.ts"

/** Address of n8n in an address of its editor or API. */
const addressOf = (text: string) =>
  Effect.map(
    Upstreams.parseUrl(text.trim(), "The address"),
    (url) => N8nClient.baseUrl(url).href.replace(/\/$/, "")
  )

interface Access {
  readonly url: string
  readonly apiKey: Redacted.Redacted<string>
}

/** Context of an n8n with this key, read-only; the names are those of the questions. */
const contextOf = Effect.fnUntraced(function*({ apiKey, url }: Access, options: Options.Options) {
  const client = yield* Upstreams.configured(
    { url, apiKey, webhookUrl: undefined, headers: options.n8nHeader },
    (key) => key === "url" ? "The address" : key === "apiKey" ? "The key" : "--n8n-header"
  )
  return ToolContext.layerOf(options, { name: undefined, client, readOnly: true, tokens: [] })
})

/** Lines about the newest run that failed, as the first answer from this n8n; none if it does not say. */
const lastFailure = Effect.fnUntraced(
  function*(command: string) {
    const { executions: [run] = [] } = yield* tools.listExecutions.call({ status: "error", limit: 1 })
    if (run === undefined) return ["", "No run of this n8n has failed, as far as it saves them."]
    const { failure, startedAt, workflowName } = yield* tools.getExecution.call({ id: run.id })
    const reason = failure === undefined ? "" : `: ${Visible.label(failure.error.message, 300)}`
    const node = failure?.node === undefined ? "It failed" : `'${Visible.label(failure.node)}' failed`
    return [
      "",
      `Your last failed run, ${run.id} of '${Visible.label(workflowName)}'${
        startedAt == null ? "" : `, ${Layout.exactTime(startedAt)} ${Layout.zoneName(startedAt)}`
      }:`,
      `  ${node}${reason}`,
      `Why, with its data and a picture: ${command} why ${run.id} --open`
    ]
  },
  Effect.timeout("15 seconds"),
  // The connection works, and is saved.
  Effect.orElseSucceed((): ReadonlyArray<string> => [])
)

/** Check with advice for values that were not set, but entered. */
const ofEntered = ({ cure, ...check }: N8nChecks.Check): N8nChecks.Check => ({
  ...check,
  ...(cure === undefined ? {} : { cure: Hints.aboutEntered(cure) })
})

const keyPage = (url: string) => `${url}/settings/api`

/** Asks for the address; an empty answer is the usual one. A default of the prompt would be the start of what is typed. */
const askAddress = (usual: string) => {
  const chosen = (answer: string) => answer.trim() || usual
  return Effect.map(
    Prompt.run(Prompt.String({
      message: `Address of n8n, as the browser shows it${usual === "" ? "" : ` (Enter: ${Visible.label(usual, 200)})`}`,
      validate: (answer) => Effect.mapError(Effect.as(addressOf(chosen(answer)), answer), ({ message }) => message)
    })),
    chosen
  )
}

const askKey = (url: string) =>
  Effect.andThen(
    Terminal.print(`Create an API key on ${keyPage(url)} (Settings > n8n API).`),
    Prompt.run(Prompt.Password({ message: "API key (hidden)" }))
  )

const readLines = Effect.map(
  Effect.promise(() => textOf(process.stdin)),
  (text) => text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "")
)

/** Address and key in lines: one line is what it looks like. */
const inLines = ([first, second]: ReadonlyArray<string>) =>
  second === undefined && first !== undefined && !PlainOptions.isAddress(first)
    ? { url: undefined, key: first }
    : { url: first, key: second }

/** Address and key of the command line, else of stdin, else of variables; tested once. */
const presetAccess = Effect.fnUntraced(function*<E, R>(
  { apiKey, n8nUrl }: Options.Options,
  test: (access: Access) => Effect.Effect<boolean, E, R>
) {
  const isNamed = { url: Options.isNamed(n8nUrl, "N8N_URL"), key: Options.isNamed(apiKey, "N8N_API_KEY") }
  const isSet = n8nUrl !== undefined && apiKey !== undefined
  const lines = isNamed.url && isNamed.key || process.stdin.isTTY
    ? []
    // A program that starts this one may leave the pipe open.
    : yield* isSet
      ? Effect.timeoutOrElse(readLines, { duration: "3 seconds", orElse: () => Effect.succeed([]) })
      : readLines
  const piped = inLines(lines)
  const set = { url: n8nUrl, key: apiKey && Redacted.value(apiKey) }
  const choose = (key: "url" | "key") => isNamed[key] ? set[key] : piped[key] ?? set[key]
  for (
    const [key, variable, option] of [["url", "N8N_URL", "--n8n-url"], ["key", "N8N_API_KEY", "--api-key"]] as const
  ) {
    if (piped[key] === undefined || set[key] === undefined || piped[key] === set[key]) continue
    const what = key === "url" ? "an address" : "a key"
    const [unused, used] = isNamed[key] ? [`${what} on stdin`, option] : [variable, `${what} on stdin`]
    yield* Terminal.warn(`${program}: ${used} is used instead of ${unused}`)
  }
  const [url, key] = [choose("url"), choose("key")]
  if (url === undefined || key === undefined) {
    const what = [...url === undefined ? ["the address of n8n"] : [], ...key === undefined ? ["an API key"] : []]
    return yield* Options.refuse(
      `init needs ${
        what.join(" and ")
      }: set N8N_URL and N8N_API_KEY, or send them on stdin, a line each (the address, unless it is set, then the key)`
    )
  }
  const access = { url: yield* addressOf(url), apiKey: Redacted.make(key) }
  return (yield* test(access)) ? access : undefined
})

/** Asks for the values that the command line lacks, and after a failure for all, until the connection works. */
const askAccess = Effect.fnUntraced(function*<E extends { readonly message: string }, R>(
  { apiKey, n8nUrl }: Options.Options,
  test: (access: Access) => Effect.Effect<boolean, E, R>
) {
  const isUrlNamed = Options.isNamed(n8nUrl, "N8N_URL")
  const isKeyNamed = Options.isNamed(apiKey, "N8N_API_KEY")
  if (n8nUrl !== undefined && !isUrlNamed) yield* Terminal.print(`N8N_URL is set: ${Visible.label(n8nUrl, 200)}`)
  // The key of variables is for their address.
  const own = n8nUrl === undefined || isUrlNamed ? undefined : yield* Effect.orElseSucceed(addressOf(n8nUrl), () => "")
  let usual = n8nUrl ?? ""
  for (let isFirst = true;; isFirst = false) {
    const url = yield* addressOf(isFirst && isUrlNamed ? usual : yield* askAddress(usual))
    const preset = isFirst && (isKeyNamed || own === undefined || own === url) ? apiKey : undefined
    if (preset !== undefined && !isKeyNamed) yield* Terminal.print("N8N_API_KEY is set: its key is tried first")
    const access = { url, apiKey: preset ?? (yield* askKey(url)) }
    const isFine = yield* Effect.catch(test(access), ({ message }) => Effect.as(Terminal.warn(message), false))
    if (isFine) return access
    usual = url
    if (!(yield* Prompt.run(Prompt.Confirm({ message: "Try again?", initial: true })))) return undefined
  }
})

interface Existing {
  readonly text: string | undefined
  readonly names: ReadonlyArray<string>
}

const readExisting = Effect.fnUntraced(function*(file: string): Effect.fn.Return<
  Existing,
  Options.InvalidOption,
  FileSystem.FileSystem
> {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(file).pipe(Effect.orElseSucceed(() => false)))) return { text: undefined, names: [] }
  const text = yield* fs.readFileString(file).pipe(
    Effect.mapError((error) => Options.refuse(`${file} cannot be read: ${ConfigFile.fault(error)}`))
  )
  const value = yield* Effect.mapError(
    ConfigFile.parseText(text),
    (reason) => Options.refuse(`${file}: ${reason}. Correct or remove it, or choose another place with --config FILE`)
  )
  return { text, names: arr(obj(value)?.["profiles"]).map((each) => str(obj(each)?.["name"]) ?? "") }
})

const write = Effect.fnUntraced(
  function*(file: string, text: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(dirname(file), { recursive: true, mode: 0o700 })
    yield* AtomicFile.write(fs, file, { data: text, temporary: `${file}.${process.pid}.tmp`, mode: 0o600 })
  },
  (effect, file) =>
    Effect.mapError(effect, (error) => Options.refuse(`${file} cannot be written: ${ConfigFile.fault(error)}`))
)

/** Adds a project's file to the .gitignore beside it, in a git repository. */
const ignore = Effect.fnUntraced(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(join(folder, ".git")))) return
  const file = join(folder, ".gitignore")
  const text = (yield* fs.exists(file)) ? yield* fs.readFileString(file) : ""
  if (text.split("\n").some((line) => line.trim().replace(/^\//, "") === ConfigPlace.projectFile)) return
  yield* fs.writeFileString(
    file,
    `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${ConfigPlace.projectFile}\n`
  )
  yield* Terminal.print(`Added ${ConfigPlace.projectFile} to ${file}, since it contains the key`)
}, Effect.mapError((error) => Options.refuse(`.gitignore cannot be written: ${ConfigFile.fault(error)}`)))

/** Lines that add this server to clients: for a project, or for everything that the user does. */
const clientLines = (profile: string, command: ReadonlyArray<string>, isProject: boolean): ReadonlyArray<string> => {
  const [first = "", ...args] = command
  const server = { command: first, args }
  return [
    "Claude Code:",
    `  claude mcp add ${Layout.shellWord(profile)} -s ${isProject ? "local" : "user"} -- ${
      command.map(Layout.shellWord).join(" ")
    }`,
    "Cursor, in ~/.cursor/mcp.json:",
    `  ${JSON.stringify({ mcpServers: { [profile]: server } })}`,
    "VS Code:",
    `  code --add-mcp ${Layout.shellWord(JSON.stringify({ name: profile, ...server }))}`
  ]
}

const isSetHere = (variable: string) => Boolean(process.env[variable])

/** Options that lead a command in this folder and shell to a profile of the file. */
const optionsFor = (file: string, name: string, isOnly: boolean): ReadonlyArray<string> => {
  const config = process.env["N8N_MCP_CONFIG"]
  const usual = config ? resolve(config) : ConfigPlace.find(process.env).used?.file
  const isPlain = isOnly && !["N8N_URL", "N8N_API_KEY", "N8N_MCP_PROFILE", "N8N_MCP_DEMO"].some(isSetHere)
  return [...usual === file ? [] : ["--config", file], ...isPlain ? [] : ["--profile", name]]
}

export const init = row({
  name: "init",
  description: "Connect to your n8n: asks for its address and a key, tests them, and saves them",
  flags: {
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of this n8n among several (default n8n)"),
      Flag.withMetavar("NAME"),
      Flag.withDefault("n8n")
    ),
    project: flags.toggle(
      "project",
      `Only for this folder: ${ConfigPlace.projectFile}, instead of the user's configuration`
    ),
    yes: flags.toggle("yes", "Change an existing configuration without asking")
  },
  form: "none",
  services: () => Layer.empty,
  run: Effect.fnUntraced(function*({ name, project, yes }, options) {
    const offered = yield* offeredTools(options)
    const isProject = project && options.config === undefined
    const file = options.config !== undefined
      ? resolve(options.config)
      : isProject
      ? resolve(ConfigPlace.projectFile)
      : ConfigPlace.userFile(process.env)
    const { names, text } = yield* readExisting(file)
    const isOld = names.includes(name)
    // What a repository brought is not believed with the rest of the file, unless a person says so.
    const foreign = isProject && ConfigPlace.find(process.env).refused.find((each) => each.file === file)
    if (text !== undefined && (foreign || !yes)) {
      const what = `${isOld ? "replace" : "add"} '${Visible.label(name)}' ${isOld ? "in" : "to"}`
      if (foreign && !Terminal.isInteractive()) {
        return yield* Options.refuse(`${file} is not used: ${foreign.objection}`)
      }
      if (!Terminal.isInteractive()) {
        const shown = names.map((each) => Visible.label(each)).join(", ") || "without profiles"
        return yield* Options.refuse(
          `${file} exists (${shown}): --yes ${
            isOld ? `replaces '${Visible.label(name)}'; --name NAME adds another` : `adds '${Visible.label(name)}'`
          }`
        )
      }
      const exists = foreign ? `is not used: ${foreign.objection}. You have read it, and trust it all` : "exists"
      const message = `${file} ${exists}: ${what} it?`
      if (!(yield* Prompt.run(Prompt.Confirm({ message, initial: false })))) {
        return yield* Options.refuse("Nothing was written")
      }
    }
    const test = Effect.fnUntraced(function*(access: Access) {
      const all = yield* Effect.provide(N8nChecks.connection(offered), yield* contextOf(access, options))
      const isPreset = options.apiKey !== undefined && Redacted.value(options.apiKey) === Redacted.value(access.apiKey)
      const checks = isPreset ? all : all.map(ofEntered)
      yield* Effect.forEach(N8nChecks.render(checks, Terminal.isColoured), Terminal.say, { discard: true })
      return N8nChecks.isHealthy(checks)
    }, Effect.scoped)
    const chosen = yield* Terminal.isInteractive() ? askAccess(options, test) : presetAccess(options, test)
    if (chosen === undefined) return yield* Effect.andThen(exit(1), Terminal.warn(`${program}: nothing was written`))
    const profile = {
      name,
      url: chosen.url,
      apiKey: Redacted.value(chosen.apiKey).trim(),
      ...(options.n8nHeader.length > 0
        ? { headersEnv: Object.fromEntries(options.n8nHeader.map((pair) => pair.split("="))) }
        : {}),
      ...(options.readOnly ? { readOnly: true } : {})
    }
    const all = isOld ? names : [...names, name]
    const formattingOptions = { insertSpaces: true, tabSize: 2 }
    const before = text ?? "{\"profiles\":[]}"
    const edits = modify(before, ["profiles", all.indexOf(name)], profile, { formattingOptions })
    const after = `${applyEdits(before, edits).trimEnd()}\n`
    yield* write(file, after)
    yield* Terminal.print(`\nWrote ${file}, which only you can read.`)
    if (isProject) {
      const records = { ...ConfigPlace.records(process.env), [ConfigPlace.recordName(file)]: sha256(after) }
      yield* write(ConfigPlace.recordsFile(process.env), `${JSON.stringify(records, undefined, 2)}\n`)
      yield* ignore(dirname(file))
      const [refusal] = ConfigPlace.find(process.env).refused
      if (refusal !== undefined) yield* Terminal.warn(`${program}: it is not used: ${refusal.objection}`)
    }
    // Clients start elsewhere, and with other variables and nearer files: this very program, not one that a registry has
    // by its name. The profile is named even if it is the only one: a second one must not stop the clients of the first.
    const command = [...nodeCommand(), process.argv[1] ?? "", "--config", file, "--profile", name]
    yield* Terminal.print(["", "Add it to a client:", ...clientLines(name, command, isProject)].join("\n"))
    if (!isOld && names.length > 0) {
      yield* Terminal.say(`\nCommands now need --profile NAME, with ${Rows.alternatives(all)}.`)
    }
    const winning = ["N8N_MCP_CONFIG", "N8N_MCP_PROFILE"].some(isSetHere)
      ? []
      : ["N8N_URL", "N8N_API_KEY"].filter(isSetHere)
    if (winning.length > 0) {
      const [verb, pronoun] = winning.length > 1 ? ["are", "them"] : ["is", "it"]
      yield* Terminal.warn(
        `${program}: ${
          winning.join(" and ")
        } ${verb} set in this shell, before the file: unset ${pronoun}, or add --profile ${Layout.shellWord(name)}`
      )
    }
    const here = [program, ...optionsFor(file, name, all.length === 1)].map(Layout.shellWord).join(" ")
    yield* Terminal.print(`\nTry it here: ${here} workflows`)
    const lines = yield* lastFailure(here).pipe(Effect.provide(yield* contextOf(chosen, options)), Effect.scoped)
    yield* Effect.forEach(lines, Terminal.say, { discard: true })
  }, Effect.catchTag("QuitError", () => Options.refuse("Nothing was written")))
})
