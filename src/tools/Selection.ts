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
