/** Texts in the columns of a terminal; wide characters, such as Japanese ones, take two. Pure. */
import { displayWidth } from "effect/cli/CliOutput"

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" })

export const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - displayWidth(text)))

/** Cuts a text to a number of columns, with an ellipsis. */
export const fit = (text: string, width: number): string => {
  if (displayWidth(text) <= width) return text
  let cut = ""
  let used = 0
  for (const { segment } of graphemes.segment(text)) {
    used += displayWidth(segment)
    if (used > width - 1) break
    cut += segment
  }
  return width < 1 ? "" : `${cut}…`
}

/** Breaks a text between words into lines of at most this width; longer words are not broken. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const last = lines.at(-1)
    if (last === undefined || displayWidth(last) + 1 + displayWidth(word) > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}

const program = /(?<=^|\s)effect-n8n-mcp .*$/

/** Indentation of a line, and its first column, if it is an entry of a list: a word or two before more than one space. */
const beginning = /^ *(?:\S+(?: \S+)? {2,})?/

/**
 * Breaks a line between words, and begins the further ones below its first word, or below its second column. A command
 * at its end stays in one piece, so that it can be copied.
 */
export const inWidth = (line: string, width: number): ReadonlyArray<string> => {
  if (displayWidth(line) <= width) return [line]
  const column = beginning.exec(line)?.[0] ?? ""
  const head = displayWidth(column) <= width / 2 ? column : /^ */.exec(line)?.[0] ?? ""
  const indent = " ".repeat(displayWidth(head))
  const glue = "\u0000"
  const glued = line.slice(head.length).replace(program, (command) => command.replaceAll(" ", glue))
  return wrap(glued, width - indent.length).map((each, at) => (at === 0 ? head : indent) + each.replaceAll(glue, " "))
}

export type Pair = readonly [term: string, text: string]

/** Terms with their texts in a second column, which begins at the same place; a long term has a line of its own. */
export const pairs = (pairs: ReadonlyArray<Pair>, width: number, maxTerm = 28): ReadonlyArray<string> => {
  const widths = pairs.map(([term]) => displayWidth(term)).filter((each) => each <= maxTerm)
  const term = Math.max(0, ...widths)
  const indent = " ".repeat(term + 4)
  return pairs.flatMap(([name, text]) => {
    const [first = "", ...rest] = wrap(text, width - term - 4)
    const more = rest.map((line) => indent + line)
    return displayWidth(name) > term
      ? [`  ${name}`, ...(text === "" ? [] : [indent + first, ...more])]
      : [`  ${pad(name, term)}  ${first}`.trimEnd(), ...more]
  })
}

export interface Column<A> {
  /** Heading, of several lines if they are separated by line ends. */
  readonly title: string
  readonly of: (row: A) => string
  /** Whether the values are numbers, which end at the same place. */
  readonly isRight?: boolean
  /** Narrowest width if the terminal is narrow; columns without it are never cut. */
  readonly min?: number
  readonly colour?: (row: A) => number | undefined
  /** Columns between it and the next one. */
  readonly gap?: number
}

const gapAfter = (column: { readonly gap?: number } | undefined) => column?.gap ?? 2

/** Widths of the columns: the one with most space above its `min` gives way first; the last columns are left out until the rest fits. */
const widthsOf = <A>(
  columns: ReadonlyArray<Column<A>>,
  natural: ReadonlyArray<number>,
  width: number
): ReadonlyArray<number> => {
  const widths = [...natural]
  const gaps = columns.slice(0, natural.length - 1).reduce((sum, column) => sum + gapAfter(column), 0)
  for (let excess = widths.reduce((sum, each) => sum + each, gaps) - width; excess > 0; excess--) {
    const [widest] = widths.map((each, index) => ({ index, spare: each - (columns[index]?.min ?? Infinity) }))
      .filter(({ spare }) => spare > 0).toSorted((a, b) => b.spare - a.spare)
    if (widest !== undefined) widths[widest.index] = (widths[widest.index] ?? 0) - 1
    // Without the last column, the others have its space.
    else return widths.length > 1 ? widthsOf(columns, natural.slice(0, -1), width) : [width]
  }
  return widths
}

export const paint = (text: string, colour: number | undefined, isColoured: boolean): string =>
  !isColoured || colour === undefined || text === "" ? text : `\u001b[${colour}m${text}\u001b[0m`

/** Word of a command line, in quotes if a shell would change it. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Red, yellow or green for the status of a run or a node. */
export const statusColour = (status: string): number | undefined =>
  /error|crash|fail/.test(status)
    ? 31
    : /success/.test(status)
    ? 32
    : /wait|running|cancel/.test(status)
    ? 33
    : undefined

/** Table with a heading; columns that are empty in every row are left out. */
export const table = <A>(
  all: ReadonlyArray<Column<A>>,
  rows: ReadonlyArray<A>,
  { isColoured, width }: Screen
): ReadonlyArray<string> => {
  const columns = all.filter(({ of }) => rows.some((row) => of(row) !== ""))
  const cells = rows.map((row) => columns.map(({ of }) => of(row)))
  const titles = columns.map(({ title }) => title.split("\n"))
  const heading = Array.from(
    { length: Math.max(0, ...titles.map(({ length }) => length)) },
    (_, at) => titles.map((lines) => lines[at] ?? "")
  )
  const widths = widthsOf(
    columns,
    columns.map((_, at) => Math.max(...[...heading, ...cells].map((cell) => displayWidth(cell[at] ?? "")))),
    width
  )
  const line = (values: ReadonlyArray<string>, row?: A) =>
    widths.map((width, at) => {
      const column = columns[at]
      const text = fit(values[at] ?? "", width)
      const space = " ".repeat(width - displayWidth(text))
      const painted = row === undefined ? text : paint(text, column?.colour?.(row), isColoured)
      return (column?.isRight === true ? space + painted : painted + space) + " ".repeat(gapAfter(column))
    }).join("").trimEnd()
  return [
    ...heading.map((titles) => line(titles)),
    ...cells.map((values, at) => line(values, rows[at]))
  ]
}

/** Terminal, as far as a layout depends on it. */
export interface Screen {
  readonly width: number
  readonly isColoured: boolean
}

/** Date and time for a person, `2026-11-23 22:47`; `isExact` adds the seconds. The zone is by default this computer's. */
export const time = (iso: string | null | undefined, zone?: string, isExact = false): string => {
  const date = new Date(iso ?? "")
  return Number.isNaN(date.getTime()) ? "" : new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: isExact ? "medium" : "short"
  }).format(date)
}

/** Time to the second in the zone of this computer. */
export const exactTime = (iso: string | null | undefined): string => time(iso, undefined, true)

/** Short name of a zone at a time, such as `CET` or `EST`, which depends on the language where it is in use. */
export const zoneName = (iso: string, zone?: string): string => {
  const [name = "UTC", other = name] = ["en-GB", "en-US"].map((language) =>
    new Intl.DateTimeFormat(language, { timeZone: zone, timeZoneName: "short" }).formatToParts(new Date(iso))
      .find(({ type }) => type === "timeZoneName")?.value
  )
  return /^GMT[+-]/.test(name) ? other : name
}

/** Title of a column of times with the names of their zone, which summer time changes. */
export const timeTitle = (title: string, times: ReadonlyArray<string | null | undefined>): string => {
  const names = new Set(times.flatMap((iso) => iso && time(iso) !== "" ? [zoneName(iso)] : []))
  return names.size === 0 ? title : `${title} (${[...names].join(", ")})`
}

export const duration = (milliseconds: number | null | undefined): string =>
  milliseconds === null || milliseconds === undefined
    ? ""
    : milliseconds < 1_000
    ? `${Math.round(milliseconds)} ms`
    : milliseconds < 60_000
    ? `${(milliseconds / 1_000).toFixed(1)} s`
    : milliseconds < 3_600_000
    ? `${Math.floor(milliseconds / 60_000)} min ${Math.round(milliseconds % 60_000 / 1_000)} s`
    : `${Math.floor(milliseconds / 3_600_000)} h ${Math.round(milliseconds % 3_600_000 / 60_000)} min`
