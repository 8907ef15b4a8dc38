import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as links from "../../n8n/Links.ts"
import { cursorAt, isUnsupported, N8nClient, pageAt, positionOf } from "../../n8n/N8nClient.ts"
import * as References from "../../workflow/References.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })

/** Maximum number of pages that one call searches for credentials of a type. */
const maxPages = 40

/** Credentials that workflows use, for n8n 1.x. */
const inUse = N8nClient.use(({ streamWorkflows }) =>
  Stream.runFold(
    streamWorkflows({ archived: true }),
    () => new Map<string, typeof Row.Type>(),
    (byId, workflow) => {
      for (const credential of References.credentials([workflow])) byId.set(credential.id, credential)
      return byId
    }
  )
).pipe(Effect.map((byId) => [...byId.values()].toSorted((a, b) => a.name < b.name ? -1 : 1)))

/** `GET /credentials` (2.x), page by page up to `limit` of the type; on 1.x, the ones in `GET /workflows`. */
export const listCredentials = Tool.make({
  name: "list_credentials",
  title: "List credentials",
  searchHint: "accounts, logins, api keys that nodes can use",
  description: "List credentials for nodes, never values.",
  annotations: Tool.readOnly,
  scopes: ["credential:list"],
  input: Schema.Struct({
    type: parameters.optional(Schema.String, "Such as slackApi."),
    limit: parameters.limit,
    cursor: parameters.cursor
  }),
  output: Schema.Struct({
    count: Schema.Int,
    credentials: Schema.Array(Row),
    nextCursor: Schema.optionalKey(Schema.String),
    hint: Schema.optionalKey(Schema.String),
    url: Schema.String
  }),
  handler: ({ cursor, limit, type }) =>
    Effect.gen(function*() {
      const n8n = yield* N8nClient
      const url = links.credentials(n8n.instance)
      const rows: Array<typeof Row.Type & { readonly cursor: string }> = []
      let position = yield* positionOf(cursor)
      let hint: string | undefined
      let hasMore = true
      for (let pages = 0; hasMore && rows.length < limit && pages < maxPages; pages++) {
        const page = yield* n8n.listCredentials(pageAt(position, limit)).pipe(
          Effect.catchIf(isUnsupported, () => Effect.undefined)
        )
        if (page === undefined) hint = "This n8n does not list credentials: these are the ones that its workflows use."
        for (const { id, name, type: own } of page?.data ?? (yield* inUse).slice(position)) {
          position++
          if (type === undefined || own === type) rows.push({ id, name, type: own, cursor: cursorAt(position) })
        }
        hasMore = typeof page?.nextCursor === "string"
      }
      const nextCursor = rows.length > limit ? rows[limit - 1]?.cursor : hasMore ? cursorAt(position) : undefined
      return { rows: rows.slice(0, limit), nextCursor, hint, url }
    }),
  ending: ({ rows, ...rest }) => ({
    size: rows.length,
    after: (count) => ({ ...rest, rows: rows.slice(0, count), nextCursor: rows[count - 1]?.cursor })
  }),
  summarize: ({ rows, hint, nextCursor, url }) =>
    defined({
      count: rows.length,
      credentials: rows.map(({ cursor: _, ...credential }) => credential),
      nextCursor,
      hint,
      url
    }),
  message: ({ count }) => ({
    en: `Found ${counted(count, "credential")}`,
    ja: "認証情報の一覧を取得しました"
  })
})
