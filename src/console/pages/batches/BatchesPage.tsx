import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { BatchObject } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { api, origin } from "../../data/Client.ts"
import { batchesQuery, isBatchRunning, MAX_JOBS, saveFile } from "../../data/Jobs.ts"
import { batchSnippets } from "../../data/Snippets.ts"
import { count, lasting } from "../../format/Figures.ts"
import { plural } from "../../format/Words.ts"
import { Code, Id } from "../../parts/Copy.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago, Status } from "../../parts/Figures.tsx"
import { Progress } from "../../parts/Progress.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { toastError } from "../../parts/Toasts.tsx"

const CancelBatch = ({ of, onClose }: { readonly of: BatchObject; readonly onClose: () => void }) => (
  <Confirm
    title="Cancel this batch?"
    action="Cancel batch"
    run={() => api.call("batches.cancel", { path: { batch_id: of.id } })}
    changes={[batchesQuery]}
    done="The batch starts no further requests."
    onClose={onClose}
  >
    Running requests finish and are charged, and the output file keeps their results. The gateway does not send the
    others.
  </Confirm>
)

const Counts = ({ of }: { readonly of: BatchObject }) => {
  const { completed, failed, total } = of.request_counts
  return (
    <div className="stack">
      <span className="number">
        {count(completed + failed)} <span className="muted">of {count(total)}</span>
        {failed === 0 ? null : <span className="bad-text"> · {count(failed)} failed</span>}
      </span>
      <Progress label={`Requests of ${of.id}`} part={total === 0 ? 0 : (completed + failed) / total} />
    </div>
  )
}

const endOf = (of: BatchObject): number | null => of.completed_at ?? of.failed_at ?? of.cancelled_at ?? of.expired_at

const Time = ({ of }: { readonly of: BatchObject }) => {
  const end = endOf(of)
  if (end === null) {
    return (
      <span className="muted">
        expires <Ago at={of.expires_at} />
      </span>
    )
  }
  return <span className="number">{lasting(Math.max(1, end - of.created_at))}</span>
}

/** The errors in the input of a batch. */
const InputErrors = ({ of }: { readonly of: BatchObject }) =>
  of.errors === null ? null : (
    <tr>
      <td colSpan={6}>
        <ul className="faults" aria-label="What is wrong with the input">
          {of.errors.data.map(({ code, line, message }, at) => (
            <li key={at}>
              {line === null ? null : <span className="muted">Line {count(line)}: </span>}
              {message} <code className="muted">{code}</code>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  )

interface RowProps {
  readonly of: BatchObject
  readonly onCancel: () => void
}

const Row = ({ of, onCancel }: RowProps) => {
  const save = useMutation({
    mutationFn: saveFile,
    onError: toastError
  })
  const file = (name: string, id: string | null, filename: string) =>
    id === null ? [] : [{ name, disabled: save.isPending, run: () => save.mutate({ id, filename }) }]
  const cancel =
    of.status === "validating" || of.status === "in_progress" ? [{ name: "Cancel", danger: true, run: onCancel }] : []
  return (
    <>
      <tr>
        <th scope="row">
          <span className="stack">
            <Id value={of.id} />
            <code className="muted">{of.endpoint}</code>
          </span>
        </th>
        <td>
          <Status of={of.status} />
        </td>
        <td>
          <Counts of={of} />
        </td>
        <td>
          <Ago at={of.created_at} />
        </td>
        <td>
          <Time of={of} />
        </td>
        <td>
          <RowActions
            of={`batch ${of.id}`}
            actions={[
              ...file("Download output", of.output_file_id, `${of.id}.output.jsonl`),
              ...file("Download errors", of.error_file_id, `${of.id}.errors.jsonl`),
              ...cancel
            ]}
          />
        </td>
      </tr>
      <InputErrors of={of} />
    </>
  )
}

/** The page that lists batches, cancels them, and downloads their results. */
export const BatchesPage = () => {
  const batches = useQuery(batchesQuery)
  const [cancelled, setCancelled] = useState<BatchObject>()
  const running = batches.data?.filter(isBatchRunning).length ?? 0
  return (
    <ListPage
      title="Batches"
      query={batches}
      most={MAX_JOBS}
      tools={
        <>
          {running === 0 ? null : <span className="badge info">{plural(running, "batch", "batches")} running</span>}
          <Link className="button" to="/batches/files">
            Files
          </Link>
        </>
      }
      empty={{
        title: "There is no batch yet.",
        about:
          "A batch runs the requests of a file in the background. Upload the file with a key, then create the batch:",
        action: <Code snippets={batchSnippets(origin)} />
      }}
      dialogs={cancelled === undefined ? null : <CancelBatch of={cancelled} onClose={() => setCancelled(undefined)} />}
    >
      {(rows) => (
        <Table label="batches" columns={["Batch", "Status", "Requests", "Created", "Duration", actionsColumn]}>
          {rows.map((of) => (
            <Row key={of.id} of={of} onCancel={() => setCancelled(of)} />
          ))}
        </Table>
      )}
    </ListPage>
  )
}
