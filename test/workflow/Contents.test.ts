import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Contents from "../../src/workflow/Contents.ts"
import { forms } from "../sync/otherForms.ts"
import { body } from "../sync/workflows.ts"

const id = "wmjwt41EcnONHsTk"
const cases = Object.entries(forms({ id, ...body("Moved") }))

describe("ids", () => {
  for (const [form, [, text]] of cases) {
    // The reader drops what is not of ASCII's letters.
    it(`finds a workflow: ${form}`, () => {
      const ascii = typeof text === "string" ? text : Buffer.from(text).toString("latin1").replaceAll("\0", "")
      assert.isTrue(Contents.ids(ascii).has(id))
    })
  }

  it("finds neither references, nor ids of other things", () => {
    const texts = [
      `{"workflowId": "${id}"}`,
      `{"versionId": "${id}", "parent_id": "${id}", "data-id": "${id}"}`,
      `{"value": "${id}", "mode": "id"}`,
      `https://n8n.test/workflow/${id}`,
      `{"${id}": {"file": "moved.json"}}`,
      `{"id": "x${id}"}`
    ]
    assert.deepStrictEqual(texts.filter((text) => Contents.ids(text).has(id)), [])
  })

  it("takes a time that grows with the text, not with its square", () => {
    const text = "\"a\": {\"b\" : ".repeat(200_000) + "id".repeat(500_000) + "\\".repeat(500_000)
    assert.strictEqual(Contents.ids(text).size, 0)
  })
})

/** Ways to put a value into another, with something beside it that must stay. */
const wrappings: { readonly [name: string]: (value: unknown) => unknown } = {
  list: (value) => [value],
  "list with another": (value) => [{ note: "[{" }, value, "{"],
  data: (value) => ({ before: [1], data: value, after: { a: "{}" } }),
  "odd key": (value) => ({ "a.b \"c\"": value }),
  text: (value) => ({ content: JSON.stringify(value, null, 2) })
}

const Wrappings = Schema.Array(Schema.Literals(Object.keys(wrappings))).check(Schema.isMaxLength(2))

const Layout = Schema.Literals(["", "\t", "  "])

describe("a workflow in anything", () => {
  it.effect.prop(
    "is found, and replaced with everything around it as it was",
    { names: Wrappings, layout: Layout, isFenced: Schema.Boolean },
    ({ isFenced, layout, names }) =>
      Effect.gen(function*() {
        const workflow = { id, ...body("Inside") }
        const value = names.reduce<unknown>((inner, name) => wrappings[name]?.(inner), workflow)
        const json = JSON.stringify(value, null, layout)
        const text = isFenced ? `# Notes\n\n\`\`\`json\n${json}\n\`\`\`\nMore.\n` : json
        const found = Result.getOrThrow(Contents.one(Contents.read(text, "file")))
        assert.deepStrictEqual(found.workflow, workflow)
        const changed = yield* Contents.rewriting(text, found.at, { ...workflow, name: "Changed" })
        assert.deepInclude(Result.getOrThrow(Contents.one(Contents.read(changed))).workflow, { name: "Changed" })
        assert.strictEqual(changed.replace("Changed", "Inside"), text)
        assert.strictEqual(yield* Contents.rewriting(changed, found.at, workflow), text)
        assert.strictEqual(Contents.isAlone(text, found), !isFenced && names.every((name) => name === "list"))
      })
  )
})

describe("contents", () => {
  const flow = body("A")

  it("are several, of which one is chosen by id, or else by name", () => {
    const contents = Contents.of({
      data: [{ ...flow, id: "1" }, { ...flow, id: "2", name: "B" }, { ...flow, id: "B" }]
    })
    const idOf = (selector?: string) =>
      Result.match(Contents.one(contents, selector), {
        onFailure: (why) => why.split(":")[0],
        onSuccess: ({ workflow }) => workflow["id"]
      })
    assert.deepStrictEqual(["1", "2", "B", "A", "C", undefined].map(idOf), [
      "1",
      "2",
      "B",
      "it has several 'A'; it contains 3 workflows",
      "it has no 'C'; it contains 3 workflows",
      "it contains 3 workflows"
    ])
  })

  it("without a name have that of their wrapper, else that of the file", () => {
    const { name: _, ...nameless } = flow
    const nameOf = (value: unknown) => {
      const contents = Contents.of(value, "file")
      return contents._tag === "Workflows" ? contents.all.map(({ workflow }) => workflow["name"]) : []
    }
    assert.deepStrictEqual(nameOf(nameless), ["file"])
    assert.deepStrictEqual(nameOf({ ...nameless, name: null }), ["file"])
    assert.deepStrictEqual(nameOf({ name: "Wrapper", workflow: nameless }), ["Wrapper"])
    assert.deepStrictEqual(nameOf([nameless, flow, nameless]), ["file 1", "A", "file 3"])
  })

  it("are something else, in words", () => {
    const values = [
      { name: "n8n-nodes-acme", n8n: { nodes: ["dist/Acme.node.js"] } },
      { workflow: id, expect: { nodes: { Code: { count: 1 } } } },
      { nodes: [{ id: "a", type: "n" }], edges: [] },
      { nodes: [] },
      { id: "5", data: {}, workflowData: flow },
      [1],
      "text",
      null
    ]
    assert.deepStrictEqual(values.map((value) => Contents.of(value)._tag), values.map(() => "Other"))
  })

  it("take a time that grows with the text, not with its square", () => {
    const fences = "```\n````\n~~~\n".repeat(50_000)
    assert.strictEqual(Contents.read(fences)._tag, "Broken")
    const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`
    assert.strictEqual(Contents.read(deep)._tag, "Other")
  })
})
