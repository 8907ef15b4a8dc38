/** Command that starts Node as this process was started, for lines that a person copies. */
export const nodeCommand = (path: string = process.execPath): ReadonlyArray<string> =>
  // What npx downloaded for this run is gone when its cache is cleared.
  /[\\/]_npx[\\/]/.test(path) ? ["npx", "-y", "-p", "node@24", "node"] : [path]
