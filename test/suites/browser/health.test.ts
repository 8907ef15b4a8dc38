/** The page of a health in a real browser: in both colour schemes, on a phone, and with the keyboard. */
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HealthPage from "../../../src/app/report/HealthPage.ts"
import { week } from "../../support/scenarios/health.ts"
import { open, TheBrowser } from "./Browser.ts"

const html = (days: number) =>
  HealthPage.html(
    week(days),
    { program: "effect-n8n-mcp", zone: undefined, host: "n8n.example.com" },
    { url: "https://n8n.example.com/", key: "" }
  )

layer(TheBrowser.layer)("the page of a health", (it) => {
  it.effect("leads from a cell to its incident with the keyboard, without requests and faults", () =>
    Effect.gen(function*() {
      const { faults, page, requests } = yield* open(html(7))
      yield* Effect.promise(() => page.locator("td a[href='#i2']").first().focus())
      yield* Effect.promise(() => page.keyboard.press("Enter"))
      const target = yield* Effect.promise(() => page.locator(":target").innerText())
      assert.match(target, /^failed\s*2026-11-24 22:10 – 2026-11-26 09:10, 16 times/)
      assert.deepStrictEqual([faults, requests], [[], []])
    }).pipe(Effect.scoped))

  it.effect.each([["light", 1400], ["dark", 1400], ["light", 360]] as const)(
    "in %s at %i pixels shows the newest day, and only the table scrolls",
    ([scheme, width]) =>
      Effect.gen(function*() {
        const { page } = yield* open(html(31), scheme, { width, height: 900 })
        const seen = yield* Effect.promise(() =>
          page.evaluate(() => {
            const newest = document.querySelector("tbody tr:nth-child(3) td:nth-last-of-type(3)")
              ?.getBoundingClientRect()
            const name = document.querySelector("tbody tr:nth-child(3) th")?.getBoundingClientRect()
            return {
              overflow: document.documentElement.scrollWidth - innerWidth,
              isNewestSeen: newest !== undefined && newest.left > 0 && newest.right <= innerWidth,
              isNameSeen: name !== undefined && name.left >= 0 && name.right < innerWidth,
              colour: getComputedStyle(document.body).backgroundColor
            }
          })
        )
        assert.deepStrictEqual(seen, {
          overflow: 0,
          isNewestSeen: true,
          isNameSeen: true,
          colour: scheme === "dark" ? "rgb(23, 23, 23)" : "rgb(245, 245, 245)"
        })
      }).pipe(Effect.scoped)
  )
})
