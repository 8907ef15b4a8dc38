/** Tools for data tables, in the order clients see them. */
import { tableRead } from "./tableRead.ts"
import { tableWrite } from "./tableWrite.ts"

export { tableRead, tableWrite }

export default [tableRead, tableWrite] as const
