import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Audit from "../../workflows/Audit.ts"

const Place = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  at: Schema.optionalKey(Schema.Array(Schema.String))
})

const Finding = Schema.Struct({
  check: Schema.String,
  /** How many places there are. */
  count: Schema.Int,
  what: Schema.String,
  fix: Schema.String,
  places: Schema.Array(Place)
})

/** What a finding means, and how it is mended. */
const words: Readonly<Record<Audit.Check, readonly [what: string, fix: string]>> = {
  "literal-secret": [
    "Secrets stand in parameters, where everybody reads them who reads the workflow",
    "Give the node a credential and take the value out (workflow_edit op set); then change the secret where it was issued: history keeps it."
  ],
  "open-webhook": [
    "Anybody who knows the address starts these workflows",
    "workflow_edit: set authentication (headerAuth with a credential), or options.ipWhitelist."
  ],
  policy: ["These workflows break the operator's policy", "workflow_edit what the rule names."],
  n8n: ["", ""],
  "unused-credential": ["No workflow uses these credentials", "A person deletes them in n8n, once they are sure."],
  "idle-credential": [
    "No published workflow uses these credentials, or none that ran lately",
    "Ask the user whether they are still needed; they are deleted in n8n."
  ],
  "no-error-workflow": [
    "Nobody is told when these workflows fail",
    "update_workflow(id, settings: {errorWorkflow: ID}) with a workflow that has an Error Trigger."
  ],
  "outdated-node": [
    "n8n has newer versions of these nodes, or other types instead",
    "validate_workflow(workflowId) has the versions; change typeVersion with workflow_edit, and test."
  ]
}

const spots = ({ places }: Audit.Finding) => places.reduce((sum, { at }) => sum + Math.max(at.length, 1), 0)

/** Characters of an answer: what is grave stands first. */
const maxChars = 7_000

/** `POST /audit`, and a look into all workflows or one. */
export const audit = Tool.make({
  name: "audit",
  title: "Security audit",
  searchHint: "risk, leaked secrets, unused credentials, public webhooks, hardening",
  description:
    "Find what is risky: literal secrets, open webhooks, unused credentials, missing error workflows, outdated nodes, and n8n's own audit. Names places, never values; each finding says how to mend it.",
  annotations: Tool.readOnly,
  scopes: ["workflow:list", "workflow:read"],
  partialScopes: { [Audit.scope]: "n8n's own audit" },
  input: Schema.Struct({
    workflowId: Schema.optionalKey(Schema.String.annotate({ description: "Only this one; default: all." }))
  }),
  output: Schema.Struct({
    ok: Schema.Boolean,
    /** n8n's own audit is not in it. */
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
        what: finding.title ?? words[finding.check][0],
        fix: finding.recommendation ?? words[finding.check][1],
        places: finding.places.map(({ at, id, name }) => defined({ id, name, at: at.length === 0 ? undefined : at }))
      })),
      note: withoutN8n
    }),
  next: ({ workflowId }, { findings }) => (path) => {
    const [, index = "0"] = /^findings\[(\d+)\]/.exec(path) ?? []
    const id = findings[Number(index)]?.places[0]?.id
    return workflowId === undefined && id !== undefined
      ? `audit(workflowId: '${id}') has all of one workflow`
      : "effect-n8n-mcp audit --json on the command line has all"
  },
  maxChars: () => maxChars,
  message: ({ findings, incomplete, workflows }) => ({
    en: `Looked into ${counted(workflows, "workflow")}${incomplete === true ? ", without n8n's own audit" : ""}: ${
      findings.length === 0 ? "nothing found" : `${counted(findings.length, "kind")} of findings`
    }`,
    ja: incomplete === true ? "監査は不完全です" : "監査が完了しました"
  })
})
