/**
 * `node identityProvider.mjs PORT`: an identity provider on loopback, where everybody is logged in at once as the
 * `login_hint` says (alice without one). It has new keys at each start, and issues JWTs for whatever resource is asked
 * for. Bob's lead to the profile staging, mallory's to one that there is not.
 */
import { exportJWK, generateKeyPair } from "jose"
import { createServer } from "node:http"
import { Provider } from "oidc-provider"

const scopes = "n8n:read n8n:write"
const profiles = { bob: "staging", mallory: "no-such-profile" }

const server = createServer()
await new Promise((resolve) => server.listen(Number(process.argv[2]), "127.0.0.1", resolve))
const issuer = `http://127.0.0.1:${server.address().port}`
const { privateKey } = await generateKeyPair("RS256", { extractable: true })

const provider = new Provider(issuer, {
  jwks: { keys: [{ ...await exportJWK(privateKey), alg: "RS256", use: "sig", kid: `key-${Date.now()}` }] },
  cookies: { keys: ["not a secret"] },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    // Where it is offered Claude Code prefers it, and its document cannot be fetched offline.
    clientIdMetadataDocument: { enabled: false },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_context, resource) => ({
        scope: scopes,
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: 600,
        jwt: { sign: { alg: "RS256" } }
      })
    }
  },
  extraTokenClaims: (_context, { accountId }) =>
    profiles[accountId] === undefined ? undefined : { n8n_profile: profiles[accountId] },
  scopes: ["openid", "offline_access", ...scopes.split(" ")],
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  clientBasedCORS: () => true,
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  pkce: { required: () => true }
})

provider.use(async (context, next) => {
  if (!context.path.startsWith("/interaction/")) return next()
  const { grantId, params, prompt } = await provider.interactionDetails(context.req, context.res)
  const accountId = params.login_hint ?? "alice"
  if (prompt.name === "login") {
    return provider.interactionFinished(context.req, context.res, { login: { accountId } })
  }
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope(`openid offline_access ${scopes}`)
  grant.addResourceScope(params.resource, params.scope)
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(context.req, context.res, { consent }, { mergeWithLastSubmission: true })
})

server.on("request", provider.callback())
process.stdout.write(`${issuer}\n`)
