import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import { marker, mayHold, places, redact, redactText } from "../../src/base/Redact.ts"
import { rounds } from "../support/seed.ts"
import { costly } from "./costly.ts"

const under = (key: string, value: unknown = "Hunter2") => redact({ [key]: value })[key]

/** Built, not written out: a secret in full would be caught by the scanners of whoever hosts this repository. */
const fill = (length: number) => "aB3dE5gH7j".repeat(Math.ceil(length / 10)).slice(0, length)

describe("keys", () => {
  it("redacts a string under a credential's name in any case", () => {
    const names = [
      "authorization Authorization AUTHORIZATION proxy-authorization cookie cookies set-cookie Set-Cookie2",
      "apikey apiKey APIKey APIkey api_key API_KEY x-api-key X-N8N-API-KEY apiKeys openAiApiKey xApiKey2 api.key",
      "token access_token accessToken refreshToken resumeToken idToken x-auth-token csrf-token X-CSRFToken botToken",
      "csrfmiddlewaretoken accesstoken AccessTOken tokenValue token2 accessTokens tokenHash x-amz-security-token",
      "password passwd pwd passphrase Password PASSWORD passWord db_password userPwd password2 passwordHash",
      "passwordConfirmation newPassword pass SMTP_PASS user_pass PGPASSWORD sshPassword passcode",
      "secret secrets client_secret clientSecret secretKey secretAccessKey AWS_SECRET_ACCESS_KEY appSecret webhookSecret",
      "privateKey private_key privateKeyPassphrase accessKey signingKey signing_key_primary encryptionKey masterKey",
      "X-Goog-Encryption-Key serversideEncryptionCustomerKey Ocp-Apim-Subscription-Key consumerKey AccountKey authKey",
      "bearer jwt sessionToken JSESSIONID PHPSESSID credential credentials auth X-Auth basicAuth",
      "authorizationHeader user[password] ContentDeliveryaccessToken"
    ].join(" ").split(" ")
    for (const name of [...names, "api key", "Client Secret", "user.password"]) {
      assert.strictEqual(under(name), marker, name)
    }
  })

  it("keeps values under names that only mention a secret", () => {
    const names = [
      "authentication authenticated authType author authority nodeCredentialType genericAuthType credentialId tokenType",
      "maxTokens max_tokens totalTokens total_tokens promptTokens completion_tokens tokens tokenUsage tokenCount tokenizer",
      "token_type tokenUrl accessTokenUrl tokenExpiresIn tokenName secretName secretId passwordReset passwordPolicy",
      "password_needs_reset forceChangePassword isPasswordProtected cookieConsent cookieName cookiePolicy bypass compass",
      "key keys primaryKey sortKey partitionKey publicKey routingKey keyName keyboard monkey issueKey sessionKey",
      "deduplicationKey sessionId session_id sessionIdType session sessions passed passenger passengers testPass boardingPass firstPass",
      "signature design assignee accountSid messageSid secretary keyValue hash value path webhookId",
      "nextPageToken pageToken page_token nextToken next_token nextSyncToken syncToken continuationToken pagetoken",
      "nextpagetoken drivePageToken deltaToken $skiptoken startPageToken maxToken costPerToken eos_token"
    ].join(" ").split(" ")
    for (const name of names) assert.strictEqual(under(name), "Hunter2", name)
  })

  it("keeps anything but strings, and strings that are not secrets", () => {
    for (
      const value of [7, 0, true, false, null, "", "none", "accessToken", "headerAuth", "undefined", "true", marker]
    ) {
      assert.strictEqual(under("token", value), value)
    }
    for (const value of ["={{ $json.token }}", "=Bearer {{ $('Login').item.json.token }}"]) {
      assert.strictEqual(under("authorization", value), value)
    }
    assert.strictEqual(under("authorization", "Bearer undefined"), "Bearer undefined")
  })

  it("redacts a literal typed in expression mode, and known shapes inside expressions", () => {
    assert.strictEqual(under("password", "=hunter2"), marker)
    assert.strictEqual(under("token", `={{ $json.a || "ghp_${fill(36)}" }}`), `={{ $json.a || "${marker}" }}`)
  })

  it("redacts the elements of lists and visits objects", () => {
    assert.deepStrictEqual<unknown>(redact({ "set-cookie": ["a=b", ["c=d"], 5, { id: "x" }] }), {
      "set-cookie": [marker, [marker], 5, { id: "x" }]
    })
    const node = { credentials: { httpHeaderAuth: { id: "uC4Zr", name: "API Token" } }, token: { type: "x", limit: 5 } }
    assert.strictEqual(redact(node), node)
    assert.strictEqual(redact("plain"), "plain")
    assert.strictEqual(redact(undefined), undefined)
  })
})

/** Every way n8n's nodes store a name beside a value. */
const parameters = (value: string) => ({
  headerParameters: { parameters: [{ name: "X-Api-Key", value }, { name: "Accept", value: "text/html" }] },
  queryParameters: { parameters: [{ name: "access_token", value }, { name: "maxTokens", value: "5" }] },
  assignments: { assignments: [{ id: "1", name: "password", value, type: "string" }] },
  values: { string: [{ name: "secret", value }], number: [{ name: "token", value: 5 }] },
  fields: { values: [{ name: "clientSecret", stringValue: value, type: "stringValue" }] },
  list: [{ key: "Authorization", value }, { header: "Cookie", value: [value, value] }, { headerName: "jwt", value }]
})

describe("name and value", () => {
  it("redacts the value next to a credential's name, as n8n's nodes store pairs", () => {
    assert.deepStrictEqual(redact(parameters("Hunter2")), parameters(marker))
    const expressions = parameters("={{ $json.secret }}")
    assert.strictEqual(redact(expressions), expressions)
  })

  it("keeps values next to other names, and names without a value", () => {
    const value = [{ name: "Content-Type", value: "text/html" }, { id: "1", name: "API Token" }, { value: "token" }]
    assert.strictEqual(redact(value), value)
  })
})

describe("recorded answers of n8n", () => {
  const folder = new URL("../fixtures/", import.meta.url)
  const canary = /canary-webhook-token|sk-live-canary|sk-secret-\d|"resumeToken":"[0-9a-f]/

  it.each(readdirSync(folder).filter((name) => name.startsWith("execution-")))("%s", (name) => {
    const text = readFileSync(new URL(name, folder), "utf8")
    assert.match(text, canary)
    const before: unknown = JSON.parse(text)
    const after = redact(before)
    assert.notMatch(JSON.stringify(after), canary)
    assert.deepStrictEqual(before, JSON.parse(text))
    // Nothing but the canaries' places differs.
    const places = JSON.stringify(after).split(marker).length - 1
    const secrets =
      text.match(/"(?:authorization|token|resumeToken)":"|"Authorization","value":"|token:'sk-secret-'/g) ?? []
    assert.strictEqual(places, secrets.length)
  })

  it.each(readdirSync(folder).filter((name) => name.startsWith("workflow-")))("%s keeps its shape", (name) => {
    const before: unknown = JSON.parse(readFileSync(new URL(name, folder), "utf8"))
    assert.deepStrictEqual(shape(redact(before)), shape(before))
  })
})

/** The value with every string emptied. */
const shape = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, inner) => (Predicate.isString(inner) ? "" : inner)))

/** What the patterns look for, in pieces, so that random strings meet their seams. */
const pieces = [
  "= : \" \\\" ' & ? # ; . / - _ \\ [ ] {{ }} @ :// %5D ]= x 9 token password next sk- ghp_ eyJ -----END".split(" "),
  [" ", "\n", ": ", "Bearer ", "Basic ", "Cookie: ", "X-Api-Key: ", "Authorization: ", "-----BEGIN PRIVATE KEY-----"],
  [marker, fill(36)]
].flat()

const Seams = Arbitrary.schema(Schema.Array(Schema.Literals(pieces))).pipe(Arbitrary.map((some) => some.join("")))

const Json = Arbitrary.schema(Schema.Json)

/** Credential-like keys in every usual casing. */
const SecretKey = Arbitrary.schema(Schema.Struct({
  first: Schema.Literals(["", "my", "x", "n8n", "google", "old", "user", "web hook"]),
  noun: Schema.Literals(["token", "password", "api key", "client secret", "authorization", "cookie", "private key"]),
  last: Schema.Literals(["", "2", "value", "hash"]),
  casing: Schema.Literals(["camel", "pascal", "snake", "kebab", "scream", "words"])
})).pipe(Arbitrary.map(({ casing, first, last, noun }) => {
  const words = `${first} ${noun} ${last}`.trim().split(/\s+/)
  const capitals = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return {
    camel: [...words.slice(0, 1), ...capitals.slice(1)].join(""),
    pascal: capitals.join(""),
    snake: words.join("_"),
    kebab: words.join("-"),
    scream: words.join("_").toUpperCase(),
    words: words.join(" ")
  }[casing]
}))

/** A value put somewhere inside a random one, by a path that is random too. */
const bury = (inside: Schema.Json, value: Schema.Json, path: ReadonlyArray<number>): Schema.Json =>
  path.reduceRight<Schema.Json>(
    (inner, step) => (step % 2 === 0 ? [inside, inner, step] : { [`k${step}`]: inner, other: inside }),
    value
  )

const Path = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })))
const many = { arbitrary: { runs: rounds(300) } }

describe("properties", () => {
  it.prop("a second pass over JSON returns the same reference", {
    json: Json,
    key: SecretKey,
    text: Seams
  }, (_) => {
    const once = redact({ [_.key]: _.json, deep: [_.json, { [_.key]: _.text, plain: _.text }] })
    assert.strictEqual(redact(once), once)
  }, many)

  // Seeded: once in millions of such strings the marker itself completes a name, and a second pass redacts more.
  it.prop("a second pass over text changes nothing", { text: Seams }, ({ text }) => {
    const once = redactText(text)
    assert.strictEqual(redactText(once), once)
  }, { arbitrary: { runs: rounds(3000), size: 30, seed: "seams" } })

  it.prop("keeps the shape, and every number, boolean and null, and mutates nothing", {
    json: Json,
    key: SecretKey
  }, ({ json, key }) => {
    const value = { a: [{ [key]: "x" }, json], [key]: json, pair: { name: key, value: json } }
    const before = structuredClone(value)
    assert.deepStrictEqual(shape(redact(value)), shape(value))
    assert.deepStrictEqual(value, before)
  }, many)

  it.prop("no canary under a credential's name survives at any depth", {
    inside: Json,
    key: SecretKey,
    path: Path
  }, ({ inside, key, path }) => {
    const canary = "tweety7"
    const held: ReadonlyArray<Schema.Json> = [
      { [key]: canary },
      { [key]: [canary, [canary]] },
      { name: key, value: canary },
      { key, value: [canary] },
      { body: JSON.stringify({ [key]: canary, [`${key} 3`]: `a"${canary}\\` }) },
      { body: JSON.stringify(JSON.stringify({ [key]: `a"${canary}` })) },
      { message: `failed: GET https://a.io/x?${encodeURIComponent(key)}=${canary}&b=c` },
      `${encodeURIComponent(key)}=${canary}`
    ]
    for (const value of held) {
      const buried = bury(inside, value, path)
      assert.include(JSON.stringify(buried), canary)
      assert.notInclude(JSON.stringify(redact(buried)), canary)
    }
  }, many)

  it.prop("reports the place of each secret, nothing else, and never its value", {
    json: Json,
    key: SecretKey
  }, ({ json, key }) => {
    assert.strictEqual(places(json).length === 0, redact(json) === json)
    const secret = fill(40)
    const holder = { list: [{ [key]: secret }], plain: "x" }
    assert.lengthOf(places(holder), 1)
    assert.deepStrictEqual(places(holder)[0]?.slice(0, 2), ["list", 0])
    assert.notInclude(places(holder)[0] ?? [], secret)
  })

  it.prop("a value without secrets is the same reference", { json: Json, path: Path }, ({ json, path }) => {
    const clean = redact(json)
    const value = bury(clean, { maxTokens: "5", list: [clean] }, path)
    assert.strictEqual(redact(value), value)
  }, many)

  it.prop(
    "JSON that cannot hold a secret is not changed",
    { json: Json, key: SecretKey, text: Seams, path: Path },
    (_) => {
      for (const value of [_.text, { [_.text]: 1 }, [_.json, `9\n${_.text}`], { name: _.key, value: _.text }]) {
        const buried = bury(1, value, _.path)
        assert.isTrue(mayHold(JSON.stringify(buried)) || redact(buried) === buried, JSON.stringify(buried))
      }
      assert.isTrue(mayHold(JSON.stringify(bury(_.json, { [_.key]: "Hunter2" }, _.path))))
    },
    { arbitrary: { runs: rounds(3000), size: 12, seed: "seams" } }
  )

  it("recognizes JSON without secrets, whatever its words", () => {
    const item = {
      id: "550e8400-e29b-41d4-a716-446655440000",
      at: "2026-11-21T20:59:48.835Z",
      page: "https://shop.example.com/customers/7?page=2#top",
      note: "The author of the design \"assessed\" key passengers,\nnext: 12345678901234567890",
      total: 1234567890123456.5,
      maxTokens: 5
    }
    for (const some of [item, [item, item], { item, last: 1e300 }]) assert.isFalse(mayHold(JSON.stringify(some)))
    assert.isTrue(mayHold("\"p\\u0061ssword\""))
  })

  it("shares unchanged parts", () => {
    const value = { kept: { a: [1] }, changed: [{ token: "x" }, { b: 1 }] }
    const after = redact(value)
    assert.strictEqual(after.kept, value.kept)
    assert.strictEqual(after.changed[1], value.changed[1])
    assert.deepStrictEqual(after.changed[0], { token: marker })
  })

  it("keeps a __proto__ key an own key", () => {
    const after: object = redact(JSON.parse("{\"__proto__\":{\"token\":\"x\"},\"password\":\"y\"}"))
    assert.strictEqual(JSON.stringify(after), `{"__proto__":{"token":"${marker}"},"password":"${marker}"}`)
  })
})

const nest = (leaf: unknown, depth: number): unknown => {
  let value = leaf
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { token: value } : [value]
  return value
}

describe("finds what is behind", () => {
  // `pnpm bench growth` measures the time; a quadratic pattern would not end here.
  it.each(costly)("2 MB of %j", (piece) => {
    const text = piece.repeat(2_000_000 / piece.length)
    assert.notInclude(redactText(`${text}\n{"password": "Hunter2x9"}`), "Hunter2x9")
    assert.isTrue(mayHold(JSON.stringify([text, { password: "Hunter2x9" }])))
    assert.deepInclude(redact({ [text]: `?token=${text}`, password: "Hunter2x9" }) as object, { password: marker })
  })

  it("10 MB of items", () => {
    const items = Array.from({ length: 50_000 }, (_, id) => ({
      json: { id, email: `user${id}@example.com`, body: "lorem ipsum dolor sit amet ".repeat(4), token: `t${id}` },
      pairedItem: { item: 0 }
    }))
    assert.isFalse(JSON.stringify(redact(items).at(-1)).includes("t49999"))
  })

  it("nesting deeper than the stack", () => {
    const plain = nest({ id: "x" }, 100_000)
    assert.strictEqual(redact(plain), plain)
    let inner = redact(nest("x", 100_000))
    while (Predicate.isObject(inner) || Array.isArray(inner)) inner = Object.values(inner)[0]
    assert.strictEqual(inner, marker)
  })
})
