import * as Schema from "effect/Schema"

/** A client could not be installed or started, or did not end: that says nothing about our server. */
export class ClientError extends Schema.TaggedError<ClientError>()("ClientError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
