/** The frame around a page: navigation, search, theme. It uses no inline script or style, so a strict policy can hold. */
import type { Page } from "./Library.ts"
import { escapeHtml } from "./Markdown.ts"

const navigation = (pages: ReadonlyArray<Page>, current: string): string => {
  const sections = Map.groupBy(pages, ({ section }) => section)
  const link = ({ path, title }: Page) =>
    `<li><a href="/docs/${path}"${path === current ? ' aria-current="page"' : ""}>${escapeHtml(title)}</a></li>`
  const reference = `<li><a href="/docs/api"${current === "api" ? ' aria-current="page"' : ""}>API reference</a></li>`
  return [...sections]
    .map(([title, members]) => {
      const more = title === "Reference" ? reference : ""
      return `<h2>${title}</h2><ul>${more}${members.map(link).join("")}</ul>`
    })
    .join("")
}

/** The whole HTML of a page with this body. */
export const frame = (
  pages: ReadonlyArray<Page>,
  { aside = "", body, current, title }: { title: string; current: string; body: string; aside?: string }
): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · tollgate</title>
<link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml">
<script src="/docs/assets/theme.js"></script>
<link rel="stylesheet" href="/docs/assets/style.css">
<script src="/docs/assets/docs.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button type="button" id="menu" aria-controls="nav" aria-expanded="false" aria-label="Pages">☰</button>
<a class="brand" href="/docs">tollgate</a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" aria-controls="results" autocomplete="off">
<kbd aria-hidden="true">/</kbd>
<ol id="results" hidden></ol>
</div>
<a class="console" href="/">Console</a>
<button type="button" id="theme" aria-label="Switch between light and dark">◐</button>
</header>
<div class="columns">
<nav id="nav" aria-label="Pages">${navigation(pages, current)}</nav>
<main id="content">${body}</main>
${aside}
</div>
</body>
</html>
`

/** A page with the list of its headings beside it. */
export const pageHtml = (pages: ReadonlyArray<Page>, page: Page): string => {
  const headings = page.headings.filter(({ depth }) => depth === 2)
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`).join("")
  const aside =
    headings.length > 1 ? `<aside aria-label="On this page"><h2>On this page</h2><ul>${items}</ul></aside>` : ""
  const isReference = page.path.startsWith("reference/")
  const source = `<p class="source"><a href="/docs/${page.path}.md">This page as Markdown</a></p>`
  const html = frame(pages, { title: page.title, current: page.path, body: page.html + source, aside })
  return isReference ? html.replace("<body>", '<body class="reference">') : html
}

/** The entry page: every section with its pages and the first words of each. */
export const indexHtml = (pages: ReadonlyArray<Page>): string => {
  const card = ({ path, text, title }: Page) => {
    const [summary = ""] = /^.*?\.(?=\s|$)/.exec(text.slice(title.length).trim()) ?? []
    return `<li><a href="/docs/${path}"><strong>${escapeHtml(title)}</strong><span>${escapeHtml(summary)}</span></a></li>`
  }
  const body = [...Map.groupBy(pages, ({ section }) => section)]
    .map(
      ([title, members]) =>
        `<h2 id="${title.toLowerCase()}">${title}</h2><ul class="cards">${members.map(card).join("")}</ul>`
    )
    .join("")
  const lead =
    '<p class="lead">One API in front of many hosted AI models, with a prepaid balance that is provably right. Start with the <a href="/docs/guide/quick-start">quick start</a>, or look an operation up in the <a href="/docs/api">API reference</a>.</p>'
  return frame(pages, { title: "Documentation", current: "", body: `<h1>Documentation</h1>${lead}${body}` })
}

/** The page that a browser shows at an address without a page. */
export const missingHtml = (pages: ReadonlyArray<Page>): string =>
  frame(pages, {
    title: "No such page",
    current: "",
    body: '<h1>No such page</h1><p>The documentation has no page at this address. Search for it above, or begin with <a href="/docs">all pages</a>.</p>'
  })

/** The API reference, which a script fills from the published document. */
export const referenceHtml = (pages: ReadonlyArray<Page>): string =>
  frame(pages, {
    title: "API reference",
    current: "api",
    body: '<div id="reference"><noscript>The API reference needs JavaScript. <a href="/api/v1/openapi.json">openapi.json</a> is the same document.</noscript></div><script src="/docs/assets/scalar.js"></script><script src="/docs/assets/reference.js"></script>'
  }).replace("<body>", '<body class="wide">')
