import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Audit from "../../workflows/Audit.ts"
import * as parameters from "../shared/Parameters.ts"
import words from "./findings.json" with { type: "json" }

const Place = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  at: Schema.optionalKey(Schema.Array(Schema.String))
})

const Finding = Schema.Struct({
  check: Schema.String,
  /** Number of places, of which an answer may show only some. */
  count: Schema.Int,
  what: Schema.String,
  fix: Schema.String,
  places: Schema.Array(Place)
})

const spots = ({ places }: Audit.Finding) => places.reduce((sum, { at }) => sum + Math.max(at.length, 1), 0)

/** Maximum length of an answer; the most serious findings come first. */
const maxChars = 7_000

/** `POST /audit`, and checks of all workflows or of one. */
export const audit = Tool.make({
  name: "audit",
  title: "Security audit",
  searchHint: "risk, leaked secrets, unused credentials, public webhooks, hardening",
  description:
    "Find risks: literal secrets, open webhooks, unused credentials, missing error workflows, outdated nodes, and n8n's own audit. Names places, never values; each finding says how to fix it.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  partialScopes: { [Audit.scope]: "n8n's own audit" },
  input: Schema.Struct({
    workflowId: parameters.optional(Schema.String, "Only this workflow; default: all.")
  }),
  output: Schema.Struct({
    ok: Schema.Boolean,
    /** Whether n8n's own audit is missing. */
    incomplete: Schema.optionalKey(Schema.Boolean),
    workflows: Schema.Int,
    findings: Schema.Array(Finding),
    note: Schema.optionalKey(Schema.String)
  }),
  handler: ({ workflowId }) => Audit.run(workflowId),
  summarize: ({ findings, withoutN8n, workflows }) =>
    defined({
      ok: findings.length === 0 && withoutN8n === undefined,
      incomplete: withoutN8n === undefined ? undefined : true,
      workflows,
      findings: findings.map((finding) => ({
        check: finding.check,
        count: spots(finding),
        what: finding.title ?? words[finding.check].what,
        fix: finding.recommendation ?? words[finding.check].fix,
        places: finding.places.map(({ at, id, name }) => defined({ id, name, at: at.length === 0 ? undefined : at }))
      })),
      note: withoutN8n
    }),
  next: ({ workflowId }, { findings }) => (path) => {
    const [, index = "0"] = /^findings\[(\d+)\]/.exec(path) ?? []
    const id = findings[Number(index)]?.places[0]?.id
    return workflowId === undefined && id !== undefined
      ? `audit(workflowId: '${id}') shows all of one workflow`
      : "effect-n8n-mcp audit --json on the command line shows all"
  },
  maxChars: () => maxChars,
  message: ({ findings, incomplete, workflows }) => ({
    en: `Checked ${counted(workflows, "workflow")}${incomplete === true ? ", without n8n's own audit" : ""}: ${
      findings.length === 0 ? "nothing found" : `${counted(findings.length, "kind")} of findings`
    }`,
    ja: incomplete === true ? "監査は不完全です" : "監査が完了しました"
  })
})
