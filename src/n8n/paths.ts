/** Paths and queries of requests, and the ids in them. */
import * as Errors from "../base/Errors.ts"

/** Path of a request with its values percent-encoded; a value that is not a text leaves its part empty. */
export const pathOf = (parts: TemplateStringsArray, ...values: ReadonlyArray<unknown>): string =>
  String.raw(
    { raw: parts },
    ...values.map((value) =>
      typeof value === "string" || typeof value === "number" ? encodeURIComponent(value).replace(/^(?:%20)+$/, "") : ""
    )
  )

/** Refusal of a path that would leave its base, by `..` or one of its spellings, or in which an id is missing. */
export const pathFault = (
  { path, to }: { readonly path: string; readonly to?: string | undefined },
  { operation, resourceId, resourceType = "Path" }: Errors.Target
): Errors.ValidationError | undefined => {
  const refuse = (reason: string, hint: string) =>
    new Errors.ValidationError({
      reason: `Cannot ${operation}: ${reason}`,
      ...(resourceType === "Version" ? { field: "version" } : resourceId === undefined ? {} : { field: "id" }),
      hint: `Nothing was sent. ${hint}`
    })
  const id = "An id consists of letters and digits, as in lists"
  if (path.split(/[/\\]|%2f|%5c/i).some((part) => /^(?:\.|%2e){1,2}$/i.test(part))) {
    return refuse(
      `${resourceType} '${resourceId ?? path}' would lead to another address of n8n`,
      `${id}; a webhook's path must not contain '.' or '..' as a part.`
    )
  }
  return to === undefined && path.split("/").includes("", 1)
    ? refuse(`${resourceType} '${resourceId ?? ""}' is not an id`, `${id}.`)
    : undefined
}

/** Refusal of an empty value in a query of the API: n8n reads one as if it were absent, and answers with everything. */
export const queryFault = (
  { query = {}, to }: {
    readonly query?: { readonly [name: string]: unknown } | ReadonlyArray<readonly [string, string]> | undefined
    readonly to?: string | undefined
  },
  { operation }: Errors.Target
): Errors.ValidationError | undefined => {
  if (to !== undefined) return undefined
  const [field] = Object.entries(query).find(([, value]) => typeof value === "string" && value.trim() === "") ?? []
  return field === undefined ? undefined : Errors.invalid(
    field,
    `Cannot ${operation}: ${field} is empty`,
    `Nothing was sent. Leave ${field} out if everything is meant.`
  )
}
