/** Formats results as Markdown and checks the criteria. */
import { version } from "../../src/base/Version.ts"
import * as Chart from "./chart.ts"
import { names } from "./contenders.ts"
import type { Results, Values } from "./measure.ts"
import * as peer from "./peer.ts"
import { atMost, type Criterion, format, table as draw } from "./results.ts"

interface Row {
  readonly what: string
  readonly values: Values
  readonly digits: number
  /** The contenders that ours is divided by. */
  readonly by: ReadonlyArray<"peer" | "floor">
}

const ratio = (above: number | undefined, below: number | undefined) =>
  above === undefined || below === undefined || below === 0 ? undefined : above / below

const row = (by: Row["by"]) => (what: string, digits: number, values: Values): Row => ({ what, digits, values, by })
const plain = row([])
const withRatios = row(["peer", "floor"])
/** For rows that do not apply to the floor. */
const withRatioToPeer = row(["peer"])

const each = (values: Values, of: (value: number) => number): Values => {
  const one = (value: number | undefined) => value === undefined ? undefined : of(value)
  return { ours: one(values.ours), peer: one(values.peer), floor: one(values.floor) }
}

const rows = ({ looks, nodeSearch, smallRead, startUp }: Results): ReadonlyArray<Row> => {
  const bySize = (what: string, row: (label: string, look: Results["looks"][number]) => Row) =>
    looks.map((look) => row(`${what}, ${format(look.megabytes, 1)} MB`, look))
  const raw = smallRead.millis.floor ?? 0
  return [
    ...(["modern", "legacy"] as const).flatMap((era) => {
      const { cpuMillis, least, memory, millis } = startUp[era]
      return [
        withRatios(`start-up for a ${era} client: spawn → first answer, median ms`, 0, millis),
        withRatios("… minimum ms", 0, least),
        withRatios("… processor time until `tools/list` is answered, ms", 0, cpuMillis),
        withRatios("… memory after `tools/list`, MB", 0, memory)
      ]
    }),
    plain("tools", 0, startUp.tools),
    withRatioToPeer("tool list, tokens", 0, startUp.tokens),
    withRatioToPeer("tool list, tokens a tool", 0, startUp.tokensPerTool),
    withRatios("20 workflows, p50 ms (floor: raw GET)", 1, smallRead.millis),
    plain("20 workflows, ms over the raw GET", 1, {
      ...each(smallRead.millis, (millis) => millis - raw),
      floor: undefined
    }),
    withRatioToPeer("20 workflows, characters", 0, smallRead.chars),
    plain(`${nodeSearch.queries} node searches, right one first, %`, 0, nodeSearch.first),
    plain("… among three, %", 0, nodeSearch.within3),
    withRatioToPeer("… p50 ms", 1, nodeSearch.millis),
    withRatioToPeer("… characters", 0, nodeSearch.chars),
    ...bySize("`get_execution` in ms", (what, { first }) => withRatios(what, 0, first.millis)),
    ...bySize(
      "… in ms a MB",
      (what, { first, megabytes }) => plain(what, 0, each(first.millis, (millis) => millis / megabytes))
    ),
    ...bySize("… processor time, ms", (what, { first }) => withRatios(what, 0, first.cpuMillis)),
    ...bySize("… characters", (what, { first }) => withRatioToPeer(what, 0, first.chars)),
    ...bySize("then a late node in ms", (what, { second }) => withRatioToPeer(what, 1, second.millis)),
    ...bySize("… characters", (what, { second }) => withRatioToPeer(what, 0, second.chars)),
    ...bySize("requests for both", (what, { requests }) => plain(what, 0, requests)),
    ...bySize("peak memory after both, MB", (what, { peak }) => withRatios(what, 0, peak))
  ]
}

const header = [
  "",
  `effect-n8n-mcp ${version}`,
  `n8n-mcp ${peer.version}`,
  "floor",
  "ours ÷ n8n-mcp",
  "ours ÷ floor"
]

const cells = ({ by, digits, values, what }: Row) => [
  what,
  ...names.map((name) => format(values[name], digits)),
  ...(["peer", "floor"] as const).map((other) => {
    const value = ratio(values.ours, values[other])
    return by.includes(other) && value !== undefined ? `${format(value, value < 0.1 ? 3 : 2)} ×` : ""
  })
]

/** The table. */
export const table = (results: Results): string => draw(header, rows(results).map(cells))

/** The rows that compare: one that goes on with a row that does not has its words. */
const compared = (results: Results): ReadonlyArray<Row> => {
  let head: Row | undefined
  return rows(results).flatMap((row) => {
    if (!row.what.startsWith("…")) head = row
    if (row.by.length === 0) return []
    const isAlone = head !== undefined && head.by.length === 0 && row !== head
    return [isAlone ? { ...row, what: row.what.replace("…", `${head?.what.replace(/,.*/, "")},`) } : row]
  })
}

/** The rows that compare as a chart. */
export const chart = (results: Results, note: string): string =>
  Chart.draw({
    title: "effect-n8n-mcp measured",
    note,
    legend: header.slice(1, 1 + names.length),
    rows: compared(results).map(({ digits, values, what }) => ({
      what: what.replaceAll("`", ""),
      bars: names.map((name) => {
        const value = values[name]
        return value === undefined ? undefined : { value, text: format(value, digits) }
      })
    }))
  })

/** All criteria; those for 66 MB apply only if that size was measured. */
export const criteria = ({ looks, nodeSearch, startUp }: Results): ReadonlyArray<Criterion> => {
  const huge = looks.find(({ megabytes }) => megabytes > 60)
  const largest = looks.at(-1)
  const second = `the look after that, at ${format(largest?.megabytes, 0)} MB`
  return [
    atMost("start-up ÷ n8n-mcp's", ratio(startUp.modern.millis.ours, startUp.modern.millis.peer), 2, 0.3),
    atMost("node search, p50 in ms", nodeSearch.millis.ours, 1, 5),
    atMost("start-up ÷ the bare server's", ratio(startUp.modern.millis.ours, startUp.modern.millis.floor), 2, 1),
    atMost("… for a legacy client", ratio(startUp.legacy.millis.ours, startUp.legacy.millis.floor), 2, 1.5),
    atMost("memory after tools/list in MB", startUp.modern.memory.ours, 0, 62),
    atMost("… for a legacy client", startUp.legacy.memory.ours, 0, 62),
    atMost(
      "get_execution of 66 MB ÷ its download",
      ratio(huge?.first.millis.ours, huge?.first.millis.floor),
      2,
      1.25
    ),
    atMost("get_execution of 66 MB, peak memory in MB", huge?.peak.ours, 0, 260),
    atMost(`${second}, in ms`, largest?.second.millis.ours, 1, 100),
    atMost(`${second}, in requests`, largest?.second.requests.ours, 0, 0)
  ]
}
