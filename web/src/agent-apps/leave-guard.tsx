import { useBlocker } from '@tanstack/react-router'
import { Confirm } from '../ui/dialog.tsx'

/** Confirms before leaving a page that shows secrets once. */
export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => true,
    enableBeforeUnload: true,
    withResolver: true,
  })
  return (
    <Confirm
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title="Leave without the secrets?"
      action="Leave"
      onConfirm={async () => proceed?.()}
    >
      <p>They are shown only once. If you did not save them, you must rotate them.</p>
    </Confirm>
  )
}
