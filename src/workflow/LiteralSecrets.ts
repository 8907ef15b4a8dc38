/** Places of secrets in a workflow outside of credentials, without their values. Pure. */
import { arr, type Obj } from "../base/Json.ts"
import * as JsonPath from "../base/JsonPath.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf } from "../n8n/model/Workflow.ts"

const maxPlaces = 10

const sentence = (name: string | undefined, path: string) =>
  `${name === undefined ? path : `'${name}': ${path}`} contains a literal secret: store it in a credential instead`

/** All places, those in nodes first: `at` in the workflow; `path` in the node, if there is one. */
export const places = ({ nodes, ...rest }: Obj) => [
  ...arr(nodes).flatMap((node, index) =>
    Redact.places(node).map((path) => ({
      node: nameOf(node) || undefined,
      path: JsonPath.print(path),
      at: JsonPath.print(["nodes", index, ...path])
    }))
  ),
  ...Redact.places(rest).map((path) => JsonPath.print(path)).map((path) => ({ node: undefined, path, at: path }))
]

/** Words and marks of examples: `YOUR_API_KEY`, `<token>`, `[add yours]`, `xxxx`, `****`, `$TOKEN`, `{{ … }}`. */
const example = new RegExp(
  "(?<![a-z])(?:enter|insert|replace|add|fill|put|paste|example|sample|demo|dummy|change|placeholder|todo)(?![a-z])" +
    "|your|here|x{4}|\\*{4}|^[^a-z0-9]*(?:bearer|basic|bot)?[^a-z0-9]*[<[{$…]",
  "i"
)

const removed = (value: string, shown: string): ReadonlyArray<string> => {
  const [first = "", ...pieces] = shown.split(Redact.marker)
  let at = first.length
  return pieces.map((piece, index) => {
    const end = index === pieces.length - 1 ? value.length - piece.length : value.indexOf(piece, at)
    const text = value.slice(at, end)
    at = end + piece.length
    return text
  })
}

/** Whether the secrets at a path only show where one belongs. */
export const isExample = (workflow: Obj, path: string): boolean => {
  const steps = JsonPath.parse(path) ?? []
  const [value, shown] = [JsonPath.get(workflow, steps), JsonPath.get(Redact.redact(workflow), steps)]
  return typeof value === "string" && typeof shown === "string" &&
    removed(value, shown).every((text) => text.trim().length < 6 || example.test(text))
}

/** A line for each place, such as `'HTTP Request': parameters.url contains a literal secret …`; ten, then a count. */
export const warnings = (workflow: Obj): ReadonlyArray<string> => {
  const all = places(workflow).map(({ node, path }) => sentence(node, path))
  return all.length > maxPlaces ? [...all.slice(0, maxPlaces), `${all.length - maxPlaces} more literal secrets`] : all
}
