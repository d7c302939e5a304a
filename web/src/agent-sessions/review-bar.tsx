import type { ReviewDetail } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { useQuery } from '@tanstack/react-query'
import { Check, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { refreshReviews, reviewQuery, useReviews } from '../data/reviews.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { Field, Textarea } from '../ui/field.tsx'
import { useCommands } from '../ui/shortcuts.ts'
import { Time } from '../ui/time.tsx'
import { showError, showToast } from '../ui/toast.tsx'

/** The review that waits on an issue or in a session, if any, to be decided in place. */
export function ReviewBar({ issueId, sessionId }: { issueId?: string; sessionId?: string }) {
  const which = { ...(issueId && { issue_id: issueId }), ...(sessionId && { session_id: sessionId }) }
  const review = useReviews(which).data?.[0]
  return review ? <Waiting key={review.id} id={review.id} /> : null
}

function Waiting({ id }: { id: string }) {
  const review = useQuery(reviewQuery(id)).data
  if (review?.state !== 'waiting') return null
  return (
    <section aria-label="Review" className="rounded-lg border border-accent/40 bg-accent-wash px-3.5 py-2.5">
      <Decision review={review} />
    </section>
  )
}

interface DecisionProps {
  review: ReviewDetail
  /** With it, the keys Y and B decide, and it is called after a decision. */
  onDecided?: () => void
}

/** Accept, or send back with a reason. What was decided is shown when the server says so. */
export function Decision({ review, onDecided }: DecisionProps) {
  const [reason, setReason] = useState<string | null>(null)
  const decided = async (message: string) => {
    showToast(message)
    // Before the list is read again, so that the next review follows and not the first.
    onDecided?.()
    await refreshReviews()
  }
  const failed = (error: unknown) => {
    showError(error)
    void refreshReviews()
  }
  const accept = useAction(async () => {
    await api.acceptReview({ review_id: review.id })
    await decided('Accepted')
  }, failed)
  const sendBack = useAction(async () => {
    await api.sendBackReview({ review_id: review.id, reason: (reason ?? '').trim() })
    await decided('Sent back')
  }, failed)
  const { can_decide, can_send_back } = review
  const send = () => {
    if (reason?.trim()) void sendBack.run()
  }
  useCommands(
    onDecided
      ? [
          {
            id: 'review.accept',
            title: 'Accept',
            section: 'Agent session',
            keys: 'y',
            run: () => can_decide && void accept.run(),
          },
          {
            id: 'review.send-back',
            title: 'Send back',
            section: 'Agent session',
            keys: 'b',
            run: () => can_send_back && setReason(reason ?? ''),
          },
        ]
      : [],
  )
  useCommands(
    reason === null
      ? []
      : [
          {
            id: 'review.send',
            title: 'Send reason',
            section: 'Agent session',
            keys: 'mod+enter',
            evenWhileTyping: true,
            run: send,
          },
          {
            id: 'review.cancel',
            title: 'Cancel',
            section: 'Agent session',
            keys: 'escape',
            evenWhileTyping: true,
            hidden: true,
            run: () => setReason(null),
          },
        ],
  )
  return (
    <div className="space-y-2.5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <p className="min-w-0 flex-1 basis-56">
          <strong className="font-semibold">Waiting for review</strong>
          <span className="text-ink-2">
            {review.round > 1 && `, round ${review.round}`}, delivered <Time at={review.created_at} />
          </span>
        </p>
        {can_decide ? (
          <div className="flex gap-2">
            <Button
              icon={Undo2}
              {...(onDecided && { command: 'review.send-back' })}
              disabled={!can_send_back}
              title={can_send_back ? undefined : 'The session is closed, or belongs to another person’s agent.'}
              onClick={() => setReason(reason ?? '')}
            >
              Send back
            </Button>
            <Button
              look="primary"
              icon={Check}
              {...(onDecided && { command: 'review.accept' })}
              busy={accept.busy}
              onClick={() => void accept.run()}
            >
              Accept
            </Button>
          </div>
        ) : (
          <p className="text-ink-2">Members of the team decide.</p>
        )}
      </div>
      {reason !== null && (
        <form
          className="space-y-2"
          onSubmit={(event) => {
            event.preventDefault()
            send()
          }}
        >
          <Field label="Reason" hint="The agent receives it as your message.">
            <Textarea
              autoFocus
              rows={3}
              maxLength={limits.activityBody}
              value={reason}
              onChange={({ target }) => setReason(target.value)}
            />
          </Field>
          <div className="flex justify-end gap-2">
            <Button onClick={() => setReason(null)}>Cancel</Button>
            <Button type="submit" look="primary" command="review.send" busy={sendBack.busy} disabled={!reason.trim()}>
              Send back
            </Button>
          </div>
        </form>
      )}
    </div>
  )
}
