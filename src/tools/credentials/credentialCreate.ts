import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import { defined } from "../../base/Json.ts"
import * as CredentialValues from "../../credentials/CredentialValues.ts"
import * as links from "../../n8n/Links.ts"
import { N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"
import * as writing from "../shared/Writing.ts"

/** `GET /credentials/schema/{type}`, then `POST /credentials`; served only with `--credential-env`. */
export const credentialCreate = Tool.make({
  name: "credential_create",
  title: "Create credential",
  searchHint: "new account, connect a service, store an api key or password",
  description: "Create a credential; secrets come from the server's environment. values {} lists the type's fields.",
  annotations: Tool.additive,
  scopes: ["credential:create"],
  input: Schema.Struct({
    type: parameters.required("type", "Such as slackApi; node_get lists them."),
    name: parameters.required("name", "Its name."),
    values: writing.jsonObject("By field; secrets only as {\"env\": \"NAME\"}.")
  }),
  output: Schema.Struct({
    id: Schema.String,
    name: Schema.String,
    type: Schema.String,
    notes: Schema.optionalKey(Schema.Array(Schema.String)),
    url: Schema.String
  }),
  handler: (input) =>
    Effect.gen(function*() {
      return { ...(yield* CredentialValues.create(input)), url: links.credentials((yield* N8nClient).instance) }
    }),
  summarize: ({ id, name, notes, type, url }) =>
    defined({ id, name, type, notes: notes.length === 0 ? undefined : notes, url }),
  message: ({ id }) => ({
    en: `Created credential '${id}': test it with credential_test(id)`,
    ja: "認証情報を作成しました"
  })
})
