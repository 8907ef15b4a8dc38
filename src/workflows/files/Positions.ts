/** Lines of the parts of a workflow in the text of its file. Pure. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Place } from "../../base/JsonText.ts"

/** Start of the part at a path, or of the nearest around it; of equal keys the last counts, as in JSON.parse. */
const offsetOf = ({ children = [], type }: Jsonc.Node, [step, ...rest]: JsonPath.Path): number | undefined => {
  const part = type === "array"
    ? children[Number(step)]
    : children.findLast(({ children: [key, value] = [] }) => value !== undefined && key?.value === String(step))
  if (step === undefined || part === undefined) return undefined
  const inner = part.type === "property" ? part.children?.[1] : part
  return (inner && offsetOf(inner, rest)) ?? part.offset
}

/**
 * Finds the place of a path such as `nodes[3].parameters.url`, by default that of the nearest part around it. The text
 * is parsed once, with the first path.
 */
export const make = (text: string): (path: string) => Place => {
  let root: Jsonc.Node | undefined
  let starts: ReadonlyArray<number> | undefined
  return (path) => {
    root ??= Result.try(() => Jsonc.parseTree(text.replace(/^\uFEFF/, " "), undefined, { allowTrailingComma: true }))
      .pipe(
        Result.getSuccess,
        Option.flatMapNullishOr((tree) => tree),
        Option.getOrElse((): Jsonc.Node => ({ type: "null", offset: 0, length: 0 }))
      )
    starts ??= [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ 0: { length }, index }) => index + length)]
    const offset = offsetOf(root, JsonPath.parse(path) ?? []) ?? root.offset
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = low + high >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
