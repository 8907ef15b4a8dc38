/** `picture`: draws a workflow with a run, a difference or its problems. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import { str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { Executions } from "../../executions/Executions.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowValidation from "../../workflows/WorkflowValidation.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import { explained, optional, print, root, toggle } from "./root.ts"

export const drawing = Effect.promise(async () => ({
  MapSvg: await import("../../pictures/MapSvg.ts"),
  Page: await import("../../pictures/Page.ts"),
  Pictures: await import("../../pictures/Pictures.ts"),
  Svg: await import("../../pictures/Svg.ts"),
  Template: await import("../../pictures/Template.ts")
}))

export const formatOf = Effect.fnUntraced(function*(out: Option.Option<string>) {
  const file = Option.getOrElse(out, () => ".svg")
  const format = /\.(svg|html)$/i.exec(file)?.[1]?.toLowerCase() as "svg" | "html" | undefined
  return format ?? (yield* Options.refuse(`--out '${file}': a picture's name ends in .svg or .html`))
})

export const out = optional(
  "out",
  "FILE",
  "File of the picture: .svg, or .html for an interactive page; SVG on stdout by default"
)

/** Folder of a file outside of all these, or the nearest above it that exists. */
const folderOutside = Effect.fnUntraced(function*(file: string, folders: ReadonlyArray<string>) {
  const [fs, path] = [yield* FileSystem.FileSystem, yield* Path.Path]
  const full = path.resolve(file)
  if (folders.some((folder) => full.startsWith(`${path.resolve(folder)}${path.sep}`))) return []
  let folder = path.dirname(full)
  while (!(yield* Effect.orElseSucceed(fs.exists(folder), () => true))) folder = path.dirname(folder)
  return [folder]
})

/** Options with the folders that a picture may be written to: besides the usual ones, that of `out`. */
export const withFolders = Effect.fnUntraced(function*(
  options: Options.Options,
  out: Option.Option<string> = Option.none()
) {
  const usual = options.filesRoot.length > 0 ? options.filesRoot : [(yield* Path.Path).resolve(".")]
  const folders = [...usual, ...(Option.isSome(out) ? yield* folderOutside(out.value, usual) : [])]
  return ToolContext.layer(
    { ...options, transport: "stdio", filesRoot: folders },
    // Besides those of a profile, which are for the server.
    (own) => [...new Set([...own, ...folders])]
  )
})

const fromHere = Effect.fnUntraced(function*(reference: string) {
  const { place, version } = Reference.parse(reference)
  return place.kind === "file" ? Reference.format((yield* Path.Path).resolve(place.path), version) : reference
})

const readExecution = Effect.fnUntraced(function*(id: string) {
  if (!/^\d+$/.test(id)) {
    return yield* Options.refuse(`--execution ${id}: the id of an execution is a number, as n8n shows it in its list`)
  }
  return yield* (yield* Executions).get(id)
})

/** Workflow with a run of it: as it ran, unless a file or a version is named. */
const withExecution = Effect.fnUntraced(function*(reference: string, id: string) {
  const execution = yield* readExecution(id)
  const { place, version } = Reference.parse(reference)
  if (place.kind === "n8n") {
    if (place.id !== execution.workflowId) {
      return yield* Options.refuse(
        `Execution ${id} belongs to workflow '${execution.workflowId}', not '${place.id}': name that workflow, or another execution`
      )
    }
    if (version === undefined && execution.workflow !== undefined) {
      return { workflow: { ...execution.workflow, name: TestMark.originalName(execution.workflow.name) }, execution }
    }
  }
  const { workflow } = yield* Workflows.document(reference, "workflow")
  const fileId = str(workflow["id"])
  if (place.kind !== "n8n" && fileId !== undefined && fileId !== execution.workflowId) {
    return yield* Options.refuse(
      `Execution ${id} belongs to workflow '${execution.workflowId}', but the file '${reference}' contains '${fileId}'`
    )
  }
  return { workflow, execution }
})

const read = Effect.fnUntraced(function*({ against, execution, problems, workflow: reference }: {
  readonly workflow: string
  readonly against: Option.Option<string>
  readonly execution: Option.Option<string>
  readonly problems: boolean
}) {
  if (Option.isSome(execution)) {
    const { execution: run, workflow } = yield* withExecution(reference, execution.value)
    return { workflow, overlay: { _tag: "Execution" as const, execution: run } }
  }
  const { workflow } = yield* Workflows.document(reference, "workflow")
  if (Option.isSome(against)) {
    const { workflow: before } = yield* Workflows.document(yield* fromHere(against.value), "against")
    return { workflow, overlay: { _tag: "Difference" as const, before } }
  }
  if (!problems) return { workflow, overlay: undefined }
  return { workflow, overlay: { _tag: "Problems" as const, ...yield* WorkflowValidation.validateConnected(workflow) } }
})

export const write = Effect.fnUntraced(function*(out: Option.Option<string>, text: string, about: string) {
  if (Option.isNone(out)) return yield* print(text.trimEnd())
  const file = out.value
  const path = yield* Path.Path
  const absolute = path.resolve(file)
  const folder = yield* WorkflowFiles.use((files) => files.folder(path.dirname(absolute)))
  yield* folder.write(path.basename(absolute), text)
  yield* print(`${file}: ${about}`)
})

export const picture = Command.make(
  "picture",
  {
    workflow: Argument.String("workflow").pipe(
      Argument.withDescription(
        "An id on n8n, a path of a .json file or a draft's id; of a version ID@published or ID@VERSION"
      )
    ),
    against: optional("against", "WORKFLOW", "Show the differences from this earlier workflow or version"),
    execution: optional("execution", "ID", "Show this execution of the workflow"),
    problems: toggle("problems", "Show the problems that validate_workflow finds"),
    out
  },
  Effect.fnUntraced(function*({ out, ...subject }) {
    const options = yield* root
    const chosen = [Option.isSome(subject.against), Option.isSome(subject.execution), subject.problems].filter(Boolean)
    if (chosen.length > 1) return yield* Options.refuse("Choose one of --against, --execution and --problems")
    const format = yield* formatOf(out)
    const draw = Effect.gen(function*() {
      const { overlay, workflow } = yield* read({ ...subject, workflow: yield* fromHere(subject.workflow) })
      const { Page, Pictures, Svg, Template } = yield* drawing
      const picture = yield* Pictures.make(workflow, { overlay, showsSecrets: options.showSecrets })
      const text = format === "html" ? Page.html(yield* Template.read, picture) : `${Svg.render(picture)}\n`
      yield* write(out, text, `${Visible.label(picture.title, 200)}, ${Visible.label(picture.subtitle, 200)}`)
    })
    yield* draw.pipe(explained, Effect.provide(yield* withFolders(options, out)))
  })
).pipe(Command.withDescription("Draw a workflow as SVG or as a page, with a run, a difference or its problems"))
