/** Prompts: tasks that a person picks by name, each with the text that the model then receives. */
import type * as Resource from "./Resource.ts"

/** Argument of a prompt. */
export interface Argument<out R = unknown> {
  readonly name: string
  readonly description: string
  readonly required: boolean
  readonly complete?: Resource.Complete<R>
}

/** Prompt with its arguments. */
export interface Prompt<out R = unknown> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: ReadonlyArray<Argument<R>>
  /** Text for the model; all required arguments are present. */
  readonly text: (args: Readonly<Record<string, string>>) => string
}
