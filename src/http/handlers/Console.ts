/** The web console: its pages from `/` on, and its files. Without a console, `/` leads to the documentation. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { failure } from "../../domain/Failure.ts"
import { labelRequest } from "../edge/Access.ts"
import { serveAsset, type Asset, IMMUTABLE } from "./Assets.ts"
import { makeRefuse } from "../edge/Edge.ts"
import { Exchange } from "../edge/Exchange.ts"
import { isMisplaced, routingFailureOf } from "../edge/KnownPaths.ts"

/** The console loads nothing from other sites, runs no inline scripts and sends no forms. It shows pictures and films it has read. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data: blob:; connect-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** The pages of the console. All are one HTML file; its script shows the page of the path. */
const PAGES = [
  "/overview",
  "/explorer",
  "/requests",
  "/playground",
  "/models",
  "/presets",
  "/keys",
  "/projects",
  "/webhooks",
  "/batches",
  "/videos",
  "/billing",
  "/audit",
  "/settings",
  "/sign-in",
  "/operator"
] as const

const INDEX = "index.html"

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  ico: "image/x-icon",
  jpg: "image/jpeg",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  map: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
  wasm: "application/wasm",
  webmanifest: "application/manifest+json",
  webp: "image/webp",
  woff2: "font/woff2"
}

const contentTypeOf = (name: string): string =>
  CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"

/** The names of the files in the directory of a built console, without hidden ones; empty when there is none. */
const namesIn = Effect.fnUntraced(function* (directory: string) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* files.exists(`${directory}/${INDEX}`))) return []
  const names = yield* files.readDirectory(directory, { recursive: true })
  const kinds = yield* Effect.forEach(names, (name) => files.stat(`${directory}/${name}`))
  return names.filter((name, index) => kinds[index]?.type === "File" && !/(^|\/)\./.test(name))
})

const assetOf = Effect.fnUntraced(function* (directory: string, name: string, vary?: string) {
  const files = yield* FileSystem.FileSystem
  const asset: Asset = {
    contentType: contentTypeOf(name),
    policy: POLICY,
    make: Effect.mapError(files.readFile(`${directory}/${name}`), (error) => failure({ _tag: "InternalError" }, error)),
    ...(name.startsWith("assets/") ? { cacheControl: IMMUTABLE } : {}),
    ...(vary === undefined ? {} : { vary })
  }
  return yield* serveAsset(asset)
})

/**
 * Some pages have the path of an operation without `/api/v1`. A client that does not ask for HTML has the wrong base URL, and gets an
 * error that names the right one.
 */
const makePage = Effect.fnUntraced(function* (directory: string) {
  const refuse = yield* makeRefuse
  const [plain, shared] = [yield* assetOf(directory, INDEX), yield* assetOf(directory, INDEX, "accept")]
  return (route: string) =>
    Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const exchange = yield* Exchange
      labelRequest(exchange, { method: "GET", path: route })
      const path = url.split("?", 1)[0] ?? url
      if (!isMisplaced(path)) return yield* plain
      if (headers["accept"]?.includes("text/html") === true) return yield* shared
      return yield* refuse(exchange, failure(routingFailureOf("GET", path, path).reason))
    })
})

/** Serves the console in a directory for `GET` and `HEAD`. Its files are those that are there when the service starts. */
export const layerOf = (directory: string) =>
  HttpRouter.use((router) =>
    Effect.gen(function* () {
      const names = yield* namesIn(directory)
      if (names.length === 0) {
        return yield* router.add("GET", "/", Effect.succeed(HttpServerResponse.redirect("/docs", { status: 302 })))
      }
      const page = yield* makePage(directory)
      yield* router.add("GET", "/", page("/"))
      for (const path of PAGES) {
        // This is the path itself as well.
        yield* router.add("GET", `${path}/*`, page(`${path}/*`))
      }
      for (const name of names) {
        if (name === INDEX) continue
        const file = yield* assetOf(directory, name)
        const route = name.startsWith("assets/") ? "/assets/*" : `/${name}`
        const answer = Effect.flatMap(Exchange, (exchange) => {
          labelRequest(exchange, { method: "GET", path: route })
          return file
        })
        yield* router.add("GET", `/${name}` as HttpRouter.PathInput, answer)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

/** Serves the console that was built into the sources. */
export const layer = Layer.suspend(() => layerOf(new URL("../../console/dist", import.meta.url).pathname))
