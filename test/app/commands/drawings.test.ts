import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { folderWith, platform } from "../../support/folders.ts"
import { runAt as run, runIn } from "../../support/inProcess.ts"
import { node } from "../../support/workflows.ts"

/** The command beside the demo's n8n. */
const picture = (cwd: string, ...args: ReadonlyArray<string>) => run(cwd, "picture", "--demo", ...args)

const orders = "cR5mSyNc9bVh4KqE"

const file = JSON.stringify({
  id: orders,
  name: "Here",
  nodes: [node("New orders", "webhook", 2, {}, { id: "1" })],
  connections: {}
})

describe("map", () => {
  it.live("draws the links between workflows, or those of one, as SVG or as a page", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({})
      const map = (...args: ReadonlyArray<string>) => run(folder, "map", "--demo", ...args)
      const [all, page, one] = yield* Effect.all([
        map(),
        map("--out", "maps/all.html"),
        map(orders, "--out", "one.svg")
      ])
      assert.match(all.stdout, /^<svg [^]*Sync orders to CRM[^]*<\/svg>\n$/)
      assert.deepStrictEqual([all.code, all.stderr], [0, ""])
      assert.match(page.stdout, /^maps\/all\.html: \d+ workflows, \d+ with an error workflow/)
      assert.match(yield* fs.readFileString(`${folder}/maps/all.html`), /^<!doctype html>[^]*Sync orders to CRM/)
      assert.match(one.stdout, /^one\.svg: \d+ workflows?, /)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})

describe("a picture to be opened", () => {
  it.live(
    "is a page in the browser, without a shell, or a file that is named",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* folderWith({ "bin/xdg-open": "#!/bin/sh\n/bin/cp \"$1\" \"$PWD/opened.html\"\n" })
        yield* fs.chmod(`${folder}/bin/xdg-open`, 0o755)
        const open = (path: string, ...args: ReadonlyArray<string>) =>
          runIn(folder, { PATH: path, TMPDIR: folder }, ...args, "--demo", "--open")
        const opened = yield* open(`${folder}/bin`, "picture", orders)
        const [, page = ""] =
          /^picture: Sync orders to CRM, 6 nodes\n(.+\/picture\.html) is open in the browser\n$/.exec(
            opened.stdout
          ) ?? []
        assert.match(yield* fs.readFileString(`${folder}/opened.html`), /^<!doctype html>[^]*Upsert CRM contact/)
        assert.strictEqual(yield* fs.readFileString(page), yield* fs.readFileString(`${folder}/opened.html`))
        assert.strictEqual((yield* fs.stat(page)).mode & 0o077, 0)
        const named = yield* open(`${folder}/bin`, "map", "--out", "$(touch x) map.html")
        assert.include(named.stdout, "$(touch x) map.html is open in the browser")
        assert.strictEqual(
          yield* fs.readFileString(`${folder}/$(touch x) map.html`),
          yield* fs.readFileString(`${folder}/opened.html`)
        )
        assert.isFalse(yield* fs.exists(`${folder}/x`))
        const nowhere = yield* open(`${folder}/none`, "picture", orders)
        assert.match(nowhere.stdout, /\nNo browser opens: see .+\/picture\.html\n$/)
        assert.strictEqual(nowhere.code, 0)
      }).pipe(Effect.scoped, Effect.provide(platform))
  )
})

describe("picture", () => {
  it.live("draws a workflow, a run, a difference and problems, as SVG or as a page", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* folderWith({ "here.json": file, "other.json": file.replace(orders, "xyz") })
      const [plain, drawn, difference, ofFile] = yield* Effect.all([
        picture(folder, orders),
        picture(folder, orders, "--execution", "239", "--out", "pictures/run.html"),
        picture(folder, "here.json", "--against", orders, "--out", "difference.SVG"),
        picture(folder, "here.json", "--execution", "239", "--out", "here.svg")
      ])
      assert.match(plain.stdout, /^<svg [^]*<\/svg>\n$/)
      assert.deepStrictEqual([plain.code, plain.stderr], [0, ""])
      assert.strictEqual(
        drawn.stdout,
        "pictures/run.html: Sync orders to CRM, Run 239: error · 510 ms · 4 of 6 nodes ran\n"
      )
      assert.match(yield* fs.readFileString(`${folder}/pictures/run.html`), /^<!doctype html>[^]*Upsert CRM contact/)
      assert.match(difference.stdout, /^difference\.SVG: Here, .*5 removed/)
      assert.match(yield* fs.readFileString(`${folder}/difference.SVG`), /^<svg /)
      assert.strictEqual(ofFile.stdout, "here.svg: Here, Run 239: error · 510 ms · 1 of 1 node ran\n")

      // By names, and links.
      const named = yield* picture(folder, "sync orders to crm", "--execution", "239", "--out", "named.svg")
      assert.match(named.stdout, /^named\.svg: Sync orders to CRM, Run 239: /)
      const alone = yield* picture(folder, "--execution", "239", "--out", "alone.svg")
      assert.match(alone.stdout, /^alone\.svg: Sync orders to CRM, Run 239: /)
      const why = yield* run(folder, "why", "--demo", "--out", "why.html")
      assert.match(
        why.stdout,
        /^Run 239 of Sync orders to CRM: error\n[^]*\nwhy\.html: Sync orders to CRM, Run 239/
      )
      assert.match(yield* fs.readFileString(`${folder}/why.html`), /^<!doctype html>[^]*Upsert CRM contact/)

      const problems = yield* picture(folder, orders, "--problems", "--out", "problems.svg")
      assert.match(problems.stdout, /^problems\.svg: Sync orders to CRM, \d+ errors? · \d+ warnings?\n$/)
    }).pipe(Effect.scoped, Effect.provide(platform)))

  it.live("draws a profile's drafts, and what is where the command runs", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const profile = { name: "p", url: "http://127.0.0.1:9", apiKey: "k", filesRoot: "profile" }
      const folder = yield* folderWith({
        "n8n.json": JSON.stringify({ profiles: [profile] }),
        "profile/draft.json": file.replace("Here", "A draft"),
        "here/here.json": file
      })
      const told = yield* Effect.forEach(
        ["draft-draft", "here.json"],
        (name) => run(`${folder}/here`, "picture", "--config", `${folder}/n8n.json`, name, "--out", `${name}.svg`)
      )
      assert.deepStrictEqual(
        told.map(({ code, stderr, stdout }) => [code, stdout + stderr]),
        [[0, "draft-draft.svg: A draft, 1 node\n"], [0, "here.json.svg: Here, 1 node\n"]]
      )
      assert.include(yield* fs.readDirectory(`${folder}/here`), "draft-draft.svg")
      // The person who names a file elsewhere means it.
      const outside = ["here.json", "--config", `${folder}/n8n.json`, "--out", "../pictures/new/here.svg"]
      const { code, stderr, stdout } = yield* run(`${folder}/here`, "picture", ...outside)
      assert.deepStrictEqual([code, stdout + stderr], [0, "../pictures/new/here.svg: Here, 1 node\n"])
      assert.include(yield* fs.readFileString(`${folder}/pictures/new/here.svg`), "<svg")
      const elsewhere = yield* run(`${folder}/pictures`, "picture", "--demo", "../here/here.json", "--out", "near.svg")
      assert.deepStrictEqual([elsewhere.code, elsewhere.stdout], [0, "near.svg: Here, 1 node\n"], elsewhere.stderr)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
