import { exactTime, formatDuration, useNow } from '../ui/time.tsx'

/** Counts down to an attempt. */
export function NextAttempt({ at }: { at: string }) {
  const now = useNow(1000)
  const ms = Date.parse(at) - now
  return (
    <time dateTime={at} title={exactTime(at)} className="tabular">
      {ms > 0 ? `next in ${formatDuration(ms + 999)}` : 'about to be sent'}
    </time>
  )
}
