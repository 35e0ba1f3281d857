import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { api, wordsOf } from "../../data/Client.ts"
import { balanceQuery, sessionQuery } from "../../data/Queries.ts"
import { money } from "../../format/Money.ts"
import { Field } from "../../parts/Fields.tsx"
import { SandboxCode } from "../../parts/SandboxCode.tsx"
import { toast } from "../../parts/Toasts.tsx"

/** Verifies a phone number with a code, for starter credit. */
export const PhoneForm = () => {
  const client = useQueryClient()
  const [phone, setPhone] = useState("")
  const [code, setCode] = useState("")
  const send = useMutation({ mutationFn: () => api.call("console.phone.create", { body: { phone } }) })
  const verify = useMutation({
    mutationFn: () => api.call("console.phone.verify", { body: { phone, code } }),
    onSuccess: async ({ data }) => {
      toast(`Added ${money(data.starter_credit_usd)} of starter credit to the balance.`)
      await Promise.all([client.invalidateQueries(sessionQuery), client.invalidateQueries(balanceQuery)])
    }
  })
  const sent = send.isSuccess
  const shown = send.data?.data.sandbox_code
  const error = sent ? verify.error : send.error
  return (
    <form
      className="actions"
      onSubmit={(event) => {
        event.preventDefault()
        if (sent) verify.mutate()
        else send.mutate()
      }}
    >
      <Field
        label={sent ? "Code from the text message" : "Mobile number"}
        hint={sent ? `Sent to ${phone}.` : "In international form, such as +4915112345678."}
        wrong={error === null ? undefined : wordsOf(error).message}
      >
        {(props) =>
          sent ? (
            <input
              {...props}
              className="input"
              name="phone-code"
              inputMode="numeric"
              autoComplete="one-time-code"
              required
              value={code}
              onChange={(event) => setCode(event.target.value.replaceAll(/\D/g, ""))}
            />
          ) : (
            <input
              {...props}
              className="input"
              name="phone"
              type="tel"
              autoComplete="tel"
              required
              value={phone}
              onChange={(event) => setPhone(event.target.value)}
            />
          )
        }
      </Field>
      {shown === undefined ? null : <SandboxCode code={shown} onUse={() => setCode(shown)} />}
      <button type="submit" className="button" disabled={send.isPending || verify.isPending}>
        {sent ? "Verify number" : "Send code"}
      </button>
      {sent ? (
        <button
          type="button"
          className="button plain"
          onClick={() => {
            setCode("")
            verify.reset()
            send.reset()
          }}
        >
          Use another number
        </button>
      ) : null}
    </form>
  )
}
