import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { STARTER_CREDIT_USD } from "../../data/Amounts.ts"
import { sessionQuery } from "../../data/Queries.ts"
import { money } from "../../format/Money.ts"
import { Id } from "../../parts/Copy.tsx"
import { PhoneForm } from "../billing/PhoneForm.tsx"
import { EmailDialog } from "./EmailDialog.tsx"

/** The email address, the id and the phone number of the account. */
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
            : `not verified; a verified number adds ${money(STARTER_CREDIT_USD)} of starter credit`}
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
