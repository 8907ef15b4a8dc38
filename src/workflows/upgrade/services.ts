/** Mappings. */
import type { Steps, Successors } from "./mapping.ts"

export const steps: Steps = {}

export const successors: Successors = {}
