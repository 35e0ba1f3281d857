import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Page } from "../../app/Page.tsx"
import { auditEvents } from "../../data/AuditEvents.ts"
import { auditQuery } from "../../data/Queries.ts"
import { sentence } from "../../format/Words.ts"
import { AuditTable } from "../../parts/AuditTable.tsx"
import { PagedList } from "../../parts/PagedList.tsx"

interface EventSelectProps {
  readonly value: string | undefined
  readonly onChange: (event: string) => void
}

/** Chooses an event from groups by the thing that they change. */
const EventSelect = ({ onChange, value = "" }: EventSelectProps) => {
  const isKnown = value === "" || Object.values(auditEvents).some((events) => events.includes(value))
  return (
    <select className="select" aria-label="Event" value={value} onChange={({ target }) => onChange(target.value)}>
      <option value="">Any event</option>
      {isKnown ? null : <option value={value}>{sentence(value)}</option>}
      {Object.entries(auditEvents).map(([group, events]) => (
        <optgroup key={group} label={group}>
          {events.map((event) => (
            <option key={event} value={event}>
              {sentence(event)}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  )
}

/** The page with the audit log of the account. */
export const AuditPage = () => {
  const { type } = useSearch({ from: "/shell/audit" })
  const navigate = useNavigate({ from: "/audit" })
  const audit = useInfiniteQuery(auditQuery(type))
  return (
    <Page title="Audit">
      <div className="filters">
        <EventSelect
          value={type}
          onChange={(event) => void navigate({ search: event === "" ? {} : { type: event }, replace: true })}
        />
      </div>
      <section className="card" aria-label="Audit log">
        <PagedList
          of={audit}
          name="events"
          rows={10}
          empty={
            type === undefined
              ? {
                  title: "There is no event yet.",
                  about: "Each change to the account, its keys and its money adds a line."
                }
              : { title: "This event has not happened yet.", about: "Choose another event, or “Any event”." }
          }
        >
          {(lines) => <AuditTable lines={lines} />}
        </PagedList>
      </section>
    </Page>
  )
}
