/** Readings of single runs and workflows, for judgments. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { defined } from "../base/Json.ts"
import { redactText } from "../base/Redact.ts"
import { itemCount } from "../executions/Execution.ts"
import { Executions } from "../executions/Executions.ts"
import * as Publications from "../n8n/model/Publications.ts"
import { N8nClient } from "../n8n/N8nClient.ts"
import type { Origin, Sample } from "./detect/index.ts"
import type { Run } from "./Observation.ts"

/** Maximum length of a message. */
const maxText = 400

const clean = (text: string) => redactText(text).slice(0, maxText)

/** Reason of a run of which n8n recorded no error. */
export const unrecorded = (status: string): Origin => ({
  failure: { message: `n8n recorded no error (status ${status})` },
  isCrash: status === "crashed"
})

/** Reason of a failed run; `undefined` if it cannot be read now. */
export const origin = Effect.fnUntraced(function*({ id, status }: Run) {
  const { failure, version } = yield* Executions.use(({ origin }) => origin(id)).pipe(
    // n8n may have pruned it since it was listed.
    Effect.catchTag("NotFoundError", () => Effect.succeed({ failure: undefined, version: undefined }))
  )
  const { description, message, ...more } = failure ?? unrecorded(status).failure
  return {
    failure: { ...more, message: clean(message), ...defined({ description: description && clean(description) }) },
    ...defined({ version }),
    isCrash: status === "crashed"
  } satisfies Origin as Origin
}, Effect.orElseSucceed(() => undefined))

/** Reasons of failed runs, by id, without those that cannot be read now. */
export const origins = (runs: ReadonlyArray<Run>, concurrency = 2) =>
  Effect.map(
    Effect.forEach(runs, (run) => Effect.map(origin(run), (origin) => [run.id, origin] as const), { concurrency }),
    (all) => new Map(all.flatMap(([id, origin]) => origin === undefined ? [] : [[id, origin] as const]))
  )

/** Times at which n8n published the version of a workflow that is live, by version. */
export const publishedAt = (workflowId: string) =>
  N8nClient.use((n8n) => n8n.getWorkflow(workflowId)).pipe(
    Effect.map((workflow) =>
      new Map(
        Publications.of(workflow).flatMap(({ at, event, version }) =>
          event === "published" && version !== undefined ? [[version, at] as const] : []
        )
      )
    ),
    Effect.orElseSucceed((): ReadonlyMap<string, number> => new Map())
  )

/** Answers of a service that does not accept a credential. */
const refusal = /\b40[13]\b|authori[sz]ation failed|unauthori[sz]ed|check your credentials/i

/** Whether a service did not accept a credential. */
export const isRefused = ({ failure: { description, httpCode, message } }: Origin): boolean =>
  refusal.test(`${httpCode} ${message} ${description}`)

/** Number of items at the end of a run; `undefined` if it cannot be read. */
export const sample = Effect.fnUntraced(function*(run: Run) {
  const start = yield* Clock.currentTimeMillis
  const execution = yield* Executions.use(({ get }) => get(run.id)).pipe(Effect.orElseSucceed(() => undefined))
  const took = (yield* Clock.currentTimeMillis) - start
  const last = execution?.lastNode
  return {
    run,
    sample: execution === undefined || last === undefined ? undefined : {
      items: itemCount(execution.runs.get(last) ?? []),
      ...defined({ version: execution.version })
    } satisfies Sample as Sample,
    // Large data is a burden for n8n: the next read for this workflow is tomorrow.
    after: took > 3_000 ? start + 86_400_000 : undefined
  }
})
