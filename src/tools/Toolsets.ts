/** Selection of the served tools by command-line options. */
import * as Result from "effect/Result"
import * as Tool from "../answer/Tool.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Choice from "./Choice.ts"
import { all, credentialCreate, projectList, standard, toolsets } from "./index.ts"

export type Any = typeof all[number]

const namesOf = (tools: ReadonlyArray<Tool.Any>) => tools.map(({ name }) => name)

export const names: Choice.Names = {
  all: namesOf(all),
  toolsets: Object.fromEntries(Object.entries(toolsets).map(([name, tools]) => [name, namesOf(tools)])),
  byDefault: namesOf(standard),
  files: namesOf([...toolsets.files, ...toolsets.sync]),
  credentialCreate: credentialCreate.name,
  projectList: projectList.name
}

/** Names of the tools that need a folder. */
export const needsFiles: ReadonlySet<string> = new Set(names.files)

/** Reason why a tool is not served, with the option that adds it; `undefined` if the tool does not exist. */
export const absence = (
  name: string,
  { excludeTools }: Pick<Choice.Selection, "excludeTools">
): string | undefined => {
  if (!names.all.includes(name)) return undefined
  if (excludeTools.includes(name)) return `${name} is left out by --exclude-tools (N8N_MCP_EXCLUDE_TOOLS)`
  if (name === credentialCreate.name) {
    return `${name} needs --credential-env with the names of the variables that it may send to n8n`
  }
  const [toolset] = Object.entries(names.toolsets).find(([, tools]) => tools.includes(name)) ?? []
  return needsFiles.has(name)
    ? `${name} needs --toolsets ${toolset} and, over HTTP, a folder: --files-root`
    : `${name} is in the toolset '${toolset}', which is off: add --toolsets ${toolset} where the server is started`
}

const explain = (fault: Choice.Fault) => {
  switch (fault._tag) {
    case "Unknown": {
      const choices = Choice.choices(names)[fault.kind]
      const { kind, name, option } = fault
      return `${option}: there is no ${kind} '${name}'. ${suggestion(name, choices, choices.length)}`
    }
    case "NoSecrets":
      return `--tools: ${credentialCreate.name} needs --credential-env, which names the variables it may use`
    case "Nothing":
      return "No tools are left: exclude fewer of them"
  }
}

/** Selects tools, in the order of `all`; fails with the reason why a selection is refused. */
export const select = (selection: Choice.Selection): Result.Result<ReadonlyArray<Any>, string> => {
  const choice = Choice.choose(names, selection)
  if ("_tag" in choice) return Result.fail(explain(choice))
  const tools = all.filter(({ name }) => choice.has(name))
  return Result.succeed(choice.has(projectList.name) ? tools.map(Tool.extended) : tools)
}
