/** The address of a gateway file on this origin. The gateway's public address may be another one. */
export const fileUrl = (url: string): string => {
  const at = url.indexOf("/files/")
  return at === -1 ? url : url.slice(at)
}

/** The cache key of the operator's session. */
export const OPERATOR_SESSION = ["operator", "session"] as const

/** Whether a path is a page of the operator's section. */
export const isOperatorPage = (path: string): boolean => /^\/operator(\/|$)/.test(path)

/** The request id in a pasted text, in any case; undefined if the text is none. */
export const requestIdIn = (text: string): string | undefined => {
  const id = text.trim()
  return /^req_[0-9A-HJKMNP-TV-Z]{26}$/i.test(id) ? `req_${id.slice("req_".length).toUpperCase()}` : undefined
}

/** The page that follows the sign-in of an operator. It is always a page of the operator's section. */
export const operatorPathOf = (next: string | undefined): string =>
  next !== undefined && isOperatorPage(next.split(/[?#]/, 1)[0] ?? "") && !next.startsWith("/operator/sign-in")
    ? next
    : "/operator/accounts"
