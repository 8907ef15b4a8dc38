/** Results as Markdown, and what they must be. */
import { atMost, type Criterion, format, table } from "../results.ts"
import type { Era } from "./clients.ts"
import type { Plan, Results, Side } from "./measure.ts"

const eras: ReadonlyArray<Era> = ["2025-11-25", "2026-07-28"]

const header = ["", "calls", "errors", "calls/s", "p50 ms", "p99 ms", "processor ms a call", "peak MB"]

const row = (name: string, { calls, cpuMillis, errors, p50, p99, peak, perSecond }: Side) => [
  name,
  format(calls, 0),
  String(errors),
  format(perSecond, 0),
  format(p50, 1),
  format(p99, 1),
  format(cpuMillis, 2),
  format(peak, 0)
]

/** The speeds, and how memory went. */
export const text = ({ fairness, memory, speed }: Results, { odd, step }: Plan): string =>
  [
    table(
      header,
      eras.flatMap((era) => [
        row(`effect-n8n-mcp, ${era}`, speed[era].ours),
        row("bare SDK server beside it", speed[era].bare),
        row("minimal Effect server beside it", speed[era].minimal)
      ])
    ),
    "",
    `p99 of a caller alone ${format(fairness.alone, 1)} ms, beside fifty slow calls of another ${
      format(fairness.beside, 1)
    } ms`,
    "",
    `Memory in MB after each ${format(step, 0)} calls: ${memory.plain.map((value) => format(value, 0)).join(", ")}; ` +
    `after ${format(odd, 0)} given up: ${format(memory.aborted, 0)}; ` +
    `after ${format(odd, 0)} event streams: ${format(memory.streamed, 0)}`
  ].join("\n")

/** Megabytes that the heap may breathe. */
const room = 40

/** The least part of a bare server's calls in a second, and the most of its 99th percentile. */
const leastRatio = 0.85
const mostP99 = 1.3

const most = (values: ReadonlyArray<number | undefined>) => Math.max(...values.map((value) => value ?? 0))

const flat = (what: string, value: number, before: number): Criterion =>
  atMost(`${what}: MB more`, before === 0 ? undefined : value - before, 0, room)

/** How many times its own p99 a caller has beside one with slow calls, at most. */
const mostStarved = 3

/** The criteria. */
export const criteria = (
  { fairness, memory: { aborted, plain, streamed }, speed }: Results
): ReadonlyArray<Criterion> => {
  const middle = plain.length >> 1
  const first = most(plain.slice(0, middle))
  return [
    ...eras.flatMap((era): ReadonlyArray<Criterion> => {
      const { bare, ours } = speed[era]
      const ratio = ours.perSecond / bare.perSecond
      const p99 = ours.p99 / bare.p99
      return [
        {
          what: `${era}: calls/s ÷ the bare server's ≥ ${leastRatio}`,
          value: format(ratio, 2),
          isMet: ratio >= leastRatio
        },
        atMost(`${era}: p99 ÷ the bare server's`, p99, 2, mostP99)
      ]
    }),
    atMost("p99 beside fifty slow calls of another caller ÷ alone", fairness.beside / fairness.alone, 2, mostStarved),
    flat("memory in the second half", most(plain.slice(middle)), first),
    flat("memory after calls given up", most([aborted]), most(plain)),
    flat("memory after event streams", most([streamed]), most([...plain, aborted]))
  ]
}
