/** Tools for data tables. */
export { tableRead } from "./tableRead.ts"
export { tableWrite } from "./tableWrite.ts"
