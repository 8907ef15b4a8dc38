/** Secrets that stand in a workflow itself, not in a credential: where they are, never what. Pure. */
import { arr, type Obj } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf } from "../n8n/model/Workflow.ts"

/** More places than these are counted. */
const maxPlaces = 10

const sentence = (name: string | undefined, path: string) =>
  `${name === undefined ? path : `'${name}': ${path}`} contains a literal secret: store it in a credential instead`

/** A secret in a workflow: the node that holds it, and the path in that node (or, without a node, in the workflow). */
export interface Place {
  readonly node: string | undefined
  readonly path: string
}

/** Every place, those of nodes first. */
export const places = ({ nodes, ...rest }: Obj): ReadonlyArray<Place> => [
  ...arr(nodes).flatMap((node) => Redact.places(node).map((path) => ({ node: nameOf(node) || undefined, path }))),
  ...Redact.places(rest).map((path) => ({ node: undefined, path }))
]

/** A line for each place, such as `'HTTP Request': parameters.url holds a literal secret …`; the first ten and a count. */
export const warnings = (workflow: Obj): ReadonlyArray<string> => {
  const all = places(workflow).map(({ node, path }) => sentence(node, path))
  return all.length > maxPlaces ? [...all.slice(0, maxPlaces), `${all.length - maxPlaces} more literal secrets`] : all
}
