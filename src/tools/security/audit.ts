import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Audit from "../../fleet/Audit.ts"
import * as links from "../../n8n/Links.ts"
import * as parameters from "../shared/Parameters.ts"
import * as Findings from "./Findings.ts"

/** `POST /audit`, and checks of all workflows or of one. */
export const audit = Tool.make({
  name: "audit",
  title: "Security audit",
  searchHint: "risk, leaked secrets, unused credentials, public webhooks, hardening",
  description:
    "Find risks: secrets, open webhooks, unused credentials, missing error workflows, outdated nodes, n8n's own audit.",
  annotations: Tool.readOnly,
  // The answer's budget limits the findings.
  unlisted: { limit: "never" },
  scopes: ["workflow:list", "workflow:read"],
  partialScopes: { [Audit.scope]: "n8n's own audit" },
  input: Schema.Struct({
    workflowId: Schema.optionalKey(
      Schema.String.annotate({ description: "Only this workflow." }).pipe(links.workflowId)
    ),
    only: parameters.optional(Schema.Array(Schema.String), "Checks by name."),
    except: parameters.optional(Schema.Array(Schema.String), "Not these."),
    severity: parameters.optional(Schema.Literals(Audit.severities), "Or worse."),
    limit: parameters.int("limit", { minimum: 1, maximum: 1_000 }, 100, "Maximum number."),
    cursor: parameters.cursor
  }),
  output: Schema.Struct({
    ok: Schema.Boolean,
    /** Whether n8n's own audit is missing. */
    incomplete: Schema.optionalKey(Schema.Boolean),
    workflows: Schema.Int,
    findings: Schema.Array(Findings.Finding),
    note: Schema.optionalKey(Schema.String),
    nextCursor: Schema.optionalKey(Schema.String)
  }),
  handler: ({ cursor, limit, workflowId, ...scope }) =>
    Effect.gen(function*() {
      const report = yield* Audit.run(workflowId, scope)
      return { ...report, ...(yield* Audit.pageOf(report.spots, { cursor, limit })) }
    }),
  ending: ({ page, ...rest }) => ({
    size: page.length,
    after: (count) => {
      const some = page.slice(0, count)
      const last = some.at(-1)
      return { ...rest, page: some, nextCursor: last && Audit.cursorAfter(last) }
    }
  }),
  summarize: ({ nextCursor, page, spots, withoutN8n, workflows }, { cursor }) => {
    const kinds = new Set(page.map(Findings.kindOf))
    const others = cursor === undefined ? spots.filter((spot) => !kinds.has(Findings.kindOf(spot))) : []
    return defined({
      ok: spots.length === 0 && withoutN8n === undefined,
      incomplete: withoutN8n === undefined ? undefined : true,
      workflows,
      // The first page names every kind of finding.
      findings: [
        ...Findings.show(page, spots),
        ...Findings.show(others).map((finding) => ({ ...finding, places: [] }))
      ],
      note: withoutN8n,
      nextCursor
    })
  },
  budget: () => ({ total: 7_000 }),
  message: ({ findings, incomplete, workflows }) => ({
    en: `Checked ${counted(workflows, "workflow")}${incomplete === true ? ", without n8n's own audit" : ""}: ${
      findings.length === 0 ? "nothing found" : `${counted(findings.length, "kind")} of findings`
    }`,
    ja: incomplete === true ? "監査は不完全です" : "監査が完了しました"
  })
})
