/** Pictures with the catalogue's knowledge of node types and a position for every node. */
import * as Effect from "effect/Effect"
import type { NodeCatalogue } from "../catalogue/NodeCatalogue.ts"
import * as Layout from "./Layout.ts"
import * as Looks from "./Looks.ts"
import * as Picture from "./Picture.ts"

/** Picture of a workflow with an overlay, ready to be drawn. */
export const make = Effect.fn("Pictures.make")(function*(
  workflow: Picture.Document,
  options: Pick<Picture.Options, "overlay" | "showsSecrets"> = {}
): Effect.fn.Return<Picture.Picture, never, NodeCatalogue> {
  const before = options.overlay?._tag === "Difference" ? [options.overlay.before] : []
  const lookOf = yield* Looks.forWorkflows(workflow, ...before)
  return Layout.place(Picture.make(workflow, { ...options, lookOf }))
})
