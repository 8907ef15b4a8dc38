/** Failed executions by what they failed of: messages that differ in numbers, ids or quoted words are one. Pure. */
import { errorDetail } from "./Execution.ts"

/**
 * Why one execution failed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Failure {
  /** The node that failed, where n8n says so. */
  readonly node?: string
  readonly message: string
  /** What the service behind the node answered, or n8n's advice; where it says more than the message. */
  readonly description?: string
}

/** A failed execution. */
export interface Failed extends Failure {
  readonly id: string
  readonly workflowId: string
  /** ISO 8601, where n8n says when it started. */
  readonly at?: string
}

/** Executions that failed alike. */
export interface Group {
  readonly workflowId: string
  readonly node: string | undefined
  /** The message of the newest, whole. */
  readonly message: string
  readonly description?: string
  readonly count: number
  /** When the first and the last of them started, ISO 8601. */
  readonly first: string | undefined
  readonly last: string | undefined
  /** The newest, at most three. */
  readonly executions: ReadonlyArray<string>
}

const blank = "…"

/** Numbers that say what kind of failure it is, and so are not blanked. */
const statusCode = /\b((?:status(?:\s+code)?|http(?:\/\d(?:\.\d)?)?|code|error)[\s:=-]*)([1-5]\d\d)\b/gi

const quoted =
  /"(?:[^"\\]|\\.)*"|`[^`]*`|“[^”]*”|«[^»]*»|「[^」]*」|『[^』]*』|(?<![\p{L}\p{N}])'(?:[^'\\]|\\.)*'(?![\p{L}\p{N}])/gu

/** A word with a digit or an `@` in it is an id, a number, a time or an address. */
const variable = /[^\s,;:()[\]{}<>=]*[\d@][^\s,;()[\]{}<>=]*/gu

const listed = /(?:…[\s,;:/.-]*)+…/g

/** What a message has in common with its like, such as `contact … has no email`. */
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

/** The failure that an error of n8n's tells, at the node that failed. */
export const ofError = (error: unknown, node: string | undefined): Failure => {
  const { description, message } = errorDetail(error)
  const saysMore = description !== undefined && !isMarkup(description) && !message.includes(description)
  return { ...(node === undefined ? {} : { node }), message, ...(saysMore ? { description } : {}) }
}

/** The failed executions in groups, the largest first. `failed` has the newest first. */
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
