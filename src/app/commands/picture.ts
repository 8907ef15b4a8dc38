/** `picture` and `map`: draw a workflow with a run, a difference or its problems, and the links between workflows. */
import * as Effect from "effect/Effect"
import { basename, dirname, resolve, sep } from "node:path"
import { str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import { Executions } from "../../executions/Executions.ts"
import * as Impact from "../../fleet/Impact.ts"
import * as WorkflowMap from "../../fleet/Map.ts"
import * as Links from "../../n8n/Links.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import { WorkflowFiles } from "../../workflows/files/WorkflowFiles.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as WorkflowPlace from "../../workflows/WorkflowPlace.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowValidation from "../../workflows/WorkflowValidation.ts"
import * as Browser from "../Browser.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { command, print } from "./root.ts"

const drawing = Effect.promise(async () => ({
  MapSvg: await import("../../pictures/MapSvg.ts"),
  Page: await import("../../pictures/Page.ts"),
  Pictures: await import("../../pictures/Pictures.ts"),
  Svg: await import("../../pictures/Svg.ts"),
  Template: await import("../../pictures/Template.ts")
}))

/** Format of a picture by the name of its file; a picture to be opened is a page. */
const formatOf = Effect.fnUntraced(function*(open: boolean, out = open ? ".html" : ".svg") {
  const format = /\.(svg|html)$/i.exec(out)?.[1]?.toLowerCase() as "svg" | "html" | undefined
  return format ?? (yield* Options.refuse(`--out '${out}': a picture's name ends in .svg or .html`))
})

const out = flags.text(
  "out",
  "FILE",
  "File of the picture: .svg, or .html for an interactive page; SVG on stdout by default"
)

export const open = flags.toggle("open", "Open the page in the browser: FILE, or a temporary one")

/** Folder of a file outside of all these, or the nearest above it that exists. */
const folderOutside = Effect.fnUntraced(function*(file: string, folders: ReadonlyArray<string>) {
  const full = resolve(file)
  const isInside = folders.some((folder) => full.startsWith(`${resolve(folder)}${sep}`))
  return isInside ? [] : [yield* ConfigFile.nearest(dirname(full))]
})

/** Context with the folders that a command may use: besides the usual ones, those of files that a person names. */
export const withFolders = Effect.fnUntraced(function*(
  options: Options.Options,
  ...names: ReadonlyArray<string | undefined>
) {
  const usual = options.filesRoot.length > 0 ? options.filesRoot : [resolve(".")]
  const folders = [
    ...usual,
    ...(yield* Effect.forEach(names, (file) => file === undefined ? Effect.succeed([]) : folderOutside(file, usual)))
      .flat()
  ]
  return ToolContext.layer(
    { ...options, filesRoot: folders },
    // Besides those of a profile, which are for the server.
    (own) => [...new Set([...own, ...folders])]
  )
})

export const fileOf = (reference = ""): string | undefined => {
  const path = Reference.fileIn(reference)
  return path && WorkflowPlace.fileOf(path)
}

const fromHere = (reference: string) => {
  const path = Reference.fileIn(reference)
  return path === undefined ? reference : Reference.format(resolve(path), Reference.versionIn(reference))
}

const readExecution = Effect.fnUntraced(function*(id: string) {
  const run = yield* Effect.mapError(Links.executionOf(id), Options.refuse)
  if (!/^\d+$/.test(run)) {
    return yield* Options.refuse(`--execution ${id}: the id of an execution is a number, as n8n shows it in its list`)
  }
  return yield* (yield* Executions).get(run)
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

interface Subject {
  readonly workflow: string
  readonly against: string | undefined
  readonly execution: string | undefined
  readonly problems: boolean
}

const read = Effect.fnUntraced(function*({ against, execution, problems, workflow: reference }: Subject) {
  if (execution !== undefined) {
    const { execution: run, workflow } = yield* withExecution(reference, execution)
    return { workflow, overlay: { _tag: "Execution" as const, execution: run } }
  }
  const { workflow } = yield* Workflows.document(reference, "workflow")
  if (against !== undefined) {
    const { workflow: before } = yield* Reference.resolve(
      fromHere(against),
      (before) => Workflows.document(before, "against")
    )
    return { workflow, overlay: { _tag: "Difference" as const, before } }
  }
  if (!problems) return { workflow, overlay: undefined }
  return {
    workflow,
    overlay: { _tag: "Problems" as const, ...yield* WorkflowValidation.validateConnected(workflow, { isStored: true }) }
  }
})

/** Writes a drawing or a page to a file, and opens it in the browser; without a file or a browser, to stdout. */
export const write = Effect.fnUntraced(function*(
  { name, open, out }: { readonly name: string; readonly open: boolean; readonly out: string | undefined },
  text: string,
  about: string
) {
  if (out === undefined && !open) return yield* print(text.trimEnd())
  if (out !== undefined) {
    const folder = yield* WorkflowFiles.use((files) => files.folder(dirname(resolve(out))))
    yield* folder.write(basename(out), text)
  }
  yield* print(`${out ?? name}: ${about}`)
  if (open) {
    yield* print(yield* Browser.show(out === undefined ? yield* Browser.temporary(`${name}.html`, text) : resolve(out)))
  }
})

export const picture = command(
  "picture",
  "Draw a workflow as SVG or as a page, with a run, a difference or its problems",
  {
    workflow: flags.argument(
      "workflow",
      "An id on n8n, a link or a name, a path of a .json file or a draft's id; of a version ID@published or ID@VERSION"
    ),
    against: flags.text("against", "WORKFLOW", "Show the differences from this earlier workflow or version"),
    execution: flags.text("execution", "ID", "Show this execution of the workflow"),
    problems: flags.toggle("problems", "Show the problems that validate_workflow finds"),
    out,
    open
  },
  Effect.fnUntraced(function*({ open, out, ...subject }, options) {
    const chosen = [subject.against !== undefined, subject.execution !== undefined, subject.problems].filter(Boolean)
    if (chosen.length > 1) return yield* Options.refuse("Choose one of --against, --execution and --problems")
    const format = yield* formatOf(open, out)
    yield* Effect.gen(function*() {
      const { overlay, workflow } = yield* Reference.resolve(
        fromHere(subject.workflow),
        (workflow) => read({ ...subject, workflow })
      )
      const { Page, Pictures, Svg, Template } = yield* drawing
      const picture = yield* Pictures.make(workflow, { overlay, showsSecrets: options.showSecrets })
      const text = format === "html" ? Page.html(yield* Template.read, picture) : `${Svg.render(picture)}\n`
      yield* write(
        { name: "picture", open, out },
        text,
        `${Visible.label(picture.title, 200)}, ${Visible.label(picture.subtitle, 200)}`
      )
    }).pipe(Effect.provide(yield* withFolders(options, out, fileOf(subject.workflow), fileOf(subject.against))))
  })
)

export const map = command(
  "map",
  "Draw the links between workflows as SVG or as a page",
  {
    workflow: flags.optionalArgument(
      "workflow",
      "Id, link or name of a workflow: only those that a change of it affects, and those that it uses"
    ),
    out,
    open
  },
  Effect.fnUntraced(function*({ open, out, workflow }, options) {
    const { showSecrets: showsSecrets } = options
    const format = yield* formatOf(open, out)
    yield* Effect.gen(function*() {
      const all = yield* WorkflowMap.read
      const one = workflow === undefined ? undefined : yield* Reference.resolve(workflow, (id) =>
        all.workflows.has(id)
          ? Effect.succeed(id)
          : Effect.map(N8nClient.use((n8n) => n8n.getWorkflow(id)), ({ id }) => id))
      const part = one === undefined ? all : Impact.around(all, one)
      const { MapSvg, Page, Template } = yield* drawing
      const shown = MapSvg.shown(part, showsSecrets)
      const svg = MapSvg.render(part, { showsSecrets, isBare: format === "html" })
      const text = format === "html" ? Page.of(yield* Template.read, svg, shown) : `${svg}\n`
      yield* write({ name: "map", open, out }, text, `${shown.title}, ${shown.subtitle}`)
    }).pipe(Effect.provide(yield* withFolders(options, out)))
  })
)
