import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import { parseAddress, parseHeader } from "../../../src/app/config/forms.ts"
import * as State from "../../../src/app/config/State.ts"

/** Headers of a message's framing, and those that end at the next hop (RFC 9110 and 9112), besides our own. */
const ownHeaders = [
  "X-N8N-API-KEY",
  "Host",
  "Content-Length",
  "Content-Type",
  "Content-Encoding",
  "Transfer-Encoding",
  "Trailer",
  "TE",
  "Connection",
  "Keep-Alive",
  "Upgrade",
  "HTTP2-Settings",
  "Expect",
  "Proxy-Connection",
  "Proxy-Authorization",
  "Proxy-Authenticate"
]

describe("a header for a proxy in front of n8n", () => {
  it.each(ownHeaders)("is not %s", (name) => {
    for (const each of [name, name.toLowerCase()]) {
      assert.match(String(parseHeader(`${each}=KEY`, { KEY: "value" })), /belongs to the request or its connection/)
    }
  })

  it.each(["CF-Access-Client-Id", "Authorization", "Cookie", "X-Forwarded-User", "Te-st", "My-Host"])(
    "is %s, with the value of the variable",
    (name) => {
      assert.deepStrictEqual(parseHeader(`${name}=KEY`, { KEY: " value " }), {
        name: name.toLowerCase(),
        value: "value"
      })
    }
  )
})

describe("a place of state", () => {
  it.each(["file://other/x", "file:///a%2Fb", "mysql://localhost/x", "http://x", ""])(
    "is not %s, which is refused without an exception",
    (text) => assert.isUndefined(State.named(Redacted.make(text)))
  )

  it("is a folder by path or address", () => {
    const folder = { _tag: "Folder", folder: "/var/state" } as const
    for (const text of ["/var/state", "file:///var/state", " /var/state "]) {
      assert.deepInclude(State.named(Redacted.make(text)), folder)
    }
  })
})

describe("an address of n8n", () => {
  it.each([
    ["localhost:5689", "http://localhost:5689/"],
    ["localhost", "http://localhost/"],
    ["10.0.0.7", "http://10.0.0.7/"],
    ["[::1]:5678", "http://[::1]:5678/"],
    ["n8n:5678/workflow/1", "http://n8n:5678/workflow/1"],
    ["n8n.example.com", "https://n8n.example.com/"],
    ["n8n.example.com:5678", "http://n8n.example.com:5678/"],
    [" https://n8n.example.com/x ", "https://n8n.example.com/x"]
  ])("may lack its scheme: %s", (text, href) => {
    const url = parseAddress(text)
    assert.strictEqual(url instanceof URL ? url.href : url, href)
  })

  const key = `eyJhbGciOiJIUzI1NiJ9.${"a".repeat(120)}.abcdefgh`

  it.each(["n8n", "ftp://n8n", "", key, `${key}:1`, "n8n_api_0123456789abcdef", "admin:1234@n8n.example.com"])(
    "is not %s",
    (text) => assert.strictEqual(parseAddress(text), "scheme")
  )
})
