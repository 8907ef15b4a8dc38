import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import type { Obj } from "../../src/base/Json.ts"
import * as retryRequests from "../../src/trials/retryRequests.ts"

const node = (type: string, parameters: Obj, more: Obj = {}) => ({
  id: "n1",
  name: "Trigger",
  type: type.includes("/") ? type : `n8n-nodes-base.${type}`,
  parameters,
  ...more
})

const hook = node("webhook", { path: "orders", httpMethod: "POST" })

const request = (headers: Obj = {}, more: Obj = {}) => ({
  headers: { "content-length": "2", "content-type": "application/json", ...headers },
  params: {},
  query: {},
  body: {},
  webhookUrl: "https://old.example/webhook/orders",
  executionMode: "production",
  ...more
})

const made = (json: Obj, { binary, now = hook, output = 0, past = now }: {
  readonly now?: typeof hook
  readonly past?: typeof hook
  readonly output?: number
  readonly binary?: Obj
} = {}) => retryRequests.make(now, { node: past, output, item: { json, ...(binary && { binary }) } })

const repeated = (...args: Parameters<typeof made>) => {
  const result = made(...args)
  return Result.isSuccess(result) ? result.success : assert.fail(result.failure)
}

const refused = (...args: Parameters<typeof made>) => {
  const result = made(...args)
  return Result.isFailure(result) ? result.failure : assert.fail("it was made")
}

describe("a webhook's request", () => {
  it("is sent with its headers, without those of the connection and without the caller's secrets", () => {
    const { headers, method, path } = repeated(request({
      host: "elsewhere.example",
      connection: "keep-alive, x-hop",
      "x-hop": "1",
      "keep-alive": "timeout=5",
      te: "trailers",
      trailer: "x",
      upgrade: "h2c",
      "transfer-encoding": "chunked",
      "content-encoding": "gzip",
      expect: "100-continue",
      "proxy-authorization": "Basic x",
      cookie: "a=b",
      Authorization: "Bearer x",
      "x-effect-n8n-mcp-test": "token",
      "user-agent": "shop/1",
      accept: "*/*",
      "x-shop-key": "k"
    }))
    assert.deepStrictEqual([method, path], ["POST", "orders"])
    assert.deepStrictEqual(headers, {
      "content-type": "application/json",
      "user-agent": "shop/1",
      accept: "*/*",
      "x-shop-key": "k"
    })
  })

  it("has the body that its content type makes of the recorded one", () => {
    const text = (type: string | undefined, body: unknown) =>
      repeated(request({ "content-type": type ?? "" }, { body })).text
    assert.strictEqual(
      text("application/json; charset=utf-8", { b: [1, null], a: "é" }),
      "{\"b\":[1,null],\"a\":\"é\"}"
    )
    assert.strictEqual(text("application/x-www-form-urlencoded", { a: ["1", "2"], b: "x y&z" }), "a=1&a=2&b=x+y%26z")
    assert.strictEqual(text("text/plain", "order 1"), "order 1")
    const latin = repeated(request({ "content-type": "text/plain; charset=iso-8859-1" }, { body: "é" }))
    assert.strictEqual(latin.headers?.["content-type"], "text/plain; charset=utf-8")
    assert.isUndefined(repeated(request({ "content-length": "0" })).body)
    for (const type of ["application/xml", "multipart/form-data"]) {
      assert.include(refused(request({ "content-type": `${type}; a=b` })), `type '${type}'`)
    }
  })

  it("has no files", () => {
    assert.match(refused(request(), { binary: { data: { data: "" } } }), /^its request had files/)
  })

  it("goes to the published path and method, whichever host was recorded", () => {
    const query = { a: ["1", "2"], b: { c: "x y" }, d: [{ e: "1" }] }
    const now = node("webhook", { path: "/v2/:shop/in", httpMethod: "PUT" }, { webhookId: "w1" })
    const sent = repeated(request({}, { params: { shop: "a b/c" }, query }), { now })
    assert.deepStrictEqual([sent.method, sent.path], ["PUT", "w1/v2/a%20b%2Fc/in"])
    assert.deepStrictEqual(sent.query, [["a[]", "1"], ["a[]", "2"], ["b[c]", "x y"], ["d[0][e]", "1"]])
    assert.strictEqual(
      repeated(request(), { now: node("webhook", {}, { webhookId: "w2" }), past: node("webhook", {}) }).path,
      "w2"
    )
    const computed = node("webhook", { path: "={{ $env.PATH }}", httpMethod: "POST" })
    assert.match(refused(request(), { now: computed }), /path of its webhook is computed/)
    assert.match(refused(request({}, { params: { shop: ".." }, query }), { now }), /is computed/)
    const changed = node("webhook", { path: "orders", httpMethod: "GET" })
    assert.match(refused(request(), { now: changed, past: hook }), /does not take its method, POST/)
    const several = node("webhook", { path: "orders", multipleMethods: true, httpMethod: ["GET", "PATCH"] })
    assert.strictEqual(repeated(request(), { now: several, output: 1 }).method, "PATCH")
    assert.isUndefined(repeated(request(), { now: several, output: 0 }).body)
  })
})

describe("a form's request", () => {
  const form = node("formTrigger", {
    formFields: {
      values: [
        { fieldLabel: "Name" },
        { fieldLabel: "Kinds", fieldType: "dropdown", multiselect: true },
        { fieldLabel: "One", fieldType: "radio" },
        { fieldType: "hiddenField", fieldName: "source" },
        { fieldType: "html", elementName: "note", html: "<b>x</b>" },
        { fieldLabel: "Missing" }
      ]
    }
  }, { webhookId: "f1" })
  const item = { Name: "Ann", Kinds: ["a", "b"], One: "x", source: "web", submittedAt: "2026", formMode: "production" }

  it("has its fields as a browser sends them", () => {
    const sent = repeated({ ...item, Missing: null, formQueryParameters: { ref: "9" } }, { now: form })
    assert.deepStrictEqual([sent.method, sent.path, sent.isForm, sent.query], ["POST", "f1", true, [["ref", "9"]]])
    assert.deepStrictEqual([...sent.body as FormData], [
      ["field-0", "Ann"],
      ["field-1", "[\"a\",\"b\"]"],
      ["field-2", "[\"x\"]"],
      ["field-3", "web"]
    ])
  })

  it("is refused if the published form or n8n lacks a part of it", () => {
    assert.match(refused({ ...item, Colour: "red" }, { now: form }), /does not have its field 'Colour'/)
    const dated = node("formTrigger", {
      formFields: { values: [{ fieldLabel: "Day", fieldType: "date", formatDate: "dd.MM.yyyy" }] }
    })
    assert.match(refused({ Day: "01.02.2026" }, { now: dated }), /'Day' in another format/)
    assert.match(refused(item, { now: form, binary: { Photo: {} } }), /had files/)
  })
})

describe("other triggers", () => {
  it("receive requests only if they are a public chat", () => {
    const chat = (isPublic: boolean) =>
      node("@n8n/n8n-nodes-langchain.chatTrigger", { public: isPublic }, { webhookId: "c1" })
    assert.deepStrictEqual(
      [chat(true), chat(false), node("scheduleTrigger", {}), hook].map(retryRequests.receivesRequests),
      [true, false, false, true]
    )
    const sent = repeated({ chatInput: "hi", sessionId: "s" }, { now: chat(true) })
    assert.deepStrictEqual([sent.path, sent.text], ["c1/chat", "{\"chatInput\":\"hi\",\"sessionId\":\"s\"}"])
  })

  it("are recognized by the parts of their item that stay the same", () => {
    const of = (json: Obj) => retryRequests.fingerprint({ json })
    assert.strictEqual(
      of(request({ host: "a" }, { body: { a: 1, b: { c: 2, d: 3 } } })),
      of(request({}, { body: { b: { d: 3, c: 2 }, a: 1 } }))
    )
    assert.notStrictEqual(of(request({}, { body: { a: 1 } })), of(request({}, { body: { a: "1" } })))
    assert.notStrictEqual(of(request({}, { body: [] })), of(request({}, { body: {} })))
    assert.strictEqual(of({ n: 1, submittedAt: "a" }), of({ n: 1, submittedAt: "b" }))
  })
})
