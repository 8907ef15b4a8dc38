import { assert, describe, it } from "@effect/vitest"
import * as Uses from "../../src/workflow/Uses.ts"

const workflow = {
  nodes: [
    { id: "0", name: "Hook", type: "n8n-nodes-base.webhook", parameters: { path: "orders-in", httpMethod: "POST" } },
    {
      id: "1",
      name: "Tell",
      type: "n8n-nodes-base.slack",
      parameters: { channel: { value: "#ops" } },
      credentials: { slackApi: { id: "cred1", name: "Team Slack" } }
    },
    {
      id: "2",
      name: "Sub",
      type: "n8n-nodes-base.executeWorkflow",
      parameters: { workflowId: { value: "abcDEF123", mode: "list" } }
    },
    {
      id: "3",
      name: "Call",
      type: "n8n-nodes-base.httpRequest",
      parameters: {
        url: "https://api.example.com/v1",
        headerParameters: { parameters: [{ name: "Authorization", value: "Bearer very-secret-token-123" }] }
      }
    },
    { id: "4", name: "Tool", type: "n8n-nodes-base.slackTool", parameters: {} },
    "no node"
  ],
  settings: { errorWorkflow: "err42", timezone: "UTC" }
}

const names = (uses: ReadonlyArray<Uses.Use>) => [...new Set(uses.map(({ node, path }) => node ?? path))]

const found = (text: string, secrets = false) => names(Uses.finder(text, { secrets })(workflow))

describe("uses", () => {
  it("is found by node type, its whole name meaning that type alone", () => {
    assert.deepStrictEqual(found("n8n-nodes-base.slack"), ["Tell"])
    assert.deepStrictEqual(found("N8N-NODES-BASE.Slack"), ["Tell"])
    assert.deepStrictEqual(found("@acme/n8n-nodes-slack.slack"), [])
    assert.deepStrictEqual(found("slackTool"), ["Tool"])
    assert.deepStrictEqual(found("slack"), ["Tell", "Tool"])
  })

  it("is found by credential, sub-workflow, webhook path, error workflow or any text, in any case", () => {
    assert.deepStrictEqual(found("cred1"), ["Tell"])
    assert.deepStrictEqual(found("team slack"), ["Tell"])
    assert.deepStrictEqual(found("slackApi"), ["Tell"])
    assert.deepStrictEqual(found("abcDEF123"), ["Sub"])
    assert.deepStrictEqual(found("orders-in"), ["Hook"])
    assert.deepStrictEqual(found("API.example.com"), ["Call"])
    assert.deepStrictEqual(found("err42"), ["settings.errorWorkflow"])
    assert.deepStrictEqual(found("errorWorkflow"), ["settings.errorWorkflow"])
    assert.deepStrictEqual(found("settings.errorWorkflow"), ["settings.errorWorkflow"])
    assert.deepStrictEqual(Uses.finder("errorWorkflow", { secrets: false })({ nodes: [], settings: {} }), [])
    assert.deepStrictEqual(found("nobody"), [])
  })

  it("is not a key, an id or another setting", () => {
    for (const text of ["httpMethod", "headerParameters", "UTC"]) assert.deepStrictEqual(found(text), [], text)
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
