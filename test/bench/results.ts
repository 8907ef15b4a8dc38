/** Numbers, tables and criteria, as all benchmarks print them. */

/** The value in the middle, or the mean of two; `undefined` if nothing was measured. */
export const medianOf = (values: ReadonlyArray<number | undefined>): number | undefined => {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low, high] = [sorted[sorted.length - 1 - middle], sorted[middle]]
  return low === undefined || high === undefined ? undefined : (low + high) / 2
}

export const median = (values: ReadonlyArray<number>): number => medianOf(values) ?? 0

/** The order of a round: each round begins with the next one, so that noise affects all of them. */
export const inTurn = <A>(all: ReadonlyArray<A>, round: number): ReadonlyArray<A> => {
  const first = round % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

/** Milliseconds of processor of this process, which other work on the machine does not change. */
export const cpuMillis = (since?: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(since)
  return (system + user) / 1_000
}

export const format = (value: number | undefined, digits: number): string =>
  value === undefined
    ? "–"
    : value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })

/** A table in Markdown, with columns aligned for terminals. */
export const table = (header: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const lines = [header, ...rows]
  const widths = header.map((_, column) => Math.max(3, ...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (line: ReadonlyArray<string>) =>
    line.map((text, column) => column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))
  const rule = widths.map((width, column) => column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)
  const [first = [], ...rest] = lines.map(pad)
  return [first, rule, ...rest].map((line) => `| ${line.join(" | ")} |`).join("\n")
}

/** A criterion; `isMet` is `undefined` if it was not measured. */
export interface Criterion {
  readonly what: string
  readonly value: string
  readonly isMet: boolean | undefined
}

/** A criterion that a value is no larger than a limit. */
export const atMost = (what: string, value: number | undefined, digits: number, most: number): Criterion => ({
  what: `${what} ≤ ${most}`,
  value: format(value, digits),
  isMet: value === undefined ? undefined : value <= most
})

/** The criteria, one per line. */
export const verdict = (all: ReadonlyArray<Criterion>): string =>
  all.map(({ isMet, value, what }) =>
    isMet === undefined ? `- not measured: ${what}` : `- ${isMet ? "ok" : "MISSED"}: ${what} (${value})`
  ).join("\n")
