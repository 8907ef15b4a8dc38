import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Blocks from "../../src/executions/blocks.ts"
import * as Execution from "../../src/executions/Execution.ts"
import { type Body, ExecutionReader } from "../../src/executions/executionReader.ts"
import * as Fixtures from "../support/scenarios/recorded.ts"
import { rounds } from "../support/seed.ts"
import { build, fromApi, pushed, Recipe } from "./runData.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const inMemory = (bytes: Uint8Array): Body => ({ read: (start, end) => bytes.slice(start, end) })

const read = (bytes: Uint8Array, sizes?: ReadonlyArray<number>, body = inMemory(bytes)): Execution.Execution =>
  pushed(new ExecutionReader(), bytes, sizes).end(body)

/** What the reader should find, by plain means over what `JSON.parse` gives. */
const naive = (answer: unknown) => {
  const root = record(answer)
  const result = record(record(root["data"])["resultData"])
  const runData = Object.entries(record(result["runData"])).map(([node, runs]) => ({
    node,
    runs: list(runs).map((run) => {
      const { data, inputOverride } = record(run)
      return { fields: record(run), output: lists(data), override: lists(inputOverride) }
    })
  }))
  const from = Date.parse(String(root["startedAt"]))
  const to = Date.parse(String(root["stoppedAt"]))
  return {
    summary: {
      id: String(root["id"]),
      workflowId: root["workflowId"] ?? "",
      status: root["status"] ?? "unknown",
      mode: root["mode"] ?? undefined,
      startedAt: root["startedAt"] ?? undefined,
      stoppedAt: root["stoppedAt"] ?? undefined,
      waitTill: root["waitTill"] ?? undefined,
      duration: Number.isNaN(from) || Number.isNaN(to) ? undefined : Math.max(0, to - from),
      version: text(root["workflowVersionId"]),
      calledBy: relation(record(root["data"])["parentExecution"]),
      isRedacted: record(record(root["data"])["redactionInfo"])["isRedacted"] === true,
      error: result["error"] ?? undefined,
      lastNode: text(result["lastNodeExecuted"])
    },
    runs: runData.map(({ node, runs }) => ({
      node,
      runs: runs.map(({ fields, output, override }, index) => {
        const startTime = number(fields["startTime"])
        const failed = fields["error"] !== null && fields["error"] !== undefined
        return {
          index,
          startTime: startTime > 0 && startTime < 1e11 ? startTime * 1000 : startTime,
          executionTime: number(fields["executionTime"]),
          order: number(fields["executionIndex"]),
          status: failed ? "error" : text(fields["executionStatus"]) ?? "success",
          sources: list(fields["source"]).map((source) => {
            const { previousNode, previousNodeOutput, previousNodeRun } = record(source)
            return typeof previousNode !== "string"
              ? undefined
              : { node: previousNode, output: whole(previousNodeOutput), run: whole(previousNodeRun) }
          }),
          outputs: output.map(({ index, items, type }) => ({ type, index, count: items.length })),
          override: override.map(({ index, items, type }) => ({ type, index, count: items.length })),
          call: relation(record(fields["metadata"])["subExecution"]),
          callCount: record(fields["metadata"])["subExecutionsCount"] ??
            (relation(record(fields["metadata"])["subExecution"]) === undefined ? 0 : 1),
          error: failed ? fields["error"] : undefined
        }
      })
    })).toSorted(byNode),
    slots: runData.flatMap(({ node, runs }) =>
      runs.flatMap(({ output, override }, run) =>
        (["output", "override"] as const).flatMap((side) =>
          (side === "output" ? output : override).map(({ index, items, type }) => ({
            slot: { node, run, side, port: { type, index } },
            items
          }))
        )
      )
    )
  }
}

const record = (json: unknown): { readonly [key: string]: unknown } =>
  typeof json === "object" && json !== null && !Array.isArray(json) ? { ...json } : {}

const list = (json: unknown): ReadonlyArray<unknown> => Array.isArray(json) ? json : []

const text = (json: unknown) => typeof json === "string" ? json : undefined

const number = (json: unknown) => typeof json === "number" && Number.isFinite(json) ? json : 0

const whole = (json: unknown) => Number.isSafeInteger(json) ? json : 0

const lists = (ports: unknown) =>
  Object.entries(record(ports)).flatMap(([type, outputs]) =>
    list(outputs).map((items, index) => ({ type, index, items: list(items) }))
  )

/** `JSON.parse` puts names that look like numbers first. */
const byNode = (a: { readonly node: string }, b: { readonly node: string }) =>
  a.node < b.node ? -1 : a.node > b.node ? 1 : 0

const relation = (value: unknown) => {
  const { executionId, workflowId } = record(value)
  return typeof executionId === "string" ? { executionId, workflowId: text(workflowId) } : undefined
}

/** What was found of an execution, but its workflow and items. */
const summary = (
  { items: _items, runs: _runs, segments: _segments, workflow: _workflow, ...rest }: Execution.Execution
) => rest

/** Outputs without their size, which depends on white space. */
const counts = (outputs: ReadonlyArray<Execution.Output>) => outputs.map(({ bytes: _, ...output }) => output)

const runs = (execution: Execution.Execution) =>
  Array.from(execution.runs, ([node, runs]) => ({
    node,
    runs: runs.map((run) => ({ ...run, outputs: counts(run.outputs), override: counts(run.override) }))
  })).toSorted(byNode)

const isSame = (execution: Execution.Execution, expected: ReturnType<typeof naive>) => {
  assert.deepStrictEqual<unknown>(summary(execution), expected.summary)
  assert.deepStrictEqual<unknown>(runs(execution), expected.runs)
}

const slots = (expected: ReturnType<typeof naive>): ReadonlyArray<{
  readonly slot: Execution.Slot
  readonly items: ReadonlyArray<unknown>
}> => expected.slots

const execution = (runData: unknown, more: object = {}) => ({
  id: "7",
  workflowId: "w",
  status: "success",
  data: { resultData: { runData } },
  ...more
})

describe("recorded executions", () => {
  it.each(Fixtures.names)("%s is read in any chunks as from JSON.parse's result", (name) => {
    const document = Fixtures.execution(name)
    const expected = naive(document)
    assert.isAbove(expected.slots.length, 0)
    for (const text of [JSON.stringify(document), JSON.stringify(document, null, 2)]) {
      const bytes = bytesOf(text)
      for (const sizes of bytes.length < 100_000 ? [[], [1], [2, 0, 3], [1_000]] : [[7], [16_384, 0, 3]]) {
        const found = read(bytes, sizes)
        isSame(found, expected)
        assert.strictEqual(found.workflow?.name, record(document["workflowData"])["name"])
        assert.strictEqual(found.workflow?.nodes.length, list(record(document["workflowData"])["nodes"]).length)
        for (const { items, slot } of slots(expected)) {
          assert.deepStrictEqual(found.items(slot, 0, Infinity), items)
          for (const key of ["json", "pairedItem"]) {
            const values = [...found.segments(slot)].flatMap((segment) => segment.values(key))
            assert.deepStrictEqual(values, items.map((item) => record(item)[key]))
          }
          for (const offset of [0, 1, items.length - 1, items.length, items.length + 1]) {
            if (offset < 0) continue
            assert.deepStrictEqual(found.items(slot, offset, 2), items.slice(offset, offset + 2))
            assert.deepStrictEqual(found.items(slot, offset, 0), [])
          }
        }
      }
    }
    isSame(fromApi(document), expected)
  })
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const Time = Schema.optionalKey(
  Schema.NullOr(Schema.Literals(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:09.500Z", "odd"]))
)

/** What stands around the data. */
const Head = Schema.Struct({
  id: Schema.Union([Schema.String, between(1, 1_000_000)]),
  workflowId: Schema.optionalKey(Schema.NullOr(Schema.String)),
  status: Schema.optionalKey(Schema.NullOr(Schema.String)),
  mode: Schema.optionalKey(Schema.NullOr(Schema.String)),
  startedAt: Time,
  stoppedAt: Time,
  waitTill: Time,
  customData: Schema.optionalKey(Schema.Struct({ id: Schema.String, data: Schema.Array(Schema.Null) }))
})

/** An answer of n8n's, more or less, with the data first, last or between; `pad` makes some items larger. */
const Answer = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({ recipe: Recipe, head: Head, pad: Schema.Literals([0, 0, 3, 700, 10_000]), turn: between(0, 9) })
  ),
  ({ head, pad, recipe, turn }) => {
    const { data, workflowData } = build({
      ...recipe,
      nodes: recipe.nodes > 5 ? 5 : recipe.nodes,
      maxRuns: recipe.maxRuns === 40 && pad > 3 ? 2 : recipe.maxRuns,
      maxItems: recipe.maxItems === 70 && pad > 700 ? 4 : recipe.maxItems
    })
    const entries = Object.entries({ ...head, data, workflowData })
    const turned = Object.fromEntries([...entries.slice(turn), ...entries.slice(0, turn)])
    return JSON.parse(
      JSON.stringify(turned),
      (key, value) => key === "even" && value === true && pad > 0 ? "é\\\"".repeat(pad) : value
    )
  }
)

describe("any execution", () => {
  it.prop(
    "is read in any chunks as from JSON.parse's result, items of any offset and limit included",
    {
      answer: Answer,
      indent: between(0, 2),
      sizes: Schema.Array(Schema.Union([between(0, 3), between(0, 1_000), between(0, 100_000)])),
      pages: Schema.Array(Schema.Tuple([between(0, 10_000), between(0, 300), between(0, 300)])).check(
        Schema.isMinLength(1)
      )
    },
    ({ answer, indent, pages, sizes }) => {
      const text = JSON.stringify(answer, null, indent)
      const bytes = bytesOf(text)
      const expected = naive(JSON.parse(text))
      for (const cut of bytes.length < 100_000 ? [sizes, [1], []] : [sizes]) {
        const found = read(bytes, cut)
        isSame(found, expected)
        const all = slots(expected)
        for (const [which, offset, limit] of pages) {
          const at = all[which % Math.max(1, all.length)]
          if (at === undefined) break
          const page = found.items(at.slot, offset, limit)
          const whole = at.items.slice(offset, offset + limit)
          // Lists here are too small to be cut off.
          assert.deepStrictEqual(page, whole)
          const { node, port, run } = at.slot
          const none = [
            { ...at.slot, port: { ...port, index: 99 } },
            { ...at.slot, port: { ...port, type: "ai_other" } },
            { ...at.slot, run: run + 99 },
            { ...at.slot, node: `${node}?` }
          ]
          for (const slot of none) assert.deepStrictEqual(found.items(slot, 0, 5), [])
        }
        for (const { items, slot } of all.slice(0, 20)) {
          assert.deepStrictEqual(found.items(slot, 0, Infinity), items)
        }
      }
    },
    { arbitrary: { runs: rounds(90), size: 40 } }
  )

  it("leaves out what is odd, and keeps the place of what follows", () => {
    const run = { startTime: 1_700_000_000_000, executionIndex: 4, data: { main: [[{ json: { a: 1 } }]] } }
    const document = execution({
      empty: [],
      none: null,
      word: "runs",
      object: { 0: run },
      holes: [null, run, "run", [run], run],
      data: [{ ...run, data: null }, { ...run, data: [] }, { ...run, data: { main: null } }],
      outputs: [{ data: { main: [null, [], {}, "items", [{ json: {} }, null, 7]], ai_tool: [[{}, {}]], odd: 7 } }],
      sources: [{ source: [null, { previousNode: "a" }, {}, { previousNode: "b", previousNodeRun: 2 }], ...run }],
      source: [{ source: null }, { source: "a" }, { source: {} }]
    })
    const found = fromApi(document)
    isSame(found, naive(document))
    const counts = Object.fromEntries(
      Array.from(found.runs, ([node, runs]) => [node, runs.map(({ outputs }) => outputs.map(({ count }) => count))])
    )
    const [holes, ports] = [[[], [1], [], [], [1]], [[0, 0, 0, 0, 3, 2]]]
    assert.deepInclude(counts, { empty: [], none: [], word: [], object: [], holes, data: [[], [], []], outputs: ports })
    const at = (run: number) =>
      found.items({ node: "holes", run, side: "output", port: { type: "main", index: 0 } }, 0, 9)
    assert.deepStrictEqual<unknown>([at(3), at(4)], [[], [{ json: { a: 1 } }]])
  })

  it("reads versions, callers, calls, hidden data and sizes", () => {
    const call = (executionId: string) => ({ executionId, workflowId: "w" })
    const called = ["5", "6"].map((id) => ({ json: { n: "é" }, metadata: { subExecution: call(id) } }))
    const item = { json: { metadata: { subExecution: call("9") } } }
    const document = execution({
      Once: [{ data: { main: [[{ json: {} }]] }, metadata: { subExecution: call("4"), subExecutionsCount: 1 } }],
      Each: [{ data: { main: [[], called] }, metadata: { subExecutionsCount: 2 } }],
      Plain: [{ data: { main: [[item]] } }]
    })
    const read = fromApi({
      ...document,
      workflowVersionId: "v1",
      data: { ...document.data, parentExecution: call("1"), redactionInfo: { isRedacted: true } }
    })
    assert.deepInclude(read, { version: "v1", calledBy: call("1"), isRedacted: true })
    const calls = (node: string) =>
      (read.runs.get(node) ?? []).flatMap((run) => Execution.calls(read, node, run)).map(({ executionId }) =>
        executionId
      )
    assert.deepStrictEqual(["Once", "Each", "Plain"].map(calls), [["4"], ["5", "6"], []])
    const sizes = read.runs.get("Each")?.[0]?.outputs.map(({ bytes }) => bytes)
    assert.deepStrictEqual(sizes, [0, bytesOf(JSON.stringify(called)).length - 2])
  })

  it("has no runs if n8n stored no data", () => {
    const head = { id: 12, status: "canceled" }
    for (const data of [undefined, null, "[]", [], {}, { resultData: null }, { resultData: { runData: null } }]) {
      const found = fromApi({ ...head, data })
      assert.deepStrictEqual([found.id, found.status, found.runs.size], ["12", "canceled", 0])
      assert.isUndefined(found.workflow)
      assert.isUndefined(found.error)
      assert.isUndefined(found.lastNode)
    }
  })

  it("reads the seconds of an execution that was rebuilt after a crash as milliseconds", () => {
    const error = { name: "WorkflowCrashedError", message: "Workflow did not finish, possible out-of-memory issue" }
    const found = fromApi(execution(
      { A: [{ startTime: 1_795_294_788, executionTime: 0, executionStatus: "crashed", error }] },
      { status: "crashed", data: { resultData: { runData: { A: [{ startTime: 1_795_294_788, error }] }, error } } }
    ))
    assert.strictEqual(found.status, "crashed")
    assert.strictEqual(found.runs.get("A")?.[0]?.startTime, 1_795_294_788_000)
    assert.deepStrictEqual(found.error, error)
    const usual = fromApi(execution({ A: [{ startTime: 1_795_294_788_853 }, {}] }))
    assert.deepStrictEqual(usual.runs.get("A")?.map(({ startTime }) => startTime), [1_795_294_788_853, 0])
  })

  it("has the workflow only where it is one", () => {
    const workflow = { id: "w", name: "Flow", nodes: [], connections: {}, settings: {} }
    assert.strictEqual(fromApi(execution({}, { workflowData: workflow })).workflow?.name, "Flow")
    for (const workflowData of [null, "Flow", [], { ...workflow, nodes: null }]) {
      assert.isUndefined(fromApi(execution({}, { workflowData })).workflow)
    }
  })
})

describe("large lists", () => {
  const slot: Execution.Slot = { node: "A", run: 0, side: "output", port: { type: "main", index: 0 } }

  const lists = (...main: ReadonlyArray<unknown>) => bytesOf(JSON.stringify(execution({ A: [{ data: { main } }] })))

  const packed = (bytes: Uint8Array) => {
    const writer = new Blocks.Writer()
    for (let at = 0; at < bytes.length; at += 65_536) writer.write(bytes.subarray(at, at + 65_536))
    return writer.end()
  }

  it.effect("reads the end of 20,000 items of 500 bytes, and little else", () =>
    Effect.sync(() => {
      const items = Array.from({ length: 20_000 }, (_, id) => ({ json: { id, text: "é\"x".repeat(80) } }))
      const bytes = lists(items.slice(0, 3), items)
      assert.isAbove(bytes.length, 20_000 * 400)
      const blocks = packed(bytes)
      let asked = 0
      const body: Body = {
        read: (start, end) => {
          asked += end - start
          return blocks.read(start, end)
        }
      }
      const found = read(bytes, [65_536, 1, 999], body)
      const second: Execution.Slot = { ...slot, port: { type: "main", index: 1 } }
      assert.deepStrictEqual(found.runs.get("A")?.[0]?.outputs.map(({ count }) => count), [3, 20_000])
      for (const offset of [0, 1, 64, 9_999, 19_990, 19_999]) {
        asked = 0
        assert.deepStrictEqual<unknown>(found.items(second, offset, 10), items.slice(offset, offset + 10))
        assert.isBelow(asked, 100_000)
        assert.isAbove(asked, 0)
      }
      assert.deepStrictEqual(found.items(second, 20_000, 10), [])
      // Over many marks, one after another.
      let offset = 0
      for (const limit of [500, 1, 333, 700, 1_000]) {
        assert.deepStrictEqual<unknown>(found.items(second, offset, limit), items.slice(offset, offset + limit))
        offset += limit
      }
      // No answer shows megabytes: it stops, but not before a megabyte.
      const most = found.items(second, 100, Infinity)
      assert.isBelow(most.length, 4_000)
      assert.isAbove(Buffer.byteLength(JSON.stringify(most)), 900_000)
      assert.deepStrictEqual<unknown>(most, items.slice(100, 100 + most.length))
    }))

  it("gives at least one item however large it is", () => {
    const huge = (id: number) => ({ json: { id, text: "x\\".repeat(750_000) } })
    const small = (id: number) => ({ json: { id } })
    for (
      const items of [
        [huge(0), huge(1), huge(2), huge(3)],
        [small(0), huge(1), small(2), small(3), huge(4), small(5)]
      ]
    ) {
      const found = read(lists(items), [65_536])
      for (let offset = 0; offset < items.length; offset++) {
        const page = found.items(slot, offset, 10)
        assert.isAtLeast(page.length, 1)
        for (const [index, item] of page.entries()) {
          // Not as one comparison: a failure would print megabytes.
          assert.isTrue(JSON.stringify(item) === JSON.stringify(items[offset + index]), `item ${offset + index}`)
        }
        assert.strictEqual(found.items(slot, offset, 1).length, 1)
        assert.deepStrictEqual(found.items(slot, offset, 0), [])
      }
    }
  })
})

describe("while it arrives", () => {
  const big = Array.from({ length: 100 }, (_, id) => ({ json: { id } }))

  it("knows the declared size and whether n8n keeps data back before the data comes", () => {
    const text = JSON.stringify({
      id: "1",
      jsonSizeBytes: 123_456_789,
      dataTooLargeToDisplay: true,
      data: { resultData: { runData: { A: [{ data: { main: [big] } }] } } }
    })
    const reader = new ExecutionReader()
    assert.isUndefined(reader.declaredBytes)
    assert.isFalse(reader.isWithheld)
    const before = text.indexOf("\"dataTooLarge")
    pushed(reader, bytesOf(text.slice(0, before)), [1])
    assert.strictEqual(reader.declaredBytes, 123_456_789)
    assert.isFalse(reader.isWithheld)
    const data = text.indexOf("\"data\":")
    pushed(reader, bytesOf(text.slice(before, data)), [1])
    assert.isTrue(reader.isWithheld)
    pushed(reader, bytesOf(text.slice(data)))
    assert.strictEqual(reader.end(inMemory(bytesOf(text))).id, "1")
    assert.strictEqual(reader.declaredBytes, 123_456_789)
  })

  it("takes only a size and a flag that are one", () => {
    for (const [size, flag] of [[null, null], ["12", "true"], [true, 1], [[], {}]]) {
      const reader = new ExecutionReader()
      const json = { id: "1", jsonSizeBytes: size, dataTooLargeToDisplay: flag, data: { jsonSizeBytes: 5 } }
      pushed(reader, bytesOf(JSON.stringify(json)))
      assert.isUndefined(reader.declaredBytes)
      assert.isFalse(reader.isWithheld)
    }
  })
})

describe("other bodies than executions", () => {
  it("is refused with the key that it lacks or that is wrong", () => {
    for (const document of [{}, { data: {} }, { message: "hello" }, { ID: 7, status: "success" }]) {
      assert.throws(() => fromApi(document), /Missing key[^]*\["id"\]/)
    }
    assert.throws(() => fromApi({ id: null }), /\["id"\]/)
    assert.throws(() => fromApi({ id: "1", status: 7 }), /\["status"\]/)
    for (const other of [null, 7, "text", [], [{ id: "1" }]]) assert.throws(() => fromApi(other), /\["id"\]/)
  })

  it("throws where it is cut short, has more after its end or is a page", () => {
    const text = JSON.stringify(Fixtures.execution("branch"))
    const bytes = bytesOf(text)
    for (let at = 0; at < bytes.length; at += 13) {
      assert.throws(() => read(bytes.subarray(0, at), [1_000]), SyntaxError)
    }
    assert.throws(() => read(bytesOf(`${text}{}`)), SyntaxError)
    assert.throws(() => read(bytesOf("<!DOCTYPE html><html><body>n8n</body></html>")), SyntaxError)
    assert.throws(() => read(bytesOf("<html><body>n8n</body></html>")), /\["id"\]/)
  })
})
