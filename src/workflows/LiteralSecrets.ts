/** Places of secrets in a workflow outside of credentials, without their values. Pure. */
import { arr, type Obj } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import { nameOf } from "../n8n/model/Workflow.ts"

const maxPlaces = 10

const sentence = (name: string | undefined, path: string) =>
  `${name === undefined ? path : `'${name}': ${path}`} contains a literal secret: store it in a credential instead`

/** All places, those in nodes first: `at` in the workflow; `path` in the node, if there is one. */
export const places = ({ nodes, ...rest }: Obj) => [
  ...arr(nodes).flatMap((node, index) =>
    Redact.places(node).map((path) => ({ node: nameOf(node) || undefined, path, at: `nodes[${index}].${path}` }))
  ),
  ...Redact.places(rest).map((path) => ({ node: undefined, path, at: path }))
]

/** A line for each place, such as `'HTTP Request': parameters.url contains a literal secret …`; ten, then a count. */
export const warnings = (workflow: Obj): ReadonlyArray<string> => {
  const all = places(workflow).map(({ node, path }) => sentence(node, path))
  return all.length > maxPlaces ? [...all.slice(0, maxPlaces), `${all.length - maxPlaces} more literal secrets`] : all
}
