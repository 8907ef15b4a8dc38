/** Fields about batches of changes, shared by the tools that make and undo them. */
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Rows from "../../base/Rows.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Fleet from "../../fleet/Fleet.ts"
import type * as Plans from "../../fleet/Plans.ts"

export const fields = {
  done: Schema.optionalKey(Schema.Int),
  restored: Schema.optionalKey(Schema.Int),
  notDone: Schema.optionalKey(Schema.Int),
  /** Reason why the batch ended early. */
  stopped: Schema.optionalKey(Schema.String),
  /** Workflows that were left out, by the reason: `{why, workflows: ["Name (id)"]}`. */
  refused: Schema.optionalKey(Schema.Array(Schema.Record(Schema.String, Schema.Json))),
  warnings: Schema.optionalKey(Schema.Array(Schema.String))
}

export const leftOut = ({ outcomes, plan }: Fleet.State): ReadonlyArray<Plans.Refused> =>
  plan.entries.flatMap(({ id, name }) => {
    const { why } = outcomes.get(id) ?? {}
    return why === undefined ? [] : [{ id, name, why }]
  })

/** Workflows that are left out, those with the same reason as one. */
export const grouped = (left: ReadonlyArray<Plans.Refused>) =>
  Rows.grouped(left, ({ why }) => why).map(({ first: { why }, rows }) => ({
    why: Visible.line(why),
    workflows: rows.map(({ id, name }) => name === "" ? id : `${Visible.line(name)} (${id})`)
  }))

const positive = (count: number) => count <= 0 ? undefined : count

export const summarize = (state: Fleet.State, left = leftOut(state)) => {
  const count = (kind: string) => positive([...state.outcomes.values()].filter(({ state }) => state === kind).length)
  const texts = [...state.outcomes].flatMap(([id, { warnings = [] }]) => warnings.map((text) => ({ id, text })))
  const warnings = Rows.grouped([...state.warnings, ...texts], ({ text }) => text).map((
    { count, first: { id, text } }
  ) => `${count === 1 ? id : counted(count, "workflow")}: ${text}`)
  return defined({
    done: count("done"),
    restored: count("restored"),
    notDone: positive((state.total ?? state.plan.entries.length) - state.outcomes.size),
    stopped: state.stopped,
    refused: left.length === 0 ? undefined : grouped(left),
    warnings: warnings.length === 0 ? undefined : warnings
  })
}
