import { origin } from "../../data/Client.ts"
import { type Call, snippetsOf } from "../../data/Snippets.ts"
import { Code } from "../../parts/Copy.tsx"
import { CloseButton, Dialog } from "../../parts/Dialog.tsx"

interface RequestCodeProps {
  readonly call: Omit<Call, "origin" | "key">
  readonly onClose: () => void
}

const hello = [{ role: "user", content: "Hello!" }] as const

/** The request of the playground as code, with the key as a variable. */
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
