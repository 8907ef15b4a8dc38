import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import { problems } from "../../../src/workflow/check/WorkflowProblems.ts"
import * as WorkflowEdit from "../../../src/workflow/edit/WorkflowEdit.ts"
import * as fixtures from "../../support/fixtures.ts"
import { joined } from "../../support/workflows.ts"
import { agent, ai, base, edit, flow, hook, lookups, model, node, nodeOf, refusal, set } from "./edits.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected)
const text = (value: unknown) => JSON.stringify(value)

/** What the operations change is said in these lines. */
const says = (workflow: Obj, operations: ReadonlyArray<WorkflowEdit.Operation>, ...lines: ReadonlyArray<string>) =>
  same(edit(workflow, ...operations).changes, lines)

describe("the list", () => {
  it("costs few tokens", () => {
    const { schema } = Schema.toJsonSchemaDocument(WorkflowEdit.Operation, { onExcessProperty: "error" })
    assert.isBelow(encode(text(schema)).length, 230)
  })

  const decode = Schema.decodeUnknownSync(WorkflowEdit.Operation, { onExcessProperty: "error" })
  it.each([
    { op: "add", type: "x", name: "A", parameters: { a: null }, position: { x: 1, y: 2 }, after: "B" },
    { op: "update", node: "A", parameters: { a: null }, disabled: null, onError: "stopWorkflow" },
    { op: "rename", node: "A", to: "B" },
    { op: "remove", node: "A" },
    { op: "enable", node: "A" },
    { op: "disable", node: "A" },
    { op: "move", node: "A", position: { x: 1, y: 2 } },
    { op: "connect", from: "A", to: "B", sourceOutput: 1, targetInput: "main" },
    { op: "disconnect", from: "A", to: "B" },
    { op: "settings", settings: { a: null } },
    { op: "name", name: "A" },
    { op: "set", node: "A", path: "a.b", value: null },
    { op: "replace", node: "A", path: "a.b", find: "x", with: "", all: true },
    { op: "tidy" }
  ])("takes $op", (operation) => same(decode(operation), operation))

  it.each([
    [{ op: "rename", node: "A", too: "B" }, /too/],
    [{ op: "rename", node: "A", name: "B" }, /^Invalid keys: rename takes node and to, not 'name'; missing: to$/],
    [{ op: "rename", node: "A" }, /missing: to/],
    [{ op: "renam", node: "A" }, /Invalid operation 'renam'\. Did you mean 'rename'/],
    [{ op: "set", node: "A", path: "x" }, /missing: value/],
    [{ op: "tidy", node: "A" }, /tidy takes nothing else, not 'node'/],
    [{ op: "connect", source: "A", target: "B" }, /connect takes from, to, sourceOutput\? and targetInput\?, not 'so/],
    [{ op: "move", node: "A", position: [1] }, /position/],
    [{ op: "connect", from: "A", to: "B", sourceOutput: true }, /sourceOutput/]
  ])("refuses %j", (operation, words) => assert.throws(() => decode(operation), words))

  it("adds a type that is named without its package", () => {
    const { workflow } = edit(flow([hook]), { op: "add", type: "NoOp", name: "End" })
    assert.deepInclude(nodeOf(workflow, "End"), { type: `${base}noOp`, typeVersion: 1 })
  })

  it("is done in turn: what one adds, the next can name", () => {
    const { added, changes, workflow } = edit(
      flow([hook]),
      { op: "add", type: `${base}set`, after: "Hook" },
      { op: "rename", node: "new-1", to: "Fields" },
      { op: "add", type: `${base}noOp`, name: "End", after: "Fields" }
    )
    same(changes, [
      "added 'Edit Fields' (n8n-nodes-base.set 3.5) after 'Hook'",
      "renamed 'Edit Fields' to 'Fields', in 1 connection, too",
      "added 'End' (n8n-nodes-base.noOp 1) after 'Fields'"
    ])
    same(added, [{ id: "new-1", name: "Fields" }, { id: "new-2", name: "End" }])
    same(workflow["connections"], joined(["Hook", "Fields"], ["Fields", "End"]))
  })

  it("adds a node with its other properties, checked as in an update", () => {
    const credentials = { slackApi: { id: "7", name: "Team" } }
    const { changes, workflow } = edit(
      flow([hook]),
      { op: "add", type: `${base}slack`, name: "Post", after: "Hook", onError: "continueErrorOutput", credentials }
    )
    same(changes.map((change) => change.replace(/ [\d.]+,/, ",")), [
      "added 'Post' (n8n-nodes-base.slack, onError, credentials) after 'Hook'"
    ])
    const [, post] = workflow["nodes"] as ReadonlyArray<Record<string, unknown>>
    same({ onError: post?.["onError"], credentials: post?.["credentials"] }, {
      onError: "continueErrorOutput",
      credentials
    })
    same(
      refusal(flow([hook]), { op: "add", type: `${base}noOp`, onFail: "x" } as never).field,
      "operations[0].onFail"
    )
  })

  it("is refused as a whole, with the place and the field", () => {
    same(
      refusal(flow([hook, set("Edit Fields")]), { op: "disable", node: "Hook" }, { op: "remove", node: "Edit Field" }),
      {
        field: "operations[1].node",
        message: "There is no node 'Edit Field'.",
        hint: "Did you mean 'Edit Fields'?"
      }
    )
    same(refusal(flow([]), { op: "remove", node: "" }).field, "operations[0].node")
  })

  it("may be empty", () => {
    const workflow = flow([hook])
    const edited = edit(workflow)
    assert.strictEqual(edited.workflow, workflow)
    same([edited.changes, edited.added], [[], []])
  })

  it("names nodes by name, else by id", () => {
    const one = set("A", { id: "B" })
    same(edit(flow([one, set("B", { id: "x" })]), { op: "disable", node: "B" }).changes, ["disabled 'B'"])
    same(edit(flow([one]), { op: "disable", node: "B" }).changes, ["disabled 'A'"])
  })

  it("keeps what it does not name, and its order", () => {
    const workflow = {
      zeta: { a: 1 },
      ...flow([hook, set("A", { custom: { deep: [1] }, notes: "$('A')" }), "no node"], joined(["Hook", "A"])),
      pinData: { A: [{ json: {} }] },
      meta: { x: null }
    }
    const { workflow: edited } = edit(
      workflow,
      { op: "move", node: "A", position: { x: 1.4, y: 2 } },
      { op: "update", node: "Hook", parameters: { path: "y" } }
    )
    same(Object.keys(edited), Object.keys(workflow))
    same(text({ ...edited, nodes: [] }), text({ ...workflow, nodes: [] }))
    for (const key of ["zeta", "connections", "pinData", "meta", "settings"]) {
      assert.strictEqual(edited[key], (workflow as Obj)[key])
    }
    same(text(nodeOf(edited, "A")), text({ ...set("A", { custom: { deep: [1] }, notes: "$('A')" }), position: [1, 2] }))
    same(obj(edited)?.["nodes"]?.[2 as never], "no node")
  })

  it("reports which types it needs", () => {
    const workflow = flow([hook, set("A"), set("B"), 5, { type: 5 }])
    same(WorkflowEdit.typesOf(workflow, [{ op: "add", type: "x" }, { op: "remove", node: "A" }]), [
      `${base}webhook`,
      `${base}set`,
      "x"
    ])
    same(WorkflowEdit.typesOf({}, []), [])
  })

  it.each(fixtures.names)("makes a recorded workflow (%s) no worse", (name) => {
    const workflow: Obj = { ...fixtures.workflow(name) }
    const nodes = arr(workflow["nodes"]).map((each) => obj(each) ?? {})
    const names = nodes.map((each) => String(each["name"]))
    const [first = ""] = names
    const { workflow: edited } = edit(
      workflow,
      { op: "rename", node: first, to: "Other" },
      { op: "rename", node: "Other", to: first },
      ...names.flatMap((name, index): ReadonlyArray<WorkflowEdit.Operation> =>
        nodes[index]?.["disabled"] === true ? [] : [{ op: "disable", node: name }, { op: "enable", node: name }]
      )
    )
    same(text(edited), text(workflow))
  })

  it("changes what it names among 250 nodes, and nothing else", () => {
    const names = Array.from({ length: 250 }, (_, index) => `N${index}`)
    const nodes = names.map((name, index) =>
      node(name, `${base}set`, 3.4, { value: `={{ $('N${Math.max(index - 1, 0)}').item.json.x }}` }, {
        position: [index * 220, 0]
      })
    )
    const workflow = flow(nodes, joined(...names.slice(1).map((name, index) => [`N${index}`, name] as const)))
    const operations: ReadonlyArray<WorkflowEdit.Operation> = [
      { op: "rename", node: "N7", to: "Seven" },
      { op: "add", type: `${base}set`, after: "Seven" },
      { op: "remove", node: "N9" },
      { op: "update", node: "N10", parameters: { mode: "raw" } },
      { op: "connect", from: "N20", to: "N30" }
    ]
    const { workflow: edited } = edit(workflow, ...operations)
    const before = new Map(nodes.map((each) => [each["id"], text(each)]))
    const changed = arr(edited["nodes"]).map((each) => obj(each) ?? {})
      .filter((each) => before.get(each["id"]) !== text(each))
    // N8 names the renamed node in its expression, and N10 the removed one.
    same(changed.map(({ name }) => name), ["Seven", "N8", "N10", "Edit Fields"])
    same(arr(edited["nodes"]).length, 250)
  })
})

describe("parts that were broken before", () => {
  const broken = flow(
    [
      null,
      "x",
      5,
      { id: 5 },
      { name: "", type: 3 },
      { name: "P", type: `${base}set`, typeVersion: "3", position: "left", parameters: [] },
      set("A"),
      set("A", { id: "second A" }),
      node("Old", `${base}nonsense`, 1),
      hook
    ],
    {
      ...joined(["Hook", "Gone"], ["Gone", "A"], ["Hook", "A", "main", 9, 9]),
      "id of A": [],
      P: { main: {} },
      Old: { main: [null, {}, [null, "x", { node: 5 }]] }
    },
    { pinData: [], settings: "x", nodeGroups: [null, { nodeIds: "x" }] }
  )
  it.each<WorkflowEdit.Operation>([
    { op: "disable", node: "Hook" },
    { op: "move", node: "P", position: { x: 0, y: 0 } },
    { op: "rename", node: "P", to: "Q" },
    { op: "update", node: "Old", parameters: { any: 1 } },
    { op: "add", type: `${base}set` },
    { op: "add", type: `${base}set`, after: "Hook" },
    { op: "connect", from: "Hook", to: "Old" },
    { op: "connect", from: "Old", to: "P" },
    { op: "disconnect", from: "Hook", to: "Gone" },
    { op: "disconnect", from: "Gone", to: "A" },
    { op: "remove", node: "second A" },
    { op: "remove", node: "Hook" },
    { op: "rename", node: "second A", to: "B" },
    { op: "name", name: "B" },
    { op: "settings", settings: { a: 1 } }
  ])("does not block %j", (operation) => {
    const { workflow } = edit(broken, operation)
    const count = (given: Obj) => {
      const { nodes } = given
      return Array.isArray(nodes) ? nodes.filter((each) => text(each) !== text(hook)).slice(0, 5) : []
    }
    same(count(workflow), count(broken))
    same(obj(workflow["connections"])?.["id of A"], [])
  })

  it("is said where it does", () => {
    same(refusal(broken, { op: "connect", from: "P", to: "Hook" }).field, "operations[0].to")
    same(
      refusal(broken, { op: "connect", from: "P", to: "Old" }).message,
      "The connections of 'P' are not of n8n's shape."
    )
    same(refusal(broken, { op: "connect", from: "second A", to: "Old" }).message, "Another node is also named 'A'.")
    const nameless = refusal(flow([{ id: "x" }, hook]), { op: "connect", from: "Hook", to: "x" })
    same(nameless.message, "nodes[0] has no name, and connections go by name.")
    same(refusal(flow([]), { op: "connect", from: "A", to: "B" }).message, "There is no node 'A'.")
    same(refusal({ nodes: {} }, { op: "add", type: `${base}set` }).message, "The workflow's 'nodes' is not a list.")
    same(
      refusal({ ...flow([hook, set("A")]), connections: [] }, { op: "connect", from: "Hook", to: "A" }).field,
      "operations[0].from"
    )
  })

  it("can be an empty object", () => {
    const { workflow } = edit({}, { op: "add", type: `${base}set` }, {
      op: "add",
      type: `${base}noOp`,
      after: "Edit Fields"
    })
    same(workflow["connections"], joined(["Edit Fields", "No Operation, do nothing"]))
  })
})

describe("add", () => {
  const add = (workflow: Obj, more: Partial<WorkflowEdit.Operation> & { readonly type: string }) =>
    edit(workflow, { op: "add", ...more } as WorkflowEdit.Operation)
  const last = (workflow: Obj) => {
    const { nodes } = workflow
    return obj(Array.isArray(nodes) ? nodes.at(-1) : undefined) ?? {}
  }

  it("makes a node as n8n's editor does", () => {
    const { added, changes, workflow } = add(flow([hook]), { type: `${base}httpRequest`, parameters: { url: "x" } })
    same(last(workflow), {
      parameters: { url: "x" },
      type: `${base}httpRequest`,
      typeVersion: lookups().newest(`${base}httpRequest`),
      position: [220, 0],
      id: "new-1",
      name: "HTTP Request"
    })
    same(added, [{ id: "new-1", name: "HTTP Request" }])
    assert.match(changes[0] ?? "", /^added 'HTTP Request' \(n8n-nodes-base.httpRequest 4\.\d\)$/)
  })

  it("uses the requested version, and checks its parameters by it", () => {
    const type = `${base}if`
    const conditions = { string: [{ value1: "a", value2: "b" }] }
    const { changes, workflow } = add(flow([hook]), { type, typeVersion: 1, parameters: { conditions } })
    same(changes, ["added 'If' (n8n-nodes-base.if 1)"])
    const { parameters, typeVersion } = obj(last(workflow)) ?? {}
    same([typeVersion, parameters], [1, { conditions }])
    const post = { type: `${base}httpRequest`, typeVersion: 4.2, parameters: { url: "x" } }
    same(add(flow([hook]), post).changes, ["added 'HTTP Request' (n8n-nodes-base.httpRequest 4.2)"])
  })

  it("gives it an id that is free, and a webhook its own", () => {
    const { workflow } = add(flow([set("A", { id: "new-1" })]), { type: `${base}webhook` })
    same([last(workflow)["id"], last(workflow)["webhookId"]], ["new-2", "new-3"])
  })

  it.each([
    [["Edit Fields"], undefined, "Edit Fields1"],
    [["Edit Fields", "Edit Fields1"], undefined, "Edit Fields2"],
    [["Edit Fields1"], "Edit Fields1", "Edit Fields2"],
    [["取得", "取得1"], "取得", "取得2"],
    [["2"], "2", "21"],
    [["A12345678901234567890"], "A12345678901234567890", "A123456789012345678901"],
    [["A"], " ", "Edit Fields"]
  ])("names it: next to %j, %s becomes %s", (names, name, expected) => {
    const { added } = add(flow(names.map((each) => set(each))), {
      type: `${base}set`,
      ...(name === undefined ? {} : { name })
    })
    same(added[0]?.name, expected)
  })

  it("keeps a digit that belongs to the type's own name", () => {
    same(add(flow([node("S3", `${base}s3`, 1)]), { type: `${base}s3` }).added[0]?.name, "S31")
  })

  it("chooses a name that takes over nothing of a removed node, unless asked to", () => {
    const workflow = flow([hook], joined(["Hook", "Edit Fields"]), { pinData: { Pinned: [] } })
    same(add(workflow, { type: `${base}set` }).added[0]?.name, "Edit Fields1")
    same(add(workflow, { type: `${base}set`, name: "Edit Fields" }).added[0]?.name, "Edit Fields")
    same(add(workflow, { type: `${base}set`, name: "Pinned" }).added[0]?.name, "Pinned1")
  })

  it.each([
    [`${base}htpRequest`, /Did you mean 'n8n-nodes-base.httpRequest'/],
    ["openAi", /'n8n-nodes-base.openAi' or '@n8n\/n8n-nodes-langchain.openAi'/],
    ["n8n-nodes-foo.bar", /--nodes/],
    ["", /node_search/]
  ])("refuses the unknown type '%s'", (type, hint) => {
    const refused = refusal(flow([]), { op: "add", type })
    same(refused.field, "operations[0].type")
    assert.match(refused.hint, hint)
  })

  it("takes a type of the workflow's nodes that is not known otherwise, and the tools n8n makes of nodes", () => {
    const foo = (typeVersion: number) => node("Foo", "n8n-nodes-foo.bar", typeVersion, {}, { webhookId: "x" })
    const { workflow } = add(flow([foo(1), foo(2)]), {
      type: "n8n-nodes-foo.bar",
      parameters: { any: 1 },
      after: "Foo"
    })
    same(last(workflow), {
      parameters: { any: 1 },
      type: "n8n-nodes-foo.bar",
      typeVersion: 2,
      position: [220, 0],
      id: "new-1",
      name: "bar",
      webhookId: "new-2"
    })
    same(add(flow([agent()]), { type: `${base}dateTimeTool`, after: "Agent" }).workflow["connections"], {
      "Date & Time": { ai_tool: [[{ node: "Agent", type: "ai_tool", index: 0 }]] }
    })
  })

  it("refuses a parameter that the type does not have", () => {
    same(refusal(flow([]), { op: "add", type: `${base}httpRequest`, parameters: { url: "x", metod: "GET" } }), {
      field: "operations[0].parameters.metod",
      message: "HTTP Request 4.5 has no parameter 'metod'.",
      hint: "Did you mean 'method'?"
    })
    const inOptions = refusal(flow([]), { op: "add", type: `${base}httpRequest`, parameters: { timeout: 5 } })
    same(inOptions.hint, "It belongs in 'options'.")
  })

  it("takes parameters as they are, but for what a filter needs", () => {
    const conditions = [{ leftValue: "a", rightValue: "b", operator: { type: "string", operation: "equals" } }]
    const check = add(flow([]), {
      type: `${base}if`,
      parameters: { conditions: { conditions }, looseTypeValidation: true }
    })
    same(last(check.workflow)["parameters"], {
      conditions: {
        combinator: "and",
        conditions,
        options: { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 3 }
      },
      looseTypeValidation: true
    })
    const rules = { values: [{ outputKey: "a", conditions: { conditions, combinator: "or" } }, { outputKey: "b" }] }
    const choice = add(flow([]), { type: `${base}switch`, parameters: { rules } })
    same(last(choice.workflow)["parameters"], {
      rules: {
        values: [{
          outputKey: "a",
          conditions: {
            combinator: "or",
            conditions,
            options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 3 }
          }
        }, { outputKey: "b" }]
      }
    })
    const whole = { conditions: { conditions, combinator: "and", options: { version: 1 } } }
    same(last(add(flow([]), { type: `${base}if`, parameters: whole }).workflow)["parameters"], whole)
  })

  describe("finds a place", () => {
    const at = (x: number, y: number) => ({ position: [x, y] })
    const place = (nodes: ReadonlyArray<unknown>, more: Obj = {}) =>
      last(add(flow(nodes), { type: `${base}noOp`, ...more } as never).workflow)["position"]

    it("that the caller names, in whole numbers, even if another node is there", () => {
      same(place([set("A", at(10, 20))], { position: { x: 10.4, y: 19.5 } }), [10, 20])
    })
    it("at the origin, or right of all but notes", () => {
      same(place([]), [0, 0])
      const note = node("Note", `${base}stickyNote`, 1, { width: 900 }, at(5000, 0))
      same(place([set("B", at(440, 80)), set("A", at(0, 0)), note, { name: "C", position: "x" }]), [660, 80])
    })
    it("right of the node it comes after, lower where that is taken", () => {
      same(place([set("A", at(-100, 30)), set("B", at(900, 0))], { after: "A" }), [120, 30])
      same(place([set("A"), set("B", at(230, 20))], { after: "A" }), [220, 200])
      same(place([set("A"), set("B", at(220, 0)), set("C", at(200, 210))], { after: "A" }), [220, 400])
    })
    it("right of the wide node that an agent is, and below it for what serves it", () => {
      same(place([agent()], { after: "Agent" }), [380, 0])
      same(place([agent()], { type: `${ai}toolCalculator`, after: "Agent" }), [0, 200])
      same(place([agent(), model("M", at(0, 200))], { type: `${ai}toolCalculator`, after: "Agent" }), [160, 200])
      same(place([agent()], { type: `${ai}toolCalculator` }), [380, 0])
    })
    it("where many hang on one node, a place for each", () => {
      let workflow = flow([agent()])
      for (let index = 0; index < 6; index++) {
        workflow = add(workflow, { type: `${base}noOp`, after: "Agent" } as never).workflow
        workflow = add(workflow, { type: `${ai}toolCalculator`, after: "Agent" } as never).workflow
      }
      const boxes = arr(workflow["nodes"]).map((each) => {
        const [x = 0, y = 0] = arr(obj(each)?.["position"]).map(Number)
        return { x, y, width: obj(each)?.["name"] === "Agent" ? 256 : 96 }
      })
      same(boxes.length, 13)
      const overlapping = boxes.filter((a) =>
        boxes.some((b) => a !== b && a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < 96)
      )
      same(overlapping, [])
    })
    it("next to nodes at extreme positions", () => {
      same(place([set("A", at(1e300, 0)), set("B", at(0, -1e300))], { after: "A" }), [0, 0])
    })
  })

  it("connects it after the first output, or to the node that it serves", () => {
    const check = node("If", `${base}if`, 2.2)
    same(
      add(flow([check]), { type: `${base}noOp`, name: "N", after: "If" } as never).workflow["connections"],
      joined(["If", "N"])
    )
    const { changes, workflow } = add(
      flow([agent()]),
      { type: `${ai}memoryBufferWindow`, after: "id of Agent" } as never
    )
    same(workflow["connections"], joined(["Simple Memory", "Agent", "ai_memory"]))
    assert.match(changes[0] ?? "", / for 'Agent'$/)
    const store = { type: `${ai}vectorStoreInMemory`, parameters: { mode: "retrieve-as-tool", toolDescription: "x" } }
    same(
      add(flow([agent()]), { ...store, name: "Store", after: "Agent" } as never).workflow["connections"],
      joined(["Store", "Agent", "ai_tool"])
    )
  })

  it("refuses what cannot come after", () => {
    const after = (workflow: Obj, type: string, name: string) => {
      const refused = refusal(workflow, { op: "add", type, after: name })
      same(refused.field, "operations[0].after")
      return refused
    }
    assert.match(after(flow([hook]), `${base}manualTrigger`, "Hook").hint, /trigger/)
    same(after(flow([hook]), `${ai}toolCalculator`, "Hook").message, "'Hook' has no ai_tool input; it has none.")
    same(after(flow([model("M")]), `${base}set`, "M").message, "'M' has no main output; it has ai_languageModel.")
    same(after(flow([hook]), `${base}set`, "Hok").hint, "Did you mean 'Hook'?")
  })

  it("adds nothing that n8n would not take", () => {
    const { workflow } = edit(
      flow([]),
      { op: "add", type: `${base}webhook`, name: "Start", parameters: { path: "p" } },
      {
        op: "add",
        type: `${ai}agent`,
        name: "Agent",
        parameters: { promptType: "define", text: "hi" },
        after: "Start"
      },
      { op: "add", type: `${ai}lmChatOpenAi`, after: "Agent" },
      { op: "update", node: "OpenAI Chat Model", credentials: { openAiApi: { id: "1", name: "x" } } },
      { op: "add", type: `${ai}toolCalculator`, after: "Agent" }
    )
    same(problems(workflow, lookups()).filter(({ severity }) => severity === "error"), [])
  })
})

describe("update", () => {
  const request = node("Get", `${base}httpRequest`, 4.2, { url: "a", options: { timeout: 1, proxy: "p" } }, { zeta: 1 })
  const workflow = flow([request])
  const update = (more: Obj) => {
    const edited = edit(workflow, { op: "update", node: "Get", ...more })
    return { ...edited, node: nodeOf(edited.workflow, "Get") }
  }

  it("merges parameters: objects are merged, null takes away, lists are replaced", () => {
    const { changes, node } = update({
      parameters: {
        url: "b",
        options: { timeout: null },
        queryParameters: { parameters: [{ name: "a", value: null }] }
      }
    })
    same(node["parameters"], {
      url: "b",
      options: { proxy: "p" },
      queryParameters: { parameters: [{ name: "a", value: null }] }
    })
    same(changes, [
      "Get: url: \"a\" → \"b\"",
      "Get: options.timeout: 1 → none",
      "Get: queryParameters: none → {\"parameters\":[{\"name\":\"a\",\"value\":null}]}"
    ])
    same(Object.keys(node), Object.keys(request))
  })

  it("drops nulls of what was no object", () => {
    same(update({ parameters: { url: { a: null, b: 1 } } }).node["parameters"], {
      url: { b: 1 },
      options: { timeout: 1, proxy: "p" }
    })
  })

  it("sets properties, in place or behind the others, and takes them away by null", () => {
    const edited = update({ onError: "continueRegularOutput", notes: "x", zeta: 2, credentials: { a: { id: "1" } } })
    same(Object.keys(edited.node), [...Object.keys(request), "onError", "notes", "credentials"])
    const again = edit(edited.workflow, {
      op: "update",
      node: "Get",
      onError: null,
      notes: null,
      zeta: 1,
      credentials: {}
    })
    same(text(again.workflow), text(workflow))
  })

  it("that changes nothing gives back the workflow", () => {
    const edited = update({ parameters: { url: "a", options: { timeout: 1 }, method: null }, zeta: 1, notes: null })
    assert.strictEqual(edited.workflow, workflow)
    same(edited.changes, ["'Get' already has these values"])
  })

  it.each([
    [{ disable: true }, "disable", /'disabled'/],
    [{ url: "x" }, "url", /'parameters'/],
    [{ name: "x" }, "name", /rename/],
    [{ type: "x" }, "type", /replaceNode/],
    [{ id: "x" }, "id", /keeps/],
    [{ position: { x: 1, y: 2 } }, "position", /move/],
    [{ disabled: "true" }, "disabled", /true or false/],
    [{ onError: "continue" }, "onError", /continueErrorOutput/],
    [{ credentials: "x" }, "credentials", /object/],
    [{ typeVersion: null }, "typeVersion", /number/],
    [{ typeVersion: 9.9 }, "typeVersion", /It has .*4\.2/],
    [{ parameters: { metod: "x" } }, "parameters.metod", /'method'/]
  ])("refuses %j", (more, field, hint) => {
    const refused = refusal(workflow, { op: "update", node: "Get", ...more })
    same(refused.field, `operations[0].${field}`)
    assert.match(refused.hint, hint)
  })

  it("does not mind parameters that were not known before, or take away what is not there", () => {
    const old = flow([node("Get", `${base}httpRequest`, 4.2, { metod: 1 })])
    same(
      nodeOf(
        edit(old, { op: "update", node: "Get", parameters: { metod: null, url: "x" } }).workflow,
        "Get"
      )["parameters"],
      {
        url: "x"
      }
    )
    edit(old, { op: "update", node: "Get", parameters: { url: "x" } })
  })

  it("judges parameters by the version it sets", () => {
    const old = flow([node("Set", `${base}set`, 2)])
    const assignments = { assignments: { assignments: [] } }
    same(
      refusal(old, { op: "update", node: "Set", parameters: assignments }).field,
      "operations[0].parameters.assignments"
    )
    edit(old, { op: "update", node: "Set", typeVersion: 3.4, parameters: assignments })
  })

  it("completes the filter it sets", () => {
    const check = flow([node("If", `${base}if`, 2.2)])
    const edited = edit(check, { op: "update", node: "If", parameters: { conditions: { conditions: [] } } })
    same(nodeOf(edited.workflow, "If")["parameters"], {
      conditions: {
        combinator: "and",
        conditions: [],
        options: { caseSensitive: true, leftValue: "", typeValidation: "strict", version: 2 }
      }
    })
  })

  it("shows the beginning of long values, and all of many", () => {
    const [line = ""] = update({ parameters: { url: "x".repeat(500) } }).changes
    assert.isBelow(line.length, 120)
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`k${index}`, index]))
    same(
      update({ parameters: { options: many } }).changes.slice(7),
      [7, 8, 9, 10, 11].map((n) => `Get: options.k${n}: none → ${n}`)
    )
  })
})

describe("enable, disable, move, settings, name", () => {
  const workflow = flow([set("A"), set("On", { disabled: false }), set("Off", { disabled: true, notes: "x" })])

  it("disable and enable", () => {
    same(nodeOf(edit(workflow, { op: "disable", node: "A" }).workflow, "A"), { ...set("A"), disabled: true })
    same(text(nodeOf(edit(workflow, { op: "enable", node: "Off" }).workflow, "Off")), text(set("Off", { notes: "x" })))
    says(
      workflow,
      [{ op: "enable", node: "On" }, { op: "disable", node: "Off" }, { op: "disable", node: "On" }],
      "'On' is already enabled",
      "'Off' is already disabled",
      "disabled 'On'"
    )
    assert.strictEqual(edit(workflow, { op: "enable", node: "On" }).workflow, workflow)
  })

  it("move", () => {
    says(
      workflow,
      [{ op: "move", node: "A", position: { x: 1.6, y: -2 } }, { op: "move", node: "A", position: { x: 2, y: -2 } }],
      "moved 'A' from [0,0] to [2,-2]",
      "'A' is already there"
    )
  })

  it("settings are merged", () => {
    const edited = edit(workflow, { op: "settings", settings: { timezone: "UTC", executionOrder: null } })
    same(edited.workflow["settings"], { timezone: "UTC" })
    same(edited.changes, ["settings.executionOrder: \"v1\" → none", "settings.timezone: none → \"UTC\""])
    says(workflow, [{ op: "settings", settings: { executionOrder: "v1" } }], "the settings already have these values")
    same(edit({ nodes: [] }, { op: "settings", settings: { a: 1 } }).workflow["settings"], { a: 1 })
  })

  it("name", () => {
    const edited = edit(workflow, { op: "name", name: "新しい" })
    same([edited.workflow["name"], edited.changes], ["新しい", ["renamed the workflow from \"Flow\" to '新しい'"]])
    says(workflow, [{ op: "name", name: "Flow" }], "the workflow is already named 'Flow'")
    same(refusal(workflow, { op: "name", name: " " }).field, "operations[0].name")
    assert.match(refusal(workflow, { op: "name", name: "x".repeat(129) }).message, /129 characters/)
    edit(workflow, { op: "name", name: "𩸽".repeat(128) })
  })
})
