/** Tools for a folder in step with n8n, in the order clients see them. */
import { syncPull } from "./syncPull.ts"
import { syncPush } from "./syncPush.ts"
import { syncStatus } from "./syncStatus.ts"

export { syncPull, syncPush, syncStatus }

export default [syncStatus, syncPull, syncPush] as const
