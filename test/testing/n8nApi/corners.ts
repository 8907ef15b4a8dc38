/** Values that n8n refuses, and those that it takes all the same: the same requests for the simulated and a real one. */
import * as Effect from "effect/Effect"
import { type Obj, str } from "../../../src/base/Json.ts"
import { type Instance, recorder } from "./contract.ts"

/** Types with fields of each kind: plain, required, chosen, inherited, hidden, and required by another one. */
const types = [
  "httpBasicAuth",
  "httpHeaderAuth",
  "httpQueryAuth",
  "httpSslAuth",
  "oAuth1Api",
  "oAuth2Api",
  "postgres",
  "mySql",
  "slackApi",
  "slackOAuth2Api",
  "googleApi",
  "googleSheetsOAuth2Api",
  "openAiApi",
  "anthropicApi",
  "aws",
  "smtp",
  "telegramApi",
  "notionApi",
  "mqtt"
]

/** Types that are the same in n8n 1.123; others require more since. */
const olderTypes = ["httpBasicAuth", "httpHeaderAuth", "httpQueryAuth", "postgres"]

const header = { name: "a", value: "b" }

/** Values that n8n refuses. */
const wrongValues: ReadonlyArray<readonly [type: string, values: Obj]> = [
  ["nobodysApi", {}],
  ["httpHeaderAuth", { ...header, bad: 1 }],
  ["httpHeaderAuth", { ...header, name: 1, value: null }],
  ["httpHeaderAuth", { bad: 1, worse: { data: [] }, name: [] }],
  ["postgres", { port: "5432", ssl: "maybe", sshTunnel: "yes" }],
  ["postgres", { ssl: 1 }]
]

const newerValues: typeof wrongValues = [
  ["telegramApi", { baseUrl: 1 }],
  ["notionApi", {}],
  ["slackApi", { signatureSecret: "s" }],
  ["httpHeaderAuth", { ...header, allowedHttpRequestDomains: "some" }],
  ["oAuth2Api", { grantType: "authorizationCode", useDynamicClientRegistration: false }],
  ["oAuth2Api", { grantType: "authorizationCode", clientId: 1 }],
  ["googleSheetsOAuth2Api", { authUrl: "https://example.com", customScopes: true }]
]

const lists = ["/workflows", "/executions", "/tags"]

/** Sends all requests in order, to an empty n8n, and returns the exchanges. */
export const exchanges = Effect.fnUntraced(function*({ version, ...instance }: Instance) {
  const { ask, exchanges } = yield* recorder(instance)
  const isNew = version === "2"

  // Types of credentials
  for (const type of isNew ? types : olderTypes) yield* ask("GET", `/credentials/schema/${type}`)
  yield* ask("GET", "/credentials/schema/nobodysApi")
  for (const [type, data] of [...wrongValues, ...isNew ? newerValues : []]) {
    yield* ask("POST", "/credentials", { name: "Key", type, data })
  }

  // Credentials with ids and projects
  const create = (more: Obj, data: Obj = header) =>
    ask("POST", "/credentials", { name: "Key", type: "httpHeaderAuth", data, ...more })
  const created = [
    yield* create({ name: "" }),
    yield* create({ name: "n".repeat(129) }),
    yield* create({}, { ...header, useCustomAuth: true })
  ]
  if (isNew) {
    for (const more of [{ id: "a-b_C1" }, { invented: 1 }]) created.push(yield* create(more))
    for (
      const more of [{ id: "a-b_C1" }, { id: "x!" }, { id: "" }, { id: "n".repeat(17) }, { id: 1 }, {
        projectId: "none"
      }, {
        isResolvable: 1
      }]
    ) yield* create(more)
  }

  // Pages
  for (const list of isNew ? [...lists, "/credentials", "/data-tables"] : lists) {
    for (const query of ["limit=0", "limit=1", "limit=-5", "limit=1.5", "limit=251", "cursor=none", "cursor="]) {
      yield* ask("GET", `${list}?${query}`)
    }
  }
  for (const answer of created) yield* ask("DELETE", `/credentials/${str(answer["id"])}`)

  // Things that do not exist
  yield* ask("GET", "/workflows/none/tags")
  yield* ask("POST", "/workflows/none/activate")
  yield* ask("POST", "/workflows/none/deactivate")
  yield* ask("DELETE", "/credentials/none")
  yield* ask("POST", "/executions/999/retry")
  yield* ask("POST", "/executions/999/stop")
  yield* ask("GET", "/projects")
  if (!isNew) return exchanges
  for (const verb of ["archive", "unarchive", "publish", "unpublish"]) yield* ask("POST", `/workflows/none/${verb}`)
  yield* ask("GET", "/workflows/none/versions/none")
  yield* ask("GET", "/projects/personal/folders")
  yield* ask("POST", "/credentials/none/test")
  const table = "/data-tables/0123456789abcdef"
  yield* ask("PATCH", table, { name: "x" })
  yield* ask("DELETE", table)
  yield* ask("GET", `${table}/columns`)
  yield* ask("POST", `${table}/columns`, { name: "a", type: "string" })
  yield* ask("PATCH", `${table}/columns/0123456789abcdef`, { name: "a" })
  yield* ask("DELETE", `${table}/columns/0123456789abcdef`)
  yield* ask("GET", `${table}/rows`)
  yield* ask("POST", `${table}/rows`, { data: [{ a: 1 }] })
  const filter = { filters: [{ columnName: "a", condition: "eq", value: 1 }] }
  yield* ask("PATCH", `${table}/rows/update`, { filter, data: { a: 2 } })
  yield* ask("POST", `${table}/rows/upsert`, { filter, data: { a: 2 } })
  yield* ask("DELETE", `${table}/rows/delete?filter=${encodeURIComponent(JSON.stringify(filter))}`)
  yield* ask("DELETE", `${table}/rows/clear`)
  return exchanges
})
