/** Pictures in a real browser: texts measured, on screens of all sizes, and their contrast. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Page as BrowserPage } from "playwright-core"
import { obj } from "../../../src/base/Json.ts"
import * as facts from "../../../src/fleet/facts.ts"
import * as WorkflowMap from "../../../src/fleet/Map.ts"
import * as MapSvg from "../../../src/pictures/MapSvg.ts"
import * as PicturePage from "../../../src/pictures/PicturePage.ts"
import * as Pictures from "../../../src/pictures/Pictures.ts"
import * as Svg from "../../../src/pictures/Svg.ts"
import * as WorkflowValidation from "../../../src/workflows/WorkflowValidation.ts"
import * as workflows from "../../pictures/workflows.ts"
import * as company from "../../support/scenarios/company.ts"
import { open, TheBrowser } from "./Browser.ts"

const world = Layer.mergeAll(TheBrowser.layer, workflows.world)

const problems = Effect.gen(function*() {
  const overlay = { _tag: "Problems" as const, ...yield* WorkflowValidation.validate(workflows.knowledge) }
  return yield* Pictures.make(workflows.knowledge, { overlay })
})

const openPage = Effect.fnUntraced(function*(
  picture: Effect.Success<typeof problems>,
  { height = 900, scheme = "light", width }: {
    readonly width: number
    readonly height?: number
    readonly scheme?: "light" | "dark"
  }
) {
  const html = PicturePage.html(yield* PicturePage.template, picture)
  return yield* open(html, scheme, { width, height })
})

const boxOf = (page: BrowserPage, selector: string) =>
  Effect.promise(async () => await page.locator(selector).boundingBox() ?? { x: 0, y: 0, width: 0, height: 0 })

/** Contrasts below 4.5 of all text in the page, as they are shown. */
const faint = (page: BrowserPage) =>
  page.evaluate(() => {
    const parse = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = parse(colour).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    }
    const isSolid = (colour: string) => colour !== "none" && (parse(colour)[3] ?? 1) === 1
    const behind = (element: Element): string => {
      const style = getComputedStyle(element)
      if (element instanceof SVGTextElement) {
        // A halo is behind its text; names and signs are in their box or on the canvas.
        if (isSolid(style.stroke)) return style.stroke
        const note = element.parentElement?.querySelector(":scope > rect[class^=note]")
        const box = element.matches(".initials") ? element.parentElement?.querySelector(".box") : null
        return getComputedStyle(note ?? box ?? document.querySelector("#stage .bg") ?? element).fill
      }
      if (isSolid(style.backgroundColor)) return style.backgroundColor
      return element.parentElement === null ? "rgb(255, 255, 255)" : behind(element.parentElement)
    }
    const opacity = (element: Element | null): number =>
      element === null ? 1 : Number(getComputedStyle(element).opacity) * opacity(element.parentElement)
    const contrast = (a: string, b: string) => {
      const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y)
      return (light + 0.05) / (dark + 0.05)
    }
    const all = [...document.querySelectorAll("body *")].filter((element) =>
      element.getClientRects().length > 0 &&
      (element.matches("input") ||
        [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim()))
    ).filter((element) => !element.matches("title, style, script"))
    const found = all.map((element) => {
      const style = getComputedStyle(element, element.matches("input") ? "::placeholder" : null)
      const colour = element instanceof SVGElement ? style.fill : style.color
      const ratio = contrast(colour, behind(element))
      return { text: element.textContent ?? "", ratio, opacity: opacity(element) * Number(style.opacity) }
    })
    return { count: found.length, faint: found.filter(({ opacity, ratio }) => ratio < 4.5 || opacity < 1) }
  })

layer(world, { timeout: 300_000 })("a readable picture in a browser", (it) => {
  it.effect("keeps names in pills and notes in their boxes, and labels apart, as the font draws them", () =>
    Effect.gen(function*() {
      const svg = Svg.render(yield* problems)
      const { page } = yield* open(svg.replace(/^/, "<!doctype html>"))
      const seen = yield* Effect.promise(() =>
        page.evaluate(() => {
          const box = (element: Element) => {
            const { bottom, left, right, top } = element.getBoundingClientRect()
            return { text: element.textContent ?? "", bottom, left, right, top }
          }
          const texts = (selector: string) => [...document.querySelectorAll(selector)]
          const labels = texts("text.small.halo.dim").map(box)
          return {
            labels: labels.length,
            touching: labels.flatMap((a, index) =>
              labels.slice(index + 1).flatMap((b) =>
                // Line boxes are higher than what is drawn in them.
                a.left < b.right && b.left < a.right && a.top < b.bottom - 4 && b.top < a.bottom - 4
                  ? [`${a.text} and ${b.text}`]
                  : []
              )
            ),
            outside: [
              ...texts("[data-node]").filter((node) =>
                (box(node.querySelector(".box") ?? node).right -
                  box(node.querySelector(".box") ?? node).left) > 150
              ).flatMap((node) =>
                [...node.querySelectorAll(".name")].map((text) => [text, node.querySelector(".box")] as const)
              ),
              ...texts("g > [class^=note]").flatMap((note) =>
                [...note.parentElement?.querySelectorAll("text") ?? []].map((text) => [text, note] as const)
              )
            ].map(([text, around]) => [box(text), around === null ? undefined : box(around)] as const).map((
              [inner, outer]
            ) => ({
              text: inner.text,
              isOutside: outer === undefined || inner.left < outer.left || inner.right > outer.right ||
                inner.top < outer.top - 4 || inner.bottom > outer.bottom + 4
            }))
          }
        })
      )
      assert.isAbove(seen.labels, 15)
      assert.deepStrictEqual(seen.touching, [])
      assert.isAbove(seen.outside.length, 15)
      assert.deepStrictEqual(seen.outside.filter(({ isOutside }) => isOutside), [])
    }).pipe(Effect.scoped))

  for (const [width, height] of [[390, 800], [768, 1000], [1400, 900]] as const) {
    it.effect(`fits a screen of ${width} pixels: the workflow in view, beside or above the details`, () =>
      Effect.gen(function*() {
        const { faults, page } = yield* openPage(yield* problems, { width, height })
        const header = yield* boxOf(page, "header")
        assert.isBelow(header.height, height * 0.3)
        const title = yield* boxOf(page, "#title")
        assert.isAbove(title.width, 300)
        const overflow = yield* Effect.promise(() =>
          page.evaluate(() => [
            document.documentElement.scrollWidth - window.innerWidth,
            document.documentElement.scrollHeight - window.innerHeight,
            (document.querySelector("#title")?.scrollWidth ?? 0) - (document.querySelector("#title")?.clientWidth ?? 0)
          ])
        )
        assert.deepStrictEqual(overflow, [0, 0, 0])
        // The details of the first error are open, and hide nothing.
        const [stage, details] = [yield* boxOf(page, "#stage"), yield* boxOf(page, "#details")]
        assert.isAbove(details.height, 200)
        assert.isTrue(stage.x + stage.width <= details.x + 1 || stage.y + stage.height <= details.y + 1)
        // A narrow screen shows the first error at a size that can be read, and all of it on request.
        const picked = yield* boxOf(page, ".picked > .box")
        assert.isTrue(picked.x >= stage.x && picked.x + picked.width <= stage.x + stage.width)
        if (width === 390) {
          assert.isAbove(picked.height, 50)
          yield* Effect.promise(() => page.getByRole("button", { name: "Show all" }).click())
        }
        const outside = yield* Effect.promise(() =>
          page.locator("#stage [data-node], #stage [class^=note]").evaluateAll(
            (elements, stage) =>
              elements.filter((element) => {
                const { bottom, left, right, top } = element.getBoundingClientRect()
                return left < stage.x || top < stage.y || right > stage.x + stage.width ||
                  bottom > stage.y + stage.height
              }).length,
            stage
          )
        )
        assert.strictEqual(outside, 0)
        assert.deepStrictEqual(faults, [])
      }).pipe(Effect.scoped))
  }

  it.effect("begins a wide workflow at its trigger on a phone", () =>
    Effect.gen(function*() {
      const opened = [
        yield* openPage(yield* Pictures.make(workflows.knowledge), { width: 390, height: 800 }),
        yield* openPage(yield* Pictures.make(workflows.large(3)), { width: 390, height: 800 })
      ]
      for (const { faults, page } of opened) {
        const [stage, trigger] = [yield* boxOf(page, "#stage"), yield* boxOf(page, "[data-node=n0] > .box")]
        assert.isAbove(trigger.height, 50)
        assert.isTrue(trigger.x >= stage.x && trigger.x < stage.x + 100 && trigger.y > stage.y, JSON.stringify(trigger))
        assert.deepStrictEqual(faults, [])
      }
    }).pipe(Effect.scoped))

  it.effect("shows a difference of connections alone: both ends, with what changed beside them", () =>
    Effect.gen(function*() {
      const before = workflows.large(25)
      const after = { ...before, connections: { ...obj(before["connections"]), "Fetch orders 20": { main: [[]] } } }
      const picture = yield* Pictures.make(after, { overlay: { _tag: "Difference", before } })
      assert.match(picture.subtitle, /^1 connection removed: Fetch orders 20 → /)
      const { page } = yield* openPage(picture, { width: 1400 })
      const ends = picture.links.flatMap(({ from, status, to }) => status === "removed" ? [from, to] : [])
      assert.strictEqual(ends.length, 2)
      for (const id of ends) {
        const [stage, end] = [yield* boxOf(page, "#stage"), yield* boxOf(page, `[data-node=${id}] > .box`)]
        assert.isTrue(end.x >= stage.x && end.x + end.width <= stage.x + stage.width && end.width > 60)
      }
      assert.include(yield* Effect.promise(() => page.locator("#details").innerText()), "- Fetch orders 20 → ")
    }).pipe(Effect.scoped))

  it.effect("has the list as a drawer on a phone, by touch and by keyboard", () =>
    Effect.gen(function*() {
      const { page } = yield* openPage(yield* problems, { width: 390, height: 800 })
      const isOpen = () => Effect.promise(() => page.locator("#list").isVisible())
      const menu = page.getByRole("button", { name: "List", exact: true })
      assert.isFalse(yield* isOpen())
      yield* Effect.promise(() => menu.click())
      assert.isTrue(yield* isOpen())
      yield* Effect.promise(() => page.locator("#list button", { hasText: "Simple Memory" }).click())
      assert.isFalse(yield* isOpen())
      assert.strictEqual(yield* Effect.promise(() => page.locator("#details h2").textContent()), "Simple Memory")
      yield* Effect.promise(() => page.keyboard.press("Escape"))
      assert.strictEqual(
        yield* Effect.promise(() => page.evaluate(() => document.activeElement?.id)),
        "menu"
      )
      yield* Effect.promise(() => page.getByRole("searchbox").fill("splitter"))
      assert.isTrue(yield* isOpen())
      assert.strictEqual(yield* Effect.promise(() => page.locator("#list button:visible").count()), 1)
      yield* Effect.promise(() => page.keyboard.press("Escape"))
      assert.isFalse(yield* isOpen())
    }).pipe(Effect.scoped))

  it.effect("zooms with two fingers", () =>
    Effect.gen(function*() {
      const { page } = yield* openPage(yield* problems, { width: 390, height: 800 })
      const width = () =>
        page.evaluate(() => Number(document.querySelector("#stage svg")?.getAttribute("viewBox")?.split(" ")[2]))
      const before = yield* Effect.promise(width)
      const client = yield* Effect.promise(() => page.context().newCDPSession(page))
      const { height, x, y } = yield* boxOf(page, "#stage")
      const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart: number) =>
        Effect.promise(() =>
          client.send("Input.dispatchTouchEvent", {
            type,
            touchPoints: type === "touchEnd" ? [] : [
              { x: x + 195 - apart, y: y + height / 2, id: 1 },
              { x: x + 195 + apart, y: y + height / 2, id: 2 }
            ]
          })
        )
      yield* touch("touchStart", 30)
      for (const apart of [40, 60, 90]) yield* touch("touchMove", apart)
      yield* touch("touchEnd", 0)
      const ratio = before / (yield* Effect.promise(width))
      assert.isTrue(ratio > 2 && ratio < 3.5, String(ratio))
    }).pipe(Effect.scoped))

  for (const scheme of ["light", "dark"] as const) {
    it.effect(`has a contrast of at least 4.5 everywhere, ${scheme}`, () =>
      Effect.gen(function*() {
        const execution = yield* workflows.failed
        const pictures = [
          yield* problems,
          yield* Pictures.make(workflows.orders, { overlay: { _tag: "Execution", execution } }),
          yield* Pictures.make(workflows.mended, { overlay: { _tag: "Difference", before: workflows.orders } })
        ]
        const map = WorkflowMap.make(company.workflows.map((each) => facts.of({ active: true, ...each })), {
          isV1: false,
          isOwnHost: () => true,
          missing: new Set(["gone"]),
          tables: undefined
        })
        const template = yield* PicturePage.template
        const pages = [
          ...pictures.map((picture) => PicturePage.html(template, picture)),
          PicturePage.of(template, MapSvg.render(map, { isBare: true }), MapSvg.shown(map, false))
        ]
        for (const html of pages) {
          const { page } = yield* open(html, scheme)
          yield* Effect.promise(() => page.locator("#list button").first().click())
          const plain = yield* Effect.promise(() => faint(page))
          assert.isAbove(plain.count, 30)
          assert.deepStrictEqual(plain.faint, [])
          yield* Effect.promise(() => page.getByRole("searchbox").fill("report"))
          assert.deepStrictEqual((yield* Effect.promise(() => faint(page))).faint, [])
        }
      }).pipe(Effect.scoped))
  }
})
