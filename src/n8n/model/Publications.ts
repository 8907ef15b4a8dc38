/** Publications of a workflow, as n8n 2 returns them with the version that runs: none of other versions, in no order. */
import { arr, obj, str } from "../../base/Json.ts"

export interface Publication {
  /** Epoch milliseconds. */
  readonly at: number
  readonly event: "published" | "unpublished"
  readonly version?: string
}

const events: Readonly<Record<string, Publication["event"]>> = { activated: "published", deactivated: "unpublished" }

/** Order in which n8n records a second publication of a version, at one time. */
const order: ReadonlyArray<Publication["event"]> = ["unpublished", "published"]

/** Publications of the version that runs, in order; none if the workflow is not published, and on 1.x. */
export const of = (workflow: { readonly [key: string]: unknown } | undefined): ReadonlyArray<Publication> =>
  arr(obj(workflow?.["activeVersion"])?.["workflowPublishHistory"]).flatMap((each): ReadonlyArray<Publication> => {
    const row = obj(each)
    const [at, event] = [Date.parse(str(row?.["createdAt"]) ?? ""), events[str(row?.["event"]) ?? ""]]
    const version = str(row?.["versionId"])
    return event === undefined || Number.isNaN(at) ? [] : [{ at, event, ...version === undefined ? {} : { version } }]
  }).toSorted((a, b) => a.at - b.at || order.indexOf(a.event) - order.indexOf(b.event))

/** Time since which the version runs without interruption, in epoch milliseconds. */
export const liveSince = (publications: ReadonlyArray<Publication>): number | undefined =>
  publications.findLast(({ event }) => event === "published")?.at
