/** End of the process after its output: imports nothing, since starts are lean. */

/** Waits until the reader of a stream has taken everything, or is gone: `process.exit` drops what a pipe cannot hold. */
const drain = (stream: NodeJS.WriteStream) =>
  new Promise<unknown>((resolve) => stream.writableLength === 0 ? resolve(undefined) : stream.write("", resolve))

/** Ends the process when everything that was written has been taken. */
export const end = (code?: number | string | null) =>
  void Promise.all([process.stdout, process.stderr].map(drain)).then(() => process.exit(code))
