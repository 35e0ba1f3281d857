/** Renders Markdown as elements. HTML in an answer stays text. */
import { lexer, type Token, type Tokens } from "marked"
import { Fragment, type ReactNode } from "react"
import { CopyButton } from "./Copy.tsx"
import { Highlighted } from "./Highlighted.tsx"

/** Whether an address may be a link. Only web and mail addresses may, so that a link in an answer runs no script. */
const isSafe = (href: string): boolean => /^(https?:|mailto:)/i.test(href)

const inside = (token: { readonly tokens?: ReadonlyArray<Token> | undefined }, text: string): ReactNode =>
  token.tokens === undefined ? text : <Pieces tokens={token.tokens} />

const decoded = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")

const Table = ({ of }: { readonly of: Tokens.Table }) => (
  <div className="scroll" tabIndex={0} role="region" aria-label="Table">
    <table className="lines">
      <thead>
        <tr>
          {of.header.map((cell, at) => (
            <th key={at} scope="col">
              <Pieces tokens={cell.tokens} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {of.rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>
                <Pieces tokens={cell.tokens} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const List = ({ of }: { readonly of: Tokens.List }) => {
  const items = of.items.map((item, at) => (
    <li key={at}>
      <Pieces tokens={item.tokens} />
    </li>
  ))
  return of.ordered ? <ol start={of.start === "" ? 1 : of.start}>{items}</ol> : <ul>{items}</ul>
}

const Fence = ({ of }: { readonly of: Tokens.Code }) => (
  <div className="code">
    <header>
      <span className="small muted">{of.lang ?? "code"}</span>
      <CopyButton label="Copy the code" text={of.text} />
    </header>
    <pre tabIndex={0}>
      <Highlighted code={of.text} language={of.lang} />
    </pre>
  </div>
)

const Link = ({ of }: { readonly of: Tokens.Link }) =>
  isSafe(of.href) ? (
    <a href={of.href} rel="noopener noreferrer" target="_blank">
      {inside(of, of.text)}
    </a>
  ) : (
    <>{inside(of, of.text)}</>
  )

const block = (token: Token): ReactNode => {
  switch (token.type) {
    case "paragraph":
      return <p>{inside(token, token.raw)}</p>
    case "heading":
      return (token as Tokens.Heading).depth < 3 ? (
        <h4>{inside(token, token.raw)}</h4>
      ) : (
        <h5>{inside(token, token.raw)}</h5>
      )
    case "code":
      return <Fence of={token as Tokens.Code} />
    case "blockquote":
      return <blockquote>{inside(token, token.raw)}</blockquote>
    case "list":
      return <List of={token as Tokens.List} />
    case "table":
      return <Table of={token as Tokens.Table} />
    case "hr":
      return <hr />
    case "space":
      return null
    default:
      return inline(token)
  }
}

const inline = (token: Token): ReactNode => {
  switch (token.type) {
    case "strong":
      return <strong>{inside(token, token.raw)}</strong>
    case "em":
      return <em>{inside(token, token.raw)}</em>
    case "del":
      return <del>{inside(token, token.raw)}</del>
    case "codespan":
      return <code>{decoded((token as Tokens.Codespan).text)}</code>
    case "br":
      return <br />
    case "link":
      return <Link of={token as Tokens.Link} />
    case "text":
    case "escape":
      return inside(token as Tokens.Text, decoded((token as Tokens.Text).text))
    default:
      // HTML and images in an answer are shown as text.
      return token.raw
  }
}

const Pieces = ({ tokens }: { readonly tokens: ReadonlyArray<Token> }) =>
  tokens.map((token, at) => <Fragment key={at}>{block(token)}</Fragment>)

/** A text in Markdown. */
export const Markdown = ({ text }: { readonly text: string }) => (
  <div className="prose">
    <Pieces tokens={lexer(text)} />
  </div>
)
