import type { Attempt, DeliveryDetail } from '@baton/protocol'
import type { ReactNode } from 'react'
import { cx } from '../ui/class-names.ts'
import { Block } from '../ui/copy.tsx'
import { exactly } from '../ui/time.tsx'
import { NextAttempt } from './next-attempt.tsx'
import { outcomeInWords, reasons, took } from './words.tsx'

interface Props {
  delivery: DeliveryDetail
  /** One more was asked for and has not come back. */
  queued: boolean
  /** Nothing is sent by itself until the webhook is enabled. */
  held: boolean
}

/** Everything that was tried, and what comes next. */
export function Attempts({ delivery: { attempts, status, next_attempt_at }, queued, held }: Props) {
  const waits = status === 'pending'
  if (attempts.length === 0 && !waits && !queued) return <p className="text-ink-2">It was never attempted.</p>
  return (
    <ol aria-label="Attempts" className="relative ml-1.5 space-y-4 border-l pl-5">
      {attempts.map((attempt, index) => (
        <Moment key={attempt.number} tone={attempt.reason === null ? 'ok' : 'bad'}>
          <Tried
            attempt={attempt}
            explained={attempt.reason !== attempts[index + 1]?.reason}
            isLast={index === attempts.length - 1}
          />
        </Moment>
      ))}
      {queued && (
        <Moment tone="waiting">
          <p className="font-medium">Queued</p>
          <p className="text-ink-2">You asked for one more attempt; it goes out within seconds.</p>
        </Moment>
      )}
      {waits && !queued && (
        <Moment tone="waiting">
          <p className="font-medium">{attempts.length === 0 ? 'First attempt' : 'Next attempt'}</p>
          <p className="text-ink-2">
            {held ? (
              'Held. It is sent when the webhook is enabled again.'
            ) : next_attempt_at ? (
              <NextAttempt at={next_attempt_at} />
            ) : (
              'On its way.'
            )}
          </p>
        </Moment>
      )}
    </ol>
  )
}

const marks = { ok: 'bg-ok', bad: 'bg-bad', waiting: 'bg-canvas border-2 border-info' }

const Moment = ({ tone, children }: { tone: keyof typeof marks; children: ReactNode }) => (
  <li className="relative">
    <span aria-hidden className={cx('absolute top-1.5 -left-[25.5px] size-2.5 rounded-full', marks[tone])} />
    {children}
  </li>
)

interface TriedProps {
  attempt: Attempt
  /** What failed in the same way again is explained at the end. */
  explained: boolean
  isLast: boolean
}

const Tried = ({ attempt, explained, isLast }: TriedProps) => (
  <div className="space-y-1.5">
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="font-medium">
        {attempt.number}. {outcomeInWords(attempt)}
      </span>
      <span className="tabular text-xs text-ink-3">
        {exactly(attempt.started_at)} · {took(attempt.duration_ms)}
      </span>
    </p>
    {attempt.reason && explained && (
      <p className="text-ink-2">
        {reasons[attempt.reason].meaning} <span className="text-ink">{reasons[attempt.reason].check}</span>
      </p>
    )}
    {attempt.response_excerpt && (
      <details open={isLast}>
        <summary className="w-fit rounded text-ink-2 hover:text-ink">What it answered</summary>
        <div className="mt-1.5">
          <Block label={`answer to attempt ${attempt.number}`} text={attempt.response_excerpt} />
        </div>
      </details>
    )}
  </div>
)
