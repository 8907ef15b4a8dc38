/** Users: only to read, for what they may do is a person's affair. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Errors from "../base/Errors.ts"
import { elements, type Page, pageOf, type PageQuery } from "./pages.ts"
import { getJson, type Requests } from "./requests.ts"

/** A user; somebody who was invited and has not come yet is `isPending` and has no name. */
const User = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  firstName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  lastName: Schema.optionalKey(Schema.NullOr(Schema.String)),
  isPending: Schema.optionalKey(Schema.Boolean),
  role: Schema.optionalKey(Schema.NullOr(Schema.String)),
  mfaEnabled: Schema.optionalKey(Schema.Boolean),
  createdAt: Schema.optionalKey(Schema.String),
  updatedAt: Schema.optionalKey(Schema.String)
})

/**
 * A user of the n8n.
 *
 * @category models
 * @since 0.1.0
 */
export type User = typeof User.Type

const Users = pageOf(User)

/**
 * Which users; `includeRole` adds the role, such as `global:owner`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Query {
  readonly includeRole?: boolean | undefined
  readonly projectId?: string | undefined
}

/** The user endpoints, which only the owner and admins may use. */
export interface Service {
  /** `GET /users`. */
  readonly listUsers: (query: PageQuery & Query) => Effect.Effect<Page<User>, Errors.RequestError>
  /** All users, a page at a time as they are asked for. */
  readonly streamUsers: (query?: Query) => Stream.Stream<User, Errors.RequestError>
  /** `GET /users/{id}`, by id or e-mail address. */
  readonly getUser: (
    idOrEmail: string,
    query?: { readonly includeRole?: boolean }
  ) => Effect.Effect<User, Errors.N8nError>
}

const target: Errors.Target = { operation: "list users" }

/** Implements them for one n8n. */
export const make = (requests: Requests): Service => {
  const listUsers: Service["listUsers"] = Effect.fn("N8nClient.listUsers")((query) =>
    getJson(requests, "/users", Users, target, { ...query })
  )
  return {
    listUsers,
    streamUsers: (query = {}) => elements(target, (page) => listUsers({ ...query, ...page })),
    getUser: Effect.fn("N8nClient.getUser")((id, query = {}) =>
      getJson(
        requests,
        `/users/${encodeURIComponent(id)}`,
        User,
        { operation: "get user", resourceType: "User", resourceId: id },
        { ...query }
      )
    )
  }
}
