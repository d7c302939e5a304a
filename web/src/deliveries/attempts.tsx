import type { Attempt, DeliveryDetail } from '@baton/protocol'
import type { ReactNode } from 'react'
import type { Endpoint } from '../data/endpoints.ts'
import { cx } from '../ui/class-names.ts'
import { Block } from '../ui/copy.tsx'
import { exactTime } from '../ui/time.tsx'
import { durationText, failureText, outcomeText } from './labels.tsx'
import { NextAttempt } from './next-attempt.tsx'

interface Props {
  endpoint: Endpoint
  delivery: DeliveryDetail
  /** A redelivery was requested and has not finished. */
  queued: boolean
}

/** All attempts, and the next one. */
export function Attempts({ endpoint, delivery: { attempts, status, held, next_attempt_at }, queued }: Props) {
  const isPending = status === 'pending'
  if (attempts.length === 0 && !isPending && !queued) return <p className="text-ink-2">No attempts.</p>
  return (
    <ol aria-label="Attempts" className="relative ml-1.5 space-y-4 border-l pl-5">
      {attempts.map((attempt, index) => (
        <TimelineItem key={attempt.number} tone={attempt.reason === null ? 'ok' : 'bad'}>
          <AttemptText
            endpoint={endpoint}
            attempt={attempt}
            explained={attempt.reason !== attempts[index + 1]?.reason}
            isLast={index === attempts.length - 1}
          />
        </TimelineItem>
      ))}
      {queued && (
        <TimelineItem tone="waiting">
          <p className="font-medium">Queued</p>
          <p className="text-ink-2">The redelivery is sent within seconds.</p>
        </TimelineItem>
      )}
      {isPending && !queued && (
        <TimelineItem tone="waiting">
          <p className="font-medium">{attempts.length === 0 ? 'First attempt' : 'Next attempt'}</p>
          <p className="text-ink-2">
            {held ? (
              'Held. It is sent when the webhook is enabled and earlier deliveries of the session were sent.'
            ) : next_attempt_at ? (
              <NextAttempt at={next_attempt_at} />
            ) : (
              'Sending now.'
            )}
          </p>
        </TimelineItem>
      )}
    </ol>
  )
}

const marks = { ok: 'bg-ok', bad: 'bg-bad', waiting: 'bg-canvas border-2 border-info' }

const TimelineItem = ({ tone, children }: { tone: keyof typeof marks; children: ReactNode }) => (
  <li className="relative">
    <span aria-hidden className={cx('absolute top-1.5 -left-[25.5px] size-2.5 rounded-full', marks[tone])} />
    {children}
  </li>
)

interface AttemptProps {
  endpoint: Endpoint
  attempt: Attempt
  /** Of consecutive attempts with the same reason, only the last is explained. */
  explained: boolean
  isLast: boolean
}

const AttemptText = ({ endpoint, attempt, explained, isLast }: AttemptProps) => (
  <div className="space-y-1.5">
    <p className="flex flex-wrap items-baseline gap-x-2">
      <span className="font-medium">
        {attempt.number}. {outcomeText(attempt, endpoint)}
      </span>
      <span className="tabular text-xs text-ink-3">
        {exactTime(attempt.started_at)} · {durationText(attempt.duration_ms)}
      </span>
    </p>
    {attempt.reason && explained && (
      <p className="text-ink-2">
        {failureText(attempt.reason, endpoint).meaning}{' '}
        <span className="text-ink wrap-anywhere">{failureText(attempt.reason, endpoint).check}</span>
      </p>
    )}
    {attempt.response_excerpt && (
      <details open={isLast}>
        <summary className="w-fit rounded text-ink-2 hover:text-ink">Response</summary>
        <div className="mt-1.5">
          <Block label={`response to attempt ${attempt.number}`} text={attempt.response_excerpt} />
        </div>
      </details>
    )}
  </div>
)
