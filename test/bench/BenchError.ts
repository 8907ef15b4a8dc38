import * as Schema from "effect/Schema"

/** A measured server failed a request; `detail` ends with its output on stderr. */
export class BenchError extends Schema.TaggedError<BenchError>()("BenchError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
