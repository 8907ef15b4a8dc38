/** Names that a caller writes in place of ids: looked up, with a request, only after n8n did not find the id. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Errors from "./Errors.ts"
import * as Rows from "./Rows.ts"

/** Meaning of a text as a name; if nothing has the name, those that are like it. */
interface Meaning {
  readonly id: string | undefined
  readonly near: ReadonlyArray<string>
}

/** Lookup of a text as a name. */
type Find = Effect.Effect<Meaning, Errors.ValidationError>

/** Texts of one call: their meanings as far as they are known, and the lookups of those that n8n was asked for by id. */
class Texts {
  readonly meanings = new Map<string, string>()
  readonly lookups = new Map<string, { readonly id: string; readonly find: Find }>()
}

const Current = Context.Reference<Texts>("effect-n8n-mcp/Alias", { defaultValue: () => new Texts() })

/** Meaning of a text that contains an id: the text itself, until {@link retry} has learned that it is a name. */
export const read = (text: string, id: string, find: Find): Effect.Effect<string> =>
  Effect.map(Current, ({ lookups, meanings }) => {
    const meaning = meanings.get(text)
    if (meaning === undefined) lookups.set(text, { id, find })
    return meaning ?? text
  })

/** Runs a call that reads its texts with {@link read}; again, with their meanings, if a workflow was not found. */
export const retry = <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E | Errors.ValidationError, R> =>
  Effect.suspend(() => {
    const texts = new Texts()
    const attempt: typeof call | Effect.Effect<A, E | Errors.ValidationError, R> = Effect.catch(
      call,
      Effect.fnUntraced(function*(error) {
        const known = texts.meanings.size
        const names = new Set<string>()
        if (error instanceof Errors.NotFoundError && error.resourceType === "Workflow") {
          for (const [text, { find, id }] of texts.lookups) {
            if (id !== error.resourceId) continue
            const meaning = yield* find
            texts.lookups.delete(text)
            if (meaning.id !== undefined) texts.meanings.set(text, meaning.id)
            for (const name of meaning.near) names.add(name)
          }
          if (texts.meanings.size === known && names.size > 0) {
            return yield* Effect.fail(Errors.advised(error, { before: `Did you mean ${Rows.alternatives(names)}?` }))
          }
        }
        return yield* texts.meanings.size > known ? attempt : Effect.fail(error)
      })
    )
    return Effect.provideService(attempt, Current, texts)
  })
