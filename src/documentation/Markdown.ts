/** Markdown pages as HTML: headings with anchors, highlighted code, and links that lead within the documentation. */
import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import javascript from "highlight.js/lib/languages/javascript"
import json from "highlight.js/lib/languages/json"
import python from "highlight.js/lib/languages/python"
import typescript from "highlight.js/lib/languages/typescript"
import { Marked, type Tokens } from "marked"
import { posix } from "node:path"

hljs.registerLanguage("sh", bash)
hljs.registerLanguage("js", javascript)
hljs.registerLanguage("json", json)
hljs.registerLanguage("python", python)
hljs.registerLanguage("ts", typescript)

/** A heading below the title. */
export interface Heading {
  readonly depth: number
  readonly id: string
  readonly text: string
}

/** A page as a browser shows it. */
export interface RenderedPage {
  readonly title: string
  readonly html: string
  readonly headings: ReadonlyArray<Heading>
  /** Its words without markup, for the search. */
  readonly text: string
}

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Text that is safe inside HTML and inside a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (one) => escapes[one]!)

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-")

const plainText = (html: string): string =>
  html
    .replaceAll(/<\/(h\d|p|li|td|th|pre|blockquote)>|<br>/g, " ")
    .replaceAll(/<[^>]*>/g, "")
    // The highlighter writes apostrophes in its own way.
    .replaceAll("&#x27;", "'")
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (one) => Object.entries(escapes).find(([, code]) => code === one)![0])
    .replaceAll(/\s+/g, " ")
    .trim()

/**
 * Where a link of a page leads in the served documentation. `page` is the page's path below docs/, such as `guide/limits.md`.
 * Undefined: the link leads to a file that is not served.
 */
export const hrefOf = (page: string, href: string): string | undefined => {
  if (/^[a-z]+:/i.test(href) || href.startsWith("#")) return href
  const [path = "", anchor] = href.split("#", 2)
  const target = posix.join(posix.dirname(page), path)
  if (target === "../schemas/published/openapi.json") return "/api/v1/openapi.json"
  if (target.startsWith("../") || !target.endsWith(".md")) return undefined
  return `/docs/${target.slice(0, -".md".length)}${anchor === undefined ? "" : `#${anchor}`}`
}

const codeBlock = ({ lang = "", text }: Tokens.Code): string => {
  const known = hljs.getLanguage(lang) !== undefined
  const inner = known ? hljs.highlight(text, { language: lang }).value : escapeHtml(text)
  return `<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code>${inner}</code></pre></div>\n`
}

/** The title of a page: its first heading without markup. */
export const titleOf = (markdown: string): string | undefined =>
  /^# (.+)$/m.exec(markdown)?.[1]?.replaceAll(/[`*]/g, "").trim()

/** Names up to this length stay whole. */
const WHOLE_NAME = 24

/** Escapes a piece of code, and lets a narrow column break a path between its segments and a long name between its words. */
const breakable = (code: string): string =>
  escapeHtml(code).replaceAll(code.length > WHOLE_NAME ? /(?<![:/])[/_.](?=[a-z])/g : /(?<![:/])\/(?=\w)/g, "$&<wbr>")

/** Renders a page. Raw HTML in it is shown as text. */
export const render = (page: string, markdown: string): RenderedPage => {
  const headings: Array<Heading> = []
  const marked = new Marked({
    renderer: {
      code: codeBlock,
      codespan: ({ text }) => `<code>${breakable(text)}</code>`,
      html: ({ text }) => escapeHtml(text),
      heading({ depth, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const text = plainText(inner)
        if (depth === 1) return `<h1>${inner}</h1>\n`
        const id = slugOf(text)
        headings.push({ depth, id, text })
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(text)}">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const target = hrefOf(page, href)
        return target === undefined ? inner : `<a href="${escapeHtml(target)}">${inner}</a>`
      }
    }
  })
  const html = (marked.parse(markdown) as string)
    .replaceAll("<table>", '<div class="table" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")
  return {
    title: titleOf(markdown) ?? page,
    html,
    headings,
    text: plainText(html.replaceAll(/<(button|a class="anchor")[^>]*>.*?<\/(button|a)>/g, ""))
  }
}
