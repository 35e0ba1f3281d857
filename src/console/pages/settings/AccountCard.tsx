import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { sessionQuery } from "../../data/Queries.ts"
import { Id } from "../../parts/Copy.tsx"
import { PhoneForm } from "../billing/PhoneForm.tsx"
import { EmailDialog } from "./EmailDialog.tsx"

/** Who the account belongs to: its address, its id and its phone number. */
export const AccountCard = () => {
  const { data: session } = useQuery(sessionQuery)
  const [changing, setChanging] = useState(false)
  if (session === undefined || session === null) return null
  const { email, id } = session.account
  return (
    <section className="card" aria-label="Account">
      <header>
        <h2>Account</h2>
        <button type="button" className="button" onClick={() => setChanging(true)}>
          Change email
        </button>
      </header>
      <dl className="body facts">
        <dt>Email</dt>
        <dd>{email}</dd>
        <dt>Account</dt>
        <dd>
          <Id value={id} />
        </dd>
        <dt>Phone</dt>
        <dd>
          {session.phone_verified
            ? `verified, ends in ${session.phone_last2}`
            : "not verified: a verified number earns $0.50 of starter credit"}
        </dd>
      </dl>
      {session.phone_verified ? null : (
        <div className="body">
          <PhoneForm />
        </div>
      )}
      {changing ? <EmailDialog email={email} onClose={() => setChanging(false)} /> : null}
    </section>
  )
}
