/** Which of the tools are served: what a person chose on the command line. */
import * as Result from "effect/Result"
import { suggestion } from "../Nearest.ts"
import type * as Tool from "../Tool.ts"
import { all, toolsets } from "./index.ts"

/** What was chosen; where nothing was, all of them. */
export interface Selection {
  /** Names of toolsets; `all` is every one. */
  readonly toolsets: ReadonlyArray<string>
  /** Names of single tools, besides those of the toolsets. */
  readonly tools: ReadonlyArray<string>
  /** Names of tools that are left out, whatever chose them. */
  readonly excludeTools: ReadonlyArray<string>
  /** Whether the file tools are of any use. */
  readonly files: boolean
}

/** A tool of this server. */
export type Any = typeof all[number]

const unknownName = (option: string, kind: string, given: ReadonlyArray<string>, names: ReadonlyArray<string>) => {
  const unknown = given.find((name) => !names.includes(name))
  return unknown === undefined
    ? []
    : [`${option}: there is no ${kind} '${unknown}'. ${suggestion(unknown, names, names.length)}`]
}

/** The tools of a selection, in their order, or what is wrong with it. */
export const select = (selection: Selection): Result.Result<ReadonlyArray<Any>, string> => {
  const names = all.map(({ name }) => name)
  const [wrong] = [
    ...unknownName("--toolsets", "toolset", selection.toolsets, ["all", ...Object.keys(toolsets)]),
    ...unknownName("--tools", "tool", selection.tools, names),
    ...unknownName("--exclude-tools", "tool", selection.excludeTools, names)
  ]
  if (wrong !== undefined) return Result.fail(wrong)
  const nothingChosen = selection.toolsets.length === 0 && selection.tools.length === 0
  const chosen: ReadonlySet<Tool.Any> = new Set(
    Object.entries(toolsets).flatMap(([name, tools]): ReadonlyArray<Tool.Any> =>
      nothingChosen || selection.toolsets.includes("all") || selection.toolsets.includes(name) ? tools : []
    )
  )
  const ofFiles: ReadonlySet<Tool.Any> = new Set(toolsets.files)
  const selected = all.filter((tool) =>
    (chosen.has(tool) || selection.tools.includes(tool.name)) &&
    !selection.excludeTools.includes(tool.name) &&
    (selection.files || !ofFiles.has(tool))
  )
  return selected.length === 0 ? Result.fail("No tool is left: choose fewer to exclude") : Result.succeed(selected)
}
