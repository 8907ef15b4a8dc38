/** `init`: asks for address and key, tests them, and writes a configuration that every command finds. */
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { applyEdits, modify } from "jsonc-parser"
import { dirname, join, resolve } from "node:path"
import { text as textOf } from "node:stream/consumers"
import type * as Tool from "../../answer/Tool.ts"
import * as AtomicFile from "../../base/AtomicFile.ts"
import { arr, obj, str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import type { UnreadablePackage } from "../../catalogue/data/Packages.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as ConfigPlace from "../config/ConfigPlace.ts"
import * as Options from "../config/Options.ts"
import * as Upstreams from "../config/Upstreams.ts"
import * as Doctor from "../doctor/Doctor.ts"
import * as ToolContext from "../ToolContext.ts"
import { isColoured, name as program, offeredTools, print, root, toggle, warn } from "./root.ts"

/** Paths of the editor that people copy from a browser, with what comes after. */
const editorPath = /\/(?:home|workflow|workflows|projects|settings|signin|setup|executions)(?:\/.*)?$/

/** Address of n8n in an address of its editor or API. */
export const addressOf = Effect.fnUntraced(function*(text: string) {
  const url = yield* Upstreams.parseUrl(text.trim(), "The address")
  const path = url.pathname.replace(/\/{2,}/g, "/").replace(/\/api(\/v\d+)?(\/.*)?$/, "").replace(editorPath, "")
  return `${url.origin}${path.replace(/\/$/, "")}`
})

const isInteractive = () => process.stdin.isTTY === true && process.stdout.isTTY === true

interface Access {
  readonly url: string
  readonly apiKey: Redacted.Redacted<string>
}

/** Checks of an n8n with this key; the names are those of the questions. */
const examine = Effect.fnUntraced(
  function*({ apiKey, url }: Access, options: Options.Options, tools: ReadonlyArray<Tool.Any>) {
    const client = yield* Upstreams.configured(
      { url, apiKey, webhookUrl: undefined, headers: options.n8nHeader },
      (key) => key === "url" ? "The address" : key === "apiKey" ? "The key" : "--n8n-header"
    )
    const upstream: Upstreams.Upstream = { name: undefined, client, readOnly: true, tokens: [] }
    return yield* Doctor.connection(tools).pipe(Effect.provide(ToolContext.layerOf(options, upstream)), Effect.scoped)
  }
)

const keyPage = (url: string) => `${url}/settings/api`

const askAddress = (usual: string) =>
  Prompt.run(Prompt.String({
    message: "Address of n8n, as the browser shows it",
    ...(usual === "" ? {} : { default: usual }),
    validate: (answer) => Effect.mapError(Effect.as(addressOf(answer), answer), ({ message }) => message)
  }))

const askKey = (url: string) =>
  Effect.andThen(
    print(`Create an API key on ${keyPage(url)} (Settings > n8n API).`),
    Prompt.run(Prompt.Password({ message: "API key (hidden)" }))
  )

/** Lines of stdin that options leave open: the address, then the key. */
const readLines = Effect.map(
  Effect.promise(() => textOf(process.stdin)),
  (text) => text.split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "")
)

/** Address and key of options and variables, else of a person who is asked until they work, else of stdin. */
const access = Effect.fnUntraced(
  function*<R>(
    options: Options.Options,
    test: (access: Access) => Effect.Effect<boolean, Options.InvalidOption | UnreadablePackage, R>
  ) {
    const preset = { url: Option.getOrUndefined(options.n8nUrl), apiKey: Option.getOrUndefined(options.apiKey) }
    if (!isInteractive() || preset.url !== undefined && preset.apiKey !== undefined) {
      const lines = preset.url !== undefined && preset.apiKey !== undefined || process.stdin.isTTY
        ? []
        : yield* readLines
      const url = preset.url ?? lines.shift()
      const apiKey = preset.apiKey ??
        Option.getOrUndefined(Option.map(Option.fromUndefinedOr(lines.shift()), Redacted.make))
      if (url === undefined || apiKey === undefined) {
        return yield* Options.refuse(
          `init needs ${
            url === undefined ? "the address of n8n and " : ""
          }an API key: set N8N_URL and N8N_API_KEY, or send them on stdin, a line each (the address, unless it is set, then the key)`
        )
      }
      const access = { url: yield* addressOf(url), apiKey }
      return (yield* test(access)) ? access : undefined
    }
    let usual = preset.url ?? ""
    while (true) {
      const url = yield* addressOf(preset.url ?? (yield* askAddress(usual)))
      const access = { url, apiKey: preset.apiKey ?? (yield* askKey(url)) }
      const isFine = yield* test(access).pipe(
        Effect.catch(({ message }) => Effect.as(warn(message), false))
      )
      if (isFine) return access
      usual = url
      if (!(yield* Prompt.run(Prompt.Confirm({ message: "Try again?", initial: true })))) return undefined
    }
  }
)

/** File as text, with the names of its profiles; undefined if there is not one. */
const readExisting = Effect.fnUntraced(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(file).pipe(Effect.orElseSucceed(() => false)))) return undefined
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
    yield* AtomicFile.write(file, {
      bytes: new TextEncoder().encode(text),
      temporary: `${file}.${process.pid}.tmp`,
      mode: 0o600
    })
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
  yield* print(`Added ${ConfigPlace.projectFile} to ${file}, since it contains the key`)
}, Effect.mapError((error) => Options.refuse(`.gitignore cannot be written: ${ConfigFile.fault(error)}`)))

/** Command that starts this program, from a client that does not know this shell. */
export const start = (node: string, script: string): ReadonlyArray<string> =>
  /[\\/]_npx[\\/]/.test(script) ? ["npx", "-y", program] : [node, script]

const quoted = (word: string) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Lines that add this server to clients. */
export const clientLines = (profile: string, command: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first = "", ...args] = command
  const server = { command: first, args }
  return [
    "Claude Code:",
    `  claude mcp add ${quoted(profile)} -s user -- ${command.map(quoted).join(" ")}`,
    "Cursor, in ~/.cursor/mcp.json:",
    `  ${JSON.stringify({ mcpServers: { [profile]: server } })}`,
    "VS Code:",
    `  code --add-mcp ${quoted(JSON.stringify({ name: profile, ...server }))}`
  ]
}

export const init = Command.make(
  "init",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("Name of this n8n among several (default n8n)"),
      Flag.withMetavar("NAME"),
      Flag.withDefault("n8n")
    ),
    project: toggle("project", `Only for this folder: ${ConfigPlace.projectFile}, instead of the user's configuration`),
    yes: toggle("yes", "Change an existing configuration without asking")
  },
  Effect.fnUntraced(function*({ name, project, yes }) {
    const options = yield* root
    const tools = yield* offeredTools(options)
    const file = Option.isSome(options.config)
      ? resolve(options.config.value)
      : project
      ? resolve(ConfigPlace.projectFile)
      : ConfigPlace.userFile(process.env)
    const existing = yield* readExisting(file)
    const at = existing?.names.indexOf(name) ?? -1
    if (existing !== undefined && !yes) {
      const what = at < 0 ? `add '${Visible.label(name)}' to` : `replace '${Visible.label(name)}' in`
      if (!isInteractive()) {
        return yield* Options.refuse(
          `${file} exists (${
            existing.names.map((each) => Visible.label(each)).join(", ") || "without profiles"
          }): --yes would ${what} it; --name chooses another name`
        )
      }
      const message = `${file} exists: ${what} it?`
      if (!(yield* Prompt.run(Prompt.Confirm({ message, initial: false })))) {
        return yield* Options.refuse("Nothing was written")
      }
    }
    const test = (access: Access) =>
      Effect.gen(function*() {
        const checks = yield* examine(access, options, tools)
        yield* print(Doctor.render(checks, isColoured))
        return Doctor.isHealthy(checks)
      })
    const chosen = yield* access(options, test)
    if (chosen === undefined) {
      process.exitCode = 1
      return yield* warn(`${program}: nothing was written`)
    }
    const profile = {
      name,
      url: chosen.url,
      apiKey: Redacted.value(chosen.apiKey).trim(),
      ...(options.n8nHeader.length > 0
        ? { headersEnv: Object.fromEntries(options.n8nHeader.map((pair) => pair.split("="))) }
        : {}),
      ...(options.readOnly ? { readOnly: true } : {})
    }
    const text = existing?.text ?? "{\"profiles\":[]}"
    const path = ["profiles", at < 0 ? existing?.names.length ?? 0 : at]
    const formattingOptions = { insertSpaces: true, tabSize: 2 }
    yield* write(file, `${applyEdits(text, modify(text, path, profile, { formattingOptions })).trimEnd()}\n`)
    yield* print(`\nWrote ${file}, which only you can read.`)
    if (project && Option.isNone(options.config)) yield* ignore(dirname(file))
    // Clients start elsewhere, and with other variables.
    const isUsual = file === ConfigPlace.userFile({ HOME: process.env["HOME"] })
    const isOne = (existing?.names.length ?? 0) + (at < 0 ? 1 : 0) === 1
    const command = [
      ...start(process.execPath, process.argv[1] ?? ""),
      ...(isUsual ? [] : ["--config", file]),
      ...(isOne ? [] : ["--profile", name])
    ]
    yield* print(["", "Add it to a client:", ...clientLines(name, command)].join("\n"))
    yield* print(`\nTry it here: ${program} ${isOne ? "" : `--profile ${quoted(name)} `}workflows`)
  }, Effect.catchTag("QuitError", () => Options.refuse("Nothing was written")))
).pipe(Command.withDescription("Connect to your n8n: asks for its address and a key, tests them, and saves them"))
