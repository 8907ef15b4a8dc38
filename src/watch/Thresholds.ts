/** Settings of the watch for one workflow, from a tag such as `watch: silent 2h` or `watch: off`, or from a file. Pure. */
import { day, hour, minute } from "./Observation.ts"

export interface Rule {
  /** Whether nothing about the workflow is reported. */
  readonly isOff: boolean
  /** Milliseconds without a run after which the workflow counts as silent. */
  readonly silent?: number
}

const units = { m: minute, h: hour, d: day } as const

/** Valid forms, for messages. */
export const forms = "write 'off', or 'silent' with a duration such as 30m, 2h or 7d"

/** Parses `off`, or `silent` with a duration such as `30m`, `2h` or `7d`; `undefined` for anything else. */
export const parse = (text: string): Rule | undefined => {
  const [, off, amount, unit = "m"] = /^(?:(off)|silent ([1-9]\d{0,3}) ?([mhd]))$/.exec(text.trim().toLowerCase()) ?? []
  if (off !== undefined) return { isOff: true }
  return amount === undefined ? undefined : { isOff: false, silent: Number(amount) * units[unit as keyof typeof units] }
}

/** Settings in a file: a text as after `watch:` in a tag, by the id or the name of a workflow. */
export type Rules = Readonly<Record<string, string>>

const tag = /^watch:(.*)$/i

export interface Found extends Rule {
  /** Texts that are not a rule. */
  readonly mistakes: ReadonlyArray<string>
}

/** Keys in a file that are neither the id nor the name of a workflow. */
export const unused = (rules: Rules = {}, workflows: { readonly [id: string]: { readonly name: string } }) => {
  const names = new Set(Object.values(workflows).map(({ name }) => name))
  return Object.keys(rules).filter((key) => !Object.hasOwn(workflows, key) && !names.has(key))
}

/** Rule of a workflow. `off` wins, then the file over tags, and the id over the name. */
export const of = (
  workflow: { readonly id: string; readonly name: string; readonly tags: ReadonlyArray<string> },
  rules: Rules = {}
): Found => {
  const inFile = [workflow.id, workflow.name].flatMap((key) => Object.hasOwn(rules, key) ? [rules[key] ?? ""] : [])
  const texts = [...inFile, ...workflow.tags.flatMap((name) => tag.exec(name)?.[1]?.trim() ?? [])]
  const parsed = texts.map((text) => ({ text, rule: parse(text) }))
  const silent = parsed.find(({ rule }) => rule?.silent !== undefined)?.rule?.silent
  return {
    isOff: parsed.some(({ rule }) => rule?.isOff === true),
    ...(silent === undefined ? {} : { silent }),
    mistakes: parsed.flatMap(({ rule, text }) => rule === undefined ? [text] : [])
  }
}
