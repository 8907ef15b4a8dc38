/** Choice of the served tools by command-line options, by names only: a lean start has not loaded the tools. Imports nothing. */

/** Options of a choice. Without toolsets and tools, the default tools are served. */
export interface Selection {
  /** Names of toolsets; `all` selects every toolset. */
  readonly toolsets: ReadonlyArray<string>
  /** Names of single tools to serve in addition to the toolsets. */
  readonly tools: ReadonlyArray<string>
  /** Names of tools that are never served. */
  readonly excludeTools: ReadonlyArray<string>
  /** Whether the file tools have a folder to work in. */
  readonly hasFiles: boolean
  /** Whether environment variables are declared for the secrets of new credentials. */
  readonly credentialEnv: boolean
}

/** Names of all tools, in the order clients see them, and of those with conditions. */
export interface Names {
  readonly all: ReadonlyArray<string>
  readonly toolsets: { readonly [name: string]: ReadonlyArray<string> }
  readonly byDefault: ReadonlyArray<string>
  /** Names of the tools that need a folder. */
  readonly files: ReadonlyArray<string>
  /** Name of the tool that needs environment variables with secrets. */
  readonly credentialCreate: string
  /** Name of the tool whose presence lists the parameters for projects of other tools, which cost tokens. */
  readonly projectList: string
}

/** Reason why a selection is refused. */
export type Fault =
  | { readonly _tag: "Unknown"; readonly kind: "toolset" | "tool"; readonly option: string; readonly name: string }
  | { readonly _tag: "NoSecrets" }
  | { readonly _tag: "Nothing" }

/** Names of toolsets and tools that a selection may contain. */
export const choices = ({ all, toolsets }: Names) => ({ toolset: ["all", ...Object.keys(toolsets)], tool: all })

/** Names of the selected tools, or the reason why the selection is refused. */
export const choose = (names: Names, selection: Selection): ReadonlySet<string> | Fault => {
  const { all, credentialCreate, toolsets } = names
  const valid = choices(names)
  for (
    const [option, kind, own] of [
      ["--toolsets", "toolset", selection.toolsets],
      ["--tools", "tool", selection.tools],
      ["--exclude-tools", "tool", selection.excludeTools]
    ] as const
  ) {
    const name = own.find((each) => !valid[kind].includes(each))
    if (name !== undefined) return { _tag: "Unknown", kind, option, name }
  }
  if (selection.tools.includes(credentialCreate) && !selection.credentialEnv) return { _tag: "NoSecrets" }
  const isDefault = selection.toolsets.length === 0 && selection.tools.length === 0
  const choice = isDefault
    ? [...names.byDefault, credentialCreate]
    : selection.toolsets.includes("all")
    ? all
    : [...selection.toolsets.flatMap((name) => toolsets[name] ?? []), ...selection.tools]
  const result = all.filter((name) =>
    choice.includes(name) &&
    !selection.excludeTools.includes(name) &&
    (selection.hasFiles || !names.files.includes(name)) &&
    (selection.credentialEnv || name !== credentialCreate)
  )
  return result.length === 0 ? { _tag: "Nothing" } : new Set(result)
}
