/** Wording shared by sentences about incidents. Pure. */
import * as Visible from "../base/Visible.ts"

/** The first of some names. */
export const names = (all: ReadonlyArray<string>, most = 3, length = 30): string =>
  `${all.slice(0, most).map((name) => `'${Visible.label(name, length)}'`).join(", ")}${all.length > most ? " …" : ""}`
