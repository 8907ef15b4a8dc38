/** Guard that checks every write to n8n against the operator's rules. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Errors from "../base/Errors.ts"
import { type Obj, obj, str } from "../base/Json.ts"
import { findAll, NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Workflow from "../n8n/model/Workflow.ts"
import { IsTestCopy, type ReadWorkflow, type Service, type Write, WriteGuard } from "../n8n/WriteGuard.ts"
import {
  bannedIn,
  errorWorkflowFaults,
  type Fault,
  faultsOf,
  hasErrorWorkflow,
  protectedTag,
  Rules
} from "./policy/Rules.ts"

export { hasErrorWorkflow, Rules }

const refuse = (faults: ReadonlyArray<Fault>) =>
  faults.length === 0 ? Effect.void : Effect.fail(
    new Errors.ValidationError({
      reason: `The policy forbids it. ${faults.map(({ message }) => message).join(". ")}`,
      field: faults[0]?.path ?? "",
      hint:
        "Nothing was written. The operator sets these rules: find a way that follows them, or ask the user to have the policy changed."
    })
  )

const decoded = (part: string | undefined) => {
  try {
    return part === undefined ? undefined : decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Writes whose effect on workflows cannot be determined in advance. */
const opaqueWrites = [
  /^\/n8n-packages\/import/,
  /^\/source-control\/pull/,
  /^\/promotions\/connections\/[^/]+\/(apply|promote)/,
  /^\/projects\/[^/]+$/,
  /^\/projects\/[^/]+\/folders\/[^/]+$/
]

const pathOf = (id: string) => `/workflows/${encodeURIComponent(id)}`

/** Workflow to publish: a version of it, or its draft. */
const toPublish = Effect.fnUntraced(function*(workflow: Obj, { body, path, read }: Write) {
  const versionId = str(obj(body)?.["versionId"])
  if (versionId === undefined || versionId === workflow["versionId"]) return workflow
  const base = path.replace(/\/[^/]*$/, "")
  const version = obj(yield* read(`${base}/versions/${encodeURIComponent(versionId)}`))
  return { ...workflow, nodes: version?.["nodes"], connections: version?.["connections"] }
})

const make = (rules: Rules, catalogue: typeof NodeCatalogue.Service): Service => {
  /** Returns a test whether a node type of the workflow polls. */
  const pollingAmong = (workflow: Obj) =>
    rules.minScheduleMinutes === undefined ? Effect.succeed(() => false) : findAll(Workflow.typesOf(workflow)).pipe(
      Effect.provideService(NodeCatalogue, catalogue),
      Effect.map((find) => (type: string) => find(type)?.descriptions.some(({ polling }) => polling === true))
    )

  const contentFaults = Effect.fnUntraced(function*(workflow: Obj, read: ReadWorkflow) {
    return [
      ...faultsOf(workflow, rules, yield* pollingAmong(workflow)),
      ...yield* errorWorkflowFaults(workflow, rules, read)
    ]
  })

  const checkContent = (workflow: Obj, { read }: Write) =>
    IsTestCopy.use((isCopy) =>
      isCopy ? Effect.void : Effect.flatMap(contentFaults(workflow, (id) => read(pathOf(id))), refuse)
    )

  const checkProtection = (id: string, workflow: Obj) => {
    const tag = protectedTag(Workflow.tagNames(workflow), rules)
    return tag === undefined ? Effect.void : refuse([{
      message: `protectedTags: workflow '${id}' has the tag '${tag}' and must not be changed`,
      path: "tags"
    }])
  }

  const checkWorkflow = Effect.fnUntraced(function*(write: Write, id: string, action: string | undefined) {
    if (action === "test-runs") return
    const current = yield* write.read(pathOf(id)).pipe(
      Effect.map((workflow) => obj(workflow) ?? {}),
      // n8n reports the missing workflow itself.
      Effect.catchTag("NotFoundError", () => Effect.undefined)
    )
    if (current === undefined) return
    yield* checkProtection(id, current)
    if (action === undefined && write.method === "PUT") {
      const body = obj(write.body) ?? {}
      const settings = { ...obj(current["settings"]), ...obj(body["settings"]) }
      return yield* checkContent({ ...current, ...body, settings }, write)
    }
    if (action === "publish" || action === "activate") yield* checkContent(yield* toPublish(current, write), write)
  })

  const checkTag = Effect.fnUntraced(function*({ read }: Write, id: string) {
    const tag = yield* Effect.catchTag(read(`/tags/${encodeURIComponent(id)}`), "NotFoundError", () => Effect.undefined)
    const name = protectedTag([Workflow.nameOf(tag)], rules)
    if (name !== undefined) {
      yield* refuse([{ message: `protectedTags: the tag '${name}' must not be renamed or deleted`, path: "tags" }])
    }
  })

  return {
    check: Effect.fn("Policy.check")(function*(write) {
      const [, resource, id, action] = write.path.split("/").map(decoded)
      if (resource === "workflows") {
        return id === undefined
          ? yield* checkContent(obj(write.body) ?? {}, write)
          : yield* checkWorkflow(write, id, action)
      }
      if (resource === "tags" && id !== undefined) return yield* checkTag(write, id)
      if (
        (resource !== "projects" || write.method === "DELETE") && opaqueWrites.some((path) => path.test(write.path))
      ) {
        const names = Object.keys(rules).join(", ")
        const message = `${names}: the workflows that ${write.method} ${write.path} changes cannot be checked`
        yield* refuse([{ message, path: "" }])
      }
    }),
    checkTest: (nodes) => refuse(bannedIn(Workflow.nodes({ nodes }), rules)),
    faults: (workflow, read) =>
      Effect.map(contentFaults(workflow, read), (faults) => faults.map(({ message }) => message))
  }
}

/** Guard for the rules; if a lookup fails, nothing is written. */
export const layer = (rules: Rules): Layer.Layer<never, never, NodeCatalogue> =>
  Layer.effect(WriteGuard, Effect.map(NodeCatalogue, (catalogue) => make(rules, catalogue)))
