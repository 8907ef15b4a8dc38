/** Paths that a comparison ignores: `email`, `'Map contact'.email`, `lines[].price`, `$binary.file`. Pure. */
import * as JsonPath from "../../base/JsonPath.ts"

export type Steps = ReadonlyArray<JsonPath.Step>

/** Path at one node, or at all. */
export interface Ignored {
  readonly node?: string
  readonly steps: Steps
}

/** Step to any element of a list. */
const anyElement = "[]"

const quotedName = /^\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(?:\.|(?=\[))/u

/** Reads a path; `undefined` if it cannot be parsed. */
export const parse = (text: string): Ignored | undefined => {
  const name = quotedName.exec(text)
  const path = text.slice(name?.[0].length ?? 0).replace(/^\s*\$json(?=[.[])\.?/, "")
  const steps = JsonPath.parse(path.replaceAll("[]", `["${anyElement}"]`))
  const node = (name?.[1] ?? name?.[2])?.replace(/\\(.)/g, "$1")
  return steps === undefined ? undefined : node === undefined ? { steps } : { node, steps }
}

/** Rests of the paths that begin with a step. */
export const below = (paths: ReadonlyArray<Steps>, step: JsonPath.Step): ReadonlyArray<Steps> =>
  paths.length === 0 ?
    paths :
    paths.flatMap(([head, ...rest]) =>
      String(head) === String(step) || head === anyElement && typeof step === "number" ? [rest] : []
    )

/** Whether a path is one of these or below it. */
export const covers = (paths: ReadonlyArray<Steps>, path: Steps): boolean => {
  const [step, ...rest] = path
  return paths.some((each) => each.length === 0) || step !== undefined && paths.length > 0 &&
      covers(below(paths, step), rest)
}
