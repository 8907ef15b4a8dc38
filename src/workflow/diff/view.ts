/** Differences between two states of a workflow, in the form that a reader sees. */
import * as Difference from "../../base/Difference.ts"
import { defined, equals, type Obj, obj, str } from "../../base/Json.ts"
import * as Turn from "../../base/Turn.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { type Document, make, plainName, relevant, type WorkflowDiff } from "./changes.ts"
import * as TextDiff from "./TextDiff.ts"

/** One changed value: before and after, shortened around the change, or the hunks of a unified diff for a long text. */
export interface FieldView {
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  readonly diff?: string
}

/** Change of a node, for readers. */
export interface NodeView {
  readonly node: string
  readonly change: "added" | "removed" | "changed" | "renamed"
  readonly formerName?: string
  readonly type?: string
  readonly fields?: ReadonlyArray<FieldView>
}

/** Differences, for readers. */
export interface View {
  /** Whether nothing but positions differs. */
  readonly same: boolean
  readonly moved: number
  readonly nodes: ReadonlyArray<NodeView>
  /** Links such as `If.true → Slack`. */
  readonly connections: { readonly added: ReadonlyArray<string>; readonly removed: ReadonlyArray<string> }
  readonly settings?: ReadonlyArray<FieldView>
  readonly name?: { readonly before: unknown; readonly after: unknown }
  /** Pinned data, static data, groups and description. */
  readonly other?: ReadonlyArray<FieldView>
}

/** Name in the editor of the output that a link starts from, such as `true` of an If, if it has one. */
export type PortName = (
  link: Connections.Link,
  state: "before" | "after"
) => string | undefined

const end = (node: string, port: Connections.Port, name?: string) => {
  if (name !== undefined) return `${node}.${name}`
  return port.type === "main" && port.index === 0 ? node : `${node}.${Connections.portLabel(port)}`
}

const linkView = (link: Connections.Link, state: "before" | "after", portName: PortName) =>
  `${end(plainName(link.from), link.output, portName(link, state))} → ${end(plainName(link.to), link.input)}`

/** A link whose port only changed its index has the same names on both sides and is omitted. */
const linksView = ({ added, removed }: WorkflowDiff["links"], portName: PortName): View["connections"] => {
  const appeared = added.map((link) => linkView(link, "after", portName))
  const disappeared = removed.map((link) => linkView(link, "before", portName))
  const [before, after] = [new Set(disappeared), new Set(appeared)]
  return {
    added: appeared.filter((link) => !before.has(link)),
    removed: disappeared.filter((link) => !after.has(link))
  }
}

const fieldView = (isWhole: boolean) => ({ after, before, path }: Difference.Field): FieldView => {
  if (typeof before === "string" && typeof after === "string") {
    if (/\n/.test(before) || /\n/.test(after)) return { path, diff: TextDiff.hunks(before, after) }
    if (!isWhole && before.length + after.length > 2 * TextDiff.longText) {
      const [from, to] = TextDiff.excerpts(before, after, TextDiff.longText)
      return { path, before: from, after: to }
    }
  }
  return defined({ path, before, after })
}

/** The fields of an added node that decide what it does. */
const wholeView = ({ id: _, name: __, position: ___, type: ____, webhookId: _____, ...rest }: Obj) =>
  Object.entries(rest).flatMap(([path, after]): ReadonlyArray<FieldView> => equals(after, {}) ? [] : [{ path, after }])

/** Differences for readers; `portName` has the editor's names of ports, `node` shows one node in full. */
export const view = (
  diff: WorkflowDiff,
  options: { readonly node?: string | undefined; readonly portName?: PortName } = {}
): View => Turn.finish(viewSteps(diff, options))

/** {@link view} in steps: a node each. @internal */
export const viewSteps = function*(
  { links, nodes, rest }: WorkflowDiff,
  { node, portName = () => undefined }: NonNullable<Parameters<typeof view>[1]>
): Turn.Steps<View> {
  const shown = nodes.filter(({ change, formerName, name }) =>
    change !== "moved" && (node === undefined || name === node || formerName === node)
  )
  const touches = ({ from, to }: Connections.Link) =>
    node === undefined || plainName(from) === node || plainName(to) === node
  const restFields = Difference.fields(rest ?? [])
  const isSetting = ({ path }: Difference.Field) => /^settings(?![\p{ID_Continue}$])/u.test(path)
  const settings = restFields.filter(isSetting)
  const name = restFields.find(({ path }) => path === "name")
  const other = restFields.filter((field) => field !== name && !settings.includes(field))
  return defined({
    same: nodes.every(({ change }) => change === "moved") && links.added.length + links.removed.length === 0 &&
      rest === undefined,
    moved: nodes.filter(({ position }) => position !== undefined).length,
    nodes: yield* Turn.flatMap(shown, ({ change, formerName, name, value }): ReadonlyArray<NodeView> => {
      const only = value?.[0]
      const whole = only?.steps.length === 0 ? obj(only.after) ?? obj(only.before) : undefined
      const fields = value === undefined || whole !== undefined && node === undefined
        ? change === "added" ? wholeView(whole ?? {}) : undefined
        : relevant(value).map(fieldView(node !== undefined))
      return [defined({
        node: name,
        change: change === "moved" ? "changed" as const : change,
        formerName,
        type: str(whole?.["type"]),
        fields
      })]
    }),
    connections: linksView({ added: links.added.filter(touches), removed: links.removed.filter(touches) }, portName),
    settings: settings.length === 0 || node !== undefined ? undefined : settings.map(fieldView(false)),
    name: name === undefined || node !== undefined ? undefined : { before: name.before, after: name.after },
    other: other.length === 0 || node !== undefined ? undefined : other.map(fieldView(false))
  })
}

/** Whether both states are equal apart from the positions of nodes. */
export const isSame = (before: Document, after: Document): boolean => view(make(before, after)).same
