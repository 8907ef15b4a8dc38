/** Settings of a version that differ from those before, of which a replay shows nothing or not all. Pure. */
import { equals, type Obj, obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import * as FormerSettings from "../../workflows/store/FormerSettings.ts"
import type * as Groups from "./Groups.ts"

/** Settings that a replay has on both sides, so that what they change is compared. */
const replayed = new Set(["timezone", "executionOrder"])

/** Default of a setting that n8n's API does not write. */
const implied: Obj = { binaryMode: "separate" }

const valueOf = (settings: unknown, name: string) => FormerSettings.valueOf(settings, name) ?? implied[name]

const shown = (value: unknown) => value === undefined ? "not set" : JSON.stringify(value)

/** Names of the settings that differ; unset ones have their default. */
export const changed = (before: unknown, after: unknown): ReadonlyArray<string> =>
  [...new Set([before, after].flatMap((each) => Object.keys(obj(each) ?? {})))].filter((name) =>
    !equals(valueOf(before, name), valueOf(after, name))
  )

/** Settings that differ, and why the replays say nothing of them; `failed` is the number of runs that failed. */
export const unproven = (
  before: unknown,
  after: unknown,
  { failed, nodes }: { readonly failed: number; readonly nodes: ReadonlyArray<Node> }
): ReadonlyArray<Groups.NotReplayed> => {
  const isScheduled = nodes.some(({ disabled, type }) => disabled !== true && /\.(?:scheduleTrigger|cron)$/.test(type))
  return changed(before, after).flatMap((name) => {
    const change = `${JsonPath.print(["settings", name])}: ${shown(valueOf(before, name))} → ${
      shown(valueOf(after, name))
    }`
    if (replayed.has(name)) {
      return name === "timezone" && isScheduled ? [{ why: `${change}: its schedule starts at other times` }] : []
    }
    const alerts = name === "errorWorkflow" && failed > 0 ? `, which ${failed} of these runs started` : ""
    return [{ why: `${change}${alerts}: no replay shows it` }]
  })
}
