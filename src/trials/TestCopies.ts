/** Test copies on n8n: checks, creation (with deprecated nodes upgraded where n8n refuses them), and removal. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Struct from "effect/Struct"
import { randomUUID } from "node:crypto"
import { readlinkSync } from "node:fs"
import { hostname } from "node:os"
import type { Advice, Hint } from "../base/Advice.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { parser } from "../base/JavaScript.ts"
import { arr, type Obj } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import * as Fence from "../catalogue/code/Fence.ts"
import * as Deprecated from "../n8n/Deprecated.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { hasStatus, isV1, N8nClient } from "../n8n/N8nClient.ts"
import { IsTestCopy, WriteGuard } from "../n8n/WriteGuard.ts"
import * as Upgrade from "../workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../workflows/NodeLookups.ts"
import * as ReferenceProblems from "../workflows/ReferenceProblems.ts"
import { deleteUnpublished } from "../workflows/store/Publishing.ts"
import { Snapshots } from "../workflows/store/Snapshots.ts"
import { withoutRefused } from "../workflows/store/WorkflowBody.ts"
import * as WorkflowValidation from "../workflows/WorkflowValidation.ts"
import type { Copy } from "./TestCopy.ts"

export const cannotRun = (
  name: string,
  { message, ...rest }: { readonly message: string; readonly field: string; readonly hint: Hint }
) => new Errors.ValidationError({ reason: `'${Visible.label(name)}' cannot be run: ${message}`, ...rest })

const notRunnable = (name: string, message: string, advice: Advice) =>
  cannotRun(name, { message, field: "workflowId", hint: ["Nothing ran.", advice] })

/** Fails for a copy whose nodes lack credentials or call workflows that do not exist. */
export const checkRunnable = Effect.fnUntraced(function*(
  name: string,
  body: ReturnType<Copy["at"]>,
  release: string | undefined
) {
  if (release !== undefined && !isV1(release)) return
  const { missingCredentials } = yield* WorkflowValidation.validate(body, release)
  if (missingCredentials.length > 0) {
    return yield* notRunnable(
      name,
      Rows.listed(missingCredentials.map(({ node, type }) => `'${node}' needs the credential ${type}.`), 5, " "),
      { _tag: "SetCredentials" }
    )
  }
  const [faults = []] = yield* ReferenceProblems.judge([yield* ReferenceProblems.subject(body, true)])
  const fault = faults.find(({ severity }) => severity === "error")
  if (fault !== undefined) {
    return yield* notRunnable(name, `'${fault.node}': ${fault.message}`, { _tag: "ListExistingWorkflows" })
  }
})

/** PID namespace: containers have their own process ids. */
const namespace = () => {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return ""
  }
}

let machine: string | undefined

export const currentOwner = (): TestMark.Owner => {
  machine ??= sha256(`${hostname()} ${namespace()}`).slice(0, 8)
  return { machine, pid: process.pid }
}

const isGone = (owner: TestMark.Owner): boolean => {
  if (owner.machine !== currentOwner().machine) return false
  try {
    process.kill(owner.pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
}

export const list = N8nClient.use((n8n) =>
  n8n.listWorkflows({ name: TestMark.mark, archived: true, copies: true, limit: 100 })
).pipe(
  Effect.map(({ workflows }) => workflows.filter(TestMark.isCopy))
)

/** Unpublishes and deletes a copy, unless it is already gone. */
export const remove = Effect.fn("WorkflowTesting.remove")(function*(id: string) {
  const n8n = yield* N8nClient
  const unpublish = Effect.ignore(n8n.unpublishWorkflow(id))
  yield* unpublish
  // If a test is interrupted while n8n publishes its copy, n8n may publish it only after this.
  yield* Effect.catchTag(deleteUnpublished(id, unpublish), "NotFoundError", () => Effect.void)
})

/** Stops the unfinished executions of a copy. n8n 1.x cannot: there the copy's own timeout ends them. */
export const stopAll = Effect.fn("WorkflowTesting.stopAll")(function*(workflowId: string) {
  const n8n = yield* N8nClient
  for (const status of ["running", "waiting"] as const) {
    const { executions } = yield* n8n.listExecutions({ workflowId, status, limit: 20 })
    yield* Effect.forEach(executions, ({ id }) => Effect.ignore(n8n.stopExecution(String(id))), { discard: true })
  }
})

const removalSeconds = 30

/** Waits for the removal of a copy until the call's deadline: its result is worth more than a complete removal. */
const withinDeadline = Effect.fnUntraced(function*(removal: Effect.Effect<void, never, N8nClient>) {
  const left = yield* Deadline.left
  if (left === Infinity) return yield* removal
  const fiber = yield* Effect.forkDetach(removal)
  yield* Effect.timeoutOption(Effect.interruptible(Fiber.join(fiber)), left)
})

/** Copy that is removed when the scope closes; `isBusy` if executions of it may have to be stopped first. */
export const held = <A extends { readonly id: string }, E, R>(
  creation: Effect.Effect<A, E, R>,
  isBusy: (copy: A) => boolean
) => {
  const removal = (copy: A) =>
    (isBusy(copy) ? Effect.ignore(stopAll(copy.id)) : Effect.void).pipe(
      Effect.andThen(remove(copy.id)),
      Effect.catch((error) => Effect.logWarning(`test copy ${copy.id} could not be removed: ${error.message}`)),
      Deadline.renewed(removalSeconds)
    )
  return Effect.acquireRelease(
    creation,
    (copy, exit) => Exit.hasInterrupts(exit) ? removal(copy) : withinDeadline(removal(copy))
  )
}

/** Name of a copy without a webhook of ours, and the node that marks it as a copy: a disabled webhook is not called. */
export const markOf = (workflow: string) => {
  const path = randomUUID()
  return {
    name: TestMark.nameOf(workflow, currentOwner(), path.slice(0, 8)),
    node: {
      id: path,
      webhookId: path,
      name: `test_workflow call ${path.slice(0, 8)}`,
      type: "n8n-nodes-base.webhook",
      typeVersion: 2,
      position: [0, 0],
      disabled: true,
      parameters: { path, httpMethod: "POST" }
    }
  }
}

const sweepOne = Effect.fnUntraced(function*(id: string) {
  const n8n = yield* N8nClient
  const snapshots = yield* Snapshots
  const workflow = yield* n8n.getWorkflow(id)
  if (!TestMark.isCopy(workflow)) return
  yield* snapshots.save(n8n.instance, workflow, "test_workflow")
  yield* Effect.ignore(stopAll(id))
  yield* remove(id)
})

export const sweep = Effect.gen(function*() {
  const now = yield* Clock.currentTimeMillis
  const left = (yield* list).filter((workflow) => TestMark.isLeftover(workflow, now, isGone))
  yield* Effect.forEach(left, ({ id }) => Effect.ignore(sweepOne(id)), { discard: true })
  return left.length
}).pipe(Effect.withSpan("WorkflowTesting.sweep"))

const isRefused = (error: Errors.N8nError) =>
  error._tag === "NotFoundError" ||
  hasStatus(400, 403, 404)(error) && !Deprecated.isRefusal(error)

/** Creates a copy, in the project if n8n allows it; if n8n does not answer, the copy is looked up by name. */
export const create = Effect.fn("WorkflowTesting.create")(function*(
  body: Obj & { readonly name: string },
  projectId: string | undefined
) {
  const n8n = yield* N8nClient
  const post = (body: Obj) =>
    Effect.map(withoutRefused(body, (body) => n8n.createWorkflow(body as Workflow.New)), ({ workflow }) => workflow)
  const posted = projectId === undefined
    ? post(body)
    : Effect.catchIf(post({ ...body, projectId }), isRefused, () => post(body))
  return yield* posted.pipe(
    Effect.catchIf(Errors.isUncertain, (error) =>
      Effect.gen(function*() {
        const copy: Pick<Workflow.Workflow, "id" | "name"> | undefined = (yield* list).find(({ name }) =>
          name === body.name
        )
        return copy ?? (yield* error)
      }))
  )
}, Effect.provideService(IsTestCopy, true))

/** Publishes a copy; if n8n does not answer, publishes it again unless it is already active. */
export const publish = (id: string) =>
  N8nClient.use((n8n) =>
    Effect.catchIf(
      n8n.publishWorkflow(id),
      Errors.isUncertain,
      () => Effect.flatMap(n8n.getWorkflow(id), (now) => now.active ? Effect.succeed(now) : n8n.publishWorkflow(id))
    )
  ).pipe(Effect.provideService(IsTestCopy, true))

type Body = Obj & { readonly name: string; readonly nodes?: unknown }

interface Source {
  readonly name: string
  readonly projectId: string | undefined
  readonly release: string | undefined
  /** Names of the nodes whose code is fenced. */
  readonly fenced: ReadonlySet<string>
}

/** Body with the code of nodes in a fence. */
const fencedBody = Effect.fnUntraced(function*<B extends Body>(body: B, { fenced, name }: Omit<Source, "projectId">) {
  if (fenced.size === 0) return body
  const parse = yield* parser
  const nodes: Array<unknown> = []
  for (const node of Workflow.nodes(body)) {
    const own = fenced.has(Workflow.nameOf(node)) ? Fence.fence(node as unknown as Workflow.Node, parse) : node
    if (own === undefined) {
      return yield* cannotRun(name, {
        message: `nothing keeps the code of '${Visible.label(Workflow.nameOf(node))}' from sending in a copy`,
        field: "workflowId",
        hint: "Nothing ran. Set pins for it, or \"run\" to run it as it is."
      })
    }
    nodes.push(own)
  }
  return { ...body, nodes }
})

const noUpgrade = { why: "No upgrade of its type is known.", decision: "Replace it by a node that this n8n accepts." }

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
    const { decision, why } = left.find(({ node }) => node === own) ?? noUpgrade
    return node["disabled"] === true ? [] : [`'${Visible.label(own)}': ${why} ${decision}`]
  })
  if (stuck.length === 0 && upgraded.length === 0) return yield* error
  if (reasons.length > 0) {
    return yield* cannotRun(name, {
      message: `this n8n refuses deprecated nodes, and they cannot be upgraded in the copy. ${
        Rows.listed(reasons, 5, " ")
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
  return { body: next, upgraded: upgraded.map(Struct.pick(["node", "from", "to"])) }
})

/** Creates a copy, and again with its deprecated nodes upgraded if n8n refuses these. */
export const createUpgraded = (body: Body, source: Source) =>
  Effect.flatMap(fencedBody(body, source), (fenced) => create(fenced, source.projectId)).pipe(
    Effect.map(({ id }) => ({ id, upgraded: [] as ReadonlyArray<Upgrade.Upgraded> })),
    Effect.catchIf(Deprecated.isRefusal, (error) =>
      Effect.gen(function*() {
        const { body: next, upgraded } = yield* upgradedBody(body, source, error)
        const { id } = yield* create(yield* fencedBody(next, source), source.projectId)
        return { id, upgraded }
      }))
  )

/** Note for an answer: the nodes that ran as others than those of the workflow. */
export const upgradeNote = (upgraded: ReadonlyArray<Upgrade.Upgraded>): string | undefined =>
  upgraded.length === 0
    ? undefined
    : `This n8n refuses deprecated nodes; upgraded in the copy only: ${
      Rows.listed(upgraded.map(({ from, node, to }) => `${Rows.quote(node)} (${from} → ${to})`), 8)
    }.`
