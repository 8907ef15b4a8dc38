import * as Schema from "effect/Schema"

/** A real n8n could not be installed, started or called; `detail` ends with the last lines of its output. */
export class RealN8nError extends Schema.TaggedError<RealN8nError>()("RealN8nError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
