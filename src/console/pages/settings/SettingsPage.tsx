import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useRouter } from "@tanstack/react-router"
import { useState } from "react"
import { Page } from "../../app/Page.tsx"
import { setTheme, type Theme, useTheme } from "../../app/Theme.ts"
import { api } from "../../data/Client.ts"
import { sessionQuery } from "../../data/Queries.ts"
import { Id } from "../../parts/Copy.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Segments } from "../../parts/Fields.tsx"
import { PhoneForm } from "../billing/PhoneForm.tsx"
import { ManagementKeys } from "./ManagementKeys.tsx"

const Account = () => {
  const { data: session } = useQuery(sessionQuery)
  if (session === undefined || session === null) return null
  return (
    <section className="card" aria-label="Account">
      <header>
        <h2>Account</h2>
      </header>
      <dl className="body facts">
        <dt>Email</dt>
        <dd>{session.account.email}</dd>
        <dt>Account</dt>
        <dd>
          <Id value={session.account.id} />
        </dd>
        <dt>Phone</dt>
        <dd>{session.phone_verified ? `verified, ends in ${session.phone_last2}` : "not verified"}</dd>
      </dl>
      {session.phone_verified ? null : (
        <div className="body">
          <PhoneForm />
        </div>
      )}
    </section>
  )
}

const Sessions = () => {
  const client = useQueryClient()
  const router = useRouter()
  const [asking, setAsking] = useState(false)
  return (
    <section className="card" aria-label="Sessions">
      <header>
        <h2>Sessions</h2>
      </header>
      <div className="body form">
        <p className="muted">A session ends after 30 days, or after 24 hours without use.</p>
        <div>
          <button type="button" className="button danger" onClick={() => setAsking(true)}>
            Sign out everywhere
          </button>
        </div>
      </div>
      {asking ? (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          run={() => api.call("console.sessions.delete")}
          onDone={() => {
            client.setQueryData(sessionQuery.queryKey, null)
            void router.invalidate()
          }}
          onClose={() => setAsking(false)}
        >
          Every browser that is signed in to this account, this one included, has to sign in again. Keys keep working.
        </Confirm>
      ) : null}
    </section>
  )
}

const themes: ReadonlyArray<{ value: Theme; name: string }> = [
  { value: "system", name: "System" },
  { value: "light", name: "Light" },
  { value: "dark", name: "Dark" }
]

export const SettingsPage = () => {
  const theme = useTheme()
  return (
    <Page title="Settings">
      <div className="grid two">
        <Account />
        <Sessions />
      </div>
      <section className="card" aria-label="Appearance">
        <header>
          <h2>Appearance</h2>
          <Segments label="Theme" value={theme} options={themes} onChange={setTheme} />
        </header>
      </section>
      <ManagementKeys />
    </Page>
  )
}
