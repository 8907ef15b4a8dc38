import * as Schema from "effect/Schema"

/** A server under measurement did not do what it was asked; `detail` ends with what it printed to stderr. */
export class BenchError extends Schema.TaggedError<BenchError>()("BenchError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
