/** `picture` and `map`: draw a workflow with a run, a difference or its problems, and the links between workflows. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { dirname, resolve, sep } from "node:path"
import * as Hints from "../../answer/Hints.ts"
import * as Errors from "../../base/Errors.ts"
import { str } from "../../base/Json.ts"
import * as Visible from "../../base/Visible.ts"
import type * as Execution from "../../executions/Execution.ts"
import { Executions } from "../../executions/Executions.ts"
import * as WorkflowMap from "../../fleet/Map.ts"
import * as Links from "../../n8n/Links.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import type * as Picture from "../../pictures/Picture.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowValidation from "../../workflows/WorkflowValidation.ts"
import * as Browser from "../Browser.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as ToolContext from "../ToolContext.ts"
import * as flags from "./flags.ts"
import { name as program, row } from "./row.ts"

const drawing = Effect.promise(async () => ({
  MapSvg: await import("../../pictures/MapSvg.ts"),
  Page: await import("../../pictures/PicturePage.ts"),
  Pictures: await import("../../pictures/Pictures.ts"),
  Svg: await import("../../pictures/Svg.ts")
}))

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
  return path && Reference.fileOf(path)
}

const fromHere = (reference: string) => {
  const path = Reference.fileIn(reference)
  return path === undefined ? reference : Reference.format(resolve(path), Reference.versionIn(reference))
}

const readExecution = Effect.fnUntraced(function*(id: string) {
  const refuse = (fault: Hints.Explained) => Options.refuse(`--execution: ${Hints.explain(fault, { as: "person" })}`)
  return yield* (yield* Executions).get(yield* Effect.mapError(Links.executionOf(id), refuse))
})

/** Run, and its workflow as it ran, or if n8n no longer has that, as it is. */
export const asItRan = Effect.fnUntraced(function*(execution: Execution.Execution) {
  const { workflow, workflowId } = execution
  return workflow === undefined
    ? (yield* Workflows.document(workflowId, "workflow")).workflow
    : { ...workflow, name: TestMark.originalName(workflow.name) }
})

/** Workflow with a run of it: as it ran, unless a file or a version is named. */
const withExecution = Effect.fnUntraced(function*(reference: string | undefined, id: string) {
  const execution = yield* readExecution(id)
  if (reference === undefined) return { workflow: yield* asItRan(execution), execution }
  const { place, version } = Reference.parse(reference)
  if (place.kind === "n8n") {
    if (place.id !== execution.workflowId && (yield* Reference.idOf(place.id)) !== execution.workflowId) {
      return yield* Options.refuse(
        `Run ${id} belongs to workflow '${execution.workflowId}', not '${place.id}': name that workflow, or another run`
      )
    }
    if (version === undefined) return { workflow: yield* asItRan(execution), execution }
  }
  const { workflow } = yield* Workflows.document(reference, "workflow")
  const fileId = str(workflow["id"])
  if (place.kind !== "n8n" && fileId !== undefined && fileId !== execution.workflowId) {
    return yield* Options.refuse(
      `Run ${id} belongs to workflow '${execution.workflowId}', but the file '${reference}' contains '${fileId}'`
    )
  }
  return { workflow, execution }
})

/** Workflow of a reference; a number that is not one's id is probably that of a run. */
const document = (reference: string) =>
  Workflows.document(reference, "workflow").pipe(
    Effect.catchIf(
      (error): error is Errors.NotFoundError =>
        error instanceof Errors.NotFoundError && error.resourceType === "Workflow" && /^\d+$/.test(reference),
      (error) =>
        Effect.fail(Errors.advised(error, {
          before:
            `If it is the number of a run: ${program} picture --execution ${reference}, or ${program} why ${reference} --open.`
        }))
    )
  )

interface Subject {
  readonly workflow: string | undefined
  readonly against: string | undefined
  readonly execution: string | undefined
  readonly problems: boolean
}

const readSubject = Effect.fnUntraced(function*({ against, execution, problems, workflow: reference }: Subject) {
  if (execution !== undefined) {
    const { execution: run, workflow } = yield* withExecution(reference, execution)
    return { workflow, overlay: { _tag: "Execution" as const, execution: run } }
  }
  if (reference === undefined) return yield* Options.refuse("Name a workflow, or a run with --execution ID")
  const { workflow } = yield* document(reference)
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

interface Drawing {
  readonly name: string
  readonly workflow: Picture.Document
  readonly overlay: Picture.Options["overlay"]
}

/** Draws a workflow where a person wants to see it. */
export const draw = Effect.fnUntraced(function*(
  target: Browser.Target,
  { name, overlay, workflow }: Drawing,
  { showSecrets: showsSecrets }: Options.Options
) {
  const { Page, Pictures, Svg } = yield* drawing
  const picture = yield* Pictures.make(workflow, { overlay, showsSecrets })
  return yield* Browser.write(target, {
    name,
    about: `${Visible.label(picture.title, 200)}, ${Visible.label(picture.subtitle, 200)}`,
    text: target.format === "html" ? Page.html(yield* Page.template, picture) : `${Svg.render(picture)}\n`
  })
})

export const picture = row({
  name: "picture",
  description: "Draw a workflow as a page or as SVG, with a run, a difference or its problems",
  flags: {
    workflow: flags.optionalArgument(
      "workflow",
      "Its id, link or name, the path of a .json file, or a draft's id; of a version ID@published or ID@VERSION; with --execution that of the run"
    ),
    against: flags.text("against", "WORKFLOW", "Show the differences from this earlier workflow or version"),
    execution: flags.text("execution", "ID", "Show this run: its id or link"),
    problems: flags.toggle("problems", "Show the problems that validate_workflow finds")
  },
  form: "drawing",
  services: ({ against, workflow }, options, { page }) =>
    Layer.unwrap(withFolders(options, page?.out, fileOf(workflow), fileOf(against))),
  run: Effect.fnUntraced(function*(subject, options, { page }) {
    const chosen = [subject.against !== undefined, subject.execution !== undefined, subject.problems].filter(Boolean)
    if (chosen.length > 1) return yield* Options.refuse("Choose one of --against, --execution and --problems")
    const read = subject.workflow === undefined
      ? yield* readSubject(subject)
      : yield* Reference.resolve(
        fromHere(subject.workflow),
        (workflow) => readSubject({ ...subject, workflow })
      )
    const lines = yield* draw(page, { name: "picture", ...read }, options)
    return { text: () => lines }
  })
})

export const map = row({
  name: "map",
  description: "Draw the links between workflows as a page or as SVG",
  flags: {
    workflow: flags.optionalArgument(
      "workflow",
      "Id, link or name of a workflow: only those that a change of it affects, and those that it uses"
    )
  },
  form: "drawing",
  services: (_, options, { page }) => Layer.unwrap(withFolders(options, page?.out)),
  run: Effect.fnUntraced(function*({ workflow }, { showSecrets: showsSecrets }, { page }) {
    const all = yield* WorkflowMap.read
    const one = workflow === undefined ?
      undefined :
      yield* Reference.resolve(workflow, (id) => all.workflows.has(id) ? Effect.succeed(id) : Reference.idOf(id))
    const part = one === undefined ? all : WorkflowMap.around(all, one)
    const { MapSvg, Page } = yield* drawing
    const shown = MapSvg.shown(part, showsSecrets)
    const svg = MapSvg.render(part, { showsSecrets, isBare: page.format === "html" })
    const lines = yield* Browser.write(page, {
      name: "map",
      about: `${shown.title}, ${shown.subtitle}`,
      text: page.format === "html" ? Page.of(yield* Page.template, svg, shown) : `${svg}\n`
    })
    return { text: () => lines }
  })
})
