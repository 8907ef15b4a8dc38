/** Checks all workflows of a folder, without an n8n, or of an n8n. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Jsonc from "jsonc-parser"
import { arr, defined, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as JsonText from "../../base/JsonText.ts"
import * as Turn from "../../base/Turn.ts"
import * as Visible from "../../base/Visible.ts"
import { typesOf } from "../../n8n/model/Workflow.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import type { ReadWorkflow } from "../../n8n/WriteGuard.ts"
import type { Ruled } from "../../workflow/check/Rules.ts"
import { ruled } from "../../workflow/check/WorkflowProblems.ts"
import * as Contents from "../../workflow/Contents.ts"
import * as LiteralSecrets from "../../workflow/LiteralSecrets.ts"
import { outdated } from "../../workflow/Outdated.ts"
import * as Breaks from "../../workflow/upgrade/Breaks.ts"
import * as WorkflowFiles from "../../workflows/files/WorkflowFiles.ts"
import * as NodeLookups from "../../workflows/NodeLookups.ts"
import * as ReferenceProblems from "../../workflows/ReferenceProblems.ts"
import * as Audit from "../Audit.ts"
import { type Finding, type Located, severityOf, upgradeRule } from "./Finding.ts"

interface Context {
  /** Release of the n8n that the workflows are on. */
  readonly connected?: string | undefined
  readonly to?: string | undefined
  /** Other workflows by id, as far as they are known. */
  readonly workflow: (id: string) => Obj | undefined
  /** Reads the error workflow that the policy requires. */
  readonly read: ReadWorkflow
}

/** Finding with the line in the code at its path. */
type Draft = Located & { readonly line?: number }

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
const findings = Effect.fnUntraced(function*(workflow: Obj, counts: boolean, context: Context) {
  const { connected, read, to } = context
  const lookups = yield* NodeLookups.make(typesOf({ nodes: arr(workflow["nodes"]) }), connected)
  const indices = new Map(arr(workflow["nodes"]).map((node, index) => [str(obj(node)?.["name"]), index] as const))
  const pathOf = (node: string | undefined, key: string) => JsonPath.print(["nodes", indices.get(node) ?? 0, key])
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

/** Start of the part at a path, or of the nearest around it; of equal keys the last counts, as in JSON.parse. */
const offsetOf = ({ children = [], type }: Jsonc.Node, [step, ...rest]: JsonPath.Path): number | undefined => {
  const part = type === "array"
    ? children[Number(step)]
    : children.findLast(({ children: [key, value] = [] }) => value !== undefined && key?.value === String(step))
  if (step === undefined || part === undefined) return undefined
  const inner = part.type === "property" ? part.children?.[1] : part
  return (inner && offsetOf(inner, rest)) ?? part.offset
}

/**
 * Finds the place of a path such as `nodes[3].parameters.url`, by default that of the nearest part around it. The text
 * is parsed once, with the first path.
 */
export const placesIn = (text: string): (path: string) => JsonText.Place => {
  let root: Jsonc.Node | undefined
  let starts: ReadonlyArray<number> | undefined
  return (path) => {
    root ??= Result.try(() => Jsonc.parseTree(text.replace(/^\uFEFF/, " "), undefined, { allowTrailingComma: true }))
      .pipe(
        Result.getSuccess,
        Option.flatMapNullishOr((tree) => tree),
        Option.getOrElse((): Jsonc.Node => ({ type: "null", offset: 0, length: 0 }))
      )
    starts ??= [0, ...[...text.matchAll(/\r\n|\r|\n/g)].map(({ 0: { length }, index }) => index + length)]
    const offset = offsetOf(root, JsonPath.parse(path) ?? []) ?? root.offset
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = low + high >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 }
  }
}

export interface Report {
  readonly findings: ReadonlyArray<Finding>
  /** Files with workflows, or ids on n8n, in their order. */
  readonly places: ReadonlyArray<string>
  /** Files of code beside them. */
  readonly code: ReadonlyArray<string>
  /** Other `.json` files, and what they are. */
  readonly others: ReadonlyArray<WorkflowFiles.Other>
}

const locate = (file: string, { column, line }: JsonText.Place, finding: Located): Finding => ({
  file,
  line,
  column,
  ...finding
})

const order = (a: Finding, b: Finding) =>
  "file" in a && "file" in b
    ? a.file === b.file ? a.line - b.line || a.column - b.column : a.file < b.file ? -1 : 1
    : 0

interface Entry {
  readonly shown: string
  readonly inside: ReadonlyArray<Contents.Inside>
  readonly flaws: ReadonlyArray<Finding>
  readonly raw: string
  readonly beside?: WorkflowFiles.Beside | undefined
}

const start: JsonText.Place = { line: 1, column: 1 }

const ofFile = (file: string, place: JsonText.Place, rule: string, message: string, fix?: string, path = "") =>
  locate(
    file,
    place,
    defined({ rule, severity: path === "" ? "error" as const : "warning" as const, message, fix, path })
  )

const broken = (shown: string, { contents: { hint, why }, raw = "" }: WorkflowFiles.Unreadable): Entry => {
  const flaw = JsonText.flaws(raw).at(-1)
  const isConflict = /^<{7} /m.test(raw)
  const missing = WorkflowFiles.codePlaces({ raw }).find(({ file }) => why.includes(`'${file}'`))
  const finding = raw !== "" && flaw !== undefined
    ? ofFile(
      shown,
      flaw,
      "invalid-json",
      isConflict ? "Markers of a merge conflict are in it." : `This is not JSON: ${flaw.what}.`,
      "Correct it, or export the workflow again."
    )
    : ofFile(
      shown,
      missing === undefined ? start : placesIn(raw)(JsonPath.print(missing.path)),
      "unreadable-file",
      `${Visible.label(why.replace(/^File '.*?' /, "The file "), 500)}.`,
      typeof hint === "string" ? hint : undefined
    )
  return { shown, inside: [], flaws: [finding], raw: "" }
}

const prefixOf = ({ at }: Contents.Inside) => JsonPath.print(at[0] ?? [])

/** Findings about the text, and about what is around a workflow and is not one of n8n's lists of them. */
const readable = (
  shown: string,
  { beside, contents, encoding, text }: WorkflowFiles.WorkflowFile
): Entry | undefined => {
  if (contents._tag === "Other") return undefined
  const whole = beside?.raw ?? text
  const raw = Contents.jsonIn(whole)
  const isUtf8 = encoding === "UTF-8"
  const flaws = JsonText.flaws(isUtf8 ? raw : raw.replace(/^\uFEFF/, "")).map(({ what, ...place }) =>
    ofFile(shown, place, "invalid-json", `n8n does not import JSON with ${what}.`, "Remove it.")
  )
  const wrapped = contents.all.flatMap((each) => {
    const wrapper = raw === whole ? each.at.length > 1 ? "a text" : prefixOf(each) : "Markdown"
    return /^(\[\d+\])*$/.test(wrapper) ? [] : ofFile(
      shown,
      placesIn(raw)(prefixOf(each)),
      "workflow-shape",
      `The workflow is inside of '${wrapper}', where n8n's import does not find it.`,
      "Store the workflow itself in the file.",
      prefixOf(each) || wrapper
    )
  })
  const own = isUtf8 ? [] : [
    ofFile(shown, start, "invalid-json", `n8n does not import JSON in ${encoding}.`, "Save it as UTF-8.")
  ]
  return { shown, raw, inside: contents.all, flaws: [...own, ...flaws, ...wrapped], beside }
}

const besideOf = (shown: string, file: string) => `${shown.slice(0, shown.lastIndexOf("/") + 1)}${file}`

const placing = ({ beside, raw, shown }: Entry) => {
  const positionOf = placesIn(raw)
  const code = new Map(
    beside === undefined ?
      [] :
      WorkflowFiles.codePlaces(beside).map(({ file, path }) => [JsonPath.print(path), file] as const)
  )
  return ({ line, ...finding }: Draft): Finding => {
    const file = code.get(finding.path)
    return file === undefined || line === undefined
      ? locate(shown, positionOf(finding.path), finding)
      : locate(besideOf(shown, file), { line, column: 1 }, finding)
  }
}

/** Error workflows outside of the folder count as right. */
const anyErrorWorkflow: Obj = { nodes: [{ type: "n8n-nodes-base.errorTrigger" }] }

/**
 * Checks the workflows in the files below the first files root, or in one of them. Other `.json` files are ignored
 * unless they look like a broken workflow. `shownAs` is the folder in the paths of findings.
 */
export const inFolder = Effect.fn("Inspection.inFolder")(function*({ only, root, shownAs, to }: {
  readonly root: string
  readonly shownAs: string
  readonly only?: string | undefined
  readonly to?: string | undefined
}) {
  const files = yield* WorkflowFiles.WorkflowFiles
  const path = yield* Path.Path

  const others: Array<WorkflowFiles.Other> = []

  const look = Effect.fnUntraced(function*(file: string) {
    const relative = path.relative(root, file)
    const shown = path.join(shownAs, relative).split(path.sep).join("/")
    const inspected = yield* files.inspect(relative, { hidesSecrets: true })
    const { contents } = inspected
    if (!("raw" in inspected)) {
      const entry = readable(shown, inspected)
      if (entry !== undefined) return entry
    } else if (inspected.contents.isLikely) return broken(shown, inspected)
    others.push({ file: shown, what: contents._tag === "Other" ? contents.what : "it cannot be read" })
    return undefined
  })

  const paths = only === undefined ? yield* files.paths(".") : [only]
  const looks = yield* Effect.forEach(paths, look, { concurrency: 16 })
  const entries = looks.filter((each) => each !== undefined)
  const byId = new Map(
    entries.flatMap(({ inside }) =>
      inside.flatMap(({ workflow }) => {
        const id = str(workflow["id"])
        return id === undefined ? [] : [[id, workflow] as const]
      })
    )
  )
  const context: Context = {
    to,
    workflow: (id) => byId.get(id),
    read: (id) => Effect.succeed(byId.get(id) ?? anyErrorWorkflow)
  }
  const all = yield* Effect.forEach(entries, (entry) => {
    const place = placing(entry)
    const extracted = new Set(
      entry.beside === undefined ? [] : WorkflowFiles.secretPlaces(entry.beside).map((path) => JsonPath.print(path))
    )
    return Effect.forEach(
      entry.inside,
      (inside) =>
        Effect.map(
          findings(inside.workflow, true, context),
          (drafts) =>
            drafts.map((draft) => ({ ...draft, path: JsonPath.join(prefixOf(inside), draft.path) }))
              .filter(({ path, rule }) => rule !== "literal-secret" || !extracted.has(path)).map(place)
        )
    ).pipe(
      Effect.map((own) => [...entry.flaws, ...own.flat()].toSorted(order))
    )
  })
  const report: Report = {
    findings: all.flat(),
    places: entries.map(({ shown }) => shown),
    code: entries.flatMap(({ beside, shown }) => [...beside?.files.keys() ?? []].map((file) => besideOf(shown, file))),
    others
  }
  return report
})

/** Checks all workflows of the connected n8n that are not archived. */
export const onN8n = Effect.fn("Inspection.onN8n")(function*(to?: string) {
  const n8n = yield* N8nClient
  const connected = yield* n8n.release
  const workflows = [...yield* Stream.runCollect(n8n.streamWorkflows())]
  const byId = new Map(workflows.map((workflow) => [workflow.id, { ...workflow }]))
  const others = yield* Cache.make({ capacity: 1_000, lookup: (id: string) => n8n.getWorkflow(id) })
  const getWorkflow = (id: string) => Cache.get(others, id)
  const context: Context = { connected, to, workflow: (id) => byId.get(id), read: getWorkflow }
  const subjects = yield* Effect.forEach(workflows, (workflow) => ReferenceProblems.subject(workflow, true))
  const faults = connected === undefined
    ? []
    : yield* ReferenceProblems.judge(subjects, workflows.map(ReferenceProblems.calleeOf))
  const all = yield* Effect.forEach(
    workflows,
    Effect.fnUntraced(function*(workflow, index: number) {
      const own = yield* findings({ ...workflow }, workflow.active, context)
      const referring = (faults[index] ?? []).map(({ fix, message, node, path, rule, severity }): Located =>
        defined({ rule, severity, node, message: Visible.label(message, 1_000), fix, path })
      )
      const judged = new Set(referring.map(({ path }) => path))
      return [...referring, ...own.filter(({ path, rule }) => rule !== "missing-credential" || !judged.has(path))].map((
        finding
      ): Finding => ({
        workflow: workflow.id,
        name: workflow.name,
        ...finding
      }))
    })
  )
  const report: Report = { findings: all.flat(), places: workflows.map(({ id }) => id), code: [], others: [] }
  return report
})
