import { DAY_MS, dayOf } from "./Day.ts"
export type BudgetPeriodName = "daily" | "weekly" | "monthly" | "lifetime"

/** The UTC day on which the period that holds this moment began. Weeks begin on Monday; a lifetime began in 1970. */
export const periodStart = (period: string, nowMs: number): string => {
  const now = new Date(nowMs)
  switch (period) {
    case "daily":
      return dayOf(nowMs)
    case "weekly": {
      const sinceMonday = (now.getUTCDay() + 6) % 7
      return dayOf(nowMs - sinceMonday * DAY_MS)
    }
    case "monthly":
      return dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
    default:
      return "1970-01-01"
  }
}
