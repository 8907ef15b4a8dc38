/** Credentials that no longer sign in, tested by n8n itself. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import { hasStatus, isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import type { Incident } from "../Incident.ts"
import { day, hour } from "../Observation.ts"

export const Tested = Schema.Struct({
  /** Time from which the next test is due. */
  due: Schema.Finite,
  /** Last test ahead of schedule. */
  early: Schema.optionalKey(Schema.Finite),
  hasWorked: Schema.optionalKey(Schema.Boolean),
  failures: Schema.Finite,
  since: Schema.optionalKey(Schema.Finite),
  message: Schema.optionalKey(Schema.String)
})
export type Tested = typeof Tested.Type

/** Workflow with its credentials. */
interface Entry {
  readonly name: string
  readonly isPublished: boolean
  readonly credentials: ReadonlyArray<{ readonly id: string; readonly name: string; readonly type: string }>
}

/** Time between two tests of a credential that n8n cannot test. */
const untestable = 7 * day

/** Maximum number of tests of a poll. */
const most = 2

/** Messages of services that did not answer, which say nothing about the credential. */
const noAnswer =
  /ECONN|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|timed? ?out|refused|unreachable|socket hang up|getaddrinfo|\b(?:429|5\d\d)\b/i

const hasNoTest = (message: string) => /no testing function/i.test(message)

type All = { readonly [id: string]: Tested }

interface Use {
  readonly name: string
  readonly type: string
  readonly workflows: ReadonlyArray<readonly [id: string, name: string]>
}

/** Credentials of published workflows, with those workflows. */
const usesOf = (entries: { readonly [id: string]: Entry }) => {
  const uses = new Map<string, Use>()
  for (const [id, entry] of Object.entries(entries)) {
    if (!entry.isPublished) continue
    for (const credential of entry.credentials) {
      const { workflows = [] } = uses.get(credential.id) ?? {}
      uses.set(credential.id, { ...credential, workflows: [...workflows, [id, entry.name]] })
    }
  }
  return uses
}

/** Time until the next test, which grows with each failure, since services lock accounts after many. */
const pause = (failures: number) => failures === 0 ? hour : Math.min(day, hour * 2 ** (failures - 1))

const incidentOf = (id: string, { name, type, workflows }: Use, { message = "", since = 0 }: Tested): Incident => {
  const [first] = workflows
  return {
    kind: "credential",
    key: `credential:${id}:${since}`,
    ...first === undefined ? {} : { workflowId: first[0], workflowName: first[1] },
    workflows: workflows.map(([id, name]) => ({ id, name })),
    at: new Date(since).toISOString(),
    count: 1,
    what: `Credential '${Visible.label(name, 40)}' (${type}) ${
      noAnswer.test(message) ? "cannot be tested" : "no longer signs in"
    }: ${counted(workflows.length, "published workflow")} depend${workflows.length === 1 ? "s" : ""} on it, ${
      Rows.names(workflows.map(([, name]) => name), 10, 30)
    }`,
    cause: Visible.label(message, 160),
    look: { tool: "credential_test", arguments: { id } }
  }
}

const test = (id: string) =>
  N8nClient.use((n8n) => n8n.testCredential(id)).pipe(
    Effect.map(({ message, status }) => ({ status, message }) as const),
    Effect.catch((error) =>
      Effect.succeed({
        status: isUnsupported(error)
          ? "unsupported" as const
          : hasStatus(403)(error)
          ? "forbidden" as const
          : "unknown" as const,
        message: error.message
      })
    )
  )

/** Result of one test; a service that does not answer has to fail twice. */
const judge = (
  before: Tested | undefined,
  { message, status }: Effect.Success<ReturnType<typeof test>>,
  now: number
): Tested => {
  if (status !== "Error" || hasNoTest(message)) {
    const due = now + (status === "Error" ? untestable : status === "OK" || status === "unknown" ? hour : day)
    const hasWorked = status === "OK" || before?.hasWorked === true || undefined
    return { due, failures: 0, ...defined({ early: before?.early, hasWorked }) }
  }
  const failures = (before?.failures ?? 0) + 1
  return { ...before, due: now + pause(failures), failures, since: before?.since ?? now, message }
}

const reasons = {
  unsupported: "Credentials are not tested: this n8n's API cannot (newer n8n 2.x can).",
  forbidden: "Credentials are not tested: the API key lacks the scope for it (credential:read)."
}

/** Tests the credentials that are due and reports failures; with `isFirst`, the first poll, it only learns. */
export const detect = Effect.fn("watch.credentials")(function*(
  tested: All,
  entries: { readonly [id: string]: Entry },
  { left, refused, since }: {
    readonly left: number
    /** Workflows with a run that a service refused; their credentials that worked before are tested next. */
    readonly refused: ReadonlyArray<string>
    readonly since: number
  }
) {
  const now = yield* Clock.currentTimeMillis
  const uses = usesOf(entries)
  const doubtful = new Set(refused.flatMap((id) => entries[id]?.credentials.map((each) => each.id) ?? []))
  const dueOf = (id: string) => {
    const { due = 0, early = 0, failures = 0, hasWorked } = tested[id] ?? {}
    return doubtful.has(id) && hasWorked === true && failures === 0 && now - early >= hour ? -1 : due
  }
  const due = [...uses.keys()].filter((id) => dueOf(id) <= now).toSorted((a, b) => dueOf(a) - dueOf(b)).slice(
    0,
    Math.max(0, Math.min(most, left))
  )
  const next = new Map(Object.entries(tested).filter(([id]) => uses.has(id)))
  const unknown = new Map<string, string>()
  for (const id of due) {
    const result = yield* test(id)
    const before = tested[id]
    next.set(id, judge(before && (dueOf(id) < 0 ? { ...before, early: now } : before), result, now))
    if (result.status === "unsupported" || result.status === "forbidden") {
      unknown.set(`credentials:${result.status}`, reasons[result.status])
      for (const id of uses.keys()) next.set(id, { due: now + day, failures: 0 })
      break
    }
  }
  const incidents = [...next].flatMap(([id, test]) => {
    const use = uses.get(id)
    if (use === undefined || test.failures === 0) return []
    if (noAnswer.test(test.message ?? "") && test.failures < 2) return []
    // Some keys are too narrow for the test although the workflows work with them.
    if (test.hasWorked !== true && (test.since ?? 0) < since + hour) {
      unknown.set(
        `credential:${id}`,
        `Whether credential '${Visible.label(use.name, 40)}' signs in: it has failed n8n's test from the start (${
          Visible.label(test.message ?? "", 80)
        }).`
      )
      return []
    }
    return [incidentOf(id, use, test)]
  })
  return { incidents, unknown, credentials: Object.fromEntries(next) }
})
