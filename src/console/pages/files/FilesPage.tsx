import { useMutation, useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import type { FileObject } from "../../../client/Contract.ts"
import { ListPage } from "../../app/ListPage.tsx"
import { api, origin } from "../../data/Client.ts"
import { filesQuery, MAX_JOBS, saveFile } from "../../data/Jobs.ts"
import { batchSnippets } from "../../data/Snippets.ts"
import { bytes } from "../../format/Figures.ts"
import { Code, Id } from "../../parts/Copy.tsx"
import { Confirm } from "../../parts/Dialog.tsx"
import { Ago } from "../../parts/Figures.tsx"
import { actionsColumn, RowActions, Table } from "../../parts/Table.tsx"
import { toastError } from "../../parts/Toasts.tsx"

const DeleteFile = ({ of, onClose }: { readonly of: FileObject; readonly onClose: () => void }) => (
  <Confirm
    title={`Delete ${of.filename}?`}
    name={of.filename}
    action="Delete file"
    run={() => api.call("files.delete", { path: { file_id: of.id } })}
    changes={[filesQuery]}
    done={`Deleted ${of.filename}.`}
    onClose={onClose}
  >
    The gateway deletes its content at once. You cannot undo this. The receipts of its requests stay.
  </Confirm>
)

const purposeOf = ({ filename, purpose }: FileObject): string =>
  purpose === "batch" ? "batch input" : filename.endsWith("_error.jsonl") ? "batch errors" : "batch output"

/** The page that lists, downloads and deletes files. */
export const FilesPage = () => {
  const files = useQuery(filesQuery)
  const [deleted, setDeleted] = useState<FileObject>()
  const save = useMutation({ mutationFn: saveFile, onError: toastError })
  return (
    <ListPage
      title="Files"
      query={files}
      most={MAX_JOBS}
      tools={
        <Link className="button" to="/batches">
          Batches
        </Link>
      }
      empty={{
        title: "There is no file yet.",
        about: "Files hold the requests and the results of batches. Upload a file with a key:",
        action: <Code snippets={batchSnippets(origin).slice(0, 1)} />
      }}
      dialogs={deleted === undefined ? null : <DeleteFile of={deleted} onClose={() => setDeleted(undefined)} />}
    >
      {(rows) => (
        <Table label="files" columns={["File", "Purpose", { right: "Size" }, "Created", "Kept until", actionsColumn]}>
          {rows.map((of) => (
            <tr key={of.id}>
              <th scope="row">
                <span className="stack broad">
                  <span className="clip" title={of.filename}>
                    {of.filename}
                  </span>
                  <Id value={of.id} />
                </span>
              </th>
              <td>{purposeOf(of)}</td>
              <td className="right number">{bytes(of.bytes)}</td>
              <td>
                <Ago at={of.created_at} />
              </td>
              <td>
                {of.expires_at === null ? <span className="muted">you delete it</span> : <Ago at={of.expires_at} />}
              </td>
              <td>
                <RowActions
                  of={of.filename}
                  actions={[
                    { name: "Download", disabled: save.isPending, run: () => save.mutate(of) },
                    { name: "Delete", danger: true, run: () => setDeleted(of) }
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </ListPage>
  )
}
