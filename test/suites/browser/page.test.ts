/** Pictures in a real browser: drawn, clicked, searched, and compared with the data. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Frame, Page as BrowserPage } from "playwright-core"
import * as App from "../../../src/answer/App.ts"
import * as facts from "../../../src/fleet/facts.ts"
import * as WorkflowMap from "../../../src/fleet/Map.ts"
import * as MapSvg from "../../../src/pictures/MapSvg.ts"
import * as Picture from "../../../src/pictures/Picture.ts"
import * as PicturePage from "../../../src/pictures/PicturePage.ts"
import * as Pictures from "../../../src/pictures/Pictures.ts"
import * as Svg from "../../../src/pictures/Svg.ts"
import * as tools from "../../../src/tools/index.ts"
import * as workflows from "../../pictures/workflows.ts"
import * as company from "../../support/scenarios/company.ts"
import { open, TheBrowser } from "./Browser.ts"

const world = Layer.mergeAll(TheBrowser.layer, workflows.world)

const failedRun = Effect.gen(function*() {
  const execution = yield* workflows.failed
  return yield* Pictures.make(workflows.orders, { overlay: { _tag: "Execution", execution } })
})

const openPicture = Effect.fnUntraced(function*(picture: Picture.Picture, scheme?: "light" | "dark") {
  return yield* open(PicturePage.html(yield* PicturePage.template, picture), scheme)
})

const viewBox = (page: BrowserPage | Frame) => page.locator("#stage svg").getAttribute("viewBox")

/** Where each node is on the screen, by its key. */
const boxes = (page: BrowserPage) =>
  page.locator("[data-node] > .box").evaluateAll((elements) =>
    elements.map((element) => {
      const { height, width, x, y } = element.getBoundingClientRect()
      return { id: element.parentElement?.getAttribute("data-node"), x, y, width, height }
    })
  )

const details = (page: BrowserPage | Frame) =>
  page.locator("#details").evaluate((aside) => ({
    isHidden: (aside as HTMLElement).hidden,
    title: aside.querySelector("h2")?.textContent,
    sections: [...aside.querySelectorAll("h3")].map((heading) => [
      heading.textContent,
      heading.nextElementSibling?.textContent?.trimEnd()
    ])
  }))

const told = ({ sections }: Picture.Node) => sections.map(({ text, title }) => [title, text.trimEnd()])

const nodeNamed = ({ nodes }: Picture.Picture, name: string) => {
  const node = nodes.find((each) => each.name === name)
  if (node === undefined) throw new Error(name)
  return node
}

/** A client's window around the page, as SEP-1865 has it: what it hears, and a way to send. */
const host = (app: string) =>
  `<!doctype html><body><iframe sandbox="allow-scripts" style="width:1200px;height:600px" srcdoc="${
    app.replaceAll("&", "&amp;").replaceAll("\"", "&quot;")
  }"></iframe><script>
const heard = []
const sendToPage = globalThis.sendToPage = (message) => document.querySelector("iframe").contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*")
window.addEventListener("message", ({ data }) => {
  heard.push(data)
  if (data.method === "ui/initialize") {
    sendToPage({ id: data.id, result: {
      protocolVersion: "2026-01-26",
      hostInfo: { name: "test", version: "1" },
      hostCapabilities: {},
      hostContext: { theme: "dark" }
    } })
  }
})
</script></body>`

layer(world, { timeout: 300_000 })("a picture in a browser", (it) => {
  it.effect("has each node where the data has it, and asks for nothing", () =>
    Effect.gen(function*() {
      const picture = yield* failedRun
      const { faults, page, requests } = yield* openPicture(picture)
      const drawn = yield* Effect.promise(() => boxes(page))
      const [first] = drawn
      const origin = picture.nodes[0]?.place
      if (first === undefined || origin === undefined) return assert.fail("nothing is drawn")
      const scale = first.width / 96
      assert.isAbove(scale, 0.2)
      for (const { id, place } of picture.nodes) {
        const box = drawn.find((each) => each.id === id)
        assert.closeTo(((box?.x ?? 0) - first.x) / scale, (place?.x ?? 0) - origin.x, 3, id)
        assert.closeTo(((box?.y ?? 0) - first.y) / scale, (place?.y ?? 0) - origin.y, 3, id)
      }
      assert.strictEqual(drawn.length, picture.nodes.length)
      assert.strictEqual(yield* Effect.promise(() => page.title()), "Charge orders")
      assert.deepStrictEqual([requests, faults], [[], []])
    }).pipe(Effect.scoped))

  it.effect("opens at the failure; a click shows a node as the data has it", () =>
    Effect.gen(function*() {
      const picture = yield* failedRun
      const { faults, page } = yield* openPicture(picture)
      const failure = yield* Effect.promise(() => details(page))
      assert.deepStrictEqual(failure, {
        isHidden: false,
        title: "Charge card",
        sections: told(nodeNamed(picture, "Charge card"))
      })
      for (const { id, name } of picture.nodes) {
        yield* Effect.promise(() => page.locator(`[data-node="${id}"] > .box`).click())
        const shown = yield* Effect.promise(() => details(page))
        assert.deepStrictEqual([shown.title, shown.sections], [name, told(nodeNamed(picture, name))])
      }
      yield* Effect.promise(() => page.getByRole("button", { name: "Close" }).click())
      assert.isTrue((yield* Effect.promise(() => details(page))).isHidden)
      assert.deepStrictEqual(faults, [])
    }).pipe(Effect.scoped))

  it.effect("shows a map of workflows: a click says what a workflow uses and what uses it", () =>
    Effect.gen(function*() {
      const map = WorkflowMap.make(company.workflows.map((each) => facts.of({ active: true, ...each })), {
        isV1: false,
        isOwnHost: () => true,
        missing: new Set(["gone"]),
        tables: undefined
      })
      const html = PicturePage.of(
        yield* PicturePage.template,
        MapSvg.render(map, { isBare: true }),
        MapSvg.shown(map, false)
      )
      const { faults, page, requests } = yield* open(html)
      for (const { id, name, sections } of MapSvg.shown(map, false).nodes) {
        yield* Effect.promise(() => page.locator(`nav button[data-id="${id}"]`).click())
        const shown = yield* Effect.promise(() => details(page))
        assert.deepStrictEqual([shown.title, shown.sections], [name, sections.map(({ text, title }) => [title, text])])
      }
      const drawn = yield* Effect.promise(() => boxes(page))
      assert.strictEqual(drawn.length, map.workflows.size + 1)
      const colour = (classes: string) =>
        Effect.promise(() => page.locator(classes).last().evaluate((path) => getComputedStyle(path).stroke))
      assert.notStrictEqual(yield* colour(".k-broken"), yield* colour(".edge.k-calls:not(.k-broken)"))
      yield* Effect.promise(() => page.getByRole("button", { name: "Overview" }).click())
      assert.include(
        yield* Effect.promise(() => page.locator("#details").innerText()),
        "Sub-workflows that nothing calls"
      )
      assert.deepStrictEqual([requests, faults], [[], []])
    }).pipe(Effect.scoped))

  it.effect("shows what changed, line by line, and what concerns the whole workflow", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.mended, {
        overlay: { _tag: "Difference", before: workflows.orders }
      })
      const { page } = yield* openPicture(picture)
      // It opens on the change: the first changed node is selected, the changed ones are first and in view.
      const opened = yield* Effect.promise(() => details(page))
      assert.deepStrictEqual([opened.isHidden, opened.title], [false, "Has a card?"])
      assert.deepStrictEqual(
        yield* Effect.promise(() => page.locator("#list small").allTextContents()),
        ["added", "added", "removed", "renamed", "moved", "moved"]
      )
      const stage = yield* Effect.promise(() => page.locator("#stage").boundingBox())
      for (const { id, width, x } of yield* Effect.promise(() => boxes(page))) {
        const { status } = picture.nodes.find((node) => node.id === id) ?? {}
        if (status === undefined || stage === null) continue
        assert.isTrue(x >= stage.x && x + width <= stage.x + stage.width && width > 60, `${status} ${x} ${width}`)
      }
      yield* Effect.promise(() =>
        page.getByRole("button", { name: /^Charge the card, Code, formerly Charge card/ }).click()
      )
      const lines = yield* Effect.promise(() => page.locator("#details .old, #details .new").allTextContents())
      assert.isTrue(lines.some((line) => line.startsWith("-") && line.includes("has no card")), lines.join())
      assert.isTrue(lines.some((line) => line.startsWith("+") && line.includes("charged: $json.total")), lines.join())
      yield* Effect.promise(() => page.getByRole("button", { name: "Overview" }).click())
      const { sections } = yield* Effect.promise(() => details(page))
      assert.include(sections[0]?.[1] ?? "", "+ Has a card?.true → Charge the card")
    }).pipe(Effect.scoped))

  it.effect("works by keyboard and names all to screen readers", () =>
    Effect.gen(function*() {
      const { page } = yield* openPicture(Picture.make(workflows.orders))
      const press = (...keys: ReadonlyArray<string>) =>
        Effect.promise(async () => {
          for (const key of keys) await page.keyboard.press(key)
        })
      const focused = Effect.promise(() =>
        page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent)
      )
      yield* Effect.promise(() => page.locator(`[data-node="n3"]`).focus())
      yield* press("Enter")
      assert.strictEqual(yield* focused, "Charge card")
      yield* press("Escape")
      assert.strictEqual(yield* focused, "Charge card, code")
      assert.isTrue((yield* Effect.promise(() => details(page))).isHidden)
      const before = yield* Effect.promise(() => viewBox(page))
      yield* press("ArrowRight", "+")
      const after = yield* Effect.promise(() => viewBox(page))
      assert.notStrictEqual(after, before)
      yield* press("0")
      assert.strictEqual(yield* Effect.promise(() => viewBox(page)), before)
      yield* press("/")
      assert.strictEqual(yield* focused, "Search")
      yield* Effect.promise(() => page.keyboard.type("ship"))
      yield* press("Enter")
      assert.strictEqual((yield* Effect.promise(() => details(page))).title, "Ship")
      const tree = yield* Effect.promise(() => page.locator("#stage").ariaSnapshot())
      for (const { name } of Picture.make(workflows.orders).nodes) assert.include(tree, `button "${name}, `)
      const nameless = yield* Effect.promise(() =>
        page.locator("button, input").evaluateAll((all) =>
          all.filter((each) => !(each.getAttribute("aria-label") ?? each.textContent ?? "").trim()).length
        )
      )
      assert.strictEqual(nameless, 0)
    }).pipe(Effect.scoped))

  it.effect("250 nodes are searched, dragged, zoomed and found", () =>
    Effect.gen(function*() {
      const picture = yield* Pictures.make(workflows.large(25))
      const { faults, page, requests } = yield* openPicture(picture)
      assert.strictEqual(yield* Effect.promise(() => page.locator("#list button:visible").count()), 250)
      yield* Effect.promise(() => page.getByRole("searchbox").fill("invoice"))
      assert.strictEqual(yield* Effect.promise(() => page.locator("#found").textContent()), "25 of 250")
      assert.strictEqual(yield* Effect.promise(() => page.locator("#list button:visible").count()), 25)
      yield* Effect.promise(() => page.locator("#list button:visible").nth(20).click())
      const shown = yield* Effect.promise(() => details(page))
      assert.match(shown.title ?? "", /^Create the invoice .* 21$/)
      const box = yield* Effect.promise(() => page.locator(".picked .box").boundingBox())
      assert.isAbove(box?.width ?? 0, 40)
      assert.isTrue((box?.x ?? -1) > 220 && (box?.y ?? -1) > 60 && (box?.y ?? 900) < 860, JSON.stringify(box))
      const [start, dragged] = yield* Effect.promise(async () => {
        const start = await viewBox(page)
        await page.mouse.move(500, 500)
        await page.mouse.down()
        await page.mouse.move(400, 450, { steps: 4 })
        await page.mouse.up()
        return [start, await viewBox(page)] as const
      })
      const numbers = (text: string | null) => (text ?? "").split(" ").map(Number)
      const [x0 = 0, y0 = 0, width = 0] = numbers(start)
      const [x1 = 0, y1 = 0] = numbers(dragged)
      assert.isAbove(x1, x0)
      assert.isAbove(y1, y0)
      yield* Effect.promise(() => page.mouse.wheel(0, -400))
      yield* Effect.promise(() =>
        page.waitForFunction(
          (before) => Number(document.querySelector("#stage svg")?.getAttribute("viewBox")?.split(" ")[2]) < before,
          width
        )
      )
      yield* Effect.promise(() => page.getByRole("button", { name: "Show all" }).click())
      assert.isAbove(numbers(yield* Effect.promise(() => viewBox(page)))[3] ?? 0, 12_000)
      assert.deepStrictEqual([requests, faults], [[], []])
    }).pipe(Effect.scoped))

  it.effect("runs nothing of what a workflow says", () =>
    Effect.gen(function*() {
      const names = [
        "<script>alert(1)</script>",
        "</script><script>alert(2)</script>",
        "\"><img src=http://evil.test/x onerror=alert(3)>",
        "<svg onload=alert(4)>",
        "a\u2028b"
      ]
      const picture = Picture.make({
        name: names[0],
        nodes: names.map((name, index) => ({
          name,
          type: `${name}.${name}`,
          position: [index * 240, 0],
          notes: name,
          parameters: { [name]: name }
        })),
        connections: {}
      })
      const { faults, page, requests } = yield* openPicture(picture)
      for (const { id, name } of picture.nodes) {
        yield* Effect.promise(() => page.locator(`[data-node="${id}"] > .box`).click())
        assert.strictEqual((yield* Effect.promise(() => details(page))).title, name)
      }
      assert.strictEqual(yield* Effect.promise(() => page.locator("#title").textContent()), names[0])
      assert.strictEqual(yield* Effect.promise(() => page.locator("script").count()), 2)
      assert.deepStrictEqual([requests, faults], [[], []])
    }).pipe(Effect.scoped))

  it.effect("is dark where the reader's system is, as an image too", () =>
    Effect.gen(function*() {
      const svg = Svg.render(yield* failedRun)
      const image = `<body style="margin:0"><img src="data:image/svg+xml;base64,${
        Buffer.from(svg).toString("base64")
      }">`
      const seen: Array<string> = []
      for (const scheme of ["light", "dark"] as const) {
        const { page } = yield* openPicture(yield* failedRun, scheme)
        seen.push(
          yield* Effect.promise(() => page.locator("#stage .bg").evaluate((element) => getComputedStyle(element).fill))
        )
        const shown = yield* open(image, scheme)
        seen.push(
          yield* Effect.promise(() =>
            shown.page.locator("img").evaluate(async (element) => {
              const picture = element as HTMLImageElement
              await picture.decode()
              const canvas = document.createElement("canvas")
              const context = canvas.getContext("2d")
              context?.drawImage(picture, 0, 0)
              return `rgb(${[...context?.getImageData(2, 2, 1, 1).data ?? []].slice(0, 3).join(", ")})`
            })
          )
        )
      }
      assert.deepStrictEqual(seen, ["rgb(245, 245, 245)", "rgb(245, 245, 245)", "rgb(23, 23, 23)", "rgb(23, 23, 23)"])
    }).pipe(Effect.scoped))

  it.effect("is an MCP App: shows the picture of a tool's answer, in the client's theme", () =>
    Effect.gen(function*() {
      let view: App.View = {}
      const answer = yield* tools.getExecution.run({ id: workflows.failedId }).pipe(
        Effect.provideService(App.Show, (shown) => Effect.sync(() => void (view = shown)))
      )
      const { faults, page, requests } = yield* open(host(PicturePage.app(yield* PicturePage.template)))
      const heard = () =>
        page.evaluate("heard.map(({ method, id, params }) => ({ method, id, params }))") as Promise<
          ReadonlyArray<{ readonly method?: string; readonly id?: unknown; readonly params?: object }>
        >
      yield* Effect.promise(() =>
        page.waitForFunction("heard.some(({ method }) => method === 'ui/notifications/size-changed')")
      )
      const [initialize, ...rest] = yield* Effect.promise(heard)
      assert.strictEqual(initialize?.method, "ui/initialize")
      assert.containSubset(initialize?.params, { protocolVersion: "2026-01-26", appInfo: { name: "n8n workflow" } })
      assert.deepStrictEqual(rest.map(({ method }) => method), [
        "ui/notifications/initialized",
        "ui/notifications/size-changed"
      ])
      const [frame] = page.frames().slice(1)
      if (frame === undefined) return assert.fail("no frame")
      yield* Effect.promise(() =>
        page.evaluate(
          (params) => (globalThis as unknown as { sendToPage: (message: object) => void }).sendToPage(params),
          {
            method: "ui/notifications/tool-result",
            params: {
              content: [{ type: "text", text: JSON.stringify(answer) }],
              structuredContent: { ...answer },
              _meta: view
            }
          }
        )
      )
      yield* Effect.promise(() => frame.waitForSelector(`[data-node="n3"]`))
      assert.strictEqual(yield* Effect.promise(() => frame.locator("[data-node]").count()), 8)
      assert.strictEqual((yield* Effect.promise(() => details(frame))).title, "Charge card")
      yield* Effect.promise(() => frame.locator(`[data-node="n0"] > .box`).click())
      assert.strictEqual((yield* Effect.promise(() => details(frame))).title, "New orders")
      const fill = yield* Effect.promise(() =>
        frame.locator("#stage .bg").evaluate((element) => getComputedStyle(element).fill)
      )
      assert.strictEqual(fill, "rgb(23, 23, 23)")
      yield* Effect.promise(() =>
        page.evaluate(`sendToPage({ id: 77, method: "ui/resource-teardown", params: { reason: "done" } })`)
      )
      yield* Effect.promise(() => page.waitForFunction("heard.some(({ id }) => id === 77)"))
      assert.deepStrictEqual([requests, faults], [[], []])
    }).pipe(Effect.scoped))
})
