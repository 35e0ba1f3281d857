import { useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { CostEstimate } from "../../../client/Contract.ts"
import { clientWithKey, wordsOf } from "../../data/Client.ts"
import { exactMoney, money } from "../../format/Money.ts"

const PAUSE_MS = 500

/** Returns a value after it has not changed for half a second. */
const useSettled = <A,>(value: A): A => {
  const [settled, setSettled] = useState(value)
  const text = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(JSON.parse(text) as A), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

const sumOf = (estimates: ReadonlyArray<CostEstimate>) => ({
  likely: estimates.reduce((sum, { estimated_cost_usd: usd }) => sum + usd, 0),
  most: estimates.reduce((sum, { max_cost_usd: usd }) => sum + usd, 0),
  affordable: estimates.every(({ affordable }) => affordable)
})

interface EstimateProps {
  readonly apiKey: string | undefined
  /** Bodies for `POST /estimate`; empty while there is nothing to send. */
  readonly bodies: ReadonlyArray<object>
  /** The text in place of an estimate. */
  readonly otherwise: string
}

/** The estimated cost of one or several requests, before they are sent. */
export const Estimate = ({ apiKey, bodies, otherwise }: EstimateProps) => {
  const settled = useSettled(bodies)
  const { data, error } = useQuery({
    queryKey: ["estimate", settled],
    enabled: apiKey !== undefined && settled.length > 0,
    staleTime: 30_000,
    queryFn: async () =>
      sumOf(await Promise.all(settled.map((body) => clientWithKey(apiKey ?? "").call("estimate", { body } as never))))
  })
  if (bodies.length === 0 || apiKey === undefined) return <>{otherwise}</>
  if (error !== null) return <>{wordsOf(error).message}</>
  if (data === undefined) return <>Estimating…</>
  return (
    <span className="number" title={`Likely ${exactMoney(data.likely)}, at most ${exactMoney(data.most)}`}>
      {data.likely === data.most ? "Costs" : "Likely"} {money(data.likely)}
      {data.likely === data.most ? "" : `, at most ${money(data.most)}`}
      {data.affordable ? "" : ". The balance or a budget does not cover it."}
    </span>
  )
}
