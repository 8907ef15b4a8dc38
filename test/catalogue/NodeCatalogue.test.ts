import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as TestClock from "effect/testing/TestClock"
import { statSync } from "node:fs"
import * as Hints from "../../src/answer/Hints.ts"
import * as Errors from "../../src/base/Errors.ts"
import { describe as describeNodes } from "../../src/catalogue/data/Packages.ts"
import * as NodeCatalogue from "../../src/catalogue/NodeCatalogue.ts"
import * as NodeType from "../../src/catalogue/types/NodeType.ts"
import * as Ports from "../../src/catalogue/types/Ports.ts"
import * as Releases from "../../src/catalogue/types/Releases.ts"
import * as nodeTypes from "../support/nodeTypes.ts"

const { NodeCatalogue: Catalogue } = NodeCatalogue

/** A package in a folder of its own. */
const packaged = (nodes: unknown, manifest: unknown = { name: "n8n-nodes-acme", version: "1.2.3" }) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.makeDirectory(path.join(folder, "dist", "types"), { recursive: true })
    const file = path.join(folder, "dist", "types", "nodes.json")
    yield* fs.writeFileString(file, typeof nodes === "string" ? nodes : JSON.stringify(nodes))
    if (manifest !== undefined) {
      yield* fs.writeFileString(path.join(folder, "package.json"), JSON.stringify(manifest))
    }
    return { folder, file }
  })

const acme = {
  displayName: "Acme Rockets",
  name: "acmeRockets",
  icon: "file:acme.svg",
  group: ["transform"],
  version: [1, 2],
  description: "Launches zorbulent rockets",
  defaults: { name: "Acme" },
  inputs: ["main"],
  outputs: ["main"],
  usableAsTool: true,
  properties: [{ displayName: "Rocket", name: "rocket", type: "string", default: "", required: true }]
}

const withOptions = <A, E>(options: NodeCatalogue.Options, use: Effect.Effect<A, E, NodeCatalogue.NodeCatalogue>) =>
  Effect.provide(use, NodeCatalogue.layer(options))

layer(NodeServices.layer)("the node catalogue", (it) => {
  layer(NodeCatalogue.layer().pipe(Layer.provide(NodeServices.layer)))("of this build", (it) => {
    it.effect("has every type of n8n's packages, each with all its versions, as they are there", () =>
      Effect.gen(function*() {
        const catalogue = yield* Catalogue
        assert.strictEqual(yield* catalogue.release, "2.41.1")
        assert.sameMembers([...yield* catalogue.types], [...nodeTypes.all.keys()])
        for (const [type, expected] of nodeTypes.all) {
          const { itemFields: _, ...found } = Option.getOrThrow(yield* catalogue.find(type))
          assert.deepStrictEqual(found, expected)
        }
      }))

    it.effect("makes the tools that n8n makes, and no others", () =>
      Effect.gen(function*() {
        const { find } = yield* Catalogue
        const tool = Option.getOrThrow(yield* find("n8n-nodes-base.slackTool"))
        assert.deepStrictEqual(tool.descriptions[0]?.outputs, ["ai_tool"])
        // The first version is not made for it.
        const [, ...made] = NodeType.versions(nodeTypes.get("n8n-nodes-base.slack"))
        assert.deepStrictEqual(NodeType.versions(tool), made)
        // A type of its own, though it is named like a tool of another.
        const own = "@n8n/n8n-nodes-langchain.agentTool"
        assert.deepStrictEqual(Option.getOrThrow(yield* find(own)).descriptions, nodeTypes.get(own).descriptions)
        const others = ["ifTool", "ifHitlTool", "nothingTool"].map((name) => `n8n-nodes-base.${name}`)
        for (const type of [...others, "Tool"]) {
          assert.deepStrictEqual(yield* find(type), Option.none(), type)
        }
      }))

    it.effect("names the nearest types of one that there is not", () =>
      Effect.gen(function*() {
        const { get } = yield* Catalogue
        const hint = (type: string) => Effect.map(Effect.flip(get(type)), (error) => Hints.text(error.hint))
        const moved = yield* hint("n8n-nodes-base.lmChatOpenAi")
        assert.match(moved, /^Did you mean '@n8n\/n8n-nodes-langchain\.lmChatOpenAi'\?/)
        assert.match(yield* hint("n8n-nodes-base.httprequest"), /'n8n-nodes-base\.httpRequest'/)
        assert.match(yield* hint("slak"), /'n8n-nodes-base\.slack'/)
        assert.strictEqual(yield* hint("n8n-nodes-acme.zzzzzzzzzz"), "node_search finds types by what they do.")
        const error = yield* Effect.flip(get("__proto__"))
        assert.strictEqual(error.message, "Node type '__proto__' not found")
      }))

    it.effect("takes a name without its package where one type has it", () =>
      Effect.gen(function*() {
        const { find, get } = yield* Catalogue
        assert.strictEqual((yield* get("webhook")).type, "n8n-nodes-base.webhook")
        assert.strictEqual((yield* get("HTTP Request")).type, "n8n-nodes-base.httpRequest")
        assert.strictEqual((yield* get("agent")).type, "@n8n/n8n-nodes-langchain.agent")
        // Two packages have one, and a wrong package is not replaced.
        assert.strictEqual(Hints.text((yield* Effect.flip(get("code"))).hint).match(/'[^']+'/g)?.length, 2)
        assert.strictEqual((yield* Effect.flip(get("n8n-nodes-base.agent")))._tag, "NotFoundError")
        assert.deepStrictEqual(yield* find("webhook"), Option.none())
      }))

    it.effect("knows what earlier releases lack", () =>
      Effect.gen(function*() {
        const releases = yield* (yield* Catalogue).releases
        const http = "n8n-nodes-base.httpRequest"
        assert.isTrue(Releases.isLacked(releases, http, 4.5, "1.123.81"))
        assert.isTrue(Releases.isLacked(releases, http, 4.5, "1.90.0"))
        assert.isFalse(Releases.isLacked(releases, http, 4.5, "2.41.1"))
        assert.isFalse(Releases.isLacked(releases, http, 4.2, "1.123.81"))
        assert.strictEqual(releases.removed["n8n-nodes-base.start"], "1.123")
      }))

    it("is small, and comes with n8n's licence", () => {
      assert.isAtMost(statSync(NodeCatalogue.dataFile()).size, 2_000_000)
      assert.isAbove(statSync(`${NodeCatalogue.dataFile()}.LICENSE.md`).size, 1_000)
    })
  })

  it.effect("adds packages by folder or file: to find, to search, as tools", () =>
    Effect.gen(function*() {
      const { file, folder } = yield* packaged([acme])
      for (const nodes of [[folder], [file]]) {
        yield* withOptions(
          { nodes },
          Effect.gen(function*() {
            const catalogue = yield* Catalogue
            const found = yield* catalogue.get("n8n-nodes-acme.acmeRockets")
            assert.deepStrictEqual(NodeType.versions(found), [1, 2])
            assert.isTrue(Option.isSome(yield* catalogue.find("n8n-nodes-acme.acmeRocketsTool")))
            assert.include(yield* catalogue.types, "n8n-nodes-acme.acmeRockets")
            const { nodes: [first] } = yield* catalogue.search({ keyword: "zorbulent", limit: 10 })
            assert.strictEqual(first?.id, "n8n-nodes-acme.acmeRockets")
            assert.isTrue(Option.isSome(yield* catalogue.find("n8n-nodes-base.slack")))
          })
        )
      }
    }).pipe(Effect.scoped))

  it.effect("makes the nodes of a package without a list of them, as n8n does", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* packaged([], { name: "n8n-nodes-acme", n8n: { nodes: ["Rocket.node.js"] } })
      yield* fs.remove(`${folder}/dist`, { recursive: true })
      const refusal = (code: string) =>
        fs.writeFileString(`${folder}/Rocket.node.js`, code).pipe(
          Effect.andThen(Effect.exit(withOptions({ nodes: [folder] }, Catalogue.use(({ get }) => get(type))))),
          Effect.map((exit) => Exit.isFailure(exit) ? String(exit.cause) : exit.value)
        )
      const type = "n8n-nodes-acme.rocket"
      const described = JSON.stringify({ ...acme, name: "rocket", version: undefined })
      const versioned = yield* refusal(`
        const { NodeConnectionTypes, NodeApiError, VersionedNodeType } = require("n8n-workflow")
        const { helper } = require("not-installed-either")
        class Mine extends NodeApiError {}
        console.log("launched", helper(1).then, process.env.PATH)
        const description = { ...${described}, outputs: [NodeConnectionTypes.Main, NodeConnectionTypes.AiLanguageModel] }
        class V1 { description = description }
        class Rocket extends VersionedNodeType {
          constructor() { super({ 1: new V1(), 2.1: new V1() }, { displayName: "Rocket" }) }
        }
        module.exports = { Rocket, Mine }`)
      assert.deepInclude(versioned, { type })
      assert.deepStrictEqual(typeof versioned === "string" ? [] : NodeType.versions(versioned), [1, 2.1])
      assert.include(JSON.stringify(versioned), `"outputs":["main","ai_languageModel"]`)
      const plain = `exports.Rocket = class { description = { ...${described}, version: 3 } }`
      assert.include(JSON.stringify(yield* refusal(plain)), `"version":3`)
      assert.include(yield* refusal("throw new TypeError('no fuel')"), "cannot be loaded: TypeError: no fuel")
      assert.include(yield* refusal("process.exit(0)"), "it ended before its nodes were made")
      const unnamed = "exports.Rocket = class { description = { name: 7 } }"
      assert.include(yield* refusal(unnamed), "is not a list of node types")
      assert.include(yield* refusal("this is no JavaScript"), "SyntaxError")
    }).pipe(Effect.scoped))

  it.effect("lends nothing of this process to a package's code", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { folder } = yield* packaged([], { name: "n8n-nodes-spy", n8n: { nodes: ["Spy.node.js"] } })
      yield* fs.remove(`${folder}/dist`, { recursive: true })
      const code = `
        const tried = (what) => { try { return String(what()) } catch (error) { return error.code } }
        const fs = require("node:fs")
        console.log('{"jsonrpc":"2.0","method":"notifications/message"}')
        exports.Spy = class {
          description = { ...${JSON.stringify({ ...acme, name: "spy" })}, description: JSON.stringify({
            env: Object.keys(process.env).toSorted(),
            stdout: fs.fstatSync(1).rdev,
            parent: tried(() => fs.readFileSync("/proc/" + process.ppid + "/environ")),
            own: tried(() => fs.readFileSync(__filename).length > 0),
            write: tried(() => fs.writeFileSync(__dirname + "/x", "x")),
            command: tried(() => require("node:child_process").execSync("id"))
          }) }
        }`
      yield* fs.writeFileString(`${folder}/Spy.node.js`, code)
      const spy = yield* withOptions({ nodes: [folder] }, Catalogue.use(({ get }) => get("n8n-nodes-spy.spy")))
      assert.deepStrictEqual(JSON.parse(spy.descriptions[0]?.description ?? ""), {
        env: ["HOME", "PATH"].filter((name) => process.env[name] !== undefined),
        stdout: statSync("/dev/null").rdev,
        parent: "ERR_ACCESS_DENIED",
        own: "true",
        write: "ERR_ACCESS_DENIED",
        command: "ERR_ACCESS_DENIED"
      })
    }).pipe(Effect.scoped))

  it.effect("waits 20 seconds for a package's code, and takes no message of its own making for more", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/Slow.node.js`, "for (;;);")
      const slow = yield* Effect.forkChild(Effect.flip(describeNodes(folder, ["Slow.node.js"])))
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* Fiber.join(slow), "it did not load in 20 seconds")
      yield* fs.writeFileString(`${folder}/Liar.node.js`, "process.send('x', () => process.exit())")
      assert.strictEqual(yield* Effect.flip(describeNodes(folder, ["Liar.node.js"])), "undefined")
    }).pipe(Effect.scoped))

  it.effect("refuses code in a package's data", () =>
    Effect.gen(function*() {
      const escape = "={{ (import('fs').catch(e => e.constructor.constructor('return process')()), ['main']) }}"
      const { folder } = yield* packaged([{ ...acme, outputs: escape }])
      const get = Catalogue.use(({ get }) => get("n8n-nodes-acme.acmeRockets"))
      const rocket = yield* withOptions({ nodes: [folder] }, get)
      const evaluate = yield* Ports.evaluator
      assert.strictEqual(rocket.descriptions[0]?.outputs, escape)
      assert.isUndefined(evaluate(escape, { parameters: {}, version: 1 }))
    }).pipe(Effect.scoped))

  it.effect("says what is wrong with a package that cannot be read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const refusal = (path: string) =>
        Effect.map(Effect.exit(withOptions({ nodes: [path] }, Catalogue)), (exit) =>
          Exit.isFailure(exit) ? String(exit.cause) : "read")
      assert.include(yield* refusal("/no/such/folder"), "--nodes /no/such/folder: there is no such file or folder")
      const empty = yield* fs.makeTempDirectoryScoped()
      assert.include(yield* refusal(empty), "no package.json there or above it")
      yield* fs.writeFileString(`${empty}/package.json`, `{"name":"n8n-nodes-none"}`)
      const reason = "it has no dist/types/nodes.json, and its package.json lists no nodes"
      assert.include(yield* refusal(empty), reason)
      for (const nodes of ["{", "{}", [{ ...acme, properties: "none" }], [7]]) {
        const { file, folder } = yield* packaged(nodes)
        assert.include(yield* refusal(folder), "is not a list of node types")
        assert.include(yield* refusal(file), "is not a list of node types")
      }
      assert.include(yield* refusal((yield* packaged([acme], { version: "1" })).folder), "has no name")
    }).pipe(Effect.scoped))

  it.effect("says so, and what to do, when its file is missing, cut or another", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const folder = yield* fs.makeTempDirectoryScoped()
      const bytes = yield* fs.readFile(NodeCatalogue.dataFile())
      const garbled = bytes.slice().fill(7, bytes.length >> 1)
      const files = { missing: undefined, empty: bytes.slice(0, 2), cut: bytes.slice(0, 100), garbled, other: "{}" }
      for (const [name, content] of Object.entries(files)) {
        const dataFile = path.join(folder, name)
        if (content !== undefined) yield* fs.writeFile(dataFile, Buffer.from(content))
        const error = yield* withOptions(
          { dataFile },
          Catalogue.use((catalogue) => Effect.flip(Effect.forEach(nodeTypes.all.keys(), catalogue.find)))
        )
        assert.match(error.message, /^The node catalogue cannot be read: /, name)
        assert.include(Hints.text(error.hint), "install effect-n8n-mcp again")
        assert.isTrue(Errors.isServerFault(error))
      }
    }).pipe(Effect.scoped))
})

describe("the node types of this build", () => {
  it("have one description a version", () => {
    for (const nodeType of nodeTypes.all.values()) {
      const all = nodeType.descriptions.flatMap(NodeType.versionsOf)
      assert.strictEqual(new Set(all).size, all.length, nodeType.type)
      assert.isDefined(NodeType.at(nodeType, NodeType.defaultVersion(nodeType)), nodeType.type)
    }
  })
})
