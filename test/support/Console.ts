/** A client of the console's API that acts as a page in a browser: it keeps the cookie, and sends the CSRF token and the origin. */
import { Effect } from "effect"
import type { Postbox } from "./Postbox.ts"

/** A response with its body as JSON. */
export interface Shown {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any
}

/** A page of the service at this origin that is not signed in. */
export const page = (origin: string) => {
  const has: { cookie: string | undefined; csrf: string | undefined } = { cookie: undefined, csrf: undefined }
  const ask = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal
  ) =>
    Effect.promise(async (): Promise<Shown> => {
      const response = await fetch(`${origin}/api/v1/console${path}`, {
        method,
        headers: {
          ...(method === "GET" ? {} : { origin, "sec-fetch-site": "same-origin" }),
          ...(has.cookie === undefined ? {} : { cookie: has.cookie }),
          ...(has.csrf === undefined || method === "GET" ? {} : { "x-csrf-token": has.csrf }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal })
      })
      const [set] = response.headers.getSetCookie()
      if (set !== undefined) has.cookie = /Max-Age=0;/.test(set) ? undefined : set.split(";", 1)[0]
      const text = await response.text()
      const shown = text === "" ? undefined : JSON.parse(text)
      if (shown?.csrf_token !== undefined) has.csrf = shown.csrf_token
      return { status: response.status, headers: response.headers, body: shown }
    })
  return {
    has,
    ask,
    /** Signs in with the code that arrives by mail. A new address gets a new account. */
    signIn: (postbox: Postbox, email: string, headers: Record<string, string> = {}) =>
      Effect.gen(function* () {
        const { body } = yield* ask("POST", "/sign-in", { email }, headers)
        const code = postbox.codeFor(email.toLowerCase())
        return yield* ask("POST", "/sign-in/verify", { email, sign_in_id: body.sign_in_id, code }, headers)
      })
  }
}

export type Page = ReturnType<typeof page>
