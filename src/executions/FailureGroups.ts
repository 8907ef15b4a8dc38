/** Failed executions by cause: messages that differ only in numbers, ids or quoted words are one group. Pure. */
import { errorDetail } from "./Execution.ts"

/** Failure of one execution. */
export interface Failure {
  /** Failing node, if n8n names it. */
  readonly node?: string
  readonly message: string
  /** Answer of the service behind the node, or n8n's advice, if it adds to the message. */
  readonly description?: string
}

/** Failed execution. */
export interface Failed extends Failure {
  readonly id: string
  readonly workflowId: string
  /** Start in ISO 8601, if known. */
  readonly at?: string
}

/** Executions with the same cause of failure. */
export interface Group {
  readonly workflowId: string
  readonly node: string | undefined
  /** Complete message of the newest. */
  readonly message: string
  readonly description?: string
  readonly count: number
  /** Start of the first and the last, ISO 8601. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** Ids of the newest three. */
  readonly executions: ReadonlyArray<string>
}

const blank = "…"

/** Numbers that identify the kind of failure, such as HTTP status codes, and are not blanked. */
const statusCode = /\b((?:status(?:\s+code)?|http(?:\/\d(?:\.\d)?)?|code|error)[\s:=-]*)([1-5]\d\d)\b/gi

const quoted =
  /"(?:[^"\\]|\\.)*"|`[^`]*`|“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』|(?<![\p{L}\p{N}])'(?:[^'\\]|\\.)*'(?![\p{L}\p{N}])/gu

/** Words with a digit or an `@`: ids, numbers, times, addresses. */
const variable = /[^\s,;:()[\]{}<>=]*[\d@][^\s,;()[\]{}<>=]*/gu

const listed = /(?:…[\s,;:/.-]*)+…/g

/** Common part of similar messages, such as `contact … has no email`. */
export const pattern = (message: string): string => {
  const codes: Array<string> = []
  return message
    .replace(
      statusCode,
      (_, before: string, code: string) => `${before}${String.fromCodePoint(0xE000 + codes.push(code) - 1)}`
    )
    .replace(quoted, blank)
    .replace(variable, (word) => /[.!?]$/.test(word) ? `${blank}${word.slice(-1)}` : blank)
    .replace(listed, blank)
    .replace(/[\uE000-\uF8FF]/g, (mark) => codes[(mark.codePointAt(0) ?? 0) - 0xE000] ?? blank)
    .replace(/\s+/g, " ")
    .trim()
}

const isMarkup = (text: string) => /^\s*<[!?a-z]/i.test(text)

/** Failure described by an error of n8n at a node. */
export const ofError = (error: unknown, node: string | undefined): Failure => {
  const { description, message } = errorDetail(error)
  const saysMore = description !== undefined && !isMarkup(description) && !message.includes(description)
  return { ...(node === undefined ? {} : { node }), message, ...(saysMore ? { description } : {}) }
}

/** Groups failed executions, largest group first. `failed` is ordered newest first. */
export const group = (failed: ReadonlyArray<Failed>): ReadonlyArray<Group> =>
  [
    ...Map.groupBy(
      failed,
      ({ description = "", message, node, workflowId }) =>
        JSON.stringify([workflowId, node, pattern(message), pattern(description)])
    ).values()
  ]
    .map((alike): Group => {
      const times = alike.flatMap(({ at }) => at ?? []).toSorted()
      return {
        workflowId: alike[0]?.workflowId ?? "",
        node: alike[0]?.node,
        message: alike[0]?.message ?? "",
        ...(alike[0]?.description === undefined ? {} : { description: alike[0].description }),
        count: alike.length,
        first: times[0],
        last: times.at(-1),
        executions: alike.slice(0, 3).map(({ id }) => id)
      }
    })
    .toSorted((a, b) => b.count - a.count)
