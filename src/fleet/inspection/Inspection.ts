/** Checks all workflows of a folder, without an n8n, or of an n8n. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { defined, type Obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as JsonText from "../../base/JsonText.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Contents from "../../workflow/Contents.ts"
import * as Positions from "../../workflows/files/Positions.ts"
import * as WorkflowFiles from "../../workflows/files/WorkflowFiles.ts"
import * as ReferenceProblems from "../../workflows/ReferenceProblems.ts"
import type { Finding, Located } from "./Finding.ts"
import { type Context, type Draft, findings } from "./workflow.ts"

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
      missing === undefined ? start : Positions.make(raw)(JsonPath.print(missing.path)),
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
      Positions.make(raw)(prefixOf(each)),
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
  const positionOf = Positions.make(raw)
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
