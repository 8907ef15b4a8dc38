/** Tools for an n8n as a whole. */
export { instanceOverview } from "./instanceOverview.ts"
