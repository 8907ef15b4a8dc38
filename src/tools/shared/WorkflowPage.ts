/** The page that clients show with answers about workflows: the workflow drawn, to click through. */
import * as Effect from "effect/Effect"
import type * as App from "../../answer/App.ts"
import * as Tool from "../../answer/Tool.ts"
import * as Page from "../../pictures/Page.ts"
import type * as Picture from "../../pictures/Picture.ts"
import * as Pictures from "../../pictures/Pictures.ts"
import * as Template from "../../pictures/Template.ts"

export const app: App.App = {
  uri: "ui://n8n/workflow",
  name: "workflow",
  title: "Workflow",
  description: "A workflow drawn as n8n's editor does, with a run, a difference or its problems on top.",
  html: Effect.map(Template.read, Page.app)
}

/** What the page shows of a workflow. */
export const view = Effect.fnUntraced(function*(workflow: Picture.Document, overlay?: Picture.Overlay) {
  const showsSecrets = !(yield* Tool.RedactSecrets)
  const picture = yield* Pictures.make(workflow, { overlay, showsSecrets })
  const message: App.View = Page.message(picture)
  return message
})

/** Where there is nothing to draw. */
export const none: Effect.Effect<App.View> = Effect.succeed({})
