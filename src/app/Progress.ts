/** Progress below the lines of a terminal, which no other line may share. */

const clearLine = "\r\u001B[K"

let isShown = false

/** Removes the progress, before another line is written. */
export const clear = () => {
  if (isShown) process.stderr.write(clearLine)
  isShown = false
}

/** Shows a line in the place of the last one; an empty one removes it. */
export const show = (line: string) => {
  process.stderr.write(`${clearLine}${line}`)
  isShown = line !== ""
}
