import * as Errors from "../../src/base/Errors.ts"

/** Reason of an `ApiError` with its status, such as `Status 404`, or the tag of another error. */
export const reasonOf = (error: unknown): string => {
  if (!(error instanceof Errors.ApiError)) return String((error as { readonly _tag?: unknown })._tag)
  const { reason } = error
  return reason._tag === "Status" ? `Status ${reason.statusCode}` : reason._tag
}
