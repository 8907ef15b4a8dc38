/** Workflows that are no longer published. Pure. */
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type { Incident } from "../Incident.ts"

/** Workflow as it was listed. */
interface Entry {
  readonly name: string
  readonly isPublished: boolean
  readonly isArchived?: boolean
  /** Number of crashed runs in a row, up to the last run. */
  readonly crashes?: number
}

/** Number of workflows from which they share one incident. */
const many = 4

/** Number of crashed runs in a row after which n8n unpublishes a workflow. */
const maxCrashes = 3

/** Time after a restart of n8n in which it may have failed to activate a workflow. */
const startTime = 15 * 60_000

type Change = readonly [id: string, before: Entry, now: Entry | undefined]

const wordOf = (now: Entry | undefined) =>
  now === undefined ? "was deleted" : now.isArchived === true ? "was archived" : "is no longer published"

const causeOf = (now: Entry | undefined, cameBack: boolean, isWatched: boolean) =>
  now === undefined
    ? "n8n deleted its versions and runs with it: only a backup has it now"
    : now.isArchived === true
    ? undefined
    : (now.crashes ?? 0) >= maxCrashes
    ? `n8n unpublishes a workflow after ${maxCrashes} crashed runs in a row, and its last ${now.crashes} crashed`
    : cameBack
    ? "n8n was away just before; it unpublishes a workflow whose triggers it cannot start again"
    : !isWatched
    ? undefined
    : "not by crashes or a restart of n8n, as far as could be seen: someone unpublished it"

/** Incidents of workflows that were published at the last poll. */
export const detect = (
  before: { readonly [id: string]: Entry },
  entries: { readonly [id: string]: Entry },
  { gone, isWatched = true, now, outageEnd }: {
    readonly gone: ReadonlyArray<string>
    /** Whether outages and crashes since then were seen. */
    readonly isWatched?: boolean
    readonly now: number
    readonly outageEnd: number | undefined
  }
): ReadonlyArray<Incident> => {
  const cameBack = outageEnd !== undefined && now - outageEnd < startTime
  const changes = Object.entries(before).flatMap(([id, entry]): ReadonlyArray<Change> =>
    entry.isPublished && (gone.includes(id) || entries[id]?.isPublished === false) ? [[id, entry, entries[id]]] : []
  )
  const at = new Date(now).toISOString()
  const [first] = changes
  if (changes.length >= many && first !== undefined) {
    const cause = causeOf(first[2], cameBack, isWatched)
    return [{
      kind: "unpublished",
      key: `unpublished:${now}`,
      at,
      count: changes.length,
      what: `${counted(changes.length, "workflow")} are no longer published: ${
        Rows.names(changes.map(([, { name }]) => name), 10, 30)
      }`,
      workflows: changes.map(([id, { name }]) => ({ id, name })),
      ...cause === undefined ? {} : { cause },
      look: { tool: "list_workflows", arguments: { active: false } }
    }]
  }
  return changes.map(([id, { name }, entry]) => {
    const cause = causeOf(entry, cameBack, isWatched)
    return {
      kind: "unpublished",
      key: `unpublished:${id}:${now}`,
      workflowId: id,
      workflowName: name,
      at,
      count: 1,
      what: `'${Visible.label(name)}' ${wordOf(entry)}`,
      ...cause === undefined ? {} : { cause },
      ...entry === undefined ? {} : { look: { tool: "workflow_history", arguments: { id } } }
    }
  })
}
