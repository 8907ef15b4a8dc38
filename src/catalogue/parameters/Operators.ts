/** Operators of filters (If, Switch, Filter). */

const compared = ["equals", "notEquals"]
const always = ["exists", "notExists", "empty", "notEmpty"]
const texts = ["contains", "notContains", "startsWith", "notStartsWith", "endsWith", "notEndsWith", "regex", "notRegex"]
const lengths = ["lengthEquals", "lengthNotEquals", "lengthGt", "lengthLt", "lengthGte", "lengthLte"]

export const operations: Record<string, ReadonlyArray<string>> = {
  string: [...always, ...compared, ...texts],
  number: [...always, ...compared, "gt", "lt", "gte", "lte"],
  dateTime: [...always, ...compared, "after", "before", "afterOrEquals", "beforeOrEquals"],
  boolean: [...always, "true", "false", ...compared],
  array: [...always, "contains", "notContains", ...lengths],
  object: always
}
