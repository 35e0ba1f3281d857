/** The build of the console that tests use. */
import { spawnSync } from "node:child_process"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { root } from "./Sources.ts"

const newestIn = (directory: string): number =>
  Math.max(
    ...readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes("/dist"))
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs)
  )

const source = join(root, "src/console")

/** Builds the console if its sources are newer than the last build. Done before any test, because several read the result. */
export const buildConsole = (): void => {
  const built = statSync(join(source, "dist/index.html"), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (built > Math.max(newestIn(source), newestIn(join(root, "src/client")))) return
  // Vitest's own NODE_ENV would choose React's build for development.
  const env = { ...process.env, NODE_ENV: "production" }
  const { status, stderr } = spawnSync(process.execPath, [join(source, "build.ts")], { encoding: "utf8", env })
  if (status !== 0) throw new Error(`the console was not built: ${stderr}`)
}
