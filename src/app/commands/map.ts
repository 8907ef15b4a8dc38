/** `map`: draws the links between workflows. */
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as Impact from "../../workflows/fleet/Impact.ts"
import * as WorkflowMap from "../../workflows/fleet/Map.ts"
import { drawing, formatOf, out, withFolders, write } from "./picture.ts"
import { explained, root } from "./root.ts"

export const map = Command.make(
  "map",
  {
    workflow: Argument.String("workflow").pipe(
      Argument.withDescription("Id of a workflow: only those that a change of it affects, and those that it uses"),
      Argument.optional
    ),
    out
  },
  Effect.fnUntraced(function*({ out, workflow }) {
    const options = yield* root
    const format = yield* formatOf(out)
    const draw = Effect.gen(function*() {
      const all = yield* WorkflowMap.read
      const id = Option.getOrUndefined(workflow)
      if (id !== undefined && !all.workflows.has(id)) yield* N8nClient.use((n8n) => n8n.getWorkflow(id))
      const part = id === undefined ? all : Impact.around(all, id)
      const { MapSvg, Page, Template } = yield* drawing
      const shown = MapSvg.shown(part, options.showSecrets)
      const svg = MapSvg.render(part, { showsSecrets: options.showSecrets, isBare: format === "html" })
      yield* write(
        out,
        format === "html" ? Page.of(yield* Template.read, svg, shown) : `${svg}\n`,
        `${shown.title}, ${shown.subtitle}`
      )
    })
    yield* draw.pipe(explained, Effect.provide(yield* withFolders(options, out)))
  })
).pipe(Command.withDescription("Draw the links between workflows as SVG or as a page"))
