/** Lists of n8n, which come in pages. */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import * as HttpErrors from "./HttpErrors.ts"
import { maxPage } from "./model/Limits.ts"

const Cursor = Schema.String.check(Schema.isPattern(/^[!-~]{1,4096}$/))

export const pageOf = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), nextCursor: Schema.optionalKey(Schema.NullOr(Cursor)) })

/** Maximum number of pages that one call reads of a list, in case a server always names a next one. */
export const maxPages = 40

/** The error for a list with more pages than there can be, or with the same page again. */
export const endless = (target: Errors.Target) =>
  HttpErrors.unreadableError(target, "a list that does not end or repeats itself")

export const pages = <A, E extends Errors.N8nError>(
  target: Errors.Target,
  read: (cursor: string | undefined) => Effect.Effect<readonly [ReadonlyArray<A>, string | undefined], E>
): Stream.Stream<A, E | Errors.ApiError> =>
  Stream.paginate(
    undefined as string | undefined,
    (cursor) =>
      Effect.flatMap(read(cursor), ([page, next]) =>
        next !== undefined && next === cursor
          ? Effect.fail(endless(target))
          : Effect.succeed([page, Option.fromUndefinedOr(next)] as const))
  )

/** Query for a page of a list; `limit` is 1 to 250. */
export interface PageQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

/** Returns a check of a query's numbers; `maximum` is the largest page. */
export const checking = (maximum: number) => {
  const fields = {
    limit: Input.count("limit", maximum),
    offset: Schema.optionalKey(Input.within("offset", Input.fromZero))
  }
  const decode = Input.decoder(Schema.Struct(fields), "ignore")
  return <Q extends { readonly limit: number }>(query: Q): Effect.Effect<Q, Errors.ValidationError> =>
    Effect.as(decode(query), query)
}

/** Checks the query of a page of n8n's. */
export const checked = checking(maxPage)

/** n8n's own cursor of a list that it counts, base64 of `{limit, offset}`; also where it has no parameter `offset`. */
export const encodePosition = Schema.encodeSync(
  Schema.StringFromBase64.pipe(
    Schema.decodeTo(Schema.fromJsonString(Schema.Struct({ limit: Schema.Int, offset: Schema.Int })))
  )
)

/** Cursor that continues after this many elements of a list, within a page of n8n too. */
export const cursorAt = (position: number): string => `at-${position}`

/** Number of elements before a cursor of {@link cursorAt}; 0 without one. */
export const positionOf = (cursor: string | undefined): Effect.Effect<number, Errors.ValidationError> => {
  const position = cursor === undefined ? "0" : /^at-(\d{1,9})$/.exec(cursor)?.[1]
  return position === undefined
    ? Errors.invalid("cursor", "cursor is not a nextCursor of this list", "Start again without a cursor.")
    : Effect.succeed(Number(position))
}

/** Query for the page that begins at a position. */
export const pageAt = (position: number, limit: number): PageQuery => ({
  limit,
  cursor: position === 0 ? undefined : encodePosition({ limit, offset: position })
})

/** A page of a list as n8n returns it. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly nextCursor?: string | null
}

/** The elements of all pages of a list of n8n, a page at a time as they are asked for. */
export const elements = <A, E extends Errors.N8nError>(
  target: Errors.Target,
  list: (query: PageQuery) => Effect.Effect<Page<A>, E>
): Stream.Stream<A, E | Errors.ApiError> =>
  pages(
    target,
    (cursor) =>
      Effect.map(list({ limit: maxPage, cursor }), ({ data, nextCursor }) => [data, nextCursor ?? undefined] as const)
  )
