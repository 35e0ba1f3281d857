import { origin } from "../../data/Client.ts"
import { type MediaCall, mediaSnippetsOf } from "../../data/MediaSnippets.ts"
import { type Call, snippetsOf } from "../../data/Snippets.ts"
import { Code } from "../../parts/Copy.tsx"
import { CloseButton, Dialog } from "../../parts/Dialog.tsx"

interface RequestCodeProps {
  readonly call: Omit<Call, "origin" | "key">
  readonly onClose: () => void
}

const hello = [{ role: "user", content: "Hello!" }] as const

/** Shows the request of a media tab as code, with the key as a variable. */
export const MediaCode = ({ call, onClose }: { call: Pick<MediaCall, "kind" | "body">; onClose: () => void }) => (
  <Dialog title="This request as code" wide onClose={onClose}>
    <Code snippets={mediaSnippetsOf({ ...call, origin, key: "$KEY" })} />
    <CloseButton onClose={onClose} />
  </Dialog>
)

/** Shows the chat request as code, with the key as a variable. */
export const RequestCode = ({ call, onClose }: RequestCodeProps) => (
  <Dialog title="This request as code" wide onClose={onClose}>
    <Code
      snippets={snippetsOf({
        ...call,
        origin,
        key: "$KEY",
        messages: call.messages.some(({ role }) => role !== "system") ? call.messages : [...call.messages, ...hello]
      })}
    />
    <CloseButton onClose={onClose} />
  </Dialog>
)
