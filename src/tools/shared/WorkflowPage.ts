/** Page that clients show with answers about workflows: an interactive drawing, whose code is loaded on first use. */
import * as Effect from "effect/Effect"
import type * as App from "../../answer/App.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Lazy from "../../base/Lazy.ts"
import type { NodeCatalogue } from "../../catalogue/NodeCatalogue.ts"
import type * as Picture from "../../pictures/Picture.ts"

const page = Lazy.load(() => import("../../pictures/PicturePage.ts"))
const drawing = Lazy.load(() => import("../../pictures/Pictures.ts"))

export const app: App.App = {
  uri: "ui://n8n/workflow",
  name: "workflow",
  title: "Workflow",
  description: "A workflow drawn as n8n's editor does, with a run, a difference or its problems on top.",
  html: Effect.flatMap(page, ({ app, template }) => Effect.map(template, app))
}

export const view = Effect.fnUntraced(function*(
  workflow: Picture.Document,
  overlay?: Picture.Overlay
): Effect.fn.Return<App.View, never, NodeCatalogue> {
  const pictures = yield* drawing
  const showsSecrets = !(yield* Tool.RedactSecrets)
  const picture = yield* pictures.make(workflow, { overlay, showsSecrets })
  return (yield* page).message(picture)
})

export const none: Effect.Effect<App.View> = Effect.succeed({})
