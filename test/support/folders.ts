/** Temporary folders for tests. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Path from "effect/Path"

export const platform = Layer.merge(NodeFileSystem.layer, NodePath.layer)

/** Makes a folder with these files, which is removed after the test; its path has no symbolic links. */
export const folderWith = Effect.fnUntraced(function*(files: { readonly [path: string]: string | Uint8Array } = {}) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    yield* fs.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content)
  }
  return folder
})

/** Replaces some methods of the file system. */
export const withFileSystem = (replace: (fs: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) =>
  Effect.updateService(FileSystem.FileSystem, (fs) => ({ ...fs, ...replace(fs) }))

/** Text of a file. */
export const text = (path: string) => FileSystem.FileSystem.use((fs) => fs.readFileString(path))
