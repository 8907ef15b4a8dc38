/** Findings in one workflow: problems, outdated nodes, breaks of an upgrade, risks and the policy. */
import * as Effect from "effect/Effect"
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import { print } from "../../base/JsonPath.ts"
import * as Turn from "../../base/Turn.ts"
import * as Visible from "../../base/Visible.ts"
import { typesOf } from "../../n8n/model/Workflow.ts"
import type { ReadWorkflow } from "../../n8n/WriteGuard.ts"
import type { Ruled } from "../../workflow/check/Rules.ts"
import { ruled } from "../../workflow/check/WorkflowProblems.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import { outdated } from "../../workflow/Outdated.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as Audit from "../Audit.ts"
import { type Located, severityOf, upgradeRule } from "./Finding.ts"

export interface Context {
  /** Release of the n8n that the workflows are on. */
  readonly connected?: string | undefined
  readonly to?: string | undefined
  /** Other workflows by id, as far as they are known. */
  readonly workflow: (id: string) => Obj | undefined
  /** Reads the error workflow that the policy requires. */
  readonly read: ReadWorkflow
}

/** Finding with the line in the code at its path. */
export type Draft = Located & { readonly line?: number }

const notes: ReadonlySet<string> = new Set(["manual-only", "community-node", "missing-credential"])

const ofProblem = ({ fix, line, message, node, path, rule, severity }: Ruled): Draft =>
  defined({ rule, severity: notes.has(rule) ? "note" as const : severity, node, message, fix, path, line })

interface Advice {
  readonly message: (risk: Audit.Risk) => string
  readonly fix: string
}

const risks: { readonly [Check in Audit.Risk["check"]]: Advice } = {
  "literal-secret": {
    message: ({ path }) => `A literal secret is in ${path.replace(/^nodes\[\d+\]\./, "")}.`,
    fix: "Store it in a credential, remove the value here, and rotate it."
  },
  "open-webhook": {
    message: () => "Anyone who knows the address can start the workflow.",
    fix: "Set authentication, or options.ipWhitelist."
  },
  policy: { message: ({ at }) => `${at}.`, fix: "Follow the rule, or have the policy changed." },
  "no-error-workflow": {
    message: () => "No one is notified when the workflow fails.",
    fix: "Name a workflow with an Error Trigger in settings.errorWorkflow."
  }
}

const ofRisk = (risk: Audit.Risk): Draft => {
  const { fix, message } = risks[risk.check]
  return defined({
    rule: risk.check,
    severity: severityOf[risk.check],
    node: risk.node,
    message: message(risk),
    fix,
    path: risk.path
  })
}

const placeholders = (workflow: Obj) =>
  LiteralSecrets.placeholders(workflow).map(({ at, node, path }): Draft =>
    defined({
      rule: "literal-secret",
      severity: "note" as const,
      node,
      message: `A placeholder is in ${path}, where a secret belongs.`,
      fix: "Bind a credential, and remove the placeholder.",
      path: at
    })
  )

const nodesWith = (drafts: ReadonlyArray<Draft>, ...rules: ReadonlyArray<string>): ReadonlySet<string | undefined> =>
  new Set(drafts.flatMap(({ node, rule }) => node !== undefined && rules.includes(rule) ? [node] : []))

/** All findings about a workflow of any shape; `counts` is whether it can be started. */
export const findings = Effect.fnUntraced(function*(workflow: Obj, counts: boolean, context: Context) {
  const { connected, read, to } = context
  const lookups = yield* NodeLookups.make(typesOf({ nodes: arr(workflow["nodes"]) }), connected)
  const indices = new Map(arr(workflow["nodes"]).map((node, index) => [str(obj(node)?.["name"]), index] as const))
  const pathOf = (node: string | undefined, key: string) => print(["nodes", indices.get(node) ?? 0, key])
  const problems = (yield* Turn.run(() => ruled(workflow, lookups))).map(ofProblem)
  /** Nodes that cannot run already, so that an upgrade does not break them. */
  const lost = nodesWith(problems, "removed-type", "unavailable-type")
  const breaks = to === undefined ? [] : Breaks.find(workflow, { from: connected, to }, { ...lookups, ...context })
    .filter(({ node, rule }) => !(lost.has(node) && rule.startsWith("type-")))
    .map(({ fix, node, rule, severity, since, what }): Draft =>
      defined({
        rule: `${upgradeRule}${rule}`,
        severity,
        node,
        message: `n8n ${since}: ${what}`,
        fix,
        path: node === undefined ? "settings" : pathOf(node, "type")
      })
    )
  const leaving = nodesWith(breaks, `${upgradeRule}type-removed`)
  const dated = outdated(workflow, lookups).filter(({ node }) => !lost.has(node) && !leaving.has(node)).map((
    { deprecated, has, newest, node, type, use = [] }
  ): Draft =>
    defined({
      rule: deprecated === true ? "deprecated-node" : "outdated-node",
      severity: "note" as const,
      node,
      message: deprecated === true
        ? `'${type}' is deprecated.`
        : `Version ${has} of '${type}'; the newest is ${newest}.`,
      fix: use.length === 0 ? undefined : `Use ${use.map((each) => `'${each}'`).join(" or ")}.`,
      path: pathOf(node, deprecated === true ? "type" : "typeVersion")
    })
  )
  const all = { ...workflow, nodes: arr(workflow["nodes"]) }
  const isUnpublished = problems.some(({ rule }) => rule === "manual-only" || rule === "no-trigger")
  const audited = (yield* Audit.look(all, counts, read))
    // Only published workflows start their error workflow.
    .filter(({ check }) => check !== "no-error-workflow" || !isUnpublished)
    .map(ofRisk)
  return [...problems, ...breaks, ...audited, ...placeholders({ nodes: all.nodes }), ...dated].map((draft): Draft => ({
    ...draft,
    // Messages quote code.
    message: Visible.label(draft.message, 1_000),
    ...(draft.fix === undefined ? {} : { fix: Visible.label(draft.fix, 1_000) })
  }))
})
