/** Creation of copies on an n8n that refuses deprecated nodes: they are upgraded in the copy, never in the workflow. */
import * as Effect from "effect/Effect"
import type * as Errors from "../base/Errors.ts"
import { arr, type Obj } from "../base/Json.ts"
import * as Visible from "../base/Visible.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { WriteGuard } from "../n8n/WriteGuard.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as Upgrade from "../workflows/upgrade/Upgrade.ts"
import { cannotRun } from "./checks.ts"
import * as TestCopies from "./TestCopies.ts"

type Body = Obj & { readonly name: string; readonly nodes?: unknown }

/** Workflow of a copy. */
interface Source {
  readonly name: string
  readonly projectId: string | undefined
  readonly release: string | undefined
}

const unknown = { why: "No upgrade of its type is known.", decision: "Replace it by a node that this n8n accepts." }

/** Copy without the refused nodes; a disabled one that cannot be upgraded only passes items on. */
const upgradedBody = Effect.fnUntraced(function*(body: Body, { name, release }: Source, error: Errors.ApiError) {
  const lookups = yield* NodeLookups.make(Upgrade.types(body), release)
  const names = Deprecated.refusedNodes(error.reason.details).map(({ node }) => node)
  const { left, upgraded, workflow } = Upgrade.upgrade(body, names, lookups)
  const done = new Set(upgraded.map(({ node }) => node))
  const nodes = Workflow.nodes(workflow)
  const stuck = nodes.filter((node) => names.includes(Workflow.nameOf(node)) && !done.has(Workflow.nameOf(node)))
  const reasons = stuck.flatMap((node) => {
    const own = Workflow.nameOf(node)
    const { decision, why } = left.find(({ node }) => node === own) ?? unknown
    return node["disabled"] === true ? [] : [`'${Visible.label(own)}': ${why} ${decision}`]
  })
  if (stuck.length === 0 && upgraded.length === 0) return yield* error
  if (reasons.length > 0) {
    return yield* cannotRun(name, {
      message: `this n8n refuses deprecated nodes, and they cannot be upgraded in the copy. ${
        reasons.slice(0, 5).join(" ")
      }`,
      field: "workflowId",
      hint: "Nothing ran. Replace them, or test on an n8n with N8N_DEPRECATED_NODES_BLOCK=false."
    })
  }
  const idle = new Set(stuck)
  const next: Body = {
    ...body,
    ...workflow,
    nodes: arr(workflow["nodes"]).map((entry, index) => {
      const node = nodes[index]
      return node === undefined || !idle.has(node) ? entry : { ...node, type: "n8n-nodes-base.noOp", typeVersion: 1 }
    })
  }
  yield* WriteGuard.use(({ checkTest }) => checkTest(nodes.filter((node) => done.has(Workflow.nameOf(node)))))
  return { body: next, upgraded }
})

/** Creates a copy, and again with its deprecated nodes upgraded if n8n refuses these. */
export const create = (body: Body, source: Source) =>
  TestCopies.create(body, source.projectId).pipe(
    Effect.map(({ id }) => ({ id, upgraded: [] as ReadonlyArray<Upgrade.Upgraded> })),
    Effect.catchIf(Deprecated.isRefusal, (error) =>
      Effect.gen(function*() {
        const { body: next, upgraded } = yield* upgradedBody(body, source, error)
        const { id } = yield* TestCopies.create(next, source.projectId)
        return { id, upgraded }
      }))
  )

/** Note for an answer: the nodes that ran as others than those of the workflow. */
export const note = (upgraded: ReadonlyArray<Upgrade.Upgraded>): string | undefined =>
  upgraded.length === 0
    ? undefined
    : `This n8n refuses deprecated nodes; upgraded in the copy only: ${
      upgraded.slice(0, 8).map(({ from, node, to }) => `'${Visible.label(node)}' (${from} → ${to})`).join(", ")
    }${upgraded.length > 8 ? ` and ${upgraded.length - 8} more` : ""}.`
