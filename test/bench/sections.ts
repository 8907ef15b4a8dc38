/** The page of the benchmarks: its sections, and the figures that a run of each writes. */

interface Section {
  /** Name of the benchmark. */
  readonly name: string
  readonly title: string
  readonly text: string
  readonly args?: ReadonlyArray<string>
  readonly image?: { readonly file: string; readonly about: string }
}

/** What the page shows, in its order. */
export const sections: ReadonlyArray<Section> = [
  {
    name: "starts",
    title: "Starts",
    text:
      "From the start of the process over stdio, in both eras of MCP, with the options of a typical `.mcp.json`, of the plugin and of the bundle, and without any; n8n is a stub. The rest of the program loads by itself a second after the start: tools that need nothing but an n8n (`list_workflows`, `list_credentials`, `credential_test`, `stop_execution`, `project_list`) answer before that, and other calls within this second wait for it."
  },
  {
    name: "load",
    title: "Under load",
    text:
      "One process over HTTP, 200 clients on the same machine, n8n a stub in another process. The bare server on the SDK asks n8n as often and answers as many characters, without checks, redaction, budgets or a log; the minimal server of Effect does the same, and shows what the runtime costs. Of a call's processor time about a quarter is Node's HTTP towards the client and n8n, more than a quarter Effect's runtime (about 370 steps of four to eight fibers), a twelfth the collection of garbage, and the rest access control, log, protocol, the client of n8n, schemas, redaction and budgets, each 2 to 8 %."
  },
  {
    name: "runs",
    title: "Large executions",
    text:
      "Questions about one execution of 66 MB and about 100 runs of 1 MB, beside the plain way: a script that downloads the same over as many connections, parses it and looks for the same. n8n is a stub that answers immediately, so that the server's own time shows."
  },
  {
    name: "instance",
    title: "As an instance grows",
    text:
      "Processor time of a call and of each item, and the peak of the process, on a simulated n8n of 10 to 5,000 workflows of 12 nodes, and of 100 to 10,000 executions. Each call has a server of its own. Groups cover at most 500 executions a call and searches 200, so their cost stops growing there.",
    image: { file: "growth.svg", about: "Processor time of a call by the number of workflows and of executions" }
  }
]

/** Figures of one run. */
export interface Part {
  /** Markdown: the machine, tables, and the criteria. */
  readonly summary: string
  readonly measured: string
}

const met = /^- ok: /

/** The output of a benchmark with its criteria in short: how many are met, and those that are not. */
export const summaryOf = (output: string): string => {
  const lines = output.trim().split("\n")
  const criteria = lines.filter((line) => /^- (ok|MISSED|not measured): /.test(line))
  const others = criteria.filter((line) => !met.test(line))
  const rest = lines.filter((line) => !criteria.includes(line)).join("\n").trim()
  const count = `Criteria met: ${criteria.length - others.length} of ${criteria.length}.`
  return [rest, [criteria.length === 0 ? "" : count, ...others].join("\n").trim()].join("\n\n").trim()
}

const begin = (name: string, measured: string) => `<!-- ${name}: ${measured} -->`
const end = (name: string) => `<!-- /${name} -->`

/** The parts of a page that was written before, by name. */
export const partsOf = (page: string): ReadonlyArray<readonly [name: string, part: Part]> =>
  Array.from(
    page.matchAll(/^<!-- (\w+): (.*) -->\n\n(.*?)\n\n<!-- \/\1 -->$/gms),
    ([, name = "", measured = "", summary = ""]) => [name, { measured, summary }] as const
  )

/** The page. */
export const pageOf = (parts: ReadonlyMap<string, Part>): string =>
  [
    "# Benchmarks",
    "`pnpm bench page` measures all of this in one run and writes the page; `pnpm bench NAME` measures one part. Contenders take turns in each round, so that noise affects all of them; figures are medians. What a criterion asks is in `test/bench/NAME.ts`. `pnpm bench growth` measures what must take time in proportion to its input, function by function.",
    ...sections.flatMap(({ image, name, text, title }) => {
      const part = parts.get(name)
      return [
        `## ${title}`,
        `\`pnpm bench ${name}\`: ${text}`,
        ...(image === undefined ? [] : [`![${image.about}](../images/${image.file})`]),
        ...(part === undefined
          ? ["Not measured yet."]
          : [begin(name, part.measured), part.summary, end(name)])
      ]
    })
  ].join("\n\n") + "\n"
