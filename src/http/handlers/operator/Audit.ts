import { Effect } from "effect"
import type { OperatorChange } from "../../../../schemas/operator/Audit.ts"
import { Operator } from "../../../operator/Operator.ts"
import type { ChangeLine } from "../../../operator/OperatorSql.ts"
import { operations } from "../../edge/Operations.ts"
import { answer, pageOf } from "../management/Answers.ts"
import { auditLogOf, makeAuditPage } from "../management/Audit.ts"

const changeOf = (line: ChangeLine): OperatorChange => ({
  ...auditLogOf(line),
  actor: { type: "operator", id: line.actor_id, name: line.actor_name },
  account_id: line.account_id,
  email: line.email
})

/** `/operator/audit`, and the audit log of an account. */
export const operatorAuditHandlers = Effect.gen(function* () {
  const operator = yield* Operator
  const auditPage = yield* makeAuditPage
  return operations("operatorAudit", {
    listOperatorChanges: ({ query }) => {
      const { cursor = null, limit } = pageOf(query)
      return answer(operator.changes({ after: cursor, limit }), ({ next, rows }) => ({
        object: "list",
        data: rows.map(changeOf),
        next_cursor: next
      }))
    },
    listAccountAudit: ({ params, query }) =>
      Effect.flatMap(operator.account(params.account_id), ({ id }) => auditPage(id, query))
  })
})
