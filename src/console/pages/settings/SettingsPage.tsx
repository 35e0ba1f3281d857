import { Page } from "../../app/Page.tsx"
import { setTheme, type Theme, useTheme } from "../../app/Theme.ts"
import { Segments } from "../../parts/Fields.tsx"
import { AccountCard } from "./AccountCard.tsx"
import { ManagementKeys } from "./ManagementKeys.tsx"
import { NotificationsCard } from "./NotificationsCard.tsx"
import { SessionsCard } from "./SessionsCard.tsx"

const themes: ReadonlyArray<{ value: Theme; name: string }> = [
  { value: "system", name: "System" },
  { value: "light", name: "Light" },
  { value: "dark", name: "Dark" }
]

/** The page with the account, its notifications, sessions and management keys, and the theme. */
export const SettingsPage = () => {
  const theme = useTheme()
  return (
    <Page title="Settings">
      <div className="grid two">
        <AccountCard />
        <NotificationsCard />
      </div>
      <SessionsCard />
      <ManagementKeys />
      <section className="card" aria-label="Appearance">
        <header>
          <h2>Appearance</h2>
          <Segments label="Theme" value={theme} options={themes} onChange={setTheme} />
        </header>
      </section>
    </Page>
  )
}
