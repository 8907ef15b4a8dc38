/** A real identity provider (oidc-provider) in a process of its own, and a client of it. */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { type Obj, obj } from "../../src/base/Json.ts"

/** The provider or a client of it did not do what was expected. */
class IdentityError extends Data.TaggedError("IdentityError")<{ readonly message: string }> {}

const program = fileURLToPath(new URL("identityProvider.mjs", import.meta.url))

/** A provider that runs until the scope ends, or until it is stopped. */
export interface IdentityProvider {
  readonly issuer: string
  readonly stop: Effect.Effect<void>
}

/** Provider whose documented defaults it has; Entra's older tokens are its version 1. */
export type Kind = "keycloak" | "auth0" | "entra" | "entra1"

/** Starts one, on a free port unless one is given; each start has new keys. */
export const start = (
  port = 0,
  ...kind: ReadonlyArray<Kind>
): Effect.Effect<IdentityProvider, IdentityError, Scope.Scope> =>
  Effect.gen(function*() {
    const child = spawn(process.execPath, [program, String(port), ...kind], { env: { PATH: process.env["PATH"] } })
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    const stop = Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), Effect.promise(() => ended))
    yield* Effect.addFinalizer(() => stop)
    const issuer = yield* Effect.callback<string, IdentityError>((resume) => {
      let errors = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
      child.stdout.setEncoding("utf8").once("data", (text: string) => resume(Effect.succeed(text.trim())))
      child.once("exit", () => resume(Effect.fail(new IdentityError({ message: errors }))))
    })
    return { issuer, stop }
  })

/** What a client gets. */
export interface Tokens {
  readonly access: string
  readonly refresh: string
  readonly id: string
}

interface Login {
  readonly resource?: string
  /** A registered client; by default it registers itself. */
  readonly clientId?: string
  /** Other parameters of the login. */
  readonly more?: Readonly<Record<string, string>>
  /** Default: both scopes. */
  readonly scope?: string
  /** Default: alice. */
  readonly as?: string
}

const fail = (step: string, detail: unknown): never => {
  throw new IdentityError({ message: `${step}: ${typeof detail === "string" ? detail : JSON.stringify(detail)}` })
}

const json = async (response: Response, step: string): Promise<Obj> => {
  const text = await response.text()
  return response.ok ? obj(JSON.parse(text)) ?? {} : fail(step, text)
}

const form = (values: Readonly<Record<string, string>>) => ({ method: "POST", body: new URLSearchParams(values) })

const tokensOf = ({ access_token, id_token, refresh_token }: Obj): Tokens => ({
  access: String(access_token),
  refresh: String(refresh_token),
  id: String(id_token)
})

const redirectUri = "http://127.0.0.1:9/callback"

/** Follows redirects with cookies, as a browser does, to the page at their end or to `end`; its address. */
export const visit = async (first: string, end?: string): Promise<URL> => {
  const cookies = new Map<string, string>()
  let url = new URL(first)
  for (let step = 0; step < 10; step++) {
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get("location")
    if (location === null) return response.ok ? url : fail("authorization", await response.text())
    url = new URL(location, url)
    if (end !== undefined && url.href.startsWith(end)) return url
  }
  return fail("authorization", "no end of redirects")
}

/** Registers a client, logs a person in, and gets tokens for a resource; `refresh` gets others for the same. */
export const login = (
  { issuer }: IdentityProvider,
  { as = "alice", clientId: known, more = {}, resource, scope = "n8n:read n8n:write" }: Login
): Effect.Effect<Tokens & { readonly renewed: Effect.Effect<Tokens, IdentityError> }, IdentityError> =>
  Effect.tryPromise({
    try: async () => {
      const metadata = await json(
        await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`),
        "metadata"
      )
      const register = async () =>
        (await json(
          await fetch(String(metadata["registration_endpoint"]), {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({
              redirect_uris: [redirectUri],
              token_endpoint_auth_method: "none",
              grant_types: ["authorization_code", "refresh_token"],
              application_type: "native"
            })
          }),
          "registration"
        ))["client_id"]
      const clientId = known ?? String(await register())
      const target: Readonly<Record<string, string>> = resource === undefined ? {} : { resource }
      const verifier = randomBytes(32).toString("base64url")
      const query = new URLSearchParams({
        client_id: clientId,
        response_type: "code",
        redirect_uri: redirectUri,
        scope: `openid offline_access ${scope}`,
        prompt: "consent",
        ...target,
        ...more,
        login_hint: as,
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256"
      })
      const { searchParams } = await visit(`${metadata["authorization_endpoint"]}?${query}`, redirectUri)
      const code = searchParams.get("code") ?? fail("authorization", searchParams.toString())
      const endpoint = String(metadata["token_endpoint"])
      const tokens = await json(
        await fetch(
          endpoint,
          form({
            grant_type: "authorization_code",
            client_id: clientId,
            redirect_uri: redirectUri,
            code_verifier: verifier,
            code,
            ...target
          })
        ),
        "token"
      )
      const first = tokensOf(tokens)
      const refresh = async () =>
        tokensOf(
          await json(
            await fetch(
              endpoint,
              form({ grant_type: "refresh_token", client_id: clientId, refresh_token: first.refresh, ...target })
            ),
            "refresh"
          )
        )
      return {
        ...first,
        renewed: Effect.tryPromise({ try: refresh, catch: (error) => new IdentityError({ message: String(error) }) })
      }
    },
    catch: (error) => error instanceof IdentityError ? error : new IdentityError({ message: String(error) })
  })

/** Token of a program with its own secret. */
export const ofProgram = ({ issuer }: IdentityProvider, scope: string): Effect.Effect<string> =>
  Effect.promise(async () => {
    const answer = await fetch(`${issuer.replace(/\/$/, "")}/token`, {
      ...form({ grant_type: "client_credentials", scope }),
      headers: { authorization: `Basic ${btoa("job:not%20a%20secret")}` }
    })
    return String((await json(answer, "token"))["access_token"])
  })

/** A token that the provider's key has signed. */
export const signed = ({ issuer }: IdentityProvider, header: object, payload: object): Effect.Effect<string> =>
  Effect.promise(() =>
    fetch(new URL("/sign", issuer), { method: "POST", body: JSON.stringify({ header, payload }) })
      .then((answer) => answer.text())
  )
