import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Hints from "../../answer/Hints.ts"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { suggestion } from "../../base/Nearest.ts"
import { namedNodes, nameOf, versionedKeys } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type * as WorkflowDiff from "../../workflow/diff/WorkflowDiff.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as differences from "../shared/Differences.ts"
import * as parameters from "../shared/Parameters.ts"
import * as page from "../shared/WorkflowPage.ts"

/** References to the two workflows to compare; without `b`, `a` determines both. */
const ends = Effect.fnUntraced(function*(a: string, b: string | undefined) {
  const { place, version } = Reference.parse(a)
  const id = place.kind === "file" ? place.path : place.id
  if (b !== undefined) return [a, Reference.isShort(b) ? Reference.format(id, b) : b] as const
  if (version !== undefined) return [a, id] as const
  if (place.kind !== "n8n") {
    return yield* parameters.invalid(
      "b",
      "A file needs another workflow to compare with",
      "Set b to another file, or to a workflow on n8n."
    )
  }
  const { active } = yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
  if (!active) {
    return yield* parameters.invalid(
      "a",
      `Workflow '${id}' is not published, so there is no other version to compare it with`,
      parameters.callTools(
        ["workflow_history"],
        `Name a version from workflow_history(id: '${id}'), as in a: '${id}@VERSION'.`
      )
    )
  }
  return [Reference.format(id, Reference.published), id] as const
})

const namesIn = (workflow: WorkflowDiff.Document) => namedNodes(workflow).map(nameOf)

const everyNode = "*"

export const workflowDiff = Tool.make({
  name: "workflow_diff",
  title: "Compare workflows",
  app: page.app,
  searchHint: "what changed, difference, compare versions, draft and published, file and n8n, which change broke it",
  description: "How does workflow b differ from a? Default: the current one, or published and draft.",
  annotations: Tool.readOnly,
  scopes: ["workflow:read"],
  unlisted: { offset: "never" },
  input: Schema.Struct({
    a: parameters.referenceFor("a"),
    b: Schema.optionalKey(parameters.referenceFor("b", "Same forms.")),
    node: parameters.optional(Schema.String, "Only this node, in full; *: all."),
    offset: parameters.rowOffset
  }),
  output: Schema.Struct({
    from: Schema.String,
    to: Schema.String,
    ...differences.fields,
    note: Schema.optionalKey(Schema.String)
  }),
  handler: ({ a, b, node }) =>
    Effect.gen(function*() {
      const [from, to] = yield* ends(a, b)
      const [before, after] = yield* Effect.all([
        Workflows.document(from, "a"),
        Workflows.document(to, b === undefined ? "a" : "b")
      ], { concurrency: 2 })
      const names = [...namesIn(after.workflow), ...namesIn(before.workflow)]
      const only = node === everyNode ? undefined : node
      if (only !== undefined && !names.includes(only)) {
        return yield* parameters.invalid("node", `Neither workflow has a node '${only}'`, suggestion(only, names))
      }
      const isOther = before.workflow["id"] !== after.workflow["id"]
      const isWhole = before.current === undefined && after.current === undefined
      const compared = ({ workflow }: { readonly workflow: WorkflowDiff.Document }) =>
        isWhole ? workflow : Struct.pick(workflow, versionedKeys)
      const view = yield* differences.view(compared(before), compared(after), { isOther, node: only })
      return {
        from,
        to,
        view: isWhole || only !== undefined ? view : { ...view, settings: "unknown: n8n's versions have none" },
        before: before.workflow,
        after: after.workflow,
        notes: [...new Set([...before.notes, ...after.notes])]
      }
    }),
  summarize: ({ from, notes, to, view }) =>
    defined({ from, to, ...view, note: notes.length === 0 ? undefined : notes.join(" ") }),
  view: ({ after, before }) => page.view(after, { _tag: "Difference", before }),
  message: ({ from, to }) => ({ en: `From '${from}' to '${to}'`, ja: "ワークフローを比較しました" }),
  paged: ["nodes"],
  next: ({ a, b, node }) => (path) =>
    node === undefined && path.startsWith("nodes") ? Hints.call("workflow_diff", { a, b, node: everyNode }) : undefined,
  budget: (_, { node }) => node === undefined ? differences.budget(2_200) : {}
})
