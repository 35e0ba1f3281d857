import { useInfiniteQuery } from "@tanstack/react-query"
import { Page } from "../../app/Page.tsx"
import { attentionQuery } from "../../data/Operator.ts"
import { PagedList } from "../../parts/PagedList.tsx"
import { TopUpTable } from "./TopUpTable.tsx"

/** The top-ups that need an operator. */
export const TopUpsPage = () => {
  const topUps = useInfiniteQuery(attentionQuery)
  return (
    <Page title="Top-ups that need you">
      <section className="card" aria-label="Top-ups">
        <PagedList
          of={topUps}
          name="top-ups"
          empty={{
            title: "No top-up needs an operator.",
            about:
              "A payment appears here when its amount differs, when a checkout is paid twice, or when the processor reports a refund or a dispute."
          }}
        >
          {(rows) => <TopUpTable rows={rows} of="all" />}
        </PagedList>
      </section>
    </Page>
  )
}
