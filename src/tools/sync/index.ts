/** Tools that keep a folder in sync with n8n. */
export { syncPull } from "./syncPull.ts"
export { syncPush } from "./syncPush.ts"
export { syncStatus } from "./syncStatus.ts"
