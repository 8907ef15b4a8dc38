/** n8n itself: its start page, community packages and projects, and its audit as far as it does not depend on node types. */
import * as Effect from "effect/Effect"
import securitySettings from "./securitySettings.json" with { type: "json" }
import { api, type Call, type Handler, json, paginate, refuse, route, text } from "./server.ts"
import { list, type Node, obj, type Workflow } from "./world.ts"

const advice = "Keeping unused credentials in your instance is an unneeded security risk."

const day = 24 * 3_600_000

const sections = ({ body, now, state }: Call) => {
  const days = Number(obj(obj(body)["additionalOptions"])["daysAbandonedWorkflow"] ?? 90)
  const recent = new Set(
    [...state.executions.values()].filter(({ startedAt }) => Date.parse(startedAt) > Date.parse(now) - days * day)
      .map(({ workflowId }) => workflowId)
  )
  return [
    {
      title: "Credentials not used in any workflow",
      description: "This credential is not used in any workflow.",
      counts: () => true
    },
    {
      title: "Credentials not used in any active workflow",
      description: "This credential is not used in active workflows.",
      counts: ({ active }: Workflow) => active === true
    },
    {
      title: "Credentials not used in recently executed workflows",
      description:
        `This credential is not used in recently executed workflows, i.e. workflows executed in the past ${days} days.`,
      counts: ({ id }: Workflow) => recent.has(id)
    }
  ]
}

const unusedCredentials = (call: Call) => {
  const { state } = call
  return sections(call).flatMap(({ counts, description, title }) => {
    const used = new Set(
      [...state.workflows.values()].filter(counts).flatMap((workflow) => list<Node>(workflow["nodes"]))
        .flatMap((node) => Object.values(obj(node["credentials"])).map((credential) => obj(credential)["id"]))
    )
    const location = state.credentials.filter(({ id }) => !used.has(id)).map(({ id, name }) => ({
      kind: "credential",
      id,
      name
    }))
    return location.length === 0 ? [] : [{
      title,
      description: `${description} ${advice}`,
      recommendation: "Consider deleting these credentials if you no longer need them.",
      location
    }]
  })
}

const audit: Handler = (call) => {
  const { body, version } = call
  const chosen = list<string>(obj(obj(body)["additionalOptions"])["categories"])
  const isChosen = (category: string) => chosen.length === 0 || chosen.includes(category)
  const credentials = isChosen("credentials") ? unusedCredentials(call) : []
  const reports = {
    ...(credentials.length > 0 && { "Credentials Risk Report": { risk: "credentials", sections: credentials } }),
    ...(isChosen("instance") && { "Instance Risk Report": { risk: "instance", sections: [securitySettings[version]] } })
  }
  return Effect.succeed(json(Object.keys(reports).length === 0 ? [] : reports))
}

/** The only page that contains n8n's version. */
const startPage: Handler = ({ version }) => {
  const release = version === "2" ? "n8n@2.41.1" : "n8n@1.123.81"
  const config = btoa(JSON.stringify({ dsn: "", environment: "development", release }))
  return Effect.succeed(
    text(`<!DOCTYPE html><html><head><meta name="n8n:config:sentry" content="${config}"></head></html>`, {
      headers: { "content-type": "text/html; charset=utf-8" }
    })
  )
}

const listPackages: Handler = ({ state }) => Effect.succeed(json(state.communityPackages))

/** Refuses projects and folders, for which an n8n has the licence if its seed has projects. */
const unlicensed = (feature: string) =>
  refuse(
    403,
    `Your license does not allow for ${feature}. To enable ${feature}, please upgrade to a license that supports this feature.`
  )

const listProjects: Handler = (call) => {
  const { projects } = call.state
  return projects === undefined
    ? unlicensed("feat:projectRole:admin")
    : paginate(call, projects, ({ folders: _, ...project }) => project)
}

const listFolders: Handler = Effect.fnUntraced(function*({ id, query, state }) {
  if (state.projects === undefined) return yield* unlicensed("feat:folders")
  const [personal] = state.projects
  const project = id === "personal" ? personal : state.projects.find((project) => project.id === id)
  if (project === undefined) return yield* refuse(404, `Could not find the project with id "${id}"`)
  const { folders = [] } = project
  const skip = Number(query.get("skip") ?? 0)
  return json({ count: folders.length, data: folders.slice(skip, skip + Number(query.get("take") ?? 100)) })
})

export const routes = [
  route("GET", "", startPage),
  api("GET", "/community-packages", listPackages),
  api("GET", "/projects", listProjects),
  api("GET", "/projects/:id/folders", listFolders),
  api("POST", "/audit", audit)
]
