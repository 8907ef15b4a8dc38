/** Health of an n8n as a self-contained page, without scripts and network requests. Pure. */
import { sha256 } from "../../base/Hash.ts"
import { counted } from "../../base/Plural.ts"
import * as Visible from "../../base/Visible.ts"
import { xml } from "../../base/Xml.ts"
import * as Links from "../../n8n/Links.ts"
import type { Instance } from "../../n8n/N8nClient.ts"
import * as Svg from "../../pictures/Svg.ts"
import type * as Health from "../../watch/Health.ts"
import type { Incident, Kind } from "../../watch/Incident.ts"
import * as HealthReport from "./HealthReport.ts"
import * as WatchReport from "./WatchReport.ts"

const css = `${Svg.variables(":root")}
*{box-sizing:border-box}
:root{color-scheme:light dark}
body{margin:0 auto;max-width:1400px;padding:24px;font:15px/1.5 Inter,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",sans-serif;color:var(--text);background:var(--bg)}
h1{font-size:22px;margin:0}
h2{font-size:17px;margin:0 0 8px;overflow-wrap:anywhere}
h2 small{font-weight:400;color:var(--dim)}
p{margin:4px 0;overflow-wrap:anywhere}
a{color:var(--blue)}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--violet);outline-offset:1px}
header p,footer,.time,.change{color:var(--dim)}
.summary{font-size:17px;color:var(--text)}
.scroll{position:relative;direction:rtl;overflow-x:auto;margin:20px 0 8px;border:1px solid var(--line);border-radius:8px;background:var(--box)}
table{direction:ltr;border-collapse:collapse;width:100%}
th,td{padding:4px 2px;border-bottom:1px solid var(--line);text-align:center;font-weight:400;white-space:nowrap}
tbody:last-child tr:last-child>*,tfoot tr>*{border-bottom:0}
thead th{color:var(--dim);font-size:13px;line-height:1.25;vertical-align:bottom}
th[scope=row],thead th:first-child{position:sticky;left:0;width:30%;min-width:150px;max-width:360px;padding-left:14px;text-align:start;background:var(--box);white-space:normal;overflow-wrap:anywhere}
tbody th a{color:inherit;text-decoration:none}
tbody th a:hover,.cell:hover{text-decoration:underline}
.number{text-align:end;font-variant-numeric:tabular-nums;padding-right:14px}
tfoot>*>*{color:var(--dim);font-variant-numeric:tabular-nums}
.weekend{background:color-mix(in srgb,var(--line) 22%,transparent)}
.cell{display:inline-flex;justify-content:center;align-items:center;gap:2px;min-width:28px;min-height:28px;padding:0 4px;border-radius:6px;border:1px solid;text-decoration:none;font-weight:600;font-variant-numeric:tabular-nums}
.bad{color:var(--bad);background:color-mix(in srgb,var(--bad) 7%,var(--box))}
.doubtful{color:var(--warn);background:color-mix(in srgb,var(--warn) 7%,var(--box))}
.ok{color:var(--ok)}
td .ok{font-size:26px;line-height:1;font-weight:700;vertical-align:middle}
.legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 28px;padding:0;color:var(--dim);font-size:13px}
.legend b{color:var(--text)}
section{margin:0 0 16px;padding:14px 16px;border:1px solid var(--line);border-radius:8px;background:var(--box);scroll-margin-top:12px}
section ol{list-style:none;margin:0;padding:0}
section li{padding:8px 10px;border-left:3px solid var(--line);margin-top:8px;scroll-margin-top:12px}
li.is-bad{border-color:var(--bad)}
li.is-doubtful{border-color:var(--warn)}
:target{outline:3px solid var(--violet);outline-offset:2px}
.kind{display:inline-block;margin-right:8px;padding:0 8px;border-radius:6px;font-weight:600}
code{font:13px/1.5 ui-monospace,Menlo,Consolas,monospace;padding:2px 6px;border-radius:4px;background:var(--bg);overflow-wrap:anywhere}
details{margin:0 0 16px}
details ul{columns:280px;padding-left:20px;margin:8px 0}
details li{overflow-wrap:anywhere}
.sr{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(max-width:700px){body{padding:14px}.number{display:none}th[scope=row],thead th:first-child{min-width:120px;max-width:140px;padding-left:10px}}
@media print{.scroll{overflow:visible}section{break-inside:avoid}}
`

/** Allows only the content of the file, and no requests. */
const policy = `default-src 'none'; style-src 'sha256-${sha256(css, "base64")}'; base-uri 'none'; form-action 'none'`

const shown = (text: string, length = 200) => xml(Visible.label(text, length))

const toneOf = (kind: Kind) => WatchReport.kinds[kind].colour === 31 ? "bad" : "doubtful"

const external = (href: string, text: string) => `<a href="${xml(href)}" rel="noreferrer noopener">${text}</a>`

const runLink = (instance: Instance, { look, workflowId }: Incident) => {
  const id = look?.tool === "get_execution" ? look.arguments["id"] : undefined
  if (workflowId === undefined) return ""
  return typeof id === "string" && /^\d+$/.test(id)
    ? external(Links.execution(instance, { id, workflowId }) ?? "", `Run ${id} in n8n`)
    : external(Links.executions(instance, workflowId), "Its runs in n8n")
}

const isWeekend = ({ dates: [date = ""], ...column }: HealthReport.Column) =>
  column.title[0].startsWith("S") && [0, 6].includes(new Date(date).getUTCDay())

const document = (title: string, body: string) =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${css}</style>
</head>
<body>
${body}
</body>
</html>
`

/** Page of a health, for which a browser needs nothing else. */
export const html = (health: Health.Health, context: HealthReport.Context, instance: Instance): string => {
  const grid = HealthReport.grid(health, context, Infinity)
  const { columns, healthy, rows, zone } = grid
  const ids = new Map(HealthReport.incidentsOf(health).map((incident, at) => [incident, `i${at + 1}`]))
  const isDense = columns.length > 14
  const weekend = (at: number) => columns[at] !== undefined && isWeekend(columns[at]) ? " class=\"weekend\"" : ""

  const cell = (row: HealthReport.GridRow, at: number) => {
    const { failed, kinds, runs } = row.cells[at] ?? { failed: 0, kinds: [], runs: 0 }
    const [first] = kinds
    const ran = row.workflowId === undefined
      ? ""
      : `${counted(runs, "run")}${failed === 0 ? "" : `, ${failed} of them failed`}`
    if (first === undefined) {
      const sign = runs > 0 ? HealthReport.signs.usual : ""
      return `<td${
        weekend(at)
      } title="${ran}"><span class="ok" aria-hidden="true">${sign}</span><span class="sr">${ran}</span></td>`
    }
    const [kind] = first
    const count = kind === "failed" ? failed : first[1]
    const column = columns[at] ?? { dates: [], title: ["", ""] }
    const incident = HealthReport.incidentIn(row, column, row.cells[at] ?? { failed, kinds, runs }, health, zone)
    const target = (incident && ids.get(incident)) ?? `w${rows.indexOf(row)}`
    const words = [kinds.map(([kind]) => kind).join(", "), ...ran === "" ? [] : [ran]].join("; ")
    const mark = `${WatchReport.kinds[kind].mark}${count > 1 && !isDense ? ` ${count}` : ""}${
      kinds.length > 1 ? HealthReport.signs.several : ""
    }`
    return `<td${weekend(at)}><a class="cell ${
      toneOf(kind)
    }" href="#${target}" title="${words}"><span aria-hidden="true">${mark}</span><span class="sr">${words}</span></a></td>`
  }

  const line = (row: HealthReport.GridRow, at: number) =>
    `<tr><th scope="row" dir="auto">${
      HealthReport.hasHistory(row) ? `<a href="#w${at}">${shown(row.name)}</a>` : shown(row.name)
    }</th>${columns.map((_, at) => cell(row, at)).join("")}${
      [row.failed, row.runs].map((count) => `<td class="number">${row.workflowId === undefined ? "" : count}</td>`)
        .join("")
    }</tr>`

  const entry = (incident: Incident) => {
    const { command, subject, text, time } = WatchReport.parts(incident, { ...context, zone })
    const tone = toneOf(incident.kind)
    return `<li id="${
      ids.get(incident) ?? ""
    }" class="is-${tone}"><p><span class="kind ${tone}">${incident.kind}</span><span class="time">${
      xml(time)
    }</span></p><p dir="auto">${xml(`${subject}${text}`)}</p><p>${
      [...command === undefined ? [] : [`<code>${xml(command)}</code>`], runLink(instance, incident)].join(" ")
    }</p></li>`
  }

  const section = (row: HealthReport.GridRow, at: number) => {
    const { name, workflowId } = row
    const link = workflowId === undefined
      ? ""
      : ` <small>${external(Links.workflow(instance, workflowId), "Open in n8n")}</small>`
    return !HealthReport.hasHistory(row) ?
      "" :
      `<section id="w${at}" aria-labelledby="h${at}"><h2 id="h${at}"><bdi>${shown(name)}</bdi>${link}</h2><ol>${
        HealthReport.history(row, zone).map(({ change, incident }) =>
          incident === undefined ? `<li class="change">${xml(change)}</li>` : entry(incident)
        ).join("")
      }</ol></section>`
  }

  const total = health.healthy.length === 0
    ? ""
    : `<tfoot><tr><th scope="row">Runs of ${counted(health.healthy.length, "healthy workflow")}</th>${
      healthy.map(({ runs }, at) => `<td${weekend(at)}>${isDense ? HealthReport.short(runs) : runs || ""}</td>`).join(
        ""
      )
    }<td class="number">0</td><td class="number">${
      health.healthy.reduce((sum, { runs }) => sum + runs, 0)
    }</td></tr></tfoot>`

  const title = `Health of n8n at ${shown(context.host)}`
  const isFine = HealthReport.incidentsOf(health).length === 0
  return document(
    title,
    `<header><h1>${title}</h1>
<p class="summary"><span class="${isFine ? "ok" : "kind bad"}" aria-hidden="true">${isFine ? "✓" : "✗"}</span> ${
      xml(HealthReport.summary(health))
    }</p>
${HealthReport.facts(health, context).map((fact) => `<p>${xml(fact)}</p>`).join("\n")}
</header>
<main>
<div class="scroll" role="region" aria-label="Workflows by days" tabindex="0"><table>
<thead><tr><th scope="col">Workflow</th>${
      columns.map(({ dates: [date = ""], title: [weekday, day] }, at) =>
        `<th scope="col"${
          weekend(at)
        }><span aria-hidden="true">${weekday}<br>${day}</span><span class="sr">${date}</span></th>`
      ).join("")
    }<th scope="col" class="number">Failed</th><th scope="col" class="number">Runs</th></tr></thead>
<tbody>${rows.map(line).join("\n")}</tbody>
${total}
</table></div>
<ul class="legend">${
      HealthReport.legend(grid).map(([mark, meaning]) => `<li><b>${mark}</b> ${meaning}</li>`).join("")
    }</ul>
${rows.map(section).join("\n")}
${
      health.healthy.length === 0
        ? ""
        : `<details><summary>${counted(health.healthy.length, "healthy workflow")}</summary><ul>${
          health.healthy.map(({ runs, workflowId, workflowName }) =>
            `<li><bdi>${external(Links.workflow(instance, workflowId), shown(workflowName))}</bdi>: ${
              counted(runs, "run")
            }</li>`
          ).join("")
        }</ul></details>`
    }
</main>
<footer>${health.unknown.map((sentence) => `<p>Not known: ${shown(sentence, 400)}</p>`).join("")}</footer>`
  )
}
