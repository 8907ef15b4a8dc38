import { assert, describe, it, layer } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as TestClock from "effect/testing/TestClock"
import { createHash } from "node:crypto"
import { tmpdir } from "node:os"
import * as Hints from "../../../src/answer/Hints.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { obj } from "../../../src/base/Json.ts"
import type * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith, platform, withFileSystem } from "../../support/folders.ts"
import * as TestTime from "../../support/TestTime.ts"
import { contentOf, contents, failure, inFolder, isText, namesIn, over, refusal, workflow } from "./folder.ts"

const counted = (file: WorkflowFiles.WorkflowFile) =>
  Effect.sync(() => workflow({ count: Number(obj(file.value)?.["count"] ?? 0) + 1 }))

/** Results of so many concurrent calls of two services over one folder. */
const concurrently = <A, E, R>(
  root: string,
  count: number,
  call: (files: WorkflowFiles.Service, index: number) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const services = [yield* over(root), yield* over(root)] as const
    const indices = Array.from({ length: count }, (_, index) => index)
    return yield* Effect.forEach(indices, (index) => call(services[index % 2 === 0 ? 0 : 1], index), {
      concurrency: "unbounded"
    })
  })

layer(platform)("a workflow file", (it) => {
  it.effect("is written over what a killed writer left, which is removed once it is old", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const root = yield* folderWith({ "a.json": workflow(), ".own.tmp": "1" })
      let temporary = ""
      const { create, update } = yield* over(root).pipe(withFileSystem((fs) => ({
        rename: (from, to) => {
          temporary ||= from
          return fs.rename(from, to)
        }
      })))
      yield* update("a.json", counted)
      yield* fs.writeFileString(temporary, "{")
      for (const file of [temporary, `${root}/.own.tmp`]) yield* fs.utimes(file, new Date(0), new Date(0))
      yield* update("a.json", counted)
      assert.includeMembers(yield* namesIn(root), [".own.tmp", "a.json", temporary.slice(root.length + 1)])
      yield* TestClock.adjust("61 seconds")
      yield* create("b.json", workflow())
      assert.deepStrictEqual(yield* namesIn(root), [".own.tmp", "a.json", "b.json"])
    }))

  describe("that may not exist", () => {
    it.effect("is located where it would be", () =>
      inFolder({
        "sub/a.json": "1",
        [`${"が".normalize("NFD")}/a.json`]: "1",
        ".n8n/a.json": "1"
      }, function*({ locate, root }) {
        yield* FileSystem.FileSystem.use((fs) => fs.symlink("sub", `${root}/link`))
        for (
          const [asked, found] of [
            ["sub/a.json", "sub/a.json"],
            ["new.json", "new.json"],
            ["new/er/b.JSON", "new/er/b.JSON"],
            ["link/new/b.json", "sub/new/b.json"],
            ["が/b.json", `${"が".normalize("NFD")}/b.json`],
            ["請求書 🚀.json", "請求書 🚀.json"],
            [".n8n/a.json", ".n8n/a.json"],
            [`${root}/x/../y.json`, "y.json"]
          ] as const
        ) {
          assert.strictEqual(yield* locate(asked), `${root}/${found}`)
        }
      }))

    it.effect.each<[file: string, says: string | RegExp]>([
      ["a\0.json", "File path contains a NUL character"],
      ["../new.json", /^File '..\/new.json' is not under the files root/],
      ["new/../../new.json", /is not under the files root/],
      ["out/new.json", /is a link that leads out of the files root/],
      ["dangling.json", /is a link that leads out of the files root/],
      ["to-env.json", "File 'to-env.json' is not a .json file"],
      [".git/new.json", "File '.git/new.json' would be in '.git'"],
      ["to-git/new.json", "File 'to-git/new.json' would be in '.git'"],
      ["x/.y/new.json", "File 'x/.y/new.json' would be in '.y'"],
      ["x/node_modules/new.json", "File 'x/node_modules/new.json' would be in 'node_modules'"],
      [".mcp.json", "File '.mcp.json' would be hidden"],
      ["a.json/new.json", /ENOTDIR|is not a folder but a file/],
      [`${"x".repeat(300)}.json`, /cannot be written \(ENAMETOOLONG\)/]
    ])("is refused as '%s': %s", ([file, says]) =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const outside = yield* folderWith({ "root/a.json": "1", "root/.git/config": "" })
        const root = `${outside}/root`
        const links = { out: "..", "dangling.json": "../missing.json", "to-env.json": ".env", "to-git": ".git" }
        for (const [name, to] of Object.entries(links)) yield* fs.symlink(to, `${root}/${name}`)
        const before = yield* namesIn(outside)
        const files = yield* over(root)
        for (
          const attempt of [
            files.locate(file),
            files.create(file, workflow()),
            files.save(file, () => Effect.succeed(workflow()))
          ]
        ) {
          isText((yield* refusal(attempt)).message, says)
        }
        assert.deepStrictEqual(yield* namesIn(outside), before)
      }))
  })

  describe("is created", () => {
    it.effect("with the folders to it, once", () =>
      inFolder({}, function*({ root, create }) {
        const text = `\uFEFF${workflow({ name: "請求書 🚀" })}\r\n`
        assert.deepStrictEqual(yield* create("a/b/請求書.json", text), { path: `${root}/a/b/請求書.json` })
        assert.strictEqual(yield* contentOf(`${root}/a/b/請求書.json`), text)
        const error = yield* refusal(create("a/b/請求書.json", "2"))
        assert.strictEqual(error.message, "File 'a/b/請求書.json' exists already")
        assert.deepStrictEqual(yield* namesIn(root), ["a", "a/b", "a/b/請求書.json"])
      }))

    it.effect("and no folder outside the root, where one became a link meanwhile", () =>
      Effect.gen(function*() {
        const outside = yield* folderWith({ "root/sub/.keep": "" })
        const root = `${outside}/root`
        let looks = 0
        // Its last look at a folder before anything is made in it.
        const { create } = yield* over(root).pipe(withFileSystem((fs) => ({
          lstat: (path) =>
            Effect.tap(fs.lstat(path), () =>
              path !== `${root}/sub` || ++looks !== 2 ? Effect.void : Effect.gen(function*() {
                yield* fs.rename(`${root}/sub`, `${root}/moved`)
                yield* fs.symlink("..", `${root}/sub`)
              }))
        })))
        const error = yield* refusal(create("sub/new/a.json", workflow()))
        assert.isAbove(looks, 2)
        assert.match(error.message, /is a link that leads out of the files root/)
        yield* FileSystem.FileSystem.use((fs) =>
          fs.remove(`${root}/sub`)
        )
        assert.deepStrictEqual(yield* namesIn(outside), ["root", "root/moved", "root/moved/.keep"])
      }))

    const others = "package tsconfig TSConfig.build jsconfig turbo opencode global host tailwind.config tauri.conf " +
      "appsettings.Development oxlintrc pyrightconfig"

    it.effect.each(others.split(" "))(
      "but not as %s.json, which another program obeys",
      (name) =>
        inFolder({}, function*({ root, create, createDraft, save }) {
          for (const path of [`${name}.json`, `sub/${name}.JSON`]) {
            for (const write of [create(path, workflow()), save(path, () => Effect.succeed(workflow()))]) {
              assert.include((yield* refusal(write)).message, "would have the name of another program's configuration")
            }
          }
          assert.deepStrictEqual(yield* namesIn(root), [])
          assert.notStrictEqual((yield* createDraft(name, workflow())).path, `${root}/${name.toLowerCase()}.json`)
        })
    )

    it.effect("as a file that no other program obeys", () =>
      inFolder({}, function*({ root, create }) {
        const names = ["arc", "config", "my-package", "settings", "source", "sync-config"].map((name) => `${name}.json`)
        for (const name of names) yield* create(name, workflow())
        assert.deepStrictEqual(yield* namesIn(root), names)
      }))

    it.effect("by one of many concurrent writers", () =>
      Effect.gen(function*() {
        const root = yield* folderWith()
        const results = yield* concurrently(
          root,
          10,
          ({ create }, index) => Effect.isSuccess(create("x/a.json", String(index)))
        )
        assert.strictEqual(results.filter(Boolean).length, 1)
        assert.strictEqual(yield* contentOf(`${root}/x/a.json`), String(results.indexOf(true)))
      }))

    it.effect("even without hard links", () =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "there.json": "1" })
        const unsupported = Effect.fail(failure("link", "EPERM"))
        const { create } = yield* over(root).pipe(withFileSystem(() => ({ link: () => unsupported })))
        yield* create("a.json", "text")
        assert.deepStrictEqual(yield* contents(root), { "a.json": "text", "there.json": "1" })
      }))

    it.effect.each([
      ["My Workflow", "my-workflow"],
      ["  --  ", "workflow"],
      ["🚀", "workflow"],
      ["🚀 Deploy ✈️ (prod)!", "deploy-prod"],
      ["請求書 が届いたら", "請求書-が届いたら"],
      ["が".normalize("NFD"), "が"],
      ["हिन्दी", "हिन्दी"],
      ["ÄÖÜ ß", "äöü-ß"],
      ["../../etc/passwd", "etc-passwd"],
      ["a\0b", "a-b"],
      ["package", "package-2"],
      ["taken", "taken-3"],
      ["x".repeat(100), "x".repeat(60)],
      ["𠮷".repeat(100), "𠮷".repeat(60)]
    ])(
      "under a free name: '%s' is %s",
      ([name = "", stem]) =>
        inFolder({ "Taken.json": "1", "taken-2.json": "2" }, function*({ root, createDraft }) {
          assert.deepStrictEqual(yield* createDraft(name, "3"), { id: `draft-${stem}`, path: `${root}/${stem}.json` })
          assert.strictEqual(yield* contentOf(`${root}/${stem}.json`), "3")
        })
    )

    it.effect("under as many names as there are of one", () =>
      Effect.gen(function*() {
        const root = yield* folderWith()
        const made = yield* concurrently(
          root,
          12,
          ({ createDraft }, index) => createDraft("x".repeat(60), String(index))
        )
        const ids = made.map(({ id }) => id)
        assert.strictEqual(new Set(ids).size, 12)
        assert.include(ids, `draft-${"x".repeat(57)}-12`)
        for (const [index, { path }] of made.entries()) assert.strictEqual(yield* contentOf(path), String(index))
      }))
  })

  describe("is updated", () => {
    it.effect("with its snapshot and its mode", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const before = `\uFEFF${workflow({ name: "🚀" })}\r\n`
        const root = yield* folderWith({ "a.json": before })
        yield* fs.chmod(`${root}/a.json`, 0o640)
        const kept: Array<unknown> = []
        const keep = (text: string, path: string) =>
          Effect.map(contentOf(path), (there) => void kept.push({ text, path, there }))
        const { update } = yield* over(root)
        const result = yield* update("a.json", ({ text }) => Effect.succeed(text.replace("🚀", "✈️")), keep)
        const after = before.replace("🚀", "✈️")
        assert.deepStrictEqual(result, { path: `${root}/a.json`, before, after })
        assert.strictEqual(yield* contentOf(`${root}/a.json`), after)
        assert.deepStrictEqual(kept, [{ text: before, path: `${root}/a.json`, there: before }])
        assert.strictEqual((yield* fs.stat(`${root}/a.json`)).mode & 0o7777, 0o640)
        for (const same of [undefined, after]) {
          assert.deepStrictEqual(yield* update("a.json", () => Effect.succeed(same), keep), {
            path: `${root}/a.json`,
            before: after,
            after
          })
        }
        assert.strictEqual(kept.length, 1)
        assert.deepStrictEqual(yield* namesIn(root), ["a.json"])
      }))

    it.effect("through a link, which stays one", () =>
      inFolder({ "sub/a.json": workflow() }, function*({ root, update }) {
        const fs = yield* FileSystem.FileSystem
        yield* fs.symlink("sub/a.json", `${root}/link.json`)
        assert.strictEqual((yield* update("link.json", counted)).path, `${root}/sub/a.json`)
        assert.strictEqual(yield* fs.readLink(`${root}/link.json`), "sub/a.json")
        assert.strictEqual(yield* contentOf(`${root}/sub/a.json`), workflow({ count: 1 }))
      }))

    it.effect("by many concurrent writers, one after the other", () =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "a.json": workflow() })
        yield* concurrently(root, 20, ({ update }) => update("a.json", counted))
        assert.strictEqual(yield* contentOf(`${root}/a.json`), workflow({ count: 20 }))
      }))

    it.effect.each(["change", "keep"])(
      "not when %s fails or is interrupted",
      (step) =>
        inFolder({ "a.json": workflow() }, function*({ root, update }) {
          const attempt = (stop: Effect.Effect<never, string>) =>
            step === "change"
              ? update("a.json", () => stop)
              : update("a.json", counted, () => stop)
          assert.strictEqual(yield* Effect.flip(attempt(Effect.fail("no"))), "no")
          const begun = yield* Deferred.make<void>()
          const fiber = yield* Effect.forkChild(
            attempt(Effect.andThen(Deferred.succeed(begun, undefined), Effect.never))
          )
          yield* Deferred.await(begun)
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(yield* contents(root), { "a.json": workflow() })
          yield* update("a.json", counted)
          assert.strictEqual(yield* contentOf(`${root}/a.json`), workflow({ count: 1 }))
        })
    )

    it.effect("not when others wrote meanwhile", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const theirs = workflow({ name: "x" })
        const root = yield* folderWith({ "a.json": workflow() })
        const { update } = yield* over(root)
        const error = yield* refusal(
          update("a.json", (file) => Effect.andThen(fs.writeFileString(file.path, theirs), counted(file)))
        )
        assert.match(error.message, /^File 'a.json' changed while/)
        assert.match(Hints.text(error.hint), /try again/)
        assert.deepStrictEqual(yield* contents(root), { "a.json": theirs })
      }))

    it.effect("not when its folder became a link out meanwhile", () =>
      Effect.gen(function*() {
        const outside = yield* folderWith({ "a.json": workflow(), "root/sub/a.json": workflow() })
        const root = `${outside}/root`
        const { update } = yield* over(root).pipe(withFileSystem((fs) => ({
          open: (path, options) =>
            options?.flag !== "wx" ? fs.open(path, options) : Effect.gen(function*() {
              yield* fs.rename(`${root}/sub`, `${root}/moved`)
              yield* fs.symlink("..", `${root}/sub`)
              return yield* fs.open(path, options)
            })
        })))
        const error = yield* refusal(update("sub/a.json", counted))
        assert.match(error.message, /is a link that leads out of the files root/)
        yield* FileSystem.FileSystem.use((fs) => fs.remove(`${root}/sub`))
        assert.deepStrictEqual(yield* contents(outside), { "a.json": workflow(), "root/moved/a.json": workflow() })
      }))

    it.effect.each([
      ["open", "EACCES"],
      ["rename", "ENOSPC"],
      ["access", "EROFS"],
      ["link", "EACCES"]
    ])("or created not where %s fails (%s)", ([method = "", code = ""]) =>
      Effect.gen(function*() {
        const root = yield* folderWith({ "a.json": workflow() })
        const fails = Effect.fail(failure(method, code))
        const isNew = method === "link"
        const files = yield* over(root).pipe(withFileSystem((fs) => ({
          ...(method === "open" ? {} : { [method]: () => fails }),
          open: (path, options) =>
            (isNew ? path.endsWith("b.json") : method === "open" && options?.flag === "wx")
              ? fails
              : fs.open(path, options)
        })))
        const error = yield* refusal(isNew ? files.create("b.json", "1") : files.update("a.json", counted))
        isText(error.message, `File '${isNew ? "b" : "a"}.json' cannot be written (${code})`)
        assert.isTrue(Errors.isServerFault(error))
        assert.deepStrictEqual(yield* contents(root), { "a.json": workflow() })
      }))

    it.effect("to 10 MB and no more", () =>
      inFolder({ "a.json": workflow() }, function*({ create, update }) {
        const large = (bytes: number) => workflow() + " ".repeat(bytes - workflow().length)
        yield* update("a.json", () => Effect.succeed(large(10_000_000)))
        const text = large(10_000_001)
        for (const attempt of [update("a.json", () => Effect.succeed(text)), create("b.json", text)]) {
          assert.match((yield* refusal(attempt)).message, /is over 10 MB: it has 10,000,001 bytes$/)
        }
      }))
  })

  describe("is saved", () => {
    it.effect("new, then over the existing workflow, after a snapshot", () =>
      inFolder({}, function*({ root, save }) {
        const kept: Array<string> = []
        const put = (count: number) =>
          save("a/b.json", (before) =>
            Effect.succeed(workflow({ count, before: before?.text.length ?? 0 })), (text) =>
            Effect.sync(() => void kept.push(text)))
        const path = `${root}/a/b.json`
        const first = workflow({ count: 1, before: 0 })
        assert.deepStrictEqual(yield* put(1), { path, before: undefined, after: first })
        const second = workflow({ count: 2, before: first.length })
        assert.deepStrictEqual(yield* put(2), { path, before: first, after: second })
        assert.deepStrictEqual(kept, [first])
        assert.strictEqual(yield* contentOf(path), second)
      }))

    it.effect.each(["{\"name\":\"my-app\",\"dependencies\":{}}", "[]", "{\"nodes\":{}}", "{", "", "\u0000"])(
      "never over a file that is not a workflow: %s",
      (content) =>
        inFolder({ "package.json": content }, function*({ root, save }) {
          const error = yield* refusal(save("package.json", () => Effect.succeed(workflow())))
          assert.match(
            error.message,
            /^File 'package.json' is (?:not a workflow: it has no list of nodes$|not JSON|empty)/
          )
          assert.match(Hints.text(error.hint), /another path/)
          assert.strictEqual(yield* contentOf(`${root}/package.json`), content)
        })
    )
  })
})

const lockOf = (file: string) =>
  `${tmpdir()}/effect-n8n-mcp-${process.getuid?.() ?? 0}/${
    createHash("sha256").update(file).digest("hex").slice(0, 32)
  }.lock`

describe("a workflow file with other processes", () => {
  it.live.each<[holder: string, content: string, age: () => number]>([
    ["of no process", "2147483646 x", () => 0],
    ["of an earlier process with this one's number", `${process.pid} x`, () => process.uptime() + 1],
    ["of a process that has not touched it for 30 s", "1 x", () => 31],
    ["of a process that was killed before it wrote its number", "", () => 3]
  ])("takes over a lock %s", ([, content, age]) =>
    inFolder({ "a.json": workflow() }, function*({ root, update }) {
      const fs = yield* FileSystem.FileSystem
      yield* update("a.json", counted)
      const lock = lockOf(`${root}/a.json`)
      const touched = new Date(Date.now() - age() * 1000)
      yield* fs.writeFileString(lock, content)
      yield* fs.utimes(lock, touched, touched)
      yield* update("a.json", counted)
      assert.strictEqual(yield* contentOf(`${root}/a.json`), workflow({ count: 2 }))
      assert.isFalse(yield* fs.exists(lock))
    }).pipe(Effect.provide(platform)), 10_000)

  it.effect("fails after 35 s if another process holds the lock, as a retryable error", () =>
    inFolder({ "a.json": workflow() }, function*({ root, update }) {
      const fs = yield* FileSystem.FileSystem
      yield* update("a.json", counted)
      const lock = lockOf(`${root}/a.json`)
      yield* fs.writeFileString(lock, `${process.ppid} x`)
      const error = yield* TestTime.run(refusal(update("a.json", counted)))
      yield* fs.remove(lock)
      assert.strictEqual(error.message, "File 'a.json' is being written by another process")
      assert.isTrue(Errors.isServerFault(error))
      assert.strictEqual(yield* contentOf(`${root}/a.json`), workflow({ count: 1 }))
    }).pipe(Effect.provide(platform)))
})
