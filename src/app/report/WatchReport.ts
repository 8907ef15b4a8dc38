/** Incidents as lines for people, as JSON, and as the message of a webhook. Pure. */
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as TokenBound from "../../base/TokenBound.ts"
import * as Visible from "../../base/Visible.ts"
import * as Incident from "../../watch/Incident.ts"
import * as Layout from "./Layout.ts"

export interface Context {
  /** Command line up to the command, such as `effect-n8n-mcp --profile prod`. */
  readonly program: string
  /** IANA name of the zone of times; by default this machine's. */
  readonly zone: string | undefined
  /** Zone of a report of days where neither the caller nor n8n names one; default UTC. */
  readonly readerZone?: string
}

/** Maximum tokens of a webhook's text, also for a model that reads the chat. */
export const maxTokens = 400

const maxSentence = 300

/** Lengths of the sentences in a message; the shorter ones are for many incidents, without cause and command. */
const lengths = [maxSentence, 140, 80, 40] as const
const leastWithCause = 140

const maxNames = 10

const [red, yellow] = [31, 33] as const

/** Mark and colour of each kind: red for failures and standstills, yellow for doubtful incidents. */
export const kinds: { readonly [K in Incident.Kind]: { readonly mark: string; readonly colour: 31 | 33 } } = {
  unreachable: { mark: "!", colour: red },
  credential: { mark: "K", colour: red },
  failed: { mark: "✗", colour: red },
  missed: { mark: "○", colour: red },
  stuck: { mark: "∞", colour: red },
  unpublished: { mark: "↓", colour: red },
  silent: { mark: "…", colour: yellow },
  empty: { mark: "∅", colour: yellow },
  slow: { mark: "»", colour: yellow }
}

const flags: { readonly [argument: string]: string } = {
  workflowId: "--workflow",
  status: "--status",
  startedAfter: "--since",
  groupBy: "--by"
}

const lookalikes: { readonly [mark: string]: string } = {
  "<": "‹",
  ">": "›",
  "*": "∗",
  "`": "'",
  "~": "∼",
  "|": "∣",
  "\\": "∖",
  "&": "＆",
  "#": "＃",
  "@": "＠",
  "](": "] (",
  ".": "․",
  "。": "․",
  "．": "․",
  "｡": "․",
  ":": "∶",
  "_": "＿"
}

/**
 * Characters that a chat reads as more than text: of markup and entities, of mentions, of addresses with and without a
 * scheme (a dot before anything but a space, unless it is that of a decimal number), of schemes and emoji (a colon before
 * anything but a space, unless it is that of a time), and of emphasis (an underscore that is not inside a word).
 */
const live = new RegExp(
  [
    "[<>*`~|\\\\&#@]|\\]\\(",
    "\\.(?=[^\\s\\d.]|\\d+\\.)|(?<=\\.\\d+)\\.(?=\\d)|(?<=\\w)[。．｡](?=\\w)",
    ":(?=\\S)(?!(?<=\\d:)\\d\\d(?!\\d))",
    "(?<![\\p{L}\\p{N}])_|_(?![\\p{L}\\p{N}])"
  ].join("|"),
  "gu"
)

/** Text that Slack, Teams, Mattermost, Rocket.Chat and Discord show as it is. */
const plain = (text: string) => text.replace(live, (mark) => lookalikes[mark] ?? mark)

/** Foreign text in a command: ids and times have at most 36 characters. */
const plainArgument = (text: string) => plain(Visible.label(text, 40))

/** Command that shows what the suggested tool would return: of plain arguments, which a shell takes as they are. */
const commandOf = (look: NonNullable<Incident.Incident["look"]>): string => {
  const word = (value: unknown) => Layout.shellWord(plainArgument(String(value)))
  const entries = Object.entries(look.arguments)
  const isPlain = entries.every(([name, value]) => flags[name] !== undefined && typeof value === "string")
  // `doctor` also says why n8n does not answer.
  if (look.tool === "instance_overview" && entries.length === 0) return "doctor"
  if (look.tool === "get_execution") return `why ${word(look.arguments["id"])}`
  if (look.tool === "list_executions" && isPlain) {
    return ["executions", ...entries.flatMap(([name, value]) => [flags[name] ?? "", word(value)])].join(" ")
  }
  const json = JSON.stringify(look.arguments, (_, value) => typeof value === "string" ? plainArgument(value) : value)
  return entries.length === 0 ? `call ${look.tool}` : `call ${look.tool} ${Layout.shellWord(json)}`
}

const sentence = (text: string, length: number = maxSentence) =>
  Visible.label(text, length).replace(/^(?!n8n)[a-z]/, (first) => first.toUpperCase())
    .replace(/[.!?…]?$/, (end) => end || ".")

/** Data without secrets and hidden characters. */
export const json = <A>(value: A): A => Visible.json(Redact.redact(value))

/** Beginning of an incident; of a past one also its end, or that it goes on, and how often it occurred if all were read. */
const periodOf = ({ at, count, isOver, kind, until }: Incident.Incident, zone: string | undefined) => {
  const [from, last] = [Layout.time(at, zone), Layout.time(until ?? at, zone)]
  const to = isOver === false
    ? " – goes on"
    : from === last
    ? ""
    : ` – ${last.startsWith(from.slice(0, 10)) ? last.slice(11) : last}`
  const isCounted = kind !== "empty" && (isOver !== undefined || until !== undefined)
  return `${from}${to}${isCounted && count > 1 ? `, ${count} times` : ""}`
}

/** Names of the workflows of an incident of several, unless its sentence has them all. */
const workflowsOf = ({ what, workflows = [] }: Incident.Incident) =>
  workflows.every(({ name }) => what.includes(name))
    ? []
    : [`Workflows: ${Rows.names(workflows.map(({ name }) => name), maxNames, 40)}.`]

/** Sentence with its times, which are in UTC, in the zone of the report. */
const inZone = (text: string, zone: string | undefined) =>
  text.replace(/(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/g, (_, date, time) => Layout.time(`${date}T${time}Z`, zone))

/** Parts of an incident's sentences, of foreign texts at most `length` characters each. */
export const parts = (incident: Incident.Incident, { program, zone }: Context, length: number = maxSentence) => {
  const { cause, look, what, workflowName } = incident
  const causes = cause === undefined || length < leastWithCause ? [] : [sentence(inZone(cause, zone), length)]
  return {
    time: periodOf(incident, zone),
    subject: workflowName === undefined || what.includes(workflowName)
      ? ""
      : `'${Visible.label(workflowName, Math.min(length, 60))}': `,
    text: [sentence(inZone(what, zone), length), ...causes, ...length < leastWithCause ? [] : workflowsOf(incident)]
      .join(" "),
    command: look === undefined || length < leastWithCause ? undefined : `${program} ${commandOf(look)}`
  }
}

const kindColumn = 12

/** Incident in one line, for a log; in a width it is a heading with indented lines. */
export const lines = (
  incident: Incident.Incident,
  context: Context,
  { isColoured, width }: Layout.Screen
): ReadonlyArray<string> => {
  const { command, subject, text, time } = parts(incident, context)
  const kind = Layout.paint(Layout.pad(incident.kind, kindColumn), kinds[incident.kind].colour, isColoured)
  const look = command === undefined ? [] : [Layout.paint(command, 90, isColoured)]
  return width === Infinity
    ? [[time, kind, `${subject}${text}`, ...look].join("  ")]
    : [`${kind}  ${time}`, ...[...Layout.wrap(`${subject}${text}`, width - 2), ...look].map((line) => `  ${line}`)]
}

export interface Message {
  readonly text: string
  readonly incidents: ReadonlyArray<Incident.Incident>
}

/**
 * Body of a webhook: a paragraph for each incident, the most urgent first, as many as fit; of many incidents the
 * paragraphs are short. The others are counted, with the command that shows them.
 */
export const message = (incidents: ReadonlyArray<Incident.Incident>, host: string, context: Context): Message => {
  const at = incidents.map((each) => each.at).toSorted()[0] ?? "1970-01-01T00:00:00Z"
  const head = `n8n at ${Visible.label(host)}: ${counted(incidents.length, "new incident")} (times in ${
    Layout.zoneName(at, context.zone)
  })`
  const all = incidents.toSorted(Incident.byUrgency)
  const texts = lengths.map((length) => {
    const paragraphs = all.map((incident) => {
      const { command, subject, text, time } = parts(incident, context, length)
      return plain(`${time} ${incident.kind}: ${subject}${text}`) + (command === undefined ? "" : ` → ${command}`)
    })
    const first = (most: number) => {
      const rest = all.slice(most)
      const others = `and ${rest.length} more (${Rows.tally(rest, ({ kind }) => kind)})`
      return [
        head,
        ...paragraphs.slice(0, most),
        ...rest.length === 0 ? [] : [`${others} → ${context.program} health --since ${at.slice(0, 16)}Z`]
      ].join("\n\n")
    }
    let most = all.length
    while (most > 0 && TokenBound.countTokens(first(most), maxTokens) > maxTokens) most--
    return { text: first(most), most }
  })
  const [best = { text: head }] = texts.toSorted((a, b) => b.most - a.most)
  return { text: best.text, incidents: incidents.map(json) }
}
