import { useInfiniteQuery } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { Page } from "../../app/Page.tsx"
import { auditQuery } from "../../data/Queries.ts"
import { sentence } from "../../format/Words.ts"
import { AuditTable } from "../../parts/AuditTable.tsx"
import { Select } from "../../parts/Fields.tsx"
import { More } from "../../parts/More.tsx"

const types = [
  "key.created",
  "key.updated",
  "key.rotated",
  "key.revoked",
  "project.created",
  "project.updated",
  "project.archived",
  "preset.created",
  "preset.updated",
  "preset.activated",
  "preset.removed",
  "session.created",
  "session.ended",
  "session.all_ended",
  "phone.code_sent",
  "phone.verified",
  "top_up.created",
  "top_up.paid",
  "top_up.simulated",
  "balance.adjusted",
  "balance.topped_up"
]

export const AuditPage = () => {
  const { type } = useSearch({ from: "/shell/audit" })
  const navigate = useNavigate({ from: "/audit" })
  const audit = useInfiniteQuery(auditQuery(type))
  return (
    <Page title="Audit">
      <div className="filters">
        <Select
          label="Event"
          value={type ?? ""}
          options={[{ value: "", name: "Every event" }, ...types.map((value) => ({ value, name: sentence(value) }))]}
          onChange={(value) => void navigate({ search: value === "" ? {} : { type: value }, replace: true })}
        />
      </div>
      <section className="card" aria-label="Audit log">
        <More
          of={audit}
          name="lines"
          rows={10}
          empty={
            type === undefined
              ? {
                  title: "Nothing was done yet.",
                  about: "Every change of keys, projects, presets and money gets a line."
                }
              : { title: "This event has not happened yet.", about: "Choose another event, or every event." }
          }
        >
          {(lines) => <AuditTable lines={lines} />}
        </More>
      </section>
    </Page>
  )
}
