/** A prompt is a task that a person picks by name: what the model is then asked, in our words. */
import type * as Resource from "./Resource.ts"

/** What a prompt is told. */
export interface Argument<out R = unknown> {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly complete?: Resource.Complete<R>
}

/** A task with its arguments. */
export interface Prompt<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: ReadonlyArray<Argument<R>>
  /** What the model is asked; required arguments are there. */
  readonly text: (args: Readonly<Record<string, string>>) => string
}
