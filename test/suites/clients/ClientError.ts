import * as Schema from "effect/Schema"

/** A client could not be installed, did not start, or did not come to an end: that is no verdict on our server. */
export class ClientError extends Schema.TaggedError<ClientError>()("ClientError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
