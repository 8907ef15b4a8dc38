import * as Data from "effect/Data"

/** Why there is no browser, and what to do about it. */
export class BrowserError extends Data.TaggedError("BrowserError")<{ readonly message: string }> {}
