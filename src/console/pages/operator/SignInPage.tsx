import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { OPERATOR_SESSION } from "../../data/Addresses.ts"
import { wordsOf } from "../../data/Client.ts"
import { signInWith } from "../../data/Operator.ts"
import { Field } from "../../parts/Fields.tsx"

const FORM = /^svc_ok_[\w-]{43}$/

/** Says why a text cannot be an operator key. */
const wrongForm = (key: string): string | undefined => {
  if (key === "" || FORM.test(key)) return undefined
  if (/^svc_[sm]k_/.test(key)) return "This is a key of an account. An operator key begins with svc_ok_."
  return key.length < 50 && "svc_ok_".startsWith(key.slice(0, 7))
    ? undefined
    : "An operator key is svc_ok_ and 43 characters."
}

/** Asks for an operator key once and exchanges it for a session. */
export const OperatorSignInPage = () => {
  const [key, setKey] = useState("")
  const client = useQueryClient()
  const router = useRouter()
  useEffect(() => {
    document.title = "Operator sign-in · tollgate"
  }, [])
  const signIn = useMutation({
    mutationFn: () => signInWith(key.trim()),
    onSuccess: (session) => {
      setKey("")
      client.setQueryData(OPERATOR_SESSION, session)
      // The route of this page now redirects.
      void router.invalidate()
    }
  })
  const wrong = wrongForm(key.trim()) ?? (signIn.error === null ? undefined : wordsOf(signIn.error).message)
  return (
    <div className="entry">
      <main>
        <div className="brand">
          <img src="/icon.svg" alt="" />
          tollgate <span className="chip">operator</span>
        </div>
        <div className="card">
          <form
            className="form"
            onSubmit={(event) => {
              event.preventDefault()
              signIn.mutate()
            }}
          >
            <div>
              <h1>Sign in as operator</h1>
              <p className="muted">
                Paste an operator key once. The browser gets a session of at most 12 hours instead, which ends after an
                hour without use.
              </p>
            </div>
            <Field label="Operator key" wrong={wrong} hint="Revoking the key ends its sessions at once.">
              {(props) => (
                <input
                  {...props}
                  className="input mono"
                  type="password"
                  name="operator-key"
                  autoComplete="off"
                  spellCheck={false}
                  required
                  autoFocus
                  placeholder="svc_ok_…"
                  value={key}
                  onChange={(event) => {
                    signIn.reset()
                    setKey(event.target.value)
                  }}
                />
              )}
            </Field>
            <button className="button primary wide" type="submit" disabled={signIn.isPending || !FORM.test(key.trim())}>
              {signIn.isPending ? "Checking…" : "Sign in"}
            </button>
          </form>
        </div>
        <p className="small muted">
          The admin command makes operator keys: <code>npm run admin -- operator-key create</code>. Owners of accounts
          sign in to <a href="/sign-in">the console</a>.
        </p>
      </main>
    </div>
  )
}
