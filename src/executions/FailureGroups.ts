/** Failed executions by cause: messages that differ only in numbers, ids or quoted words are one group. Pure. */
import { sumAll } from "effect/Number"
import { defined } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import { errorDetail, related } from "./Execution.ts"

/** Failure of one execution. */
export interface Failure {
  readonly node?: string
  readonly message: string
  /** Answer of the service behind the node, or n8n's advice, if it adds to the message. */
  readonly description?: string
  readonly httpCode?: string
  readonly called?: string
  /** Execution of the called workflow that failed. */
  readonly calledRun?: string
  /** Error of the network, such as a refused connection with its address. */
  readonly network?: string
}

export interface Failed extends Failure {
  readonly id: string
  readonly workflowId: string
  readonly at?: string
  /** Whether a retry of it succeeded. */
  readonly isRetried?: boolean
}

const maxValues = 10

/** Number that identifies the kind of failure, such as an HTTP status code. */
const statusName = String.raw`["']?\b(?:status(?:[\s_-]*code)?|http(?:\/\d(?:\.\d)?)?|code|error)`
const statusCode = String.raw`(?:[1-5]\d\d\b|"[1-5]\d\d"|'[1-5]\d\d')`
const status = String.raw`^[1-5]\d\d(?=\s+-\s)|${statusName}(?:["']?\s*[:=]\s*|[\s-]*)${statusCode}`

const quoted = String
  .raw`"(?:[^"\\]|\\.)*"|${"`"}[^${"`"}]*${"`"}|“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』|(?<![\p{L}\p{N}])'(?:[^'\\]|\\.)*'(?![\p{L}\p{N}])`

/** Characters between words; Japanese and Chinese have no spaces, so that their own characters are in the list. */
const between = String
  .raw`\s,;()[\]{}<>="'${"`"}“”«»「」『』、。：（）！？ー\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}`

/** Word with a digit or an `@`: an id, number, time or address. */
const word = String.raw`(?<![^:${between}])[^:${between}]*[\d@][^${between}]*`

const token = new RegExp(`(?<status>${status})|(?<quoted>${quoted})|${word}`, "giu")

/** Variable part of a message: values, such as those of a list, and the texts around them. */
interface Slot {
  readonly values: ReadonlyArray<string>
  /** Texts before, between and after the values: one more than values. */
  readonly around: ReadonlyArray<string>
}

/** Message in fixed and variable parts. */
const parse = (message: string): ReadonlyArray<string | Slot> => {
  const parts: Array<string | Slot> = [""]
  let at = 0
  const fixed = (text: string) => void parts.push(`${typeof parts.at(-1) === "string" ? parts.pop() : ""}${text}`)
  const variable = (open: string, value: string, close: string) => {
    const [before, gap] = parts.slice(-2)
    if (typeof before === "object" && typeof gap === "string" && /^[\s,;:/.-]*$/.test(gap)) {
      const around = [...before.around.slice(0, -1), `${before.around.at(-1)}${gap}${open}`, close]
      parts.splice(-2, 2, { values: [...before.values, value], around })
    } else parts.push({ values: [value], around: [open, close] })
    fixed("")
  }
  for (const { 0: text, groups, index } of message.matchAll(token)) {
    fixed(message.slice(at, index))
    at = index + text.length
    if (groups?.["status"] !== undefined) fixed(text)
    else if (groups?.["quoted"] !== undefined) variable(text.slice(0, 1), text.slice(1, -1), text.slice(-1))
    else {
      const value = text.replace(/[.!?:]+$/, "")
      variable("", value, "")
      fixed(text.slice(value.length))
    }
  }
  fixed(message.slice(at))
  return parts
}

const patternOf = (parts: ReadonlyArray<string | Slot>) =>
  parts.map((part) => typeof part === "string" ? part : "…").join("").replace(/\s+/g, " ").trim()

/** Common part of similar messages, such as `contact … has no email`. */
export const pattern = (message: string): string => patternOf(parse(message))

/** Message without its numbers, ids and times; quoted words stay. */
export const withoutValues = (message: string): string =>
  parse(message).map((part) =>
    typeof part === "string"
      ? part
      : whole({ ...part, values: part.values.map((value) => /[\d@]/.test(value) ? "…" : value) }, false)
  ).join("")

const distinct = (values: ReadonlyArray<string>) => {
  const ranked = Rows.grouped(values, (value) => value).toSorted((a, b) => b.count - a.count)
  return { distinct: ranked.length, values: ranked.slice(0, maxValues).map(({ first }) => first) }
}

const whole = ({ around, values }: Slot, isBare: boolean) =>
  around.map((text, index) => `${isBare ? text.replace(/["'`“”«»「」『』]/g, "") : text}${values[index] ?? ""}`).join(
    ""
  )

/** Message with placeholders for the values that differ, which go to `varies`. */
const template = (messages: ReadonlyArray<string>, varies: Array<ReturnType<typeof distinct>>): string => {
  if (new Set(messages).size < 2) return messages[0] ?? ""
  const parsed = messages.map(parse)
  const placeholder = (values: ReadonlyArray<string>) =>
    new Set(values).size === 1 ? values[0] : `{${varies.push(distinct(values))}}`
  return (parsed[0] ?? []).map((part, index) => {
    if (typeof part === "string") return part
    const slots = parsed.flatMap((parts) => {
      const slot = parts[index]
      return typeof slot === "object" ? slot : []
    })
    // Lists of different lengths vary as a whole.
    if (slots.some(({ around }) => around.length !== part.around.length)) {
      return placeholder(slots.map((slot) => whole(slot, true)))
    }
    const values = part.values.map((_, value) => placeholder(slots.map((slot) => slot.values[value] ?? "")) ?? "")
    return whole({ values, around: part.around }, false)
  }).join("")
}

const isMarkup = (text: string) => /^\s*<[!?a-z]/i.test(text)

/** Failure described by an error of n8n at a node. */
export const ofError = (error: unknown, node: string | undefined): Failure => {
  const { description, httpCode, message, messages = [] } = errorDetail(error)
  const saysMore = description !== undefined && !isMarkup(description) && !message.includes(description)
  const { executionId: calledRun, workflowId: called } = related(error) ?? {}
  const network = messages.find((text) => /^[a-z]+ E[A-Z_]+ \S/.test(text))
  return defined({
    node,
    message,
    description: saysMore ? description : undefined,
    httpCode,
    called,
    calledRun,
    network
  })
}

/** Failures without those of sub-workflows whose callers are among them; `subRuns` counts those of a caller. */
const causes = (failed: ReadonlyArray<Failed>) => {
  const byId = new Map(failed.map((each) => [each.id, each]))
  const called = new Set(failed.flatMap(({ calledRun }) => calledRun ?? []))
  return failed.filter(({ id }) => !called.has(id)).map((each) => {
    const way = new Set([each])
    for (const { calledRun = "" } of way) {
      const run = byId.get(calledRun)
      if (run !== undefined) way.add(run)
    }
    const network = [...way].find((run) => run.network !== undefined)?.network
    return { ...each, subRuns: way.size - 1, ...defined({ network }) }
  })
}

/** Key of the cause, which alike failures share. */
export const keyOf = ({ called, description = "", httpCode, message, node, workflowId }: Omit<Failed, "id">): string =>
  JSON.stringify([workflowId, node, called, httpCode, pattern(message), pattern(description)])

/**
 * Groups failed executions, ordered newest first, by cause: the largest group first. Placeholders such as `{1}` in the
 * texts stand for what varies. The run of a sub-workflow counts with its caller, in `subRuns`.
 */
export const group = (failed: ReadonlyArray<Failed>) =>
  Rows.grouped(causes(failed), keyOf)
    .map(({ count, first: { called, httpCode, node, workflowId }, rows }) => {
      const details = rows.map(({ description, network }) => description ?? network ?? "")
      const subRuns = sumAll(rows.map((each) => each.subRuns))
      const retried = rows.filter(({ isRetried }) => isRetried).length
      const times = rows.flatMap(({ at }) => at ?? []).toSorted()
      const varies: Array<ReturnType<typeof distinct>> = []
      return {
        workflowId,
        ...defined({
          node,
          called,
          httpCode,
          message: template(rows.map(({ message }) => message), varies),
          description: details[0] === "" ? undefined : template(details, varies),
          varies: varies.length === 0
            ? undefined
            : Object.fromEntries(varies.map((values, index) => [String(index + 1), values]))
        }),
        count,
        ...defined({ subRuns: subRuns || undefined, retried: retried || undefined }),
        first: times[0],
        last: times.at(-1),
        executions: rows.map(({ id }) => id)
      }
    })
    .toSorted((a, b) => b.count - a.count)
