import { Secret } from "./Copy.tsx"
import { CloseButton, Dialog } from "./Dialog.tsx"

interface SecretDialogProps {
  readonly title: string
  readonly label: string
  readonly value: string
  readonly onClose: () => void
}

/** Shows a secret once. Only its button closes it, because the secret cannot be shown again. */
export const SecretDialog = ({ label, onClose, title, value }: SecretDialogProps) => (
  <Dialog title={title} closes="buttons" onClose={onClose}>
    <Secret label={label} value={value} />
    <CloseButton name="I have stored it" onClose={onClose} />
  </Dialog>
)
