/** Selection of the served tools by command-line options. */
import * as Result from "effect/Result"
import * as Tool from "../answer/Tool.ts"
import { suggestion } from "../base/Nearest.ts"
import { all, byDefault, credentialCreate, projectList, toolsets } from "./index.ts"

/** Options of a selection; without toolsets and tools, all but the optional ones are served. */
export interface Selection {
  /** Names of toolsets; `all` selects every toolset. */
  readonly toolsets: ReadonlyArray<string>
  /** Names of single tools, in addition to those of the toolsets. */
  readonly tools: ReadonlyArray<string>
  /** Names of tools that are always left out. */
  readonly excludeTools: ReadonlyArray<string>
  /** Whether the file tools have a folder to work in. */
  readonly hasFiles: boolean
  /** Whether environment variables are declared for the secrets of new credentials. */
  readonly credentialEnv: boolean
}

export type Any = typeof all[number]

/** Names of the tools that need a folder. */
export const needsFiles: ReadonlySet<string> = new Set([...toolsets.files, ...toolsets.sync].map(({ name }) => name))

const unknownName = (option: string, kind: string, choices: ReadonlyArray<string>, names: ReadonlyArray<string>) => {
  const unknown = choices.find((name) => !names.includes(name))
  return unknown === undefined
    ? []
    : [`${option}: there is no ${kind} '${unknown}'. ${suggestion(unknown, names, names.length)}`]
}

/** Says why a tool is not among the selected ones, with the option that adds it; `undefined` if there is no such tool. */
export const absence = (name: string, { excludeTools }: Pick<Selection, "excludeTools">): string | undefined => {
  const tool = all.find((each) => each.name === name)
  if (tool === undefined) return undefined
  if (excludeTools.includes(name)) return `${name} is left out by --exclude-tools (N8N_MCP_EXCLUDE_TOOLS)`
  if (tool === credentialCreate) {
    return `${name} needs --credential-env with the names of the variables that it may send to n8n`
  }
  const toolset = Object.entries(toolsets).find(([, tools]: [string, ReadonlyArray<Tool.Any>]) => tools.includes(tool))
  return needsFiles.has(name)
    ? `${name} needs --toolsets ${toolset?.[0]} and, over HTTP, a folder: --files-root`
    : `${name} is in the toolset '${toolset?.[0]}', which is off: add --toolsets ${toolset?.[0]}`
}

/** Selects tools, in their order, or says what is wrong with the selection. */
export const select = (selection: Selection): Result.Result<ReadonlyArray<Any>, string> => {
  const names = all.map(({ name }) => name)
  const [wrong] = [
    ...unknownName("--toolsets", "toolset", selection.toolsets, ["all", ...Object.keys(toolsets)]),
    ...unknownName("--tools", "tool", selection.tools, names),
    ...unknownName("--exclude-tools", "tool", selection.excludeTools, names),
    ...(selection.tools.includes(credentialCreate.name) && !selection.credentialEnv
      ? [`--tools: ${credentialCreate.name} needs --credential-env, which names the variables it may use`]
      : [])
  ]
  if (wrong !== undefined) return Result.fail(wrong)
  const isDefault = selection.toolsets.length === 0 && selection.tools.length === 0
  const ofToolsets: ReadonlySet<Tool.Any> = new Set(
    isDefault ?
      [...byDefault, credentialCreate] :
      Object.entries(toolsets).flatMap(([name, tools]): ReadonlyArray<Tool.Any> =>
        selection.toolsets.includes("all") || selection.toolsets.includes(name) ? tools : []
      )
  )
  const selected = all.filter((tool) =>
    (ofToolsets.has(tool) || selection.tools.includes(tool.name)) &&
    !selection.excludeTools.includes(tool.name) &&
    (selection.hasFiles || !needsFiles.has(tool.name)) &&
    (selection.credentialEnv || tool !== credentialCreate)
  )
  if (selected.length === 0) return Result.fail("No tools are left: exclude fewer of them")
  // Without project_list, the parameters for projects would only cost tokens.
  return Result.succeed(selected.includes(projectList) ? selected.map(Tool.extended) : selected)
}
