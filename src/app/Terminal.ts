/** The two outputs of a command: the only writer of lines and of their colours. */
import * as Effect from "effect/Effect"
import { CallContext, type Service as Caller } from "../base/CallContext.ts"
import * as Visible from "../base/Visible.ts"
import * as Progress from "./Progress.ts"
import * as Layout from "./report/Layout.ts"

const { FORCE_COLOR, NO_COLOR, TERM } = process.env

export const isColoured = FORCE_COLOR
  ? FORCE_COLOR !== "0"
  : process.stdout.isTTY === true && !NO_COLOR && TERM !== "dumb"

/** Whether a person can be asked. */
export const isInteractive = () => process.stdin.isTTY === true && process.stdout.isTTY === true

/** Whether stdout is read by a program. */
export const isPiped = () => process.stdout.isTTY !== true

/** Whether a person sees what goes to stderr. */
export const isWatched = () => process.stderr.isTTY === true

/** Columns of a terminal; elsewhere lines are as long as their text. */
const widthOf = ({ columns, isTTY }: NodeJS.WriteStream) => isTTY === true ? columns || 80 : Infinity

/** Screen of what a command prints. */
export const screen = (): Layout.Screen => ({ width: widthOf(process.stdout), isColoured })

const writeOn = (stream: NodeJS.WriteStream, text: string) => {
  Progress.clear()
  stream.write(text)
}

/** Shows a line that the next one replaces, on a terminal only; an empty one removes it. */
export const progress = (line: string) =>
  Effect.sync(() => {
    if (isWatched()) Progress.show(Layout.fit(Visible.line(line), widthOf(process.stderr) - 1))
  })

/** Shows the progress of a call, and removes it at its end. */
export const watching = <A, E, R>(call: Effect.Effect<A, E, R>) =>
  Effect.updateService(call, CallContext, (caller): Caller => ({
    ...caller,
    progress: (done, total, message) => progress(done === total ? "" : Visible.label(message, 80))
  })).pipe(Effect.ensuring(Effect.sync(Progress.clear)))

const linesOn = (streamOf: () => NodeJS.WriteStream, isWrapped: boolean) => (line: string) =>
  Effect.sync(() => {
    const stream = streamOf()
    const shown = Visible.terminal(line).split("\n")
    const lines = isWrapped ? shown.flatMap((each) => Layout.inWidth(each, widthOf(stream))) : shown
    writeOn(stream, `${lines.join("\n")}\n`)
  })

/** Prints a line as it is: data, and what a person copies. */
export const print = linesOn(() => process.stdout, false)

/** Prints sentences, which a terminal breaks between words. */
export const say = linesOn(() => process.stdout, true)

/** Prints sentences on stderr. */
export const warn = linesOn(() => process.stderr, true)

/** Prints lines, and fails if their reader is gone: a report that no one reads counts as not delivered. */
export const deliver = (lines: ReadonlyArray<string>) =>
  lines.length === 0 ? Effect.void : Effect.callback<void, string>((resume) => {
    Progress.clear()
    process.stdout.write(
      lines.map((line) => `${Visible.terminal(line)}\n`).join(""),
      (error) => resume(error == null ? Effect.void : Effect.fail("stdout is closed"))
    )
  })

/** Writes a document unchanged, such as the commands of a CI system, which `print` would make visible. */
export const write = (text: string) => Effect.sync(() => writeOn(process.stdout, text))
