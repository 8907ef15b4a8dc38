/** Files that are read beside the code: in `dist`, beside an app's bundle, or in the installed package. */
// Whole, since many programs declare `createRequire` at the head of their bundles.
import nodeModule from "node:module"
import { resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

/** Address of this module; of the program in a bundle for CommonJS, where `import.meta` is empty. */
const here = (): string => {
  const url: string | undefined = import.meta.url
  return url ?? pathToFileURL(resolve(process.argv[1] ?? "program.js")).href
}

/** Whether the code runs from its sources, beside which nothing is built. */
export const isSource = (): boolean => import.meta.url?.endsWith(".ts") === true

/** Path of a file beside the code. */
export const beside = (name: string): string =>
  fileURLToPath(new URL(isSource() ? `../../dist/${name}` : `./${name}`, here()))

/** Paths where a file may be, the nearest first; the last is in the installed package, if there is one. */
export const places = (name: string): readonly [string, ...ReadonlyArray<string>] => {
  try {
    return [beside(name), nodeModule.createRequire(here()).resolve(`effect-n8n-mcp/${name}`)]
  } catch {
    return [beside(name)]
  }
}
