/** The documentation: `/docs`, `/llms.txt`, the OpenAPI document, and the links at the API's root. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { indexHtml, missingHtml, pageHtml, referenceHtml } from "../../documentation/Frame.ts"
import { type Page, readPages, sectionFolders } from "../../documentation/Library.ts"
import { llmsFullText, llmsText, searchEntries } from "../../documentation/Texts.ts"
import { failure } from "../../domain/Failure.ts"
import { PublicUrl } from "../../platform/outbound/PublicUrl.ts"
import { serveAsset, type Asset } from "./Assets.ts"
import { makeRefuse } from "../edge/Edge.ts"
import { API_PREFIX, MCP_PATH, OPENAPI_PATH } from "../edge/KnownPaths.ts"
import { Exchange } from "../edge/Exchange.ts"

/** Pages load nothing from other sites and run no inline scripts. */
const POLICY = {
  pages:
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  /** The API reference writes its own styles. It does not evaluate scripts from strings. */
  reference:
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
} as const

const text = (contentType: string, make: () => string, policy: string = POLICY.pages): Asset => ({
  contentType: `${contentType}; charset=utf-8`,
  policy,
  make: Effect.sync(() => Buffer.from(make()))
})

/** Styles, scripts and fonts by their names under `/docs/assets`. */
const assetsOf = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const here = new URL("../../documentation/assets/", import.meta.url)
  const bytesOf = (url: URL) =>
    Effect.mapError(files.readFile(url.pathname), (error) => failure({ _tag: "InternalError" }, error))
  const file = (contentType: string, url: URL): Asset => ({ contentType, policy: POLICY.pages, make: bytesOf(url) })
  const own = (name: string, contentType: string) => file(`${contentType}; charset=utf-8`, new URL(name, here))
  const font = (family: string, name: string) =>
    file(
      "font/woff2",
      new URL(import.meta.resolve(`@fontsource-variable/${family}/files/${name}-latin-wght-normal.woff2`))
    )
  // Effect ships the script of the API reference in an internal module that cannot be imported by name.
  const scalar = new URL("internal/httpApiScalar.js", import.meta.resolve("effect/http-api/HttpApiScalar"))
  return {
    "style.css": own("style.css", "text/css"),
    "theme.js": file("text/javascript; charset=utf-8", new URL("../../console/public/theme.js", import.meta.url)),
    "docs.js": own("docs.js", "text/javascript"),
    "reference.js": own("reference.js", "text/javascript"),
    "icon.svg": own("icon.svg", "image/svg+xml"),
    "inter.woff2": font("inter", "inter"),
    "mono.woff2": font("jetbrains-mono", "jetbrains-mono"),
    "scalar.js": {
      contentType: "text/javascript; charset=utf-8",
      policy: POLICY.pages,
      make: Effect.map(
        Effect.promise((): Promise<{ readonly javascript: string }> => import(scalar.href)),
        ({ javascript }) => Buffer.from(javascript)
      )
    }
  } satisfies Readonly<Record<string, Asset>>
})

/** The contract with this gateway as its server. */
const contractText = (base: string): string =>
  JSON.stringify({ ...OpenApi.fromApi(Api), servers: [{ url: base, description: "This gateway." }] })

/** The address in the examples of the pages. */
const DEFAULT_ADDRESS = "http://127.0.0.1:8787"

/** A text of the documentation with this address in its examples. */
export const withAddress = (made: string, base: string): string => made.replaceAll(DEFAULT_ADDRESS, base)

/** The contract and the files of the documentation by their paths. Examples have the address of this gateway. */
const assetsByPath = (pages: ReadonlyArray<Page>, base: () => string): ReadonlyMap<string, Asset> => {
  const addressed = (made: string): string => withAddress(made, base())
  return new Map([
    [OPENAPI_PATH, text("application/json", () => contractText(base()))],
    ["/docs", text("text/html", () => indexHtml(pages))],
    ["/docs/api", text("text/html", () => referenceHtml(pages), POLICY.reference)],
    ["/docs/search.json", text("application/json", () => JSON.stringify(searchEntries(pages)))],
    ["/llms.txt", text("text/plain", () => llmsText(pages, base()))],
    ["/llms-full.txt", text("text/plain", () => addressed(llmsFullText(pages)))],
    ...pages.flatMap((page): ReadonlyArray<readonly [string, Asset]> => [
      [`/docs/${page.path}`, text("text/html", () => addressed(pageHtml(pages, page)))],
      [`/docs/${page.path}.md`, text("text/markdown", () => addressed(page.markdown))]
    ])
  ])
}

/** The links at the API's root. */
const linksAt = (base: string) => ({
  object: "links",
  documentation: `${base}/docs`,
  openapi: `${base}${OPENAPI_PATH}`,
  models: `${base}${API_PREFIX}/models`,
  mcp: `${base}${MCP_PATH}`,
  llms: `${base}/llms.txt`
})

/** The pages of the documentation. */
export const documentationPages = Effect.suspend(() =>
  readPages(new URL("../../../docs/", import.meta.url).pathname)
).pipe(Effect.provide(NodeServices.layer))

/** Serves the documentation for `GET` and `HEAD`. A path without a page is `not_found`; a browser gets it as a page. */
export const layer = HttpRouter.use((router) =>
  Effect.gen(function* () {
    const publicUrl = yield* PublicUrl
    const refuse = yield* makeRefuse
    const pages = yield* documentationPages
    const assets = yield* assetsOf
    for (const [path, asset] of [
      ...assetsByPath(pages, publicUrl.base),
      ...Object.entries(assets).map(([name, asset]) => [`/docs/assets/${name}`, asset] as const)
    ]) {
      yield* router.add("GET", path as HttpRouter.PathInput, yield* serveAsset(asset))
    }
    const missing = missingHtml(pages)
    const absent = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      if (/\btext\/html\b/.test(headers["accept"] ?? "")) {
        const about = { "content-security-policy": POLICY.pages, "x-content-type-options": "nosniff", vary: "accept" }
        return HttpServerResponse.html(missing).pipe(
          HttpServerResponse.setStatus(404),
          HttpServerResponse.setHeaders(about)
        )
      }
      return yield* refuse(yield* Exchange, failure({ _tag: "NotFound", what: "page", id: url }))
    })
    for (const folder of sectionFolders) {
      const shown = HttpServerResponse.redirect(`/docs#${folder}`, { status: 302 })
      yield* router.add("GET", `/docs/${folder}`, Effect.succeed(shown))
    }
    for (const path of ["/docs/:section", "/docs/:section/:page"] as const) yield* router.add("GET", path, absent)
    yield* router.add(
      "GET",
      API_PREFIX,
      Effect.sync(() => HttpServerResponse.jsonUnsafe(linksAt(publicUrl.base())))
    )
  }).pipe(Effect.provide(NodeServices.layer))
)
