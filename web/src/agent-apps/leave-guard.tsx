import { useBlocker } from '@tanstack/react-router'
import { Confirm } from '../ui/dialog.tsx'

type Noun = 'secrets' | 'tokens'

const remedies: Record<Noun, string> = {
  secrets: 'you must rotate them',
  tokens: 'you must uninstall the app and install it again',
}

/** Confirms before leaving a page that shows secrets once. */
export function LeaveGuard({ noun }: { noun: Noun }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => true,
    enableBeforeUnload: true,
    withResolver: true,
  })
  return <ConfirmLeaving noun={noun} open={status === 'blocked'} onStay={() => reset?.()} onLeave={() => proceed?.()} />
}

export const ConfirmLeaving = (props: { noun: Noun; open: boolean; onStay: () => void; onLeave: () => void }) => (
  <Confirm
    open={props.open}
    onClose={props.onStay}
    title={`Leave without the ${props.noun}?`}
    action="Leave"
    onConfirm={async () => props.onLeave()}
  >
    <p>They are shown only once. If you did not save them, {remedies[props.noun]}.</p>
  </Confirm>
)
