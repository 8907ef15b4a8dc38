/** Findings of the audit for answers and the command line. */
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import * as Rows from "../../base/Rows.ts"
import * as Audit from "../../fleet/Audit.ts"
import words from "./findings.json" with { type: "json" }

const Place = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  at: Schema.optionalKey(Schema.Array(Schema.String))
})

export const Finding = Schema.Struct({
  check: Schema.String,
  severity: Schema.String,
  /** Number of places, of which an answer may show only some. */
  count: Schema.Int,
  what: Schema.String,
  fix: Schema.String,
  places: Schema.Array(Place)
})

export const kindOf = ({ check, title = "" }: Audit.Spot) => JSON.stringify([check, title])

/** Instructions for a person who fixes a finding by hand, in contrast to a model. */
export const byHand = (check: Audit.Check): string => words[check].byHand

export const show = (spots: ReadonlyArray<Audit.Spot>, all: ReadonlyArray<Audit.Spot> = spots) => {
  const isPlace = ({ at, id }: Audit.Spot) => id !== "" || at !== ""
  const places = Map.groupBy(all.filter(isPlace), kindOf)
  return [...new Map(spots.map((spot) => [kindOf(spot), spot]))].map(([kind, { check, recommendation, title }]) => ({
    check,
    severity: Audit.severityOf[check],
    count: places.get(kind)?.length ?? 0,
    what: title ?? words[check].what,
    fix: recommendation ?? words[check].fix,
    places: Rows.grouped(spots.filter((spot) => kindOf(spot) === kind && isPlace(spot)), ({ id }) => id)
      .map(({ first: { id, name }, rows }) => {
        const at = rows.flatMap(({ at }) => at || [])
        return defined({ id, name, at: at.length === 0 ? undefined : at })
      })
  }))
}
