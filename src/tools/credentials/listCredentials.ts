import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import { counted } from "../../base/Plural.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import * as links from "../shared/Links.ts"
import * as parameters from "../shared/Parameters.ts"

const Row = Schema.Struct({ id: Schema.String, name: Schema.String, type: Schema.String })

/** Maximum number of pages that one call searches for credentials of a type. */
const maxPages = 40

/** Credentials that workflows use, for n8n 1.x; the filter collects them and rejects every workflow. */
const inUse = Effect.fnUntraced(function*(cursor: string | undefined) {
  const byId = new Map<string, typeof Row.Type>()
  const { nextCursor } = yield* (yield* N8nClient).listWorkflows({
    archived: true,
    limit: 1,
    cursor,
    filter: (workflow) => {
      for (const credential of Workflow.credentialsOf(workflow)) byId.set(credential.id, credential)
      return false
    }
  })
  return { credentials: [...byId.values()].toSorted((a, b) => a.name < b.name ? -1 : 1), nextCursor }
})

/** `GET /credentials` (2.x), page by page up to `limit` of the type; on 1.x, the ones in `GET /workflows`. */
export const listCredentials = Tool.make({
  name: "list_credentials",
  title: "List credentials",
  searchHint: "accounts, logins, api keys that nodes can use",
  description: "List credentials to use in nodes; never their values.",
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
      const isAsked = (credential: typeof Row.Type) => type === undefined || credential.type === type
      const credentials: Array<typeof Row.Type> = []
      let next = cursor
      // Whole pages, so that n8n's cursor says where to continue; there may be a few more rows than requested.
      for (let pages = 0; pages < maxPages; pages++) {
        const page = yield* n8n.listCredentials({ limit, cursor: next }).pipe(
          Effect.catchIf(isUnsupported, () => Effect.undefined)
        )
        if (page === undefined) {
          const { credentials, nextCursor } = yield* inUse(cursor)
          const hint = "This n8n does not list credentials: these are the ones that its workflows use."
          return { credentials: credentials.filter(isAsked), next: nextCursor, hint, url }
        }
        credentials.push(...page.data.filter(isAsked))
        const isRepeated = page.nextCursor === next
        next = isRepeated ? undefined : page.nextCursor ?? undefined
        if (credentials.length >= limit || next === undefined) break
      }
      return { credentials, next, hint: undefined, url }
    }),
  summarize: ({ credentials, hint, next, url }) =>
    defined({
      count: credentials.length,
      credentials: credentials.map(({ id, name, type }) => ({ id, name, type })),
      nextCursor: next,
      hint,
      url
    }),
  message: ({ count }) => ({
    en: `Found ${counted(count, "credential")}`,
    ja: "認証情報の一覧を取得しました"
  })
})
