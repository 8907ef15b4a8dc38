import { assert, describe, it } from "@effect/vitest"
import * as Uses from "../../src/workflow/Uses.ts"

const of = (id: number, name: string, type: string, parameters = {}, more = {}) => ({
  id: `${id}`,
  name,
  type: `n8n-nodes-base.${type}`,
  parameters,
  ...more
})
const headers = { parameters: [{ name: "Authorization", value: "Bearer very-secret-token-123" }] }
const credentials = { slackApi: { id: "cred1", name: "Team Slack" } }
const workflow = {
  nodes: [
    of(0, "Hook", "webhook", { path: "orders-in", httpMethod: "POST" }),
    of(1, "Tell", "slack", { channel: { value: "#ops" } }, { credentials }),
    of(2, "Sub", "executeWorkflow", { workflowId: { value: "abcDEF123", mode: "list" } }),
    of(3, "Call", "httpRequest", { url: "https://api.example.com/v1", headerParameters: headers }),
    of(4, "Tool", "slackTool"),
    "no node"
  ],
  settings: { errorWorkflow: "err42", timezone: "UTC" }
}

const names = (uses: ReadonlyArray<Uses.Use>) => [...new Set(uses.map(({ node, path }) => node ?? path))]

const found = (text: string, secrets = false) => names(Uses.finder(text, { secrets })(workflow))

describe("uses", () => {
  it.each<[string, ReadonlyArray<string>]>([
    // A type's whole name means that type alone.
    ["n8n-nodes-base.slack", ["Tell"]],
    ["N8N-NODES-BASE.Slack", ["Tell"]],
    ["@acme/n8n-nodes-slack.slack", []],
    ["slackTool", ["Tool"]],
    ["slack", ["Tell", "Tool"]],
    ["cred1", ["Tell"]],
    ["team slack", ["Tell"]],
    ["slackApi", ["Tell"]],
    ["abcDEF123", ["Sub"]],
    ["orders-in", ["Hook"]],
    ["API.example.com", ["Call"]],
    ["err42", ["settings.errorWorkflow"]],
    ["errorWorkflow", ["settings.errorWorkflow"]],
    ["settings.errorWorkflow", ["settings.errorWorkflow"]],
    // Not a key, an id or another setting.
    ...["nobody", "httpMethod", "headerParameters", "UTC"].map((text): [string, []] => [text, []])
  ])("of %s are in %j", (text, expected) => assert.deepStrictEqual(found(text), expected))

  it("do not include a setting that is not set", () => {
    assert.deepStrictEqual(Uses.finder("errorWorkflow", { secrets: false })({ nodes: [], settings: {} }), [])
  })

  it("is never a secret, unless secrets are shown", () => {
    for (const text of ["very-secret", "secret-token-123"]) {
      assert.deepStrictEqual(found(text), [], text)
      assert.deepStrictEqual(found(text, true), ["Call"], text)
    }
    assert.deepStrictEqual(found("Authorization"), ["Call"])
  })

  it("comes with its path and what surrounds it, without secrets", () => {
    const uses = Uses.finder("example", { secrets: false })
    const code = `${"a".repeat(200)}example${"b".repeat(200)}`
    const [url, text] = uses({
      nodes: [{
        name: "Call",
        type: "n8n-nodes-base.httpRequest",
        parameters: { url: "https://u:very-secret-pw@example.com", options: { list: [{ code }] } }
      }]
    })
    assert.deepInclude(url, { node: "Call", path: "parameters.url" })
    assert.notInclude(url?.value, "very-secret-pw")
    assert.deepInclude(text, { path: "parameters.options.list[0].code" })
    assert.match(text?.value ?? "", /^…a+exampleb+…$/)
    assert.isAtMost(text?.value.length ?? 0, 80)
    assert.deepStrictEqual(Uses.finder("cred1", { secrets: false })(workflow), [
      { node: "Tell", path: "credentials.slackApi", value: "Team Slack" }
    ])
    const old = { name: "Old", type: "n8n-nodes-base.github", credentials: { githubApi: "GitHub", "odd key": {} } }
    assert.deepStrictEqual(Uses.finder("github", { secrets: false })({ nodes: [old] }).slice(1), [
      { node: "Old", path: "credentials.githubApi", value: "GitHub" }
    ])
  })

  it("is looked for in a deep value without a deep stack", () => {
    let deep: unknown = "the needle"
    for (let depth = 0; depth < 50_000; depth++) deep = { inner: deep }
    const nodes = [{ name: "Deep", type: "n8n-nodes-base.set", parameters: deep }]
    assert.deepStrictEqual(names(Uses.finder("needle", { secrets: false })({ nodes })), ["Deep"])
  })
})
