/** Validated options of the identity provider. */
import * as Effect from "effect/Effect"
import * as Issuer from "../../mcp/http/Issuer.ts"
import * as OAuth from "../../mcp/http/OAuth.ts"
import * as Options from "./Options.ts"

const parse = (text: string, name: string) => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    return Options.refuse(`${name} is not an http address. Write it as https://example.com`)
  }
  if (!Issuer.isSafe(url)) {
    return Options.refuse(
      `${name} must begin with https, unless it is on this machine: tokens would be readable on their way`
    )
  }
  return `${url.search}${url.hash}${url.username}${url.password}` === ""
    ? Effect.succeed(url)
    : Options.refuse(`${name} contains more than an address: remove user name, password, query and fragment`)
}

/** Public address of the server, and the issuer with the resource of its tokens, as far as they are set. */
export const load = Effect.fnUntraced(function*(options: Options.Options) {
  const { oauthAudience, oauthIssuer, oauthProfileClaim, oauthScopePrefix, publicUrl, readOnly } = options
  const address = publicUrl === undefined ? undefined : yield* parse(publicUrl, "--public-url")
  if (oauthIssuer === undefined) return { address, issued: undefined }
  if (address === undefined) {
    return yield* Options.refuse("--oauth-issuer needs --public-url: tokens are made for the server's address")
  }
  yield* parse(oauthIssuer, "--oauth-issuer")
  const resource = OAuth.resource({
    issuer: oauthIssuer,
    publicUrl: address,
    readOnly,
    scopePrefix: oauthScopePrefix
  })
  return {
    address,
    issued: { issuer: oauthIssuer, audience: oauthAudience, profileClaim: oauthProfileClaim, resource }
  }
})
