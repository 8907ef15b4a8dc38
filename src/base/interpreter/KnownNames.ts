/** Names of the functions and values that an expression knows; a field of an item with such a name hides it. */
export const globalNames = [
  "encodeURIComponent",
  "encodeURI",
  "decodeURIComponent",
  "decodeURI",
  "undefined",
  "NaN",
  "Infinity",
  "Number",
  "String",
  "Boolean",
  "parseInt",
  "parseFloat",
  "isNaN",
  "isFinite"
] as const

/** Fields of an item that a condition may read beside its paths. */
export const unlistedFields: ReadonlyArray<string> = [...globalNames, "length"]
