/**
 * What secrets look like where agents meet them, and what only looks like one. `«…»` is what has to go; all else, and a
 * form without it, has to stay, for it is what a debugging agent looks for.
 */

/** Built, not written out: a secret in full would be caught by the scanners of whoever hosts this repository. */
const fill = (length: number) => "aB3dE5gH7j".repeat(Math.ceil(length / 10)).slice(0, length)
const hex = (length: number) => "0a1b2c3d4e5f".repeat(Math.ceil(length / 12)).slice(0, length)
const capitals = (length: number) => "A1B2C3D4E5".repeat(Math.ceil(length / 10)).slice(0, length)
const base64 = (text: string) => Buffer.from(text).toString("base64")

/** A form: its name, and a JSON value whose secrets stand in `«…»`. */
export type Form = readonly [string, unknown]

/** Objects under names, pairs and lists, as n8n's parameters and the data of executions have them. */
const trees: ReadonlyArray<Form> = [
  ["key", { password: "«hunter2»" }],
  ["key, camel case", { dbPassword: "«hunter2»" }],
  ["key, header", { "X-Api-Key": "«abc»", "PRIVATE-TOKEN": "«abc1»", "api-key": "«abc2»" }],
  ["key, list", { "set-cookie": ["«a=b»", "«c=d»"] }],
  ["key, value object", { password: { value: "«hunter2»" } }],
  ["key, values object", { apiKey: { mode: "list", values: ["«a1»", "«b2»"] } }],
  ["key, resource locator", { token: { __rl: true, mode: "id", value: "«abc123»" } }],
  ["key, braces inside", { password: "«a{{b»" }],
  ["key, template that is no expression", { token: "«{{ abc }}»" }],
  ["key, bearer", { authorization: "«Bearer abc123def456»" }],
  ["key, capital bearer", { Authorization: "«BEARER abc123def456»" }],
  ["pair of httpRequest", { name: "X-Api-Key", value: "«abc»" }],
  ["pair of postgres", { values: [{ column: "password", value: "«hunter2»" }, { column: "user", value: "bob" }] }],
  ["pair of dynamoDb", { fieldId: "api_token", fieldValue: "«abc1»" }],
  ["pair of sendInBlue", { fieldName: "password", fieldValue: "«abc1»" }],
  ["pair of supabase", { keyName: "secret_key", condition: "eq", keyValue: "«abc1»" }],
  ["pair of dynamoDb, attribute", { attribute: ":token", type: "string", value: "«abc1»" }],
  ["pair of googleSheets", { lookupColumn: "Password", lookupValue: "«abc1»" }],
  ["pair of evaluation", { inputName: "token", inputValue: "«abc1»" }],
  ["pair of seaTable", { columnName: "password", columnValue: "«abc1»" }],
  ["pair of set 3", { name: "clientSecret", type: "stringValue", stringValue: "«abc1»" }],
  ["pair of set 3, array", { name: "apiKeys", type: "arrayValue", arrayValue: "«[1,2,a3]»" }],
  ["pair of ldap", { id: "userPassword", value: "«abc1»" }],
  ["pair of hubspot", { property: "password", value: "«abc1»" }],
  ["pair of hubspot filter", { propertyName: "api_key", operator: "EQ", value: "«abc1»" }],
  ["pair of magento", { attribute_code: "api_token", value: "«abc1»" }],
  ["pair of clockify", { customFieldId: "apiKey", value: "«abc1»" }],
  ["pair of form trigger", { fieldLabel: "Password", fieldType: "password", defaultValue: "«abc1»" }],
  ["pair of venafi", { Name: "Password", Values: "«abc1»" }],
  ["pair of slack", { title: "API key", value: "«abc1»", short: true }],
  ["pair of a header list", { headerName: "Authorization", value: "«Basic abc»" }],
  ["entries", { headers: [["accept", "text/html"], ["authorization", "«abc123»"]] }],
  ["raw headers", { rawHeaders: ["Host", "n8n.test", "Authorization", "«abc123»", "Cookie", "«a=b»"] }],
  ["arguments", { args: ["--user", "bob", "--password", "«hunter2»", "--verbose"] }],
  ["a secret in a key", { seen: { [`«ghp_${fill(36)}»`]: true, other: 1 } }],
  ["JSON in a string", { body: JSON.stringify({ user: "bob", password: "«hunter2»" }) }],
  ["JSON of a pair in a string", { body: JSON.stringify([{ name: "Authorization", value: "«abc123»" }]) }],
  [
    "JSON of an assignment in a string",
    { body: JSON.stringify([{ id: "1", name: "password", type: "string", value: "«abc123»" }]) }
  ],
  ["JSON, twice a string", { body: JSON.stringify({ x: JSON.stringify({ password: "«hunter2»", n: 1 }) }) }],
  [
    "JSON, three times a string",
    { body: JSON.stringify({ x: JSON.stringify({ y: JSON.stringify({ password: "«hunter2»", n: 1 }) }) }) }
  ],
  [
    "JSON, four times a string",
    JSON.stringify({
      w: JSON.stringify({ x: JSON.stringify({ y: JSON.stringify({ password: "«hunter2»", n: 1 }) }) })
    })
  ],
  ["number", { token: 12345, pin: 4711, passwordCount: 2 }],
  ["boolean", { password: true, token: false, auth: null }],
  ["expression", { password: "={{ $json.password }}", authorization: "=Bearer {{ $json.token }}" }],
  ["no secret's name", {
    authentication: "headerAuth",
    maxTokens: "5",
    tokenUsage: "12",
    nodeCredentialType: "slackApi"
  }],
  ["credential reference", { credentials: { slackApi: { id: "uC4Zr", name: "Slack token" } } }],
  ["credential's name", { credentials: "Gmail account", credential: "My Slack account" }],
  ["part of speech", [{ token: "NOUN" }, { token: "PUNCT" }]],
  ["status", { auth: "failed", password: "required", token: "expired" }],
  ["validation", { errors: { password: ["is too short", "can't be blank"], token: "must be set" } }],
  ["option", { auth: "basicAuth", token: "accessToken", extract: { key: "token", returnValue: "attribute" } }],
  ["lists of names", {
    fields: ["password", "email"],
    required: ["token", "user"],
    headers: ["authorization", "accept"]
  }],
  ["article", { title: "How to reset a password", content: "Open the settings page." }],
  ["schema", { properties: { password: { type: "string", minLength: 8 }, token: { type: "string" } } }],
  ["page", { nextPageToken: "CAUQAA", pageToken: "abc", continuationToken: "x1" }],
  ["usage", { usage: { prompt_tokens: 5, total_tokens: "7", tokens: "12" } }],
  ["placeholders", { token: "<token>", password: "***", apiKey: "YOUR_API_KEY", secret: "$SECRET_KEY", jwt: "xxxx" }],
  ["sorting", { sort: [{ field: "password_updated", direction: "ASC" }] }],
  ["connections", { main: [[{ node: "Token", type: "main", index: 0 }]] }],
  ["table", { rows: [["id", "total"], ["1", "5"]], pairs: [{ key: "Content-Type", value: "text/html" }] }]
]

/** Secrets known by their shape, in a sentence. */
const shapes: ReadonlyArray<Form> = [
  ["OpenAI", `«sk-${fill(48)}»`],
  ["OpenAI project", `«sk-proj-${fill(40)}_${fill(40)}»`],
  ["Anthropic", `«sk-ant-api03-${fill(93)}AA»`],
  ["OpenRouter", `«sk-or-v1-${hex(64)}»`],
  ["DeepSeek", `«sk-${hex(32)}»`],
  ["GitHub", `«ghp_${fill(36)}»`],
  ["GitHub, fine-grained", `«github_pat_${fill(22)}_${fill(59)}»`],
  ["GitLab", `«glpat-${fill(20)}»`],
  ["GitLab feed", `«glft-${fill(20)}»`],
  ["Slack", `«xoxb-${"1".repeat(12)}-${fill(24)}»`],
  ["AWS", `«AKIA${capitals(16)}»`],
  ["AWS Bedrock", `«ABSK${fill(110)}»`],
  ["Google", `«AIza${fill(35)}»`],
  ["Google refresh token", `«1//0${fill(40)}»`],
  ["Stripe", `«sk_live_${fill(24)}»`],
  ["SendGrid", `«SG.${fill(22)}.${fill(43)}»`],
  ["Brevo", `«xkeysib-${hex(64)}-${fill(16)}»`],
  ["Twilio", `«SK${hex(32)}»`],
  ["Mailgun", `«key-${hex(32)}»`],
  ["Mailgun, new", `«${hex(32)}-${hex(8)}-${hex(8)}»`],
  ["Mailchimp", `«${hex(32)}-us12»`],
  ["Telegram", `«123456789:AA${fill(33)}»`],
  ["Discord", `«M${fill(25)}.${fill(6)}.${fill(27)}»`],
  ["Notion", `«ntn_${fill(46)}»`],
  ["Linear", `«lin_api_${fill(40)}»`],
  ["Airtable", `«pat${fill(14)}.${hex(64)}»`],
  ["HubSpot", `«pat-na1-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}»`],
  ["Postman", `«PMAK-${hex(24)}-${hex(34)}»`],
  ["Shopify", `«shpat_${hex(32)}»`],
  ["Square", `«sq0atp-${fill(22)}»`],
  ["Facebook", `«EAAC${fill(120)}»`],
  ["Atlassian", `«ATATT3xFfGF0${fill(60)}»`],
  ["Bitbucket", `«ATBB${fill(32)}»`],
  ["Databricks", `«dapi${hex(32)}»`],
  ["DigitalOcean", `«dop_v1_${hex(64)}»`],
  ["Supabase", `«sbp_${hex(40)}»`],
  ["Supabase, secret", `«sb_secret_${fill(22)}»`],
  ["Vault", `«hvs.${fill(95)}»`],
  ["Vault, old", `«s.${fill(24)}»`],
  ["Grafana", `«glsa_${fill(32)}_${hex(8)}»`],
  ["Grafana cloud", `«glc_${fill(60)}»`],
  ["ElevenLabs", `«sk_${hex(48)}»`],
  ["Replicate", `«r8_${fill(37)}»`],
  ["Hugging Face", `«hf_${fill(34)}»`],
  ["Groq", `«gsk_${fill(52)}»`],
  ["Perplexity", `«pplx-${fill(48)}»`],
  ["xAI", `«xai-${fill(80)}»`],
  ["Firecrawl", `«fc-${hex(32)}»`],
  ["n8n", `«n8n_api_${hex(40)}»`],
  ["npm", `«npm_${fill(36)}»`],
  ["PyPI", `«pypi-${fill(60)}»`],
  ["Docker", `«dckr_pat_${fill(27)}»`],
  ["Doppler", `«dp.pt.${fill(43)}»`],
  ["PlanetScale", `«pscale_tkn_${fill(40)}»`],
  ["Pulumi", `«pul-${hex(40)}»`],
  ["Sentry", `«sntryu_${hex(64)}»`],
  ["PostHog", `«phx_${fill(43)}»`],
  ["JWT", `«eyJ${fill(20)}.eyJ${fill(30)}.${fill(43)}»`]
].map(([name, text]) => [name ?? "", `GET failed for ${text} today`])

/** Texts that only look like one of them. */
const lookalikes: ReadonlyArray<Form> = [
  "sk-what-is-new-in-2024-for-self-hosted-agents",
  "sk-circle-fade-dot-animation",
  "task-2024-what-is-new-in-our-newsletter",
  `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  `commit ${hex(40)}, sha256 ${hex(64)}, md5 ${hex(32)}`,
  "pat-eu1-short key-value s.toString secret_santa_list ntn_x",
  "hooks.slack.com/docs https://discord.com/api/webhooks/12 https://hooks.zapier.com/",
  "AKIA is a prefix; EAAC too; ATATT as well; dapi; glsa_x",
  `data:image/png;base64,${fill(200)}`,
  `${base64("just a longer text without anything to hide")}`,
  `${base64(JSON.stringify({ user: "bob", tokens: 5, note: "nothing to hide" }))}`
].map((text) => [text, `see ${text} here`])

/** Webhooks: whoever has the address may post. */
const hooks: ReadonlyArray<Form> = [
  ["Slack webhook", `https://hooks.slack.com/services/«T0/B0/${fill(24)}»`],
  ["Discord webhook", `https://discord.com/api/webhooks/12/«${fill(60)}»`],
  ["Zapier webhook", `https://hooks.zapier.com/hooks/catch/«123456/${fill(7)}/»`],
  ["Make webhook", `https://hook.eu1.make.com/«${fill(32)}»`],
  ["Make webhook, old", `https://hook.make.com/«${fill(32)}»`],
  [
    "Teams webhook",
    `https://acme.webhook.office.com/webhookb2/«${hex(8)}@${hex(8)}/IncomingWebhook/${hex(32)}/${hex(8)}»`
  ],
  ["Feishu webhook", `https://open.feishu.cn/open-apis/bot/v2/hook/«${hex(36)}»`]
]

/** Headers, URLs, forms, command lines. */
const requests: ReadonlyArray<Form> = [
  ["header, bearer", `Authorization: Bearer «${fill(20)}»`],
  ["header, BEARER", `Authorization: BEARER «${fill(20)}»`],
  ["header, basic", `authorization: basic «${base64("bob:hunter2")}»`],
  ["header, BASIC", `got BASIC «${base64("bob:hunter2")}»`],
  ["header, raw", "Authorization: «abc123def»"],
  ["header, raw, in quotes", "curl -H 'Authorization: «abc123def»' https://a.io"],
  ["header, token", "Authorization: token «abc123def»"],
  ["header, Api-Key", "Authorization: Api-Key «abc123def»"],
  ["header, api-key", "api-key: «abc123def»"],
  ["header, PRIVATE-TOKEN", "curl --header \"PRIVATE-TOKEN: «abc123»\" https://a.io"],
  ["header, X-Api-Key", "X-Api-Key: «abc»"],
  ["header, X-Auth-Token", "-H \"X-Auth-Token: «abc»\""],
  ["header, Cookie", "Cookie: «a=b; c=d»"],
  ["header, Set-Cookie", "Set-Cookie: «sid=abc; Path=/; HttpOnly»"],
  ["headers in lines", "Host: a.io\r\nAuthorization: «abc123def»\r\nAccept: */*"],
  ["headers in an escaped string", "\"Host: a.io\\r\\napi-key: «abc123def»\\r\\nAccept: */*\""],
  ["user in a URL", "postgres://me:«hunter2»@db:5432/x"],
  ["user in a URL, no name", "redis://:«hunter2»@cache:6379"],
  ["user in a URL, an at sign", "mongodb+srv://me:«p@ss»@db/x"],
  ["query", "https://a.io/x?api_key=«abc»&q=1&token=«d%20e»#f"],
  ["query, encoded name", "https://a.io?user%5Bpassword%5D=«x1»&b=2"],
  ["query, signature", "https://a.io/f?Expires=1&X-Amz-Signature=«ab12»"],
  ["query, Azure", "https://x.blob.core.windows.net/a?sv=1&sig=«ab12%3D»"],
  ["fragment", "https://a.io/#access_token=«abc»&state=1"],
  ["form", "grant_type=password&password=«abc»&client_secret=«x1»"],
  ["form of parts", "--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n«hunter2»\r\n--x--"],
  [
    "form of parts, typed",
    "Content-Disposition: form-data; name=\"token\"\r\nContent-Type: text/plain\r\n\r\n«abc1»\r\n--x"
  ],
  ["URL-encoded JSON", "body=%7B%22password%22%3A%22«hunter2»%22%2C%22n%22%3A1%7D"],
  ["URL-encoded JSON, spaces", "body=%7B%22token%22%3A%20%22«abc1»%22%7D"],
  ["URL-encoded JSON, twice", "x=%257B%2522password%2522%253A%2522«hunter2»%2522%257D"],
  ["base64 of JSON", `data «${base64(JSON.stringify({ user: "bob", password: "hunter2" }))}» end`],
  ["base64 of a header", `«${base64("Authorization: Bearer abc123def456ABC")}»`],
  ["base64 of a key", `«${base64(`key=ghp_${fill(36)}`)}»`],
  ["curl -u", "curl -u bob:«hunter2» https://a.io"],
  ["curl -u in quotes", "curl -s -u 'bob:«hunter2»' https://a.io"],
  ["curl --user", "curl --user bob:«hunter2» https://a.io"],
  ["curl --user=", "curl --user=\"bob:«hunter2»\" https://a.io"],
  ["--password", "mysql --user root --password «hunter2» db"],
  ["--password, letters, last", "login --password «swordfish»"],
  ["--password=", "mysql --password=«hunter2» db"],
  ["--password in quotes", "login --password \"«correct horse»\" --yes"],
  ["--api-key", "tool --api-key «abc123» run"],
  ["--token", "gh auth login --token «abc123def»"],
  ["environment", "export API_KEY=«abc» && run"],
  ["environment, one line", "DB_PASSWORD=«hunter2» node x.js"],
  ["connection string", "Server=x;Uid=me;Password=«hunter2»;Encrypt=true"],
  ["AccountKey", `AccountName=x;AccountKey=«${fill(40)}»`]
]

/** Configuration and code. */
const texts: ReadonlyArray<Form> = [
  ["YAML", "user: bob\npassword: «hunter2»\nport: 5432"],
  ["YAML, letters", "user: bob\npassword: «swordfish»\nport: 5432"],
  ["YAML, indented", "db:\n  password: «hunter2!» # local\n  port: 1"],
  ["YAML, list", "env:\n  - token: «abc123»\n  - a: b"],
  ["YAML, quotes", "password: \"«hunter2»\"\napi_key: '«abc»'"],
  ["one line", "user bob, password: «hunter2» was refused"],
  ["INI", "[db]\nuser = bob\npassword = «hunter2»\n"],
  ["INI, symbols", "password = «s3cr3t!pw»"],
  ["properties", "spring.datasource.password=«hunter2»"],
  ["TOML", "api_key = \"«abc»\""],
  [".env", "API_KEY=«abc»\nPORT=1"],
  ["XML", "<user>bob</user><password>«hunter2»</password>"],
  ["XML, names with a prefix", "<wsse:Password Type=\"x\">«hunter2»</wsse:Password>"],
  ["XML, attribute", "<db user=\"bob\" password=\"«hunter2»\"/>"],
  ["XML, pair", "<add key=\"ApiToken\" value=\"«abc1»\"/>"],
  ["PHP", "['user' => 'bob', 'password' => '«hunter2»']"],
  ["Ruby", ":api_key => \"«abc»\""],
  ["Go", "token := \"«abc»\""],
  ["JavaScript", "const apiKey = '«abc»';"],
  ["JavaScript, backticks", "const apiKey = `«abc»`;"],
  ["JavaScript, header", "headers['X-Api-Key'] = \"«abc»\""],
  ["JavaScript, object", "{ password: '«hunter2»', id: 'x' }"],
  ["Python", "{'password': '«hunter2»', 'n': 1}"],
  ["JSON", "{\"user\": \"bob\", \"password\": \"«a\\\"b»\", \"n\": 1}"],
  ["JSON, cut", "{\"password\":\"«abc»"],
  ["JSON, pair", "{\"name\": \"X-Api-Key\", \"value\": \"«abc»\"}"],
  ["PEM", `-----BEGIN PRIVATE KEY-----«\n${fill(64)}\n»-----END PRIVATE KEY-----`],
  ["error", "401 for https://a.io?api_key=«abc»: {\"token\":\"«x1»\"}"]
]

/** What an agent has to read: states, code, prose. */
const prose: ReadonlyArray<Form> = [
  "headers.Authorization = 'Bearer ' + token",
  "{ 'Authorization': 'Bearer ' + token }",
  "{ Authorization: `Bearer ${token}` }",
  "{ Authorization: `Token ${$json.token}` }",
  "headers: { \"Authorization\": \"Basic \" + btoa(a) }",
  "const headers = { Authorization: token, cookie: req.headers.cookie }",
  "auth=failed for user=bob",
  "password=required&token=missing",
  "login: password=invalid, token=expired",
  "credentials: \"Gmail account\"",
  "{token:\"NOUN\"}",
  "{\"token\": \"NOUN\", \"text\": \"dog\"}",
  "if (token === \"abc\") return token",
  "const f = token=>call(token)",
  "const password = getPassword(user)",
  "const token = $json.token;",
  "token = response.data.token",
  "let apiKey = process.env.API_KEY",
  "password: process.env.DB_PASSWORD,",
  "{ auth: oauth2Client, version: 'v4' }",
  "interface Login {\n  user: string\n  password: string\n  token: string\n}",
  "apiKey: config.apiKey,\ntoken: getToken(),",
  "{\n  user: user,\n  token: token\n}",
  "The password is wrong: \"tokenUsage\": \"12\"",
  "Invalid token: expected string. Unexpected token: } in JSON",
  "SyntaxError: Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
  "Authorization: header is required. Cookie: none.",
  "Bearer authentication, a bearer token-based scheme, Bearer realm=\"x\"",
  "WWW-Authenticate: Basic realm=\"n8n\"",
  "Basic subscription, basic JavaScript, Basic Authentication",
  "--password flag is missing; --no-password prompt for nothing",
  "usage: tool --token-file path --password-stdin",
  "The api-key: where do I find it?",
  "token: 5 tokens left",
  "the password: must contain a digit",
  "docker run -u 1000:1000 node",
  "curl -u 1000:1000 x",
  "https://user@host/a:b@c http://localhost:3000/@x",
  "https://a.io/?page=2&pageToken=abc&maxTokens=5&tokenType=x&key=v&token=",
  "https://a.io/?token={{ $json.token }}&token=undefined",
  "{\"password\": \"{{ $json.pw }}\", \"token\": {{ JSON.stringify($json.t) }}, \"apiKey\": 5}",
  "={{ $json.url + '?token=' + $json.token }}",
  "<label>Password</label><input name=\"password\" type=\"password\"/>",
  "<p>Your password</p><token></token>",
  "SELECT password, token FROM users WHERE token IS NULL",
  "INSERT INTO users (email, password) VALUES ($1, $2)",
  "maxTokens: 500\ntokenUsage: 12abc\nauthentication: headerAuth9",
  "{\"key\":\"value\",\"name\":\"token\"} {\"id\":\"a1\",\"value\":\"b2\"}",
  "{\"returnValue\":\"attribute\",\"key\":\"token\"}",
  "password: ${DB_PASSWORD}\ntoken: $TOKEN\nsecret: <secret>",
  "x-api-key header is missing; set the X-Api-Key header",
  "password = form.password\ntoken = await login()",
  "secret: required\npassword: optional"
].map((text) => [text, text])

/** All forms, those with a secret and those without. */
export const forms: ReadonlyArray<Form> = [trees, shapes, lookalikes, hooks, requests, texts, prose].flat()
