/** Resolution of the credentials and workflows that operations name. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Hint } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import { defined, str } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import type * as Workflow from "../n8n/model/Workflow.ts"
import { isUnsupported, isV1, N8nClient } from "../n8n/N8nClient.ts"
import type { ReadWorkflow } from "../n8n/WriteGuard.ts"
import * as References from "../workflow/References.ts"
import { isUnset } from "../workflows/store/FormerSettings.ts"
import { type Operation, type Reference, type Swap } from "./Operations.ts"

const refuse = (message: string, hint: Hint) =>
  new Errors.ValidationError({ reason: message, field: "operations", hint })

const only = Effect.fnUntraced(
  function*<A extends Reference>(
    what: string,
    word: string,
    all: ReadonlyArray<A>,
    list: Hint
  ) {
    const exact = all.filter(({ id }) => id === word)
    const matches = exact.length > 0 ? exact : all.filter(({ name }) => name === word)
    const [first, second] = matches
    if (first === undefined) return yield* refuse(`There is no ${what} '${Visible.label(word)}'`, list)
    if (second !== undefined) {
      return yield* refuse(
        `${matches.length} ${what}s are named '${Visible.label(word)}'`,
        `Use the id: ${Rows.listed(matches.map(({ id }) => id), 8)}.`
      )
    }
    return first
  }
)

const workflowsNamed = Effect.fnUntraced(function*(word: string) {
  const n8n = yield* N8nClient
  const byId: ReadonlyArray<Workflow.Listed> = /^[\w-]+$/.test(word)
    ? yield* n8n.getWorkflow(word).pipe(
      Effect.map((workflow) => [workflow]),
      Effect.catchTag("NotFoundError", () => Effect.succeed([]))
    )
    : []
  if (byId.length > 0) return byId
  return (yield* n8n.listWorkflows({ fullName: word, archived: true, limit: 20 })).workflows
})

/** The credentials of n8n; on 1.x, which does not list them, those that workflows use. */
const credentials = Effect.gen(function*() {
  const n8n = yield* N8nClient
  return yield* Stream.runCollect(n8n.streamCredentials).pipe(
    Effect.catchIf(
      isUnsupported,
      () => Effect.map(Stream.runCollect(n8n.streamWorkflows()), References.credentials)
    )
  )
})

/** Resolves the credential or workflow that an operation names; `null` for one that names none. */
export const resolve = Effect.fn("Fleet.resolve")(function*(
  operation: Operation
): Effect.fn.Return<Swap | null, Errors.N8nError, N8nClient> {
  if (operation.op === "credential") {
    const { from, to, type } = operation
    if (typeof to === "object") return defined({ from, to, type })
    const all = (yield* credentials).filter((each) => type === undefined || each.type === type)
    const { id, name, type: own } = yield* only("credential", to, all, { _tag: "ListCredentials" })
    return { from, to: { id, name }, type: own }
  }
  const errorWorkflow = operation.op === "settings" ? str(operation.settings["errorWorkflow"]) : undefined
  if (errorWorkflow !== undefined && !isUnset(errorWorkflow)) {
    const { id, name } = yield* only("workflow", errorWorkflow, yield* workflowsNamed(errorWorkflow), {
      _tag: "ListExistingWorkflows"
    })
    return { from: "", to: { id, name } }
  }
  if (operation.op !== "calls") return null
  const { from, to } = operation
  const { active, id, isArchived, name } = yield* only("workflow", to, yield* workflowsNamed(to), {
    _tag: "ListExistingWorkflows"
  })
  if (!active && !isV1(yield* (yield* N8nClient).release)) {
    return yield* refuse(
      `Workflow '${Visible.label(name)}' (${id}) is not published, which published callers need`,
      { _tag: "PublishFirst", id }
    )
  }
  if (isArchived === true) {
    return yield* refuse(`Workflow '${Visible.label(name)}' (${id}) is archived`, "Choose another.")
  }
  const [former, ...others] = (yield* workflowsNamed(from)).filter((each) => each.id === from || each.name === from)
  // A workflow that was deleted is still called by its id.
  return former === undefined || others.length > 0
    ? { from, to: { id, name } }
    : { from, fromId: former.id, to: { id, name } }
})

export const readOnce = (read: ReadWorkflow): ReadWorkflow => {
  const cache = new Map<string, unknown>()
  return (id) =>
    cache.has(id)
      ? Effect.succeed(cache.get(id))
      : Effect.tap(read(id), (workflow) => Effect.sync(() => cache.set(id, workflow)))
}
