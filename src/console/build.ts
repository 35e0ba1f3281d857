/** Builds the console into `dist`, from which the gateway serves it. npm runs it after an install. */
import { rmSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"

const out = join(import.meta.dirname, "dist")

const canBuild = (): boolean => {
  const { resolve } = createRequire(import.meta.url)
  try {
    return resolve("vite") !== "" && resolve("react") !== ""
  } catch {
    return false
  }
}

if (canBuild()) {
  const { build } = await import("vite")
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic" } },
    build: {
      outDir: out,
      emptyOutDir: true,
      // The content security policy allows files of this origin only.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2023",
      reportCompressedSize: false
    }
  })
} else {
  rmSync(out, { recursive: true, force: true })
  process.stdout.write("The console is not built, because its build tools are development packages: run `npm ci`.\n")
}
