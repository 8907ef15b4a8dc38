/** Facts about a node type for the connected n8n: notes, and available versions. */
import * as NodeType from "./NodeType.ts"
import * as ParameterView from "./ParameterView.ts"
import * as Releases from "./Releases.ts"

/** Facts about the n8n that the answer is for, and about the type besides its descriptions. */
export interface Background {
  /** n8n release of the types. */
  readonly release: string
  readonly releases: Releases.Releases
  readonly connected?: string | undefined
  readonly successors?: ReadonlyArray<string> | undefined
  /** Looks up the types that serve others; without it, the answer does not name them. */
  readonly find?: ((type: string) => NodeType.NodeType | undefined) | undefined
}

const longestAdvice = 300

const toolNote =
  "An agent knows the node by its name (letters, digits, _) and its description; its model fills in a value that is " +
  "={{ $fromAI('orderId', 'what it is', 'string') }} (or 'number', 'boolean', 'json')."

/** Differences between the connected n8n and this release, as far as they are known. */
const onConnected = (type: string, version: number, { connected, release, releases }: Background) => {
  if (connected === undefined) return []
  if (Releases.isTypeLacked(releases, type, connected)) {
    return [`n8n ${connected}, which is connected, lacks this type.`]
  }
  if (Releases.isLacked(releases, type, version, connected)) {
    return [`n8n ${connected}, which is connected, lacks version ${version}.`]
  }
  return Releases.isNewer(connected, release)
    ? [`n8n ${connected}, which is connected, may have newer versions: these are of n8n ${release}.`]
    : []
}

const onDeprecation = ({ successors }: Background) =>
  successors === undefined
    ? []
    : [successors.length === 0 ? "Deprecated, without a successor." : `Deprecated: use ${successors.join(", ")}.`]

/** Facts to know before using the node. */
export const notesOf = (
  { builderHint, credentials = [] }: NodeType.Description,
  version: number,
  { background, isTool, type }: { readonly type: string; readonly isTool: boolean; readonly background: Background }
) => {
  const advice = ParameterView.advice(builderHint?.searchHint, longestAdvice)
  const notes = [
    ...onConnected(type, version, background),
    ...onDeprecation(background),
    ...isTool ? [toolNote] : [],
    ...credentials.slice(0, 1).map(({ name }) => `Beside parameters: credentials: {"${name}": {id, name}}.`),
    ...advice === undefined ? [] : [advice]
  ]
  return notes.length === 0 ? undefined : notes
}

/** Versions that the connected n8n has, or all if it has none of them. */
export const versionsFor = (nodeType: NodeType.NodeType, { connected, releases }: Background) => {
  const all = NodeType.versions(nodeType)
  if (connected === undefined) return all
  const available = all.filter((version) =>
    !Releases.isLacked(releases, nodeType.base ?? nodeType.type, version, connected)
  )
  return available.length === 0 ? all : available
}
