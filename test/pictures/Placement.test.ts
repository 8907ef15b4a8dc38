import { assert, describe, it } from "@effect/vitest"
import * as Picture from "../../src/pictures/Picture.ts"
import * as Placement from "../../src/pictures/Placement.ts"
import * as workflows from "./workflows.ts"

const places = (picture: Picture.Picture) => new Map(picture.nodes.map(({ name, place }) => [name, place]))

/** Pairs of nodes of which one hides the other. */
const hidden = ({ nodes }: Picture.Picture) =>
  nodes.flatMap((a, index) =>
    nodes.slice(index + 1).flatMap((b) =>
      a.place !== undefined && b.place !== undefined && Math.abs(a.place.x - b.place.x) < 60 &&
        Math.abs(a.place.y - b.place.y) < 60
        ? [`${a.name} and ${b.name}`]
        : []
    )
  )

const without = (name: string) =>
  workflows.withNodes(workflows.orders, ({ position, ...node }) => node["name"] === name ? node : { ...node, position })

describe("Placement", () => {
  it("leaves places as the editor has them", () => {
    const picture = Picture.make(workflows.orders)
    assert.strictEqual(Placement.place(picture), picture)
  })

  it("finds a place for one node next to its neighbours, and moves no other", () => {
    const before = places(Picture.make(workflows.orders))
    const picture = Placement.place(Picture.make(without("Ship")))
    for (const [name, place] of places(picture)) if (name !== "Ship") assert.deepStrictEqual(place, before.get(name))
    assert.deepStrictEqual(hidden(picture), [])
  })

  it("lays all out from left to right where most have no place, sub-nodes below what they serve", () => {
    const bare = workflows.withNodes(workflows.agent, ({ position: _, ...node }) => node)
    const picture = Placement.place(Picture.make(bare))
    const at = (name: string) => places(picture).get(name) ?? { x: Number.NaN, y: Number.NaN }
    assert.deepStrictEqual(hidden(picture), [])
    assert.isBelow(at("New ticket").x, at("Triage agent").x)
    assert.isBelow(at("Triage agent").x, at("Hand to support").x)
    for (const name of ["Chat model", "Ticket memory", "Look up order"]) {
      assert.isAbove(at(name).y, at("Triage agent").y + 96)
    }
  })

  it("lays out nodes that all lie on one spot, loops too", () => {
    const heap = workflows.withNodes(workflows.large(25), (node) => ({ ...node, position: [0, 0] }))
    const picture = Placement.place(Picture.make(heap))
    assert.deepStrictEqual(hidden(picture), [])
    assert.strictEqual(picture.nodes.length, 250)
  })

  it("moves what a difference removed from under what came for it", () => {
    const replaced = workflows.withNodes(
      workflows.orders,
      (node) => node["name"] === "Ship" ? { ...node, id: "new", name: "Send", type: "n8n-nodes-base.slack" } : node
    )
    const picture = Placement.place(
      Picture.make(replaced, { overlay: { _tag: "Difference", before: workflows.orders } })
    )
    assert.deepStrictEqual(hidden(picture), [])
    assert.deepStrictEqual(places(picture).get("Send"), { x: 1120, y: 208 })
  })
})
