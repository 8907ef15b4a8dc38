import * as Schema from "effect/Schema"

/** A server did not start or the suite did not run, so there is no verdict. */
export class ConformanceError extends Schema.TaggedError<ConformanceError>()("ConformanceError", {
  step: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `${this.step}: ${this.detail}`
  }
}
