/** The address on this origin of a file of this gateway, whose public address may be another. */
export const fileUrl = (url: string): string => {
  const at = url.indexOf("/files/")
  return at === -1 ? url : url.slice(at)
}

/** The key under which the operator's session is kept. */
export const OPERATOR_SESSION = ["operator", "session"] as const

/** Whether a path is a page of the operator's section. */
export const isOperatorPage = (path: string): boolean => /^\/operator(\/|$)/.test(path)

/** The page that an operator is led to after signing in: only one of the operator's section. */
export const operatorPathOf = (next: string | undefined): string =>
  next !== undefined && isOperatorPage(next.split(/[?#]/, 1)[0] ?? "") && !next.startsWith("/operator/sign-in")
    ? next
    : "/operator/accounts"
