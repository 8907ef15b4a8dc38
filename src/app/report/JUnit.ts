/** Results of cases as JUnit XML for CI systems. Pure. */
import { xml } from "../../base/Xml.ts"

/** Readers convert these characters to spaces or line feeds. */
const coded = (text: string, characters: RegExp) =>
  xml(text).replace(characters, (character) => `&#${character.codePointAt(0)};`)

const attribute = (text: string) => coded(text, /[\t\n\r]/g)

const content = (text: string) => coded(text, /\r/g)

const element = (name: string, attributes: Readonly<Record<string, string | number>>, inner = "") => {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${attribute(String(value))}"`).join("")
  return inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`
}

const seconds = (milliseconds = 0) => (milliseconds / 1_000).toFixed(3)

/** Result of a case; CI systems group by the class name. */
export interface Case {
  readonly name: string
  readonly classname: string
  readonly file?: string
  readonly milliseconds?: number
  readonly problem?: {
    readonly kind: "failure" | "error"
    readonly type: string
    readonly message: string
    readonly text: string
  }
}

const testcase = ({ classname, file, milliseconds, name, problem }: Case) =>
  element(
    "testcase",
    { name, classname, ...(file === undefined ? {} : { file }), time: seconds(milliseconds) },
    problem === undefined
      ? ""
      : element(problem.kind, { type: problem.type, message: problem.message }, content(problem.text))
  )

export interface Times {
  readonly milliseconds: number
  /** Epoch milliseconds. */
  readonly startedAt: number
}

export const document = (cases: ReadonlyArray<Case>, { milliseconds, startedAt }: Times): string => {
  const counts = {
    tests: cases.length,
    failures: cases.filter(({ problem }) => problem?.kind === "failure").length,
    errors: cases.filter(({ problem }) => problem?.kind === "error").length,
    time: seconds(milliseconds)
  }
  const timestamp = new Date(startedAt).toISOString().slice(0, 19)
  const suite = element(
    "testsuite",
    { name: "n8n workflows", ...counts, skipped: 0, timestamp },
    `\n${cases.map((each) => `    ${testcase(each)}\n`).join("")}  `
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n${
    element("testsuites", { name: "effect-n8n-mcp", ...counts }, `\n  ${suite}\n`)
  }\n`
}
