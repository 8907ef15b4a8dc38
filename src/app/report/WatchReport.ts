/** Incidents of a watch as lines for people, as JSON, and as the message of a webhook. Pure. */
import { counted } from "../../base/Plural.ts"
import * as Redact from "../../base/Redact.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Incident from "../../watch/Incident.ts"
import * as Layout from "./Layout.ts"

export interface Context {
  /** Command line up to the command, such as `effect-n8n-mcp --profile prod`. */
  readonly program: string
  /** IANA name of the zone of times; by default this machine's. */
  readonly zone: string | undefined
}

/** Maximum characters of a webhook's text, and of a sentence. */
export const maxText = 3_000
const maxSentence = 300

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

/** Foreign text in a command. */
const plainArgument = (text: string) => plain(Visible.label(text))

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

const sentence = (text: string) =>
  Visible.label(text, maxSentence).replace(/^(?!n8n)[a-z]/, (first) => first.toUpperCase())
    .replace(/[.!?…]?$/, (end) => end || ".")

/** Incident without secrets and hidden characters. */
export const json = (incident: Incident.Incident): Incident.Incident => Visible.json(Redact.redact(incident))

const timeOf = (iso: string, timeZone: string | undefined) =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(new Date(iso))

/** Short name of the zone, such as `CET`. */
export const zoneName = (iso: string, timeZone: string | undefined) =>
  new Intl.DateTimeFormat("en-GB", { timeZone, timeZoneName: "short" }).formatToParts(new Date(iso))
    .find(({ type }) => type === "timeZoneName")?.value ?? "UTC"

const parts = (incident: Incident.Incident, { program, zone }: Context) => {
  const { at, cause, look, what, workflowName } = incident
  return {
    time: timeOf(at, zone),
    subject: workflowName === undefined || what.includes(workflowName) ? "" : `'${Visible.label(workflowName)}': `,
    text: [what, ...(cause === undefined ? [] : [cause])].map(sentence).join(" "),
    command: look === undefined ? undefined : `${program} ${commandOf(look)}`
  }
}

const kindColumn = 12

/** Red for failures and standstills, yellow for doubtful incidents. */
const colourOf = (kind: Incident.Kind) => ["silent", "empty", "slow"].includes(kind) ? 33 : 31

/** Line for a terminal or a log. */
export const line = (incident: Incident.Incident, context: Context, isColoured: boolean): string => {
  const { command, subject, text, time } = parts(incident, context)
  const kind = Layout.pad(incident.kind, kindColumn)
  return [
    time,
    Layout.paint(kind, colourOf(incident.kind), isColoured),
    `${subject}${text}${command === undefined ? "" : `  ${Layout.paint(command, 90, isColoured)}`}`
  ].join("  ")
}

export interface Message {
  readonly text: string
  readonly incidents: ReadonlyArray<Incident.Incident>
}

/** Body of a webhook: a paragraph for each incident, as far as they fit. */
export const message = (incidents: ReadonlyArray<Incident.Incident>, host: string, context: Context): Message => {
  const [{ at = "1970-01-01T00:00:00Z" } = {}] = incidents
  const head = `n8n at ${host}: ${counted(incidents.length, "new incident")} (times in ${zoneName(at, context.zone)})`
  const paragraphs = incidents.map((incident) => {
    const { command, subject, text, time } = parts(incident, context)
    return plain(`${time} ${incident.kind}: ${subject}${text}`) + (command === undefined ? "" : ` → ${command}`)
  })
  const first = (most: number) => Rows.listed([head, ...paragraphs], most + 1, "\n\n")
  let most = incidents.length
  while (most > 0 && first(most).length > maxText) most--
  return { text: first(most), incidents: incidents.map(json) }
}
