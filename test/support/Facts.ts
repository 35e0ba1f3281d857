import { restoreClosed, restoreOpened } from "../../src/inference/Receipt.ts"
import type { RequestRow } from "../../src/usage/RequestsSql.ts"

/** A request row with its opened and closed facts decoded. */
export const withFacts = (row: RequestRow) => ({
  ...row,
  opened: restoreOpened(row.opened),
  closed: restoreClosed(row.closed, row)
})
