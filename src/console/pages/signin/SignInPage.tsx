import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import { type FormEvent, useEffect, useState } from "react"
import type { SignInSent } from "../../../client/Contract.ts"
import { api, keepCsrfToken, wordsOf } from "../../data/Client.ts"
import { forgetAccount, sessionQuery } from "../../data/Queries.ts"
import { plural } from "../../format/Words.ts"
import { Field } from "../../parts/Fields.tsx"
import { SandboxCode } from "../../parts/SandboxCode.tsx"

const DIGITS = 6

interface EmailFormProps {
  readonly email: string
  readonly onEmail: (email: string) => void
  readonly onSent: (sent: SignInSent) => void
}

const EmailForm = ({ email, onEmail, onSent }: EmailFormProps) => {
  const send = useMutation({
    mutationFn: () => api.call("console.sign_in.create", { body: { email } }),
    onSuccess: onSent
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send.mutate()
  }
  return (
    <form className="form" onSubmit={submit}>
      <div>
        <h1>Sign in or sign up</h1>
        <p className="muted">The gateway sends a code to your email. A new address opens a new account.</p>
      </div>
      <Field label="Email" wrong={send.error === null ? undefined : wordsOf(send.error).message}>
        {(props) => (
          <input
            {...props}
            className="input"
            type="email"
            name="email"
            autoComplete="email"
            required
            autoFocus
            value={email}
            onChange={(event) => onEmail(event.target.value)}
          />
        )}
      </Field>
      <button className="button primary wide" type="submit" disabled={send.isPending}>
        {send.isPending ? "Sending…" : "Send code"}
      </button>
    </form>
  )
}

interface CodeFormProps {
  readonly email: string
  readonly sent: SignInSent
  readonly onBack: () => void
}

/** Asks for the code. A sandbox without a mail server shows it on the page. */
const CodeForm = ({ email, onBack, sent }: CodeFormProps) => {
  const client = useQueryClient()
  const router = useRouter()
  const [code, setCode] = useState("")
  const verify = useMutation({
    mutationFn: (digits: string) =>
      api.call("console.sign_in.verify", { body: { email, code: digits, sign_in_id: sent.sign_in_id } }),
    onSuccess: (session) => {
      keepCsrfToken(session.csrf_token)
      forgetAccount(client)
      client.setQueryData(sessionQuery.queryKey, session)
      // The route of this page now redirects.
      void router.invalidate()
    }
  })
  const type = (value: string) => {
    const digits = value.replaceAll(/\D/g, "").slice(0, DIGITS)
    setCode(digits)
    if (digits.length === DIGITS && !verify.isPending) verify.mutate(digits)
  }
  const { sandbox_code: shown } = sent
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        verify.mutate(code)
      }}
    >
      <div>
        <h1>Enter the code</h1>
        <p className="muted">
          {shown === undefined ? "Sent to " : "This sandbox sends no mail to "}
          <strong>{email}</strong>. {shown === undefined ? "The code" : "Your code"} is valid for{" "}
          {plural(sent.expires_in / 60, "minute")}.
        </p>
        {shown === undefined ? null : <SandboxCode code={shown} onUse={() => type(shown)} />}
      </div>
      <Field label="Code" wrong={verify.error === null ? undefined : wordsOf(verify.error).message}>
        {(props) => (
          <input
            {...props}
            className="input code-input"
            name="code"
            inputMode="numeric"
            autoComplete="one-time-code"
            required
            autoFocus
            value={code}
            onChange={(event) => type(event.target.value)}
          />
        )}
      </Field>
      <button className="button primary wide" type="submit" disabled={verify.isPending || code.length !== DIGITS}>
        {verify.isPending ? "Checking…" : "Sign in"}
      </button>
      <button className="button plain wide" type="button" onClick={onBack}>
        Use another address
      </button>
    </form>
  )
}

/** Signs an owner in with a code sent by email. A new address opens an account. */
export const SignInPage = () => {
  const [email, setEmail] = useState("")
  const [sent, setSent] = useState<SignInSent>()
  useEffect(() => {
    document.title = "Sign in · tollgate"
  }, [])
  return (
    <div className="entry">
      <main>
        <div className="brand">
          <img src="/icon.svg" alt="" />
          tollgate
        </div>
        <div className="card">
          {sent === undefined ? (
            <EmailForm email={email} onEmail={setEmail} onSent={setSent} />
          ) : (
            <CodeForm email={email} sent={sent} onBack={() => setSent(undefined)} />
          )}
        </div>
        <p className="small muted">
          One API for many AI models, paid by use. Programs do not sign in: they send a key that you create here. Read
          the <a href="/docs">documentation</a>.
        </p>
      </main>
    </div>
  )
}
