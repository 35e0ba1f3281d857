/** Splits code into pieces to colour. The highlighter loads with the first code that a page shows. */
import type { HLJSApi } from "highlight.js"

/** A piece of code, with the CSS class of its kind. */
export interface Piece {
  readonly kind: string | undefined
  readonly text: string
}

const aliases: Readonly<Record<string, string>> = {
  js: "javascript",
  jsx: "javascript",
  ts: "typescript",
  tsx: "typescript",
  py: "python",
  sh: "bash",
  shell: "bash",
  curl: "bash",
  html: "xml"
}

const loaded: { api: Promise<HLJSApi> | undefined } = { api: undefined }

const load = async (): Promise<HLJSApi> => {
  const [core, ...languages] = await Promise.all([
    import("highlight.js/lib/core"),
    import("highlight.js/lib/languages/bash"),
    import("highlight.js/lib/languages/css"),
    import("highlight.js/lib/languages/go"),
    import("highlight.js/lib/languages/java"),
    import("highlight.js/lib/languages/javascript"),
    import("highlight.js/lib/languages/json"),
    import("highlight.js/lib/languages/python"),
    import("highlight.js/lib/languages/rust"),
    import("highlight.js/lib/languages/sql"),
    import("highlight.js/lib/languages/typescript"),
    import("highlight.js/lib/languages/xml"),
    import("highlight.js/lib/languages/yaml")
  ])
  const names = [
    "bash",
    "css",
    "go",
    "java",
    "javascript",
    "json",
    "python",
    "rust",
    "sql",
    "typescript",
    "xml",
    "yaml"
  ]
  names.forEach((name, at) => core.default.registerLanguage(name, languages[at]!.default))
  return core.default
}

const piecesOf = (node: Node, kind: string | undefined): ReadonlyArray<Piece> => {
  if (node.nodeType === Node.TEXT_NODE) return [{ kind, text: node.textContent ?? "" }]
  const own = node instanceof HTMLElement && node.className !== "" ? node.className.split(" ")[0] : kind
  return [...node.childNodes].flatMap((child) => piecesOf(child, own))
}

/** The pieces of code in a language; undefined for an unknown language. */
export const highlight = async (code: string, language: string): Promise<ReadonlyArray<Piece> | undefined> => {
  loaded.api ??= load()
  const api = await loaded.api
  const name = aliases[language.toLowerCase()] ?? language.toLowerCase()
  if (api.getLanguage(name) === undefined) return undefined
  const { value } = api.highlight(code, { language: name, ignoreIllegals: true })
  // A parsed document runs no script and loads nothing, and only its texts are used.
  return piecesOf(new DOMParser().parseFromString(value, "text/html").body, undefined)
}
