/**
 * `node identityProvider.mjs PORT [keycloak | auth0 | entra | entra1]`: an identity provider on loopback, where everybody is logged in at once as the
 * `login_hint` says (alice without one). It has new keys at each start, and issues JWTs for whatever resource is asked
 * for. Bob's lead to the profile staging, mallory's to one that there is not.
 *
 * With a name, issuer, discovery, keys, scopes, audience and tokens are as that provider documents its defaults:
 * a public client `claude` logs people in, `job` with a secret itself. `POST /sign` signs any token with its key.
 */
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { createServer } from "node:http"
import { Provider } from "oidc-provider"

const scopes = "n8n:read n8n:write"
const profiles = { bob: "staging", mallory: "no-such-profile" }

const server = createServer()
await new Promise((resolve) => server.listen(Number(process.argv[2]), "127.0.0.1", resolve))
const origin = `http://127.0.0.1:${server.address().port}`
const { privateKey } = await generateKeyPair("RS256", { extractable: true })
const kid = `key-${Date.now()}`

const tenant = "5c2b0a8e-7d0f-4f6b-9a55-0f1c3d7e9b21"
const app = "11111111-2222-4333-8444-555555555555"
const entra = {
  prefix: `api://${app}/`,
  // Without the application's prefix, a scope is one of Microsoft Graph.
  refuses: ({ resource, scope }) =>
    resource !== undefined || scope.split(" ").some((each) => each.startsWith("n8n:")) ? "AADSTS650053" : undefined,
  shape: ({ client_id, scope, sub, ...rest }, { isProgram }) => ({
    ...rest,
    azp: client_id,
    tid: tenant,
    oid: sub,
    sub: isProgram ? sub : `pairwise-${sub}`,
    ...isProgram ? { roles: ["n8n:read"] } : { scp: (scope ?? "").replaceAll(entra.prefix, "") }
  })
}

/** What differs from one provider to the next. */
const kinds = {
  keycloak: {
    path: "/realms/shop",
    // A client scope with an audience mapper; the parameter `resource` is ignored.
    shape: ({ client_id, ...rest }) => ({
      ...rest,
      typ: "Bearer",
      azp: client_id,
      aud: /mapped/.test(rest.scope) ? ["https://mcp.example.com/mcp", "account"] : "account"
    })
  },
  auth0: {
    slash: "/",
    isOpaque: ({ audience, resource }) => (audience ?? resource) === undefined,
    shape: ({ aud, client_id, ...rest }) => ({ ...rest, azp: client_id, aud: [aud, `${origin}/userinfo`] })
  },
  entra: {
    ...entra,
    path: `/${tenant}/v2.0`,
    shape: (claims, context) => ({ ...entra.shape(claims, context), aud: app, ver: "2.0" })
  },
  entra1: {
    ...entra,
    path: `/${tenant}`,
    slash: "/",
    shape: (claims, context) => {
      const { azp, ...rest } = entra.shape(claims, context)
      return { ...rest, appid: azp, aud: `api://${app}`, ver: "1.0" }
    }
  }
}
const kind = kinds[process.argv[3]]
const { isOpaque = () => false, path = "", prefix = "", refuses = () => undefined, shape, slash = "" } = kind ?? {}
const issuer = `${origin}${path}`
const own = scopes.split(" ").map((scope) => `${prefix}${scope}`)

/** Resource of a request that names none; Auth0 then issues an opaque token. */
const resourceOf = (params) =>
  kind === undefined || isOpaque(params) ? undefined : params.audience ?? "https://default.example.com"

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...await exportJWK(privateKey), ...kind ? {} : { alg: "RS256" }, use: "sig", kid }] },
  cookies: { keys: ["not a secret"] },
  ...kind && {
    clients: [
      {
        client_id: "claude",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code", "refresh_token"],
        redirect_uris: ["http://127.0.0.1:9/callback"],
        application_type: "native"
      },
      {
        client_id: "job",
        client_secret: "not a secret",
        grant_types: ["client_credentials"],
        redirect_uris: [],
        response_types: []
      }
    ],
    extraParams: ["audience"],
    formats: {
      customizers: {
        jwt(_context, token, made) {
          made.header = { typ: "JWT" }
          const claims = shape(made.payload, { isProgram: token.kind === "ClientCredentials" })
          made.payload = { ...claims, iss: `${issuer}${slash}` }
        }
      }
    }
  },
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: kind !== undefined },
    registration: { enabled: kind === undefined },
    // Where it is offered Claude Code prefers it, and its document cannot be fetched offline.
    clientIdMetadataDocument: { enabled: false },
    resourceIndicators: {
      enabled: true,
      defaultResource: ({ oidc }) => resourceOf(oidc.params ?? {}),
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, resource) => ({
        scope: [...own, "mapped", ".default"].join(" "),
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "RS256", kid } }
      })
    }
  },
  extraTokenClaims: (_context, { accountId }) =>
    profiles[accountId] === undefined ? undefined : { n8n_profile: profiles[accountId] },
  scopes: ["openid", "offline_access", "mapped", ".default", ...own],
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_context, { uid }) => `${path}/interaction/${uid}` },
  clientBasedCORS: () => true,
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  pkce: { required: () => true }
})

provider.use(async (context, next) => {
  if (kind && context.path === "/auth") {
    const problem = refuses({ scope: "", ...context.query })
    if (problem !== undefined) return void Object.assign(context, { status: 400, body: problem })
  }
  if (!context.path.startsWith("/interaction/")) {
    await next()
    if (context.path.startsWith("/.well-known/")) context.body = { ...context.body, issuer: `${issuer}${slash}` }
    return
  }
  const { grantId, params, prompt } = await provider.interactionDetails(context.req, context.res)
  const accountId = params.login_hint ?? "alice"
  if (prompt.name === "login") {
    return provider.interactionFinished(context.req, context.res, { login: { accountId } })
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope(`openid offline_access ${own.join(" ")} mapped`)
  const resource = params.resource ?? resourceOf(params)
  if (resource !== undefined) grant.addResourceScope(resource, params.scope)
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(context.req, context.res, { consent }, { mergeWithLastSubmission: true })
})

const callback = provider.callback()
server.on("request", async (request, response) => {
  if (kind && request.url === "/sign") {
    const { header, payload } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    const signed = new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid, ...header })
    return response.end(await signed.sign(privateKey))
  }
  if (path !== "") {
    if (!request.url.startsWith(`${path}/`)) return response.writeHead(404).end("<html>Not found</html>")
    request.originalUrl = request.url
    request.url = request.url.slice(path.length)
  }
  callback(request, response)
})
process.stdout.write(`${issuer}${slash}\n`)
