/**
 * Edits of a workflow, for `WorkflowStore.write`: the operations of workflow_edit.
 *
 * Nodes go by name or id. A dry run has the changes; its `patch`, expected on its `before`, writes exactly these.
 *
 * **Example** (Another type for a node, whose connections and fitting parameters stay)
 *
 * ```ts
 * import { Services, WorkflowEdit, WorkflowStore } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const modernize = (id: string) =>
 *   Effect.gen(function*() {
 *     const { write } = yield* WorkflowStore.WorkflowStore
 *     const place = { kind: "n8n", id } as const
 *     const edit = WorkflowEdit.all(
 *       WorkflowEdit.replaceNode({ node: "Old", type: "n8n-nodes-base.noOp" }),
 *       WorkflowEdit.renameNode({ node: "Old", to: "New" })
 *     )
 *     const { before, changed, patch } = yield* write(place, edit, { dryRun: true })
 *     yield* Effect.logInfo(changed)
 *     return (yield* write(place, patch, { expected: before })).changed
 *   })
 *
 * const node = { id: "a", name: "Old", type: "n8n-nodes-base.set", typeVersion: 1, position: [0, 0], parameters: {} }
 * const workflow = { id: "1", name: "Orders", nodes: [node], connections: {} }
 *
 * export const test = modernize("1").pipe(
 *   Effect.provide(Layer.merge(FakeN8n.layer({ workflows: [workflow] }), Services.layerMemory))
 * )
 * ```
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { defined, equals, mapValues, type Obj, obj } from "../base/Json.ts"
import * as Turn from "../base/Turn.ts"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import * as WorkflowEdit from "../workflow/edit/WorkflowEdit.ts"
import * as NodeLookups from "./NodeLookups.ts"
import type { Patch } from "./store/Outcome.ts"

/** Change of a workflow: the parts that differ afterwards. */
export type Edit = (before: Obj) => Effect.Effect<Patch, Errors.N8nError, N8nClient | NodeCatalogue>

export type { Fields, Operation, OperationName } from "../workflow/edit/WorkflowEdit.ts"

/** Parts of a workflow that an edit may change. @internal */
export const editableKeys = ["name", "nodes", "connections", "settings", "pinData", "nodeGroups"] as const

/** Parts of a workflow that differ. @internal */
export const patchOf = (before: Obj, after: Obj): Patch =>
  Object.fromEntries(editableKeys.flatMap((key) =>
    equals(before[key], after[key]) ? [] : [[
      key,
      // A write leaves settings alone that it does not name.
      key === "settings" ? { ...mapValues(obj(before[key]) ?? {}, () => null), ...obj(after[key]) } : after[key]
    ]]
  ))

const refused = ({ field, hint, message }: WorkflowEdit.Refusal) =>
  new Errors.ValidationError({ reason: message, field, hint: ["Nothing was changed.", hint].flat() })

const calleeOf = (id: string) =>
  N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
    Effect.map((workflow): readonly [string, Obj | undefined] => [id, workflow]),
    Effect.catchTag("NotFoundError", () => Effect.succeed([id, undefined] as const))
  )

/** Applies operations, with the node types that they need. @internal */
export const apply = Effect.fnUntraced(function*(workflow: Obj, operations: ReadonlyArray<WorkflowEdit.Operation>) {
  const callees = new Map(yield* Effect.forEach(WorkflowEdit.calleesOf(operations), calleeOf))
  const nodeTypes = {
    ...(yield* NodeLookups.make(
      WorkflowEdit.typesOf(workflow, operations),
      yield* N8nClient.use((n8n) => n8n.release)
    )),
    newId: () => crypto.randomUUID(),
    callee: (id: string) => callees.get(id)
  }
  const attempt = yield* Turn.run(() => WorkflowEdit.steps(workflow, operations, nodeTypes))
  const edited = yield* Effect.mapError(Effect.fromResult(attempt), refused)
  return { ...edited, lookups: nodeTypes }
})

const decode = Input.decoder(Schema.Struct({ operations: Schema.Array(WorkflowEdit.Operation) }))

/** Applies operations in order, all or nothing. */
export const operations = (...operations: ReadonlyArray<WorkflowEdit.Operation>): Edit =>
  Effect.fnUntraced(function*(before) {
    const decoded = yield* decode({ operations: operations.map(defined) })
    const { created, workflow } = yield* apply(before, decoded.operations)
    if (created.length === 0) return patchOf(before, workflow)
    return yield* Errors.invalid(
      "operations",
      "An edit of a program cannot create the workflow that an extraction calls",
      "Extract with the workflowId of one that exists."
    )
  })

/** Applies edits one after the other, all or nothing. */
export const all = (...edits: ReadonlyArray<Edit>): Edit => (before) =>
  Effect.map(
    Effect.reduce(edits, () =>
      before, (workflow, edit) =>
      Effect.map(edit(workflow), (patch) => ({ ...workflow, ...patch }))),
    (workflow) =>
      patchOf(before, workflow)
  )

const of = <const O extends WorkflowEdit.OperationName>(op: O) => (fields: WorkflowEdit.Fields<O>): Edit =>
  // The compiler does not know that the operation of a name has the fields of that name.
  operations({ op, ...fields } as never)

/** Adds a node, connected behind `after`. */
export const addNode = of("add")

/** Changes a node's properties; `parameters` is a merge patch, in which null removes. */
export const updateNode = of("update")

/** Sets the value at a path below a node's parameters, such as `rules.values[2]`; null removes. */
export const setParameter = of("set")

/** Replaces a literal text in the value at a path below a node's parameters. */
export const replaceText = of("replace")

/** Gives a node another type; what fits of its connections, parameters and credentials stays. */
export const replaceNode = of("replaceNode")

/** Renames a node, also in connections and expressions. */
export const renameNode = of("rename")

/** Removes a node with its connections. */
export const removeNode = of("remove")

/** Enables a node. */
export const enableNode = of("enable")

/** Disables a node. */
export const disableNode = of("disable")

/** Moves a node. */
export const moveNode = of("move")

/** Connects two nodes; a port is an index or a name. */
export const connect = of("connect")

/** Removes a connection. */
export const disconnect = of("disconnect")

/** Changes settings of the workflow; null removes one. */
export const settings = of("settings")

/** Renames the workflow. */
export const name = of("name")

/** Arranges the nodes. */
export const tidy = of("tidy")

/** Upgrades a node, or all, to the newest version that this n8n has. */
export const upgrade = of("upgrade")

/** Replaces nodes by a call of an existing workflow. */
export const extract = of("extract")
