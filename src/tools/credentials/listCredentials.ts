import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })

/** So many pages are looked through in one call for credentials of a type; nextCursor goes on. */
const maxPages = 40

/** `GET /credentials` (2.x), paged until `limit` of the type are found. */
export const listCredentials = Tool.make({
  name: "list_credentials",
  title: "List credentials",
  searchHint: "accounts, logins, api keys that nodes can use",
  description:
    "List credentials by id, name and type, to refer to in a node's credentials; never their values. n8n 2.x only.",
  annotations: Tool.readOnly,
  scopes: ["credential:list"],
  input: Schema.Struct({
    type: Schema.optionalKey(Schema.String.annotate({ description: "Only of this type, such as slackApi." })),
    limit: parameters.limit,
    cursor: parameters.cursor
  }),
  output: Schema.Struct({
    count: Schema.Int,
    credentials: Schema.Array(Row),
    nextCursor: Schema.optionalKey(Schema.String),
    url: Schema.String
  }),
  handler: ({ cursor, limit, type }) =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const credentials: Array<typeof Row.Type> = []
      let next = cursor
      // Whole pages, so that n8n's cursor says where to go on; a page may hold a few more than asked for.
      for (let pages = 0; pages < maxPages; pages++) {
        const page = yield* n8n.listCredentials({ limit, cursor: next })
        credentials.push(...page.data.filter((credential) => type === undefined || credential.type === type))
        const isRepeated = page.nextCursor === next
        next = isRepeated ? undefined : page.nextCursor ?? undefined
        if (credentials.length >= limit || next === undefined) break
      }
      return { credentials, next, url: links.credentials(n8n.instance) }
    }),
  summarize: ({ credentials, next, url }) =>
    defined({
      count: credentials.length,
      credentials: credentials.map(({ id, name, type }) => ({ id, name, type })),
      nextCursor: next,
      url
    }),
  message: ({ count }) => ({
    en: `Found ${counted(count, "credential")}`,
    ja: "認証情報の一覧を取得しました"
  })
})
