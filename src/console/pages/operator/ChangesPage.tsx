import { useInfiniteQuery } from "@tanstack/react-query"
import { Page } from "../../app/Page.tsx"
import { changesQuery } from "../../data/Operator.ts"
import { AuditTable } from "./AuditTable.tsx"
import { More } from "./More.tsx"

export const ChangesPage = () => {
  const changes = useInfiniteQuery(changesQuery)
  return (
    <Page title="What operators changed">
      <section className="card" aria-label="Audit log of operators">
        <More of={changes} name="lines" rows={10} empty={{ title: "Operators changed nothing yet." }}>
          {(lines) => <AuditTable lines={lines} isOfAll />}
        </More>
      </section>
    </Page>
  )
}
