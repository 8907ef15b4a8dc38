import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { afterAll, beforeAll, beforeEach, vi } from "vitest"
import * as Terminal from "../../src/app/Terminal.ts"
import { CallContext } from "../../src/base/CallContext.ts"
import { rounds } from "../support/seed.ts"

/** Lines of a terminal after these writes: a carriage return goes to the start of a line, ESC[K deletes its rest. */
const linesAfter = (writes: string) => {
  const lines = [""]
  for (const part of writes.replaceAll("\u001B[K", "\0").split(/(\r|\n|\0)/)) {
    const last = lines.length - 1
    if (part === "\n") lines.push("")
    else if (part === "\r") lines[last] = `\r${lines[last] ?? ""}`
    else if (part === "\0") lines[last] = (lines[last] ?? "").startsWith("\r") ? "" : lines[last] ?? ""
    else lines[last] = (lines[last] ?? "").startsWith("\r") ? `${lines[last]}<over>${part}` : `${lines[last]}${part}`
  }
  return lines
}

let written = ""

/** Both streams of a terminal of 40 columns. */
const streams = [process.stdout, process.stderr]
const before = streams.map(({ columns, isTTY }) => ({ columns, isTTY }))

beforeAll(() => {
  for (const stream of streams) {
    Object.assign(stream, { isTTY: true, columns: 40 })
    vi.spyOn(stream, "write").mockImplementation((text, done?: unknown) => {
      written += String(text)
      if (typeof done === "function") done()
      return true
    })
  }
})

beforeEach(() => {
  written = ""
})

afterAll(() => {
  vi.restoreAllMocks()
  for (const [at, stream] of streams.entries()) Object.assign(stream, before[at])
})

const writers = {
  print: Terminal.print,
  say: Terminal.say,
  warn: Terminal.warn,
  write: (line: string) => Terminal.write(`${line}\n`),
  deliver: (line: string) => Effect.ignore(Terminal.deliver([line]))
}

const Step = Schema.Literals(["progress", ...Object.keys(writers) as ReadonlyArray<keyof typeof writers>])

describe("a terminal", () => {
  it.effect.prop(
    "has no line with a progress and something else",
    [Schema.Array(Step)],
    ([steps]) =>
      Effect.gen(function*() {
        written = ""
        for (const [index, step] of steps.entries()) {
          yield* step === "progress" ? Terminal.progress(`${index} of 9`) : writers[step](`line ${index}`)
        }
        yield* Terminal.progress("")
        const expected = steps.flatMap((step, index) => step === "progress" ? [] : [`line ${index}`])
        assert.deepStrictEqual(linesAfter(written), [...expected, ""])
      }),
    { arbitrary: { runs: rounds(100) } }
  )

  it.effect("shows the steps of a call, and removes them when it ends, also by a failure", () =>
    Effect.gen(function*() {
      const call = Effect.gen(function*() {
        const { progress } = yield* CallContext
        yield* progress(1, 3, "Read 1 of 3 workflows")
        yield* Terminal.warn("orders.json: has a literal secret")
        yield* progress(2, 3, `Read 2 of 3 ${"long ".repeat(20)}`)
        return yield* Effect.fail("no answer")
      })
      yield* Effect.ignore(Terminal.watching(call))
      assert.include(written, "Read 1 of 3 workflows")
      for (const line of written.split(/[\r\n]/)) assert.isAtMost(line.replace("\u001B[K", "").length, 39)
      assert.deepStrictEqual(linesAfter(written), ["orders.json: has a literal secret", ""])
    }))

  it.effect("breaks sentences between words, below the second column of an entry; data stay as they are", () =>
    Effect.gen(function*() {
      yield* Terminal.say("updated        orders.json: a draft: the published version is unchanged")
      yield* Terminal.print("a".repeat(50))
      assert.deepStrictEqual(written.split("\n"), [
        "updated        orders.json: a draft: the",
        "               published version is",
        "               unchanged",
        "a".repeat(50),
        ""
      ])
    }))

  it("is written to by one module and the progress below it, apart from the start, which cannot import them", () => {
    const app = new URL("../../src/app/", import.meta.url)
    const writing = readdirSync(app, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".ts") &&
      /process\.std(out|err)\.write|console\.(log|info)\(/.test(readFileSync(new URL(name, app), "utf8"))
    )
    assert.deepStrictEqual(writing.toSorted(), ["Progress.ts", "Run.ts", "Terminal.ts"])
  })
})
