/** Findings of the audit as answers and the command line show them. */
import * as Schema from "effect/Schema"
import { defined } from "../../base/Json.ts"
import * as Audit from "../../workflows/Audit.ts"
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

const count = ({ places }: Audit.Finding) => places.reduce((sum, { at }) => sum + Math.max(at.length, 1), 0)

/** Shows findings; `whole` are those with all places. */
export const show = (findings: ReadonlyArray<Audit.Finding>, whole: ReadonlyArray<Audit.Finding> = findings) =>
  findings.map((finding) => ({
    check: finding.check,
    severity: Audit.severityOf[finding.check],
    count: count(whole.find(({ check, title }) => check === finding.check && title === finding.title) ?? finding),
    what: finding.title ?? words[finding.check].what,
    fix: finding.recommendation ?? words[finding.check].fix,
    places: finding.places.map(({ at, id, name }) => defined({ id, name, at: at.length === 0 ? undefined : at }))
  }))
