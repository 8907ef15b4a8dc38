/** Checks that n8n 2.x makes when a workflow is published, and 1.x only while it runs. */
import * as Effect from "effect/Effect"
import type { Advice } from "../base/Advice.ts"
import * as Errors from "../base/Errors.ts"
import { obj, str } from "../base/Json.ts"
import * as Visible from "../base/Visible.ts"
import type { Node } from "../n8n/model/Workflow.ts"
import { isV1, N8nClient } from "../n8n/N8nClient.ts"
import * as WorkflowValidation from "../workflows/WorkflowValidation.ts"
import type { Copy } from "./TestCopy.ts"

/** The id of the workflow that a node calls, unless an expression computes it. */
const calledWorkflow = ({ disabled, parameters, type }: Node): string | undefined => {
  if (disabled === true || !/\.(executeWorkflow|toolWorkflow)$/.test(type)) return undefined
  const reference = obj(parameters)?.["workflowId"]
  const id = str(obj(reference)?.["value"]) ?? str(reference)
  return id === undefined || id === "" || id.startsWith("=") ? undefined : id
}

const cannotRun = (name: string, why: string, advice: Advice) =>
  new Errors.ValidationError({
    reason: `'${Visible.label(name)}' cannot be run: ${why}`,
    field: "workflowId",
    hint: ["Nothing ran.", advice]
  })

/** Fails for a copy whose nodes lack credentials or call workflows that do not exist. */
export const checkRunnable = Effect.fnUntraced(function*(
  name: string,
  { body }: Copy,
  release: string | undefined
) {
  if (release !== undefined && !isV1(release)) return
  const n8n = yield* N8nClient
  const { problems } = yield* WorkflowValidation.validate(body, release)
  const missing = problems.filter(({ path, severity }) =>
    severity === "error" && /^nodes\[\d+\]\.credentials\./.test(path)
  )
  if (missing.length > 0) {
    return yield* cannotRun(
      name,
      missing.slice(0, 5).map(({ message }) => message).join(" "),
      { _tag: "SetCredentials" }
    )
  }
  for (const node of body.nodes) {
    const id = calledWorkflow(node)
    if (id === undefined) continue
    yield* n8n.getWorkflow(id).pipe(
      Effect.catchTags({
        NotFoundError: () =>
          cannotRun(
            name,
            `'${node.name}' calls the workflow '${id}', which does not exist.`,
            { _tag: "ListExistingWorkflows" }
          ),
        ApiError: () => Effect.void
      })
    )
  }
})
