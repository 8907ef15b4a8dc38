/**
 * Every tool that answers with a page of a list: following what it names as the next call gives the whole list.
 *
 * Lists that end with the budget of an answer are in `marks.test.ts`, matches in `searchExecution.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Minimize from "../../src/answer/Minimize.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import * as Truncated from "../../src/answer/Truncated.ts"
import { arr, type Obj, obj, str } from "../../src/base/Json.ts"
import * as Omission from "../../src/base/Omission.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { document, items, node, parseCall, run } from "../executions/runData.ts"
import { random } from "../support/random.ts"
import { rounds, seed } from "../support/seed.ts"
import * as TestTime from "../support/TestTime.ts"
import { main } from "../support/workflows.ts"
import { inWorld, type Needs } from "../support/world.ts"

const size = 130

const numbers = (length: number) => Array.from({ length }, (_, index) => index)

/** Texts of any length, so that the budget ends a page at any element. */
const next = random(seed(28))
const text = (index: number) => `${index} ${"lorem ipsum ".repeat(next(next(8) === 0 ? 200 : 20))}`

const workflows = numbers(size).map((index) => ({
  id: `w${String(index).padStart(3, "0")}`,
  name: text(index).slice(0, 128).trim(),
  active: false,
  nodes: [
    { id: "a", name: "Hook", type: "n8n-nodes-base.webhook", typeVersion: 2, parameters: { path: `p${index}` } },
    {
      id: "b",
      name: "Call",
      type: "n8n-nodes-base.executeWorkflow",
      typeVersion: 1.2,
      parameters: { workflowId: { __rl: true, mode: "id", value: "w000" } }
    },
    {
      id: "c",
      name: `Post ${text(index).slice(0, 200)}`,
      type: "n8n-nodes-base.httpRequest",
      typeVersion: 4.2,
      parameters: { url: "https://example.com/old", headerParameters: { parameters: [{ name: "x", value: "y" }] } },
      credentials: { httpHeaderAuth: { id: `c${index}`, name: text(index).slice(0, 100) } }
    }
  ],
  connections: {}
}))

/** A long chain of nodes. */
const largeNames = numbers(size).map((index) => `Node ${index} ${text(index).slice(0, 60)}`.trim())
const large = {
  id: "large",
  name: "Large",
  nodes: largeNames.map((name) => node(name, "n8n-nodes-base.set")),
  connections: Object.fromEntries(largeNames.slice(1).map((name, index) => [largeNames[index], main(name)]))
}

const executions = numbers(size).map((index) =>
  ({
    ...document({}),
    id: String(index + 1),
    workflowId: "w000",
    startedAt: new Date(Date.UTC(2026, 10, 20, 0, index)).toISOString()
  }) as N8nApi.Execution
)

const longRun = String(size + 1)
const wordy = String(size + 2)

/** Code with an image of 120,000 characters before most of its logic, and a long text of an item. */
const image = Buffer.from(numbers(90_000).map((index) => index * index * 7 % 251)).toString("base64")
const code = `${numbers(150).map((n) => `const a${n} = "${text(n)}"`).join("\n")}
const logo = "data:image/png;base64,${image}"
${numbers(150).map((n) => `const b${n} = "ü🙂 ${text(n)}"`).join("\n")}
return $input.all()`
const page = numbers(150).map((n) => `<p>${n} ${text(n)}</p>`).join("\n")

const stock: N8nApi.DataTable = {
  id: "aaaaaaaaaaaaaaaa",
  name: "stock",
  columns: [{ name: "n", type: "number" }, { name: "t", type: "string" }],
  rows: numbers(size).map((n) => ({ n, t: text(n) }))
}

const world: N8nApi.Seed = {
  workflows,
  executions: [
    ...executions,
    {
      ...document({ Take: [run(0, { main: [items(...numbers(300).map((n) => ({ n: `x-${n}`, t: text(n) })))] })] }, {
        nodes: [node("Take")]
      }),
      id: longRun,
      workflowId: "w001",
      status: "success"
    } as N8nApi.Execution
  ],
  credentials: numbers(size).map((index) => ({
    id: `c${index}`,
    name: text(index),
    type: index % 3 === 0 ? "slackApi" : "httpHeaderAuth",
    data: {}
  })),
  dataTables: [
    stock,
    ...numbers(size).map((index) => ({
      ...stock,
      id: `b${String(index).padStart(15, "0")}`,
      name: `t${index}`,
      rows: []
    }))
  ],
  projects: numbers(size).map((
    index
  ) => ({ id: `p${index}`, name: text(index), type: index === 0 ? "personal" : "team" } as const))
}

const wordyWorld: N8nApi.Seed = {
  workflows: [{
    id: "wordy",
    name: "wordy",
    active: false,
    nodes: [{ ...node("Draw"), parameters: { jsCode: code } }],
    connections: {}
  }],
  executions: [{
    ...document({ Take: [run(0, { main: [items({ n: 1 }, { n: 2, body: { html: page } }, { n: 3 })] })] }, {
      nodes: [{ ...node("Take"), parameters: { jsCode: code } }]
    }),
    id: wordy,
    workflowId: "wordy",
    status: "success"
  } as N8nApi.Execution]
}

interface Walk {
  readonly tool: Tool.Any<Needs>
  readonly args?: Obj
  /** Path of the list in the answer; its marks name the next call if no cursor does. */
  readonly list: string
  /** The elements of all pages; sorted if the pages need not be in order. */
  readonly all: ReadonlyArray<unknown>
  /** Key of an element by which it is known, or all elements of an answer. */
  readonly of?: string | ((data: Obj) => ReadonlyArray<unknown>)
  /** Parameter for the number of elements, "" where there is none; and the numbers that it takes. */
  readonly limit?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly isSorted?: boolean
  readonly seed?: N8nApi.Seed
}

const ofAudit = (data: Obj) =>
  arr(data["findings"]).flatMap((finding) =>
    arr(obj(finding)?.["places"]).flatMap((place) =>
      arr(obj(place)?.["at"]).map(() => `${str(obj(finding)?.["check"])} ${str(obj(place)?.["id"])}`)
    )
  )

const listed = (tool: Tool.Any<Needs>, list: string, all: ReadonlyArray<unknown>, more: Partial<Walk> = {}): Walk => ({
  tool,
  list,
  all,
  ...more
})

const ids = (all: ReadonlyArray<{ readonly id?: string }> = []) => all.map(({ id }) => id)

const slackOnes = world.credentials?.filter(({ type }) => type === "slackApi")
const lorem = stock.rows?.filter(({ t }) => String(t).includes("lorem")).map(({ n }) => n).toReversed() ?? []
const tables = [...numbers(size).map((index) => `t${index}`).toReversed(), "stock"]
const longItems = numbers(300).map((n) => `x-${n}`)
const edges = { limit: "", of: "from", isSorted: true }

const walks: Readonly<Record<string, Walk>> = {
  "get_workflow_connections drawn": listed(tools.getWorkflowConnections, "mermaid", largeNames, {
    args: { id: "large", format: "mermaid" },
    limit: "",
    // The others are a list.
    of: (data) => [
      ...[...(str(data["mermaid"]) ?? "").matchAll(/^ {2}n\d+\["(.*)"\]$/gm)].map(([, name]) => name),
      ...[data["graph"], data["nodes"]].flatMap(arr).map((each) => obj(each)?.["node"] ?? obj(each)?.["name"])
    ],
    seed: { workflows: [large], executions: [] }
  }),
  list_workflows: listed(tools.listWorkflows, "workflows", ids(workflows)),
  "list_workflows uses": listed(tools.listWorkflows, "workflows", ids(workflows), {
    args: { uses: "example.com", show: ["triggers", "nodeCount"] }
  }),
  list_executions: listed(tools.listExecutions, "executions", ids(executions).toReversed(), {
    args: { workflowId: "w000" }
  }),
  list_credentials: listed(tools.listCredentials, "credentials", ids(world.credentials)),
  "list_credentials of a type": listed(tools.listCredentials, "credentials", ids(slackOnes), {
    args: { type: "slackApi" }
  }),
  table_read: listed(tools.tableRead, "rows", numbers(size), { args: { table: "stock" }, of: "n" }),
  "table_read with a condition on texts": listed(tools.tableRead, "rows", lorem, {
    args: { table: "stock", where: "t.includes('lorem')", sort: "-n" },
    of: "n"
  }),
  "table_read without a table": listed(tools.tableRead, "tables", tables, { of: "name" }),
  get_execution_by_node: listed(tools.getExecutionByNode, "output.items", longItems, {
    args: { id: longRun, nodeName: "Take" },
    limit: "itemLimit",
    of: (data) => arr(obj(data["output"])?.["items"]).map((item) => obj(obj(item)?.["json"])?.["n"]),
    maximum: 50
  }),
  project_list: listed(tools.projectList, "rows", ids(world.projects)),
  audit: listed(tools.audit, "findings", [], {
    args: { only: ["no-error-workflow", "outdated-node", "unused-credential", "open-webhook"] },
    of: ofAudit,
    isSorted: true,
    minimum: 50
  }),
  workflow_map: listed(tools.workflowMap, "edges", ids(workflows), { args: { kind: "calls" }, ...edges }),
  "workflow_map of one": listed(tools.workflowMap, "edges", ids(workflows), { args: { id: "w000" }, ...edges })
}

interface Call {
  readonly tool: Tool.Any<Needs>
  readonly args: Obj
}

/** The call that an answer names, as a model would send it. */
const nextOf = (data: Obj, { args, tool }: Call, list: string): Call | undefined => {
  if (data["next"] !== undefined) return { tool, args: obj(data["next"]) ?? {} }
  if (data["nextCursor"] !== undefined) return { tool, args: { ...args, cursor: data["nextCursor"] } }
  const holder = list.includes(".") ? obj(data[list.split(".")[0] ?? ""]) : data
  const named = [data, holder].flatMap((each) => Truncated.marksIn(each ?? {}))
    .find(({ path }) => path === list || path === "nodes")?.next ??
    / are drawn: (.*\)) has the others\.$/.exec(str(data["note"]) ?? "")?.[1]
  if (named === undefined) return undefined
  const call = parseCall(named)
  return { tool: all.find(({ name }) => name === call.tool) ?? assert.fail(named), args: call.args }
}

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

const follow = Effect.fnUntraced(function*({ args = {}, limit = "limit", list, of = "id", tool }: Walk, count: number) {
  const elements = (data: Obj) => typeof of === "string" ? arr(data[list]).map((row) => obj(row)?.[of]) : of(data)
  const all: Array<unknown> = []
  let pages = 0
  let call: Call | undefined = { tool, args: limit === "" ? args : { ...args, [limit]: count } }
  while (call !== undefined) {
    const answer: Tool.Answer<unknown> = yield* call.tool.run(call.args)
    const data = obj(answer.data) ?? {}
    all.push(...elements(data))
    call = nextOf(data, call, list)
    assert.isBelow(++pages, 400, "a list that does not end")
  }
  return all
})

const Budget = Schema.Struct({
  limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  chars: Schema.Int.check(Schema.isBetween({ minimum: 4_000, maximum: 40_000 }))
})

interface Reading {
  readonly tool: Tool.Any<Needs>
  readonly args: Obj
  /** Text in an answer, and in those of the calls that its mark names. */
  readonly text: (data: Obj) => unknown
  readonly at: RegExp
  readonly all: string
}

const html = (data: Obj) => {
  const jsons = (arr(obj(data["output"])?.["items"]) ?? []).map((item) => obj(obj(item)?.["json"]))
  return jsons.flatMap((json) => json?.["body.html"] ?? obj(json?.["body"])?.["html"] ?? [])[0]
}

const readings: Readonly<Record<string, Reading>> = {
  "code of a node of a workflow": {
    tool: tools.getWorkflow,
    args: { id: "wordy", nodes: ["Draw"] },
    text: (data) => obj(obj(arr(data["nodes"])?.[0])?.["parameters"])?.["jsCode"],
    at: /^nodes\[0\]\.parameters\.jsCode$/,
    all: code
  },
  "code of a node that ran": {
    tool: tools.getExecutionByNode,
    args: { id: wordy, nodeName: "Take" },
    text: (data) => obj(data["parameters"])?.["jsCode"],
    at: /^parameters\.jsCode$/,
    all: code
  },
  "field of an item": {
    tool: tools.getExecutionByNode,
    args: { id: wordy, nodeName: "Take", itemOffset: 1 },
    text: html,
    at: /html/,
    all: page
  }
}

const marksBelow = (value: unknown): ReadonlyArray<Truncated.Mark> => {
  const inner = Object.values(obj(value) ?? arr(value) ?? {}).flatMap(marksBelow)
  return obj(value) === undefined ? inner : [...Truncated.marksIn(obj(value) ?? {}), ...inner]
}

const read = Effect.fnUntraced(function*({ args, at, text, tool }: Reading) {
  let all = ""
  let call: Obj | undefined = args
  for (let pages = 0; call !== undefined; pages++) {
    const answer: Tool.Answer<unknown> = yield* tool.run(call)
    const data = obj(answer.data) ?? {}
    const shown = String(text(data))
    const start = Omission.start(shown)
    assert.strictEqual(start, pages === 0 ? 0 : all.length, "a page does not begin where the one before ended")
    const head = start === 0 ? shown : shown.slice(Omission.note(start, false).length)
    const next: string | undefined = marksBelow(data).find(({ path }) => at.test(path))?.next
    call = next === undefined ? undefined : parseCall(next).args
    all += call === undefined ? head : head.slice(0, Number(call["textFrom"]) - start)
    assert.isBelow(pages, 400, "a text that does not end")
  }
  return all
})

describe("following what the mark of a cut text names gives the whole text, each character once, in order", () => {
  it.effect.each(Object.entries(readings))("%s", ([, reading]) =>
    TestTime.run(inWorld(function*() {
      for (const chars of [4_000, 9_000 + next(9_000), 40_000]) {
        const whole = yield* read(reading).pipe(Effect.provideService(Minimize.MaxResultChars, chars))
        assert.strictEqual(whole, Omission.files(reading.all))
      }
    }, { seed: wordyWorld })), 60_000)

  it.effect("a file in base64 is its type and size, and the text behind it is shown", () =>
    TestTime.run(inWorld(function*() {
      const small = code.slice(code.indexOf("const logo")).slice(0, image.length + 200)
      const { data } = yield* tools.getWorkflow.run({ id: "wordy", nodes: ["Draw"] })
      assert.include(JSON.stringify(data), "return $input.all()")
      assert.strictEqual(
        Omission.files(small).slice(0, 80),
        `const logo = "data:image/png;base64,${Omission.note(image.length, false, "image/png")}"\nconst b0 =`.slice(
          0,
          80
        )
      )
      assert.isTrue(Omission.isFormOf(Omission.files(small), small))
    }, { seed: wordyWorld })))
})

describe("following what an answer names as the next call gives the whole list, each element once, in order", () => {
  for (const [name, walk] of Object.entries(walks)) {
    it.effect.prop(name, { budget: Budget }, ({ budget: { chars, limit } }) =>
      TestTime.run(inWorld(function*() {
        const count = Math.min(Math.max(limit, walk.minimum ?? 5), walk.maximum ?? 100)
        const pages = yield* follow(walk, count).pipe(Effect.provideService(Minimize.MaxResultChars, chars))
        const all = walk.all.length > 0 ? walk.all : ofAudit(yield* tools.audit.call({ ...walk.args, limit: 1_000 }))
        assert.isAbove(all.length, 20)
        if (walk.isSorted !== true) assert.deepStrictEqual(pages, all)
        else assert.deepStrictEqual(pages.toSorted(), all.toSorted())
      }, { seed: walk.seed ?? world })), { arbitrary: { runs: rounds(3) } })
  }
})
