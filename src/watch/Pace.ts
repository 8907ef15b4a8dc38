/** Place where the time of slow runs goes, as against usual ones. */
import * as Effect from "effect/Effect"
import { Executions } from "../executions/Executions.ts"
import * as Profile from "../executions/Profile.ts"

/** Maximum number of usual and of slow runs that are read. */
const maxRead = 3

/** Place with the milliseconds that usual and slow runs spend there; empty if no place has half of the difference. */
export type Pace =
  | { readonly node: string; readonly outside?: never; readonly before: number; readonly after: number }
  /** Before, between and after the nodes: loading and saving data, a busy n8n. The wait for a worker is before the run. */
  | { readonly node?: never; readonly outside: true; readonly before: number; readonly after: number }
  | { readonly node?: never; readonly outside?: never }

/** Nodes that n8n waits for itself; a sub-node works within the time of one of them. */
const timesOf = ({ nodes }: Profile.Use) =>
  new Map(nodes.flatMap(({ node, time, within }) => within === undefined ? [[node, time] as const] : []))

const median = (values: ReadonlyArray<number>) => Profile.percentile(values, 0.5)

/** Finds where the time of slow runs goes, from medians. Pure. */
export const between = (usual: ReadonlyArray<Profile.Use>, slow: ReadonlyArray<Profile.Use>): Pace => {
  const sides = [usual, slow].map((uses) =>
    uses.filter(({ duration, nodes }) => duration !== undefined && nodes.length > 0)
  )
  const [former = [], latter = []] = sides.map((uses) => uses.map((use) => ({ use, times: timesOf(use) })))
  if (former.length === 0 || latter.length === 0) return {}
  const place = (of: (each: (typeof former)[number]) => number) => {
    const [before, after] = [median(former.map(of)), median(latter.map(of))]
    return { before, after, excess: after - before }
  }
  const { excess } = place(({ use }) => use.duration ?? 0)
  const names = new Set([...former, ...latter].flatMap(({ times }) => [...times.keys()]))
  const places = Array.from(names, (node) => ({ node, ...place(({ times }) => times.get(node) ?? 0) }))
  const node = places.toSorted((a, b) => b.excess - a.excess)[0]
  const outside = place(({ use }) => use.outside)
  const explains = (part: number) => excess > 0 && part >= excess / 2
  if (node !== undefined && node.excess >= outside.excess && explains(node.excess)) {
    return { node: node.node, before: node.before, after: node.after }
  }
  return explains(outside.excess) ? { outside: true, before: outside.before, after: outside.after } : {}
}

/** Reads usual and slow runs of a workflow, at most three of each, and finds where the time of the slow ones goes. */
export const of = Effect.fn("Pace.of")(function*(usual: ReadonlyArray<string>, slow: ReadonlyArray<string>) {
  const read = (ids: ReadonlyArray<string>) =>
    Effect.forEach(
      ids.slice(0, maxRead),
      (id) => Executions.use(({ get }) => get(id)).pipe(Effect.map(Profile.use), Effect.orElseSucceed(() => undefined)),
      { concurrency: 2 }
    )
  const [former, latter] = [yield* read(usual), yield* read(slow)]
  return between(former.flatMap((use) => use ?? []), latter.flatMap((use) => use ?? []))
})
