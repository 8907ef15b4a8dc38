import { assert, describe, it } from "@effect/vitest"
import * as Execution from "../../src/executions/Execution.ts"
import * as FailureGroups from "../../src/executions/FailureGroups.ts"

const plain = (message: string) => Execution.errorDetail({ message }).message

describe("n8n's error texts", () => {
  it.each<[string, string]>([
    [
      "No path back. <a target=\"_blank\" href=\"https://docs.n8n.io/data/\">More info</a>",
      "No path back. More info (https://docs.n8n.io/data/)"
    ],
    [
      "See <a href='https://x.test/a?b=1&c=2' target='_blank'>https://x.test/a?b=1&c=2</a>.",
      "See https://x.test/a?b=1&c=2."
    ],
    ["<A HREF=\"http://x.test\"></A>", "http://x.test"],
    ["<a href=\"javascript:alert(1)\">open</a>, <a data-key=\"x\">settings</a>", "open, settings"],
    ["<a data-href=\"https://x.test\">open</a>", "open"],
    ["one<br/>two<br>three<BR />four", "one\ntwo\nthree\nfour"],
    ["set <b>'Run Once'</b>, <a href=\"https://x.test\"><code>item</code></a>", "set 'Run Once', item (https://x.test)"]
  ])("%s", (text, shown) => assert.strictEqual(plain(text), shown))

  it.each([
    "a < b and c > d",
    "set <your key> first",
    "<a> and <b> are no numbers",
    "Unexpected close tag </a>",
    "<order id=\"1\"><a>1</a></order>",
    "<html><body>no<br>route <a href=\"https://x.test\">x</a></body></html>",
    "<?xml version=\"1.0\"?><error><code>NoSuchKey</code></error>"
  ])("leaves %s as it is", (text) => assert.strictEqual(plain(text), text))

  it("are plain in descriptions, messages and groups, and said once", () => {
    const html = "No access. <a href=\"https://x.test/help\">Help</a>"
    const text = "No access. Help (https://x.test/help)"
    assert.deepStrictEqual<unknown>(
      Execution.errorDetail({ message: html, description: text, messages: [html, "a<br>b"] }),
      { message: text, messages: ["a\nb"] }
    )
    assert.deepStrictEqual(FailureGroups.ofError({ message: "no", description: `<br>${html}` }, "Push"), {
      node: "Push",
      message: "no",
      description: `\n${text}`
    })
    assert.strictEqual(Execution.item({ json: { html }, error: { message: html } }).error?.message, text)
    assert.deepStrictEqual<unknown>(Execution.item({ json: { html } }).json, { html })
  })

  it("are read in one pass, however odd", () => {
    for (const part of ["<a ", "<a href=\"", "<b>", "<br ", "<a x>y", "<a x>y</a"]) {
      const text = part.repeat(40_000)
      assert.strictEqual(plain(text), text)
    }
  })
})
