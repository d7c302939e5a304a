import { showOverlay, useOverlay } from '../../data/overlay.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { CreateForm } from './create-form.tsx'

const close = () => showOverlay(null)

/** The dialog for a new issue, available on every screen. */
export function CreateIssue() {
  const overlay = useOverlay()
  const open = overlay?.name === 'create-issue'
  return (
    <Dialog open={open} onClose={close} title="New issue" size="lg">
      {open && <CreateForm preset={overlay.with} onClose={close} />}
    </Dialog>
  )
}
