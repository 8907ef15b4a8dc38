/** Tools for an n8n as a whole, in the order clients see them. */
import { instanceOverview } from "./instanceOverview.ts"

export { instanceOverview }

export default [instanceOverview] as const
