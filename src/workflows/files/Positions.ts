/** Lines of the parts of a workflow in the text of its file. Pure. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Jsonc from "jsonc-parser"
import type { Place } from "../../base/JsonText.ts"

/** A part and the rest of the path to another part in it. */
type At = readonly [node: Jsonc.Node, start: number, rest: string]

/** Ways in which a path names a key; names of nodes are usually not quoted. */
const spellings = (key: string) => [`.${key}`, key, `["${key.replace(/["\\]/g, "\\$&")}"]`]

const inObject = (properties: ReadonlyArray<Jsonc.Node>, rest: string): At | undefined => {
  let best: At | undefined
  for (const { children: [key, value] = [], offset } of properties) {
    if (value === undefined) continue
    for (const spelling of spellings(String(key?.value))) {
      const after = rest.slice(spelling.length)
      // Names contain dots and brackets, so the longest wins; of equal keys the last, as in JSON.parse.
      if (rest.startsWith(spelling) && /^(?:$|[.[])/.test(after) && after.length <= (best?.[2].length ?? Infinity)) {
        best = [value, offset, after]
      }
    }
  }
  return best
}

const inArray = (elements: ReadonlyArray<Jsonc.Node>, rest: string): At | undefined => {
  const [brackets = "", index = ""] = /^\[(\d+)\]/.exec(rest) ?? []
  const element = brackets === "" ? undefined : elements[Number(index)]
  return element && [element, element.offset, rest.slice(brackets.length)]
}

const offsetOf = (root: Jsonc.Node, path: string): number => {
  let at: At = [root, root.offset, path]
  for (;;) {
    const [{ children = [], type }, start, rest] = at
    const next = rest === "" ? undefined : type === "object" ? inObject(children, rest) : inArray(children, rest)
    if (next === undefined) return start
    at = next
  }
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
    const offset = offsetOf(root, path)
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = low + high >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}
