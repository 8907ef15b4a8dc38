/** Judgments of what a watch has observed. */
export * as credentials from "./credentials.ts"
export * as durations from "./durations.ts"
export { History } from "./durations.ts"
export * as failures from "./failures.ts"
export * as publications from "./publications.ts"
export * as rhythm from "./rhythm.ts"
export { Rhythm } from "./rhythm.ts"
export * as schedules from "./schedules.ts"
