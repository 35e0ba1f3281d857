import { useQuery } from "@tanstack/react-query"
import { Page } from "../../app/Page.tsx"
import { setTheme, type Theme, useTheme } from "../../app/Theme.ts"
import { sessionQuery } from "../../data/Queries.ts"
import { Id } from "../../parts/Copy.tsx"
import { Segments } from "../../parts/Fields.tsx"
import { PhoneForm } from "../billing/PhoneForm.tsx"
import { ManagementKeys } from "./ManagementKeys.tsx"
import { SessionsCard } from "./SessionsCard.tsx"

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

const themes: ReadonlyArray<{ value: Theme; name: string }> = [
  { value: "system", name: "System" },
  { value: "light", name: "Light" },
  { value: "dark", name: "Dark" }
]

export const SettingsPage = () => {
  const theme = useTheme()
  return (
    <Page title="Settings">
      <Account />
      <section className="card" aria-label="Appearance">
        <header>
          <h2>Appearance</h2>
          <Segments label="Theme" value={theme} options={themes} onChange={setTheme} />
        </header>
      </section>
      <SessionsCard />
      <ManagementKeys />
    </Page>
  )
}
