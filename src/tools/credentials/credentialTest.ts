import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Tool from "../../answer/Tool.ts"
import * as Errors from "../../base/Errors.ts"
import { isUnsupported, N8nClient } from "../../n8n/N8nClient.ts"
import * as parameters from "../shared/Parameters.ts"

/** `POST /credentials/{id}/test` (2.x). */
export const credentialTest = Tool.make({
  name: "credential_test",
  title: "Test credential",
  searchHint: "is a login valid, 401, expired token, connection refused",
  description: "Test a credential at its service.",
  annotations: Tool.readOnly,
  scopes: ["credential:read"],
  input: Schema.Struct({ id: parameters.required("id", "From list_credentials.") }),
  output: Schema.Struct({ id: Schema.String, ok: Schema.Boolean, message: Schema.String }),
  handler: ({ id }) =>
    Effect.catchIf(N8nClient.use((n8n) => n8n.testCredential(id)), isUnsupported, () =>
      new Errors.ValidationError({
        reason: "This n8n's API cannot test credentials",
        hint:
          "Ask the user to open the credential in n8n and save it, which tests it. Newer n8n 2.x releases have this API."
      })),
  summarize: ({ message, status }, { id }) => ({ id, ok: status === "OK", message }),
  message: ({ ok }) => ({
    en: ok ? "The credential works" : "The credential could not be used: message says why",
    ja: ok ? "認証情報は有効です" : "認証情報を使用できませんでした"
  })
})
