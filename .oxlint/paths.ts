/** Paths of values, which only `base/JsonPath.ts` writes: by hand, a key such as `order no` makes a path that no tool reads. */

const roots = /\b(?:nodes|connections|parameters|credentials|settings|operations)(?:\[|\.)\$\{/

const members = /\$\{(?:[\w.]+\.)?(?:path|at|place|field|prefix)\}(?:\[\$|\.\$|\.[a-z])/

const sums = /\b(?:path|at|place|field|prefix) \+ ["'`][.[]/

/** Whether a line of code writes a path by hand. */
export const writesPath = (line: string): boolean =>
  !/^\s*(?:\*|\/)/.test(line) && [roots, members, sums].some((pattern) => pattern.test(line))
