/** Short guides to what n8n's descriptions of its nodes do not say: `n8n://guide/{topic}`. */
import { agents } from "./agents.ts"
import { errors } from "./errors.ts"
import { expressions } from "./expressions.ts"
import type { Guide } from "./guide.ts"
import { loops } from "./loops.ts"
import { pagination } from "./pagination.ts"
import { webhooks } from "./webhooks.ts"

export type { Guide, GuideWorkflow } from "./guide.ts"

/** All of them. */
export const all: ReadonlyArray<Guide> = [errors, loops, webhooks, agents, expressions, pagination]
