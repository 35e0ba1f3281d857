export type BudgetPeriodName = "daily" | "weekly" | "monthly" | "lifetime"

const dayOf = (date: Date): string => date.toISOString().slice(0, 10)

/** The UTC day on which the period that holds this moment began. Weeks begin on Monday; a lifetime began in 1970. */
export const periodStart = (period: string, nowMs: number): string => {
  const now = new Date(nowMs)
  switch (period) {
    case "daily":
      return dayOf(now)
    case "weekly": {
      const sinceMonday = (now.getUTCDay() + 6) % 7
      return dayOf(new Date(nowMs - sinceMonday * 86_400_000))
    }
    case "monthly":
      return dayOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)))
    default:
      return "1970-01-01"
  }
}
