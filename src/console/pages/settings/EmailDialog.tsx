import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api, wordsOf } from "../../data/Client.ts"
import { ownerSessionsQuery, sessionQuery } from "../../data/Queries.ts"
import { plural } from "../../format/Words.ts"
import { FormDialog } from "../../parts/Dialog.tsx"
import { Field } from "../../parts/Fields.tsx"
import { SandboxCode } from "../../parts/SandboxCode.tsx"
import { toast } from "../../parts/Toasts.tsx"

const wrongOf = (error: Error | null) => (error === null ? undefined : wordsOf(error).message)

/** Changes the email address of the account. A code confirms the new address. */
export const EmailDialog = ({ email, onClose }: { readonly email: string; readonly onClose: () => void }) => {
  const client = useQueryClient()
  const [to, setTo] = useState("")
  const [code, setCode] = useState("")
  const send = useMutation({ mutationFn: () => api.call("console.email.create", { body: { email: to } }) })
  const verify = useMutation({
    mutationFn: () => api.call("console.email.verify", { body: { email: to, code } }),
    onSuccess: async ({ data }) => {
      const ended = data.sessions_ended === 0 ? "" : ` ${plural(data.sessions_ended, "other session")} ended.`
      toast(`Sign in as ${data.email} from now on.${ended}`)
      onClose()
      await Promise.all([client.invalidateQueries(sessionQuery), client.invalidateQueries(ownerSessionsQuery)])
    }
  })
  const shown = send.data?.data.sandbox_code
  return (
    <FormDialog
      title="Change email"
      action={send.isSuccess ? "Change email" : "Send code"}
      busy={send.isPending || verify.isPending}
      ready={send.isSuccess ? code.length === 6 : to.trim() !== ""}
      onSubmit={() => (send.isSuccess ? verify.mutate() : send.mutate())}
      onClose={onClose}
    >
      <p className="muted">
        You sign in with this address, and the gateway sends notifications to it. The gateway tells {email} about the
        change and signs out every other browser.
      </p>
      {send.isSuccess ? (
        <>
          <Field label="Code" hint={`Sent to ${to}, valid for 10 minutes.`} wrong={wrongOf(verify.error)}>
            {(props) => (
              <input
                {...props}
                className="input"
                name="email-code"
                inputMode="numeric"
                autoComplete="one-time-code"
                required
                autoFocus
                value={code}
                onChange={(event) => setCode(event.target.value.replaceAll(/\D/g, "").slice(0, 6))}
              />
            )}
          </Field>
          {shown === undefined ? null : <SandboxCode code={shown} onUse={() => setCode(shown)} />}
        </>
      ) : (
        <Field label="New email" hint="The gateway sends a code to it." wrong={wrongOf(send.error)}>
          {(props) => (
            <input
              {...props}
              className="input"
              type="email"
              name="new-email"
              autoComplete="email"
              required
              autoFocus
              value={to}
              onChange={(event) => setTo(event.target.value)}
            />
          )}
        </Field>
      )}
    </FormDialog>
  )
}
