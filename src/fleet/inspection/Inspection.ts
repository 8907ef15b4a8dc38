/** Checks all workflows of a folder, without an n8n, or of an n8n. */
import * as Cache from "effect/Cache"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Stream from "effect/Stream"
import { isUtf8 } from "node:buffer"
import type * as Errors from "../../base/Errors.ts"
import { defined, type Obj, obj, str } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Visible from "../../base/Visible.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as JsonText from "../../workflows/files/JsonText.ts"
import * as Positions from "../../workflows/files/Positions.ts"
import * as WorkflowFiles from "../../workflows/files/WorkflowFiles.ts"
import * as ReferenceProblems from "../../workflows/ReferenceProblems.ts"
import type { Finding, Located } from "./Finding.ts"
import { type Context, type Draft, findings } from "./workflow.ts"

/** Keys of exported workflows. */
const keys: ReadonlySet<string> = new Set(
  ("active activeVersion activeVersionId connections createdAt description id isArchived meta name nodeGroups nodes " +
    "parentFolder parentFolderId pinData projectId settings shared staticData tags triggerCount updatedAt " +
    "versionCounter versionId").split(" ")
)

const isNode = (value: unknown) => {
  const node = obj(value)
  return node !== undefined && (str(node["type"]) ?? "").includes(".") &&
    ("typeVersion" in node || "parameters" in node || "position" in node)
}

/** Whether a value is a workflow, or was to be one. */
const isWorkflow = (value: unknown): value is Obj => {
  const object = obj(value)
  if (object === undefined || !("nodes" in object)) return false
  const { connections, nodes } = object
  return Array.isArray(nodes)
    ? nodes.some(isNode) || nodes.length === 0 && obj(connections) !== undefined
    : obj(connections) !== undefined || Object.keys(object).every((key) => keys.has(key))
}

export interface Inside {
  readonly workflow: Obj
  /** Its path in the file: ``, `[3].`, `workflow.` */
  readonly prefix: string
}

/** Workflows in a value: itself, each of a list, or one in a wrapper. */
export const workflowsIn = (value: unknown, prefix = "", depth = 0): ReadonlyArray<Inside> => {
  if (isWorkflow(value)) return [{ workflow: value, prefix }]
  if (depth > 3) return []
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => workflowsIn(each, `${prefix.replace(/\.$/, "")}[${index}].`, depth + 1))
  }
  const object = obj(value)
  return ["workflow", "data"].flatMap((key) => {
    const inner = object?.[key]
    if (typeof inner !== "object" || inner === null) return []
    return workflowsIn(inner, `${prefix}${key}.`, depth + 1).map(({ prefix, workflow }) => ({
      prefix,
      workflow: "name" in workflow || object?.["name"] === undefined ? workflow : { name: object["name"], ...workflow }
    }))
  })
}

/** Whether a text that cannot be parsed looks like a workflow. */
export const looksBroken = (text: string): boolean =>
  /"nodes"\s*:/.test(text) && /"(?:connections|typeVersion)"\s*:|n8n-nodes-/.test(text)

export interface Report {
  readonly findings: ReadonlyArray<Finding>
  /** Files with workflows and the code beside them, or ids on n8n, in their order. */
  readonly places: ReadonlyArray<string>
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
  readonly inside: ReadonlyArray<Inside>
  readonly flaws: ReadonlyArray<Finding>
  readonly raw: string
  readonly beside?: WorkflowFiles.Beside | undefined
}

const reference = (raw: string, reason: string) => {
  const path = WorkflowFiles.codePlaces({ raw }).find(({ file }) => reason.includes(`'${file}'`))?.path
  return path === undefined ? { line: 1, column: 1 } : Positions.make(raw)(JsonPath.print(path))
}

const unreadable = (
  shown: string,
  { isWhole, text }: { readonly isWhole: boolean; readonly text: string },
  { hint, reason }: Errors.ValidationError
): Entry | undefined => {
  if (!looksBroken(text)) return undefined
  const flaw = isWhole ? JsonText.flaws(text).at(-1) : undefined
  const finding = flaw === undefined
    ? locate(shown, isWhole ? reference(text, reason) : { line: 1, column: 1 }, {
      rule: "unreadable-file",
      severity: "error",
      message: `${Visible.label(reason.replace(/^File '.*?' /, "The file "), 500)}.`,
      ...(typeof hint === "string" ? { fix: hint } : {}),
      path: ""
    })
    : locate(shown, flaw, {
      rule: "invalid-json",
      severity: "error",
      message: /^<{7} /m.test(text) ? "Markers of a merge conflict are in it." : `This is not JSON: ${flaw.what}.`,
      fix: "Correct it, or export the workflow again.",
      path: ""
    })
  return { shown, inside: [], flaws: [finding], raw: "" }
}

const ofFlaws = (shown: string, raw: string): ReadonlyArray<Finding> =>
  JsonText.flaws(raw).map(({ what, ...place }) =>
    locate(shown, place, {
      rule: "invalid-json",
      severity: "error",
      message: `n8n does not import JSON with ${what}.`,
      fix: "Remove it.",
      path: ""
    })
  )

const ofWrappers = (shown: string, raw: string, inside: ReadonlyArray<Inside>): ReadonlyArray<Finding> =>
  inside.filter(({ prefix }) => prefix.endsWith(".") && !prefix.endsWith("].")).map(({ prefix }) =>
    locate(shown, Positions.make(raw)(prefix.slice(0, -1)), {
      rule: "workflow-shape",
      severity: "warning",
      message: `The workflow is inside of '${prefix.slice(0, -1)}', where n8n and pull do not find it.`,
      fix: "Store the workflow itself in the file.",
      path: prefix.slice(0, -1)
    })
  )

const readable = (shown: string, file: WorkflowFiles.WorkflowFile): Entry | undefined => {
  const raw = file.beside?.raw ?? file.text
  const inside = workflowsIn(file.value)
  if (inside.length === 0) return undefined
  const flaws = [...(file.repairs.length === 0 ? [] : ofFlaws(shown, raw)), ...ofWrappers(shown, raw, inside)]
  return { shown, raw, inside, flaws, beside: file.beside }
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
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const textOf = Effect.fnUntraced(function*(file: string) {
    const open = yield* fs.open(file, { noFollow: true })
    const size = Number((yield* open.stat).size)
    const bytes = new Uint8Array(Math.min(size, WorkflowFiles.maxBytes))
    const read = Number(yield* open.read(bytes))
    // UTF-16, as Windows writes it, is ASCII between zeros.
    const text = new TextDecoder().decode(bytes.subarray(0, read)).replaceAll("\0", "")
    return { text, isWhole: read === size && isUtf8(bytes) }
  }, Effect.scoped)

  const look = Effect.fnUntraced(function*(file: string) {
    const relative = path.relative(root, file)
    const shown = path.join(shownAs, relative).split(path.sep).join("/")
    return yield* files.read(relative, { hidesSecrets: true }).pipe(
      Effect.map((read) => readable(shown, read)),
      Effect.catchTag("ValidationError", (error) =>
        Effect.map(
          Effect.orElseSucceed(textOf(file), () => ({ text: "", isWhole: false })),
          (text) => unreadable(shown, text, error)
        ))
    )
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
      (entry.beside === undefined ? [] : WorkflowFiles.secretPlaces(entry.beside)).map((path) => JsonPath.print(path))
    )
    return Effect.forEach(
      entry.inside,
      ({ prefix, workflow }) =>
        Effect.map(
          findings(workflow, true, context),
          (drafts) =>
            drafts.map((draft) => ({ ...draft, path: JsonPath.join(prefix.replace(/\.$/, ""), draft.path) }))
              .filter(({ path, rule }) => rule !== "literal-secret" || !extracted.has(path)).map(place)
        )
    ).pipe(
      Effect.map((own) => [...entry.flaws, ...own.flat()].toSorted(order))
    )
  })
  const report: Report = {
    findings: all.flat(),
    places: entries.flatMap(({ beside, shown }) => [
      shown,
      ...[...beside?.files.keys() ?? []].map((file) => besideOf(shown, file))
    ])
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
  const report: Report = { findings: all.flat(), places: workflows.map(({ id }) => id) }
  return report
})
