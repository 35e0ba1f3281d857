import { restoreClosed, restoreOpened } from "../../src/inference/Receipt.ts"
import type { RequestRow } from "../../src/usage/RequestsSql.ts"

/** A request's row with its facts whole. */
export const withFacts = (row: RequestRow) => ({
  ...row,
  opened: restoreOpened(row.opened),
  closed: restoreClosed(row.closed, row)
})
