import { assert, describe, it } from "@effect/vitest"
import * as facts from "../../src/fleet/facts.ts"
import * as WorkflowMap from "../../src/fleet/Map.ts"
import { layOut, size } from "../../src/pictures/MapSvg.ts"
import * as MapSvg from "../../src/pictures/MapSvg.ts"
import * as company from "../support/scenarios/company.ts"
import { node, workflow } from "../support/workflows.ts"

const mapOf = (
  workflows: ReadonlyArray<{ readonly id: string; readonly name: string; readonly nodes: ReadonlyArray<unknown> }>
) =>
  WorkflowMap.make(workflows.map((each) => facts.of({ active: false, ...each })), {
    isV1: false,
    isOwnHost: (host) => company.host.endsWith(host),
    missing: new Set(["gone"]),
    tables: undefined
  })

/** Callers of three sub-workflows, some in chains, and workflows without links. */
const fleet = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    workflow(`w${index}`, [
      company.start(),
      ...index % 5 === 4 || index < 3 ? [] : [company.call("C", `w${index % 7 === 0 ? index - 1 : index % 3}`)]
    ], { name: `受注処理 ${index}` }))

const overlap = (a: { x: number; y: number; width: number; height: number }, b: typeof a) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

describe("MapSvg", () => {
  it.each([0, 1, 10, 100, 500])("places %i workflows beside each other, in frames that do not overlap", (count) => {
    const { edges, workflows } = mapOf(fleet(count))
    const { frames, places } = layOut([...workflows.keys()], edges, new Set())
    assert.strictEqual(places.size, count)
    const boxes = [...places.values()].map((place) => ({ ...place, ...size }))
    const framed = new Set(frames.flatMap(({ ids }) => ids))
    const loose = [...places].flatMap(([id, place]) => framed.has(id) ? [] : [{ ...place, ...size }])
    const blocks = [...loose, ...frames]
    for (const all of [boxes, blocks]) {
      for (const [index, box] of all.entries()) {
        assert.isUndefined(all.slice(index + 1).find((other) => overlap(box, other)))
      }
    }
    for (const { height, ids, width, x, y } of frames) {
      for (const id of ids) {
        const place = places.get(id) ?? { x: NaN, y: NaN }
        assert.isTrue(place.x >= x && place.y >= y)
        assert.isTrue(place.x + size.width <= x + width && place.y + size.height <= y + height)
      }
    }
  })

  it("draws callers to the left of what they call, and each workflow once", () => {
    const map = mapOf(company.workflows)
    const svg = MapSvg.render(map)
    const ids = [...svg.matchAll(/data-node="([^"]*)"/g)].map(([, id]) => id)
    const current = company.workflows.filter((each) => !("isArchived" in each)).map(({ id }) => id)
    assert.deepStrictEqual(ids.toSorted(), [...current, "archived", "gone"].toSorted())
    const { places } = layOut([...map.workflows.keys()], map.edges.filter(({ kind }) => kind === "calls"), new Set())
    for (const [from, to] of [["price", "stock"], ["orders", "price"], ["daily", "invoice"]] as const) {
      assert.isBelow(places.get(from)?.x ?? NaN, places.get(to)?.x ?? NaN)
    }
    for (const words of ["uses as a tool", "calls over HTTP", "unpublished", "in a cycle", "missing: gone"]) {
      assert.include(svg, words)
    }
    const drawn = (classes: string) => svg.split(`class="edge ${classes}`).length - 1
    // One of each pair is in the legend.
    assert.isAbove(drawn("k-calls k-broken"), 1)
    assert.isAbove(drawn("k-http"), 1)
  })

  it("marks users of a common error workflow instead of drawing every link", () => {
    const settings = { errorWorkflow: "errors" }
    const users = Array.from({ length: 60 }, (_, index) => workflow(`u${index}`, [], { settings }))
    const svg = MapSvg.render(mapOf([workflow("errors", [node("E", "errorTrigger")]), ...users]))
    assert.include(svg, "error workflow of 60")
    assert.strictEqual(svg.split("<title>error workflow: errors</title>").length - 1, 60)
    // Neither drawn nor in the legend.
    assert.notInclude(svg, `class="edge k-error`)
    assert.include(svg, "has a common error workflow")
  })

  it("explains only what is drawn, within the width of the map, and leaves zeros out", () => {
    const legendOf = (svg: string) => /<g class="key".*/.exec(svg)?.[0] ?? ""
    const map = mapOf([workflow("a", [company.call("C", "b")]), workflow("b", [company.start()])])
    const svg = MapSvg.render(map)
    assert.strictEqual(MapSvg.shown(map, false).subtitle, "1 call")
    assert.include(legendOf(svg), ">calls<")
    assert.notInclude(legendOf(svg), ">broken<")
    const few = company.workflows.filter(({ id }) => ["daily", "old"].includes(id))
    const all = MapSvg.render(mapOf(few), { isBare: true })
    const rows = new Set([...legendOf(all).matchAll(/<text x="[^"]*" y="([^"]*)"/g)].map(([, y]) => y))
    assert.isAbove(rows.size, 1)
    const [, , width = NaN] = /viewBox="([^"]*)"/.exec(all)?.[1]?.split(" ").map(Number) ?? []
    assert.isBelow(width, 700)
  })

  it("escapes hostile names, and tells the page what every workflow is", () => {
    const name = `<script>"x" & 'y'</script>`
    const map = mapOf([workflow("a", [company.call("<b>", "gone")], { name })])
    const svg = MapSvg.render(map)
    assert.notInclude(svg, "<script>")
    assert.notInclude(svg, "<b>")
    const shown = MapSvg.shown(map, false)
    assert.deepStrictEqual(shown.nodes.map(({ id, name, status, statusText }) => [id, name, status, statusText]), [
      ["a", name, "error", "has links that fail"],
      ["gone", "missing: gone", "error", "does not exist"]
    ])
    assert.deepStrictEqual(shown.nodes[0]?.sections.map(({ title }) => title), ["Broken", "Uses"])
  })

  it("groups alike callers, so that the number of lines grows with the links that differ", () => {
    const callers = Array.from({ length: 200 }, (_, index) => workflow(`c${index}`, [company.call("C", "sub")]))
    const { svg } = { svg: MapSvg.render(mapOf([workflow("sub", [company.start()]), ...callers])) }
    assert.strictEqual(svg.split(`<path class="edge k-calls`).length - 1, 2)
    assert.include(svg, "200 workflows: calls")
  })
})
