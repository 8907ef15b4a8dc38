/** Places of secrets in a workflow outside of credentials, without their values. Pure. */
import { arr, type Obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf } from "../n8n/model/Workflow.ts"

const sentence = (name: string | undefined, path: string) =>
  `${name === undefined ? path : `'${name}': ${path}`} contains a literal secret: store it in a credential instead`

/** Secrets in each node, then in the rest: the part, where it starts, the path from there, and what redaction shows. */
export const inParts = ({ nodes, ...rest }: Obj) => {
  const parts: ReadonlyArray<readonly [start: JsonPath.Path, part: unknown]> = [
    ...arr(nodes).map((node, index) => [["nodes", index], node] as const),
    [[], rest]
  ]
  return parts.flatMap(([start, part]) => {
    const paths = Redact.places(part)
    const shown = paths.length === 0 ? part : Redact.redact(part)
    return paths.map((path) => ({ start, part, path, shown: JsonPath.get(shown, path) }))
  })
}

/** Words and marks of examples: `YOUR_API_KEY`, `<token>`, `[add yours]`, `xxxx`, `****`, `$TOKEN`, `{{ … }}`. */
const example = new RegExp(
  "(?<![a-z])(?:enter|insert|replace|add|fill|put|paste|example|sample|demo|dummy|change|placeholder|todo|your|here)(?![a-z\\d])" +
    // As a part of a word, as in `yourtoken`, only where no digit makes it a password.
    "|^\\D*(?:(?<![a-z])your|here(?![a-z]))\\D*$" +
    "|x{4}|\\*{4}|^[^a-z0-9]*(?:bearer|basic|bot)?[^a-z0-9]*[<[{$…]",
  "i"
)

/** Parts of a text between these pieces; `undefined` if it does not consist of them. */
export const between = (text: string, [first = "", ...pieces]: ReadonlyArray<string>) => {
  if (!text.startsWith(first)) return undefined
  let at = first.length
  const parts: Array<string> = []
  for (const [index, piece] of pieces.entries()) {
    const end = index === pieces.length - 1 ? text.length - piece.length : text.indexOf(piece, at)
    if (end < at || !text.startsWith(piece, end)) return undefined
    parts.push(text.slice(at, end))
    at = end + piece.length
  }
  return parts
}

/** Whether what redaction hides in a value only shows where a secret belongs. */
const isExample = (value: unknown, shown: unknown) =>
  typeof value === "string" && typeof shown === "string" &&
  between(value, shown.split(Redact.marker))?.every((text) => text.trim().length < 6 || example.test(text)) === true

const select = (workflow: Obj, examples: boolean) =>
  inParts(workflow)
    .filter(({ part, path, shown }) => isExample(JsonPath.get(part, path), shown) === examples)
    .map(({ part, path, start }) => ({
      node: start.length > 0 && nameOf(part) || undefined,
      path: JsonPath.print(path),
      at: JsonPath.print([...start, ...path])
    }))

/** Places of secrets, those in nodes first: `at` in the workflow; `path` in the node, if there is one. */
export const places = (workflow: Obj) => select(workflow, false)

/** Places of placeholders, which only show where a secret belongs. */
export const placeholders = (workflow: Obj) => select(workflow, true)

/** A line for each secret, such as `'HTTP Request': parameters.url contains a literal secret …`. */
export const warnings = (workflow: Obj): ReadonlyArray<string> =>
  places(workflow).map(({ node, path }) => sentence(node, path))
