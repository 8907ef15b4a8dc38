/** Nodes of services before and after their upgrade on a real n8n; the service answers with the request that it got. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { type Obj, obj } from "../../../../src/base/Json.ts"
import * as Upgrade from "../../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../../support/catalogue.ts"
import { listening } from "../../../support/listening.ts"
import { node, workflow } from "../../../support/workflows.ts"
import { differences, oddItems } from "../pairs.ts"
import { RealN8n } from "../RealN8n.ts"
import * as scenarios from "../scenarios.ts"

/** Answers a request with itself. Telegram's `disable_web_page_preview` is false where it is missing. */
const echo = listening((request, response) => {
  void request.toArray().then((chunks) => {
    const text = Buffer.concat(chunks as Array<Buffer>).toString()
    const { disable_web_page_preview: hasNoPreview, ...body } = text.startsWith("{")
      ? JSON.parse(text) as Obj
      : { text }
    const result = {
      ...body,
      ...(hasNoPreview === true ? { hasNoPreview } : {}),
      method: request.method,
      at: request.url
    }
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify({ ok: true, result }))
  })
})

const sets = oddItems.slice(2, 5)

const texts = [
  "Hello",
  "see n8n.io",
  "={{ $json.a }}",
  "=Dear {{ $json.b }}, www.{{ $json.c }} and {{ $json.missing }}",
  "={{ $json.c }}\n日本語"
]

const telegram = (version: number, text: string, more: Obj) =>
  node("T", "n8n-nodes-base.telegram", version, { chatId: "={{ $json.a }}", text, additionalFields: {}, ...more })

const telegrams = [1, 1.1].flatMap((version, index) => [
  ...texts.slice(2 * index, 3 + 2 * index).map((text) => telegram(version, text, {})),
  telegram(version, "a.b", { additionalFields: { parse_mode: "HTML", appendAttribution: true } }),
  telegram(version, "a.b", { additionalFields: { disable_web_page_preview: true } }),
  telegram(version, "={{ $json.b }}", { operation: "editMessageText", messageId: "1", messageType: "message" }),
  telegram(version, "", { operation: "sendPhoto", file: "https://x.y/z.png", additionalFields: { caption: "c" } })
])

const repository = {
  owner: { __rl: true, mode: "name", value: "o" },
  repository: { __rl: true, mode: "name", value: "r" }
}

const githubs = [
  { resource: "issue", operation: "create", title: "={{ $json.a }}", body: "b", labels: [], assignees: [] },
  { resource: "release", operation: "get", release_id: "={{ $json.a }}" },
  { resource: "file", operation: "create", filePath: "a b/ü.txt", fileContent: "={{ $json.b }}", commitMessage: "m" }
].map((parameters) => node("G", "n8n-nodes-base.github", 1, { ...repository, ...parameters }))

/** Adds the test of services to a suite; the releases do not differ in it. */
export const upgradingServices = (it: Vitest.MethodsNonLive<RealN8n>) =>
  it.effect("upgraded nodes of services send the same, and return the same", () =>
    Effect.gen(function*() {
      const { apiKey, url, version } = yield* RealN8n
      const place = { url: url.href, apiKey: Redacted.value(apiKey) }
      const service = yield* echo
      const credentialOf = Effect.fnUntraced(function*(type: string, data: Obj) {
        const { body, status, text } = yield* scenarios.request("POST", "credentials", { name: type, type, data })
        assert.strictEqual(status, 200, text)
        return { credentials: { [type]: { id: obj(body)?.["id"], name: type } } }
      })
      const telegramApi = yield* credentialOf("telegramApi", { accessToken: "1:a", baseUrl: service })
      const githubApi = yield* credentialOf("githubApi", { server: service, user: "u", accessToken: "t" })
      const nodes = [
        ...telegrams.map((each) => ({ ...each, ...telegramApi })),
        ...githubs.map((each) => ({ ...each, ...githubApi }))
      ].map((each, index): Obj => ({ ...each, id: undefined, name: `N${index}` }))
      const before = workflow("w", nodes)
      const lookups = yield* NodeLookups.make(["n8n-nodes-base.telegram", "n8n-nodes-base.github"], version)
      const { left, upgraded, workflow: after } = Upgrade.upgrade(before, undefined, lookups)
      assert.deepStrictEqual(left, [])
      assert.isAtLeast(upgraded.length, telegrams.length)
      const pairs = nodes.flatMap((each, index) => {
        const made = (after["nodes"] as ReadonlyArray<Obj>)[index] ?? {}
        return made["typeVersion"] === each["typeVersion"]
          ? []
          : [{ id: JSON.stringify(each["parameters"]), before: each, after: made, sets: sets }]
      })
      const { compared, differences: different, results } = yield* differences(place, pairs)
      assert.deepStrictEqual(different, [])
      assert.strictEqual(compared, pairs.length * sets.length)
      const sent = [...results.values()].filter(({ error }) => error === undefined)
      assert.isAbove(sent.length, results.size / 2)
    }).pipe(Effect.provide(catalogue), Effect.scoped, scenarios.live), 120_000)
