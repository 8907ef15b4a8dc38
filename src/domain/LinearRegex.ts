/**
 * Regular expressions tested without backtracking: no pattern and no text takes long, whoever wrote them.
 *
 * **Details**
 *
 * A pattern becomes a program, which is never twice in one place of it at one place of the text. It knows no back
 * references, look-behind, word boundaries, named groups and flags.
 */

/** Where to go from a `split` is counted from it. */
type Step =
  | { readonly op: "char"; readonly fits: (char: string) => boolean }
  | { readonly op: "split"; readonly to: ReadonlyArray<number> }
  | { readonly op: "look"; readonly program: Program; readonly isNegated: boolean }
  | { readonly op: "start" | "end" | "match" }
type Program = ReadonlyArray<Step>

const most = { steps: 50_000, depth: 50, text: 10_000, tries: 300_000 }

/** What is given up; never seen outside. */
class Unknown extends Error {}

/** One character by `[…]`, `\d`, `.` or itself: the engine we run on cannot backtrack in that. */
const char = (source: string): Step => {
  const atom = new RegExp(`^(?:${source})$`)
  const known = new Map<string, boolean>()
  const fits = (char: string) => {
    const does = known.get(char) ?? atom.test(char)
    known.set(char, does)
    return does
  }
  return { op: "char", fits }
}

const split = (...to: ReadonlyArray<number>): Step => ({ op: "split", to })

const joined = (programs: ReadonlyArray<Program>): Program => {
  if (programs.reduce((sum, { length }) => sum + length, 0) > most.steps) throw new Unknown()
  return programs.flat()
}

const optional = (program: Program): Program => [split(1, program.length + 1), ...program]
const repeated = (program: Program): Program => [
  split(1, program.length + 2),
  ...program,
  split(-program.length - 1)
]

const times = (program: Program, from: number, to: number): Program => {
  const finite = to === Infinity ? from : to
  if (finite * (program.length + 1) > most.steps) throw new Unknown()
  const further = to === Infinity ? [repeated(program)] : Array.from({ length: to - from }, () => optional(program))
  return joined([...Array.from({ length: from }, () => program), ...further])
}

/** A choice of where to begin, each way with a jump over the others behind it. */
const either = (programs: ReadonlyArray<Program>): Program => {
  const length = programs.reduce((sum, program) => sum + program.length + 1, 1)
  let next = 1
  const starts = programs.map((program) => {
    const start = next
    next += program.length + 1
    return start
  })
  const ways = programs.flatMap((program, index) => {
    const end = (starts[index] ?? 0) + program.length
    return [program, [split(length - end)]]
  })
  return joined([[split(...starts)], ...ways])
}

const atomPattern = /\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^])|\[(?:\\[^]|[^\]\\])*\]|[^]/y
const unknownEscape = /^\\[1-9bBkpPxuc]$/
const countPattern = /\{(\d+)(,?)(\d*)\}/y

const compile = (pattern: string): Program => {
  let at = 0

  const quantified = (program: Program): Program => {
    countPattern.lastIndex = at
    const count = countPattern.exec(pattern)
    const sign = pattern[at] ?? ""
    if (count === null && (sign === "" || !"*+?".includes(sign))) return program
    at += count?.[0].length ?? 1
    if (pattern[at] === "?") at += 1
    if (count === null) return sign === "?" ? optional(program) : times(program, sign === "+" ? 1 : 0, Infinity)
    const [, from = "", comma, to = ""] = count
    return times(program, Number(from), to !== "" ? Number(to) : comma === "" ? Number(from) : Infinity)
  }

  const group = (depth: number): Program => {
    at += 1
    const mark = /^\?[:=!]/.exec(pattern.slice(at, at + 2))?.[0] ?? ""
    if (mark === "" && pattern[at] === "?") throw new Unknown()
    at += mark.length
    const inner = alternatives(depth + 1)
    at += 1
    return mark === "?=" || mark === "?!"
      ? [{ op: "look", program: [...inner, { op: "match" }], isNegated: mark === "?!" }]
      : inner
  }

  const atom = (depth: number): Program => {
    if (pattern[at] === "(") return group(depth)
    atomPattern.lastIndex = at
    const source = atomPattern.exec(pattern)?.[0] ?? ""
    if (unknownEscape.test(source)) throw new Unknown()
    at += source.length
    if (source === "^" || source === "$") return [{ op: source === "^" ? "start" : "end" }]
    return [char(/^[{}\]]$/.test(source) ? `\\${source}` : source)]
  }

  const sequence = (depth: number): Program => {
    const parts: Array<Program> = []
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") parts.push(quantified(atom(depth)))
    return joined(parts)
  }

  const alternatives = (depth: number): Program => {
    if (depth > most.depth) throw new Unknown()
    const all = [sequence(depth)]
    while (pattern[at] === "|") {
      at += 1
      all.push(sequence(depth))
    }
    return all.length === 1 ? all[0] ?? [] : either(all)
  }

  return [...alternatives(0), { op: "match" }]
}

type Budget = { left: number }

/** Whether the program comes to its end from one of the places; what was tried once is not tried again. */
const runs = (program: Program, text: string, places: Iterable<number>, budget: Budget): boolean => {
  const width = text.length + 1
  const seen = new Set<number>()
  const passes = (step: Step, at: number): boolean =>
    step.op === "start" ?
      at === 0
      : step.op === "end" ?
      at === text.length
      : step.op === "look" && runs(step.program, text, [at], budget) !== step.isNegated
  for (const place of places) {
    const stack = [place]
    for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
      if (seen.has(state)) continue
      seen.add(state)
      budget.left -= 1
      if (budget.left < 0) throw new Unknown()
      const at = state % width
      const step = program[(state - at) / width]
      if (step === undefined) continue
      if (step.op === "match") return true
      if (step.op === "split") { for (const by of step.to.toReversed()) stack.push(state + by * width) }
      else if (step.op === "char") {
        if (at < text.length && step.fits(text.charAt(at))) stack.push(state + width + 1)
      } else if (passes(step, at)) stack.push(state + width)
    }
  }
  return false
}

const programs = new Map<string, Program | undefined>()

const orUndefined = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}

const isPattern = (pattern: string) => orUndefined(() => new RegExp(pattern)) !== undefined

const programOf = (pattern: string): Program | undefined => {
  if (programs.has(pattern)) return programs.get(pattern)
  const program = isPattern(pattern) ? orUndefined(() => compile(pattern)) : undefined
  programs.set(pattern, program)
  return program
}

/** Whether the pattern matches somewhere in the text; `undefined` where that is not to be known, or not soon. */
export const matches = (pattern: string, text: string): boolean | undefined => {
  const program = text.length > most.text ? undefined : programOf(pattern)
  if (program === undefined) return undefined
  const places = Array.from({ length: text.length + 1 }, (_, at) => at)
  return orUndefined(() => runs(program, text, places, { left: most.tries }))
}
