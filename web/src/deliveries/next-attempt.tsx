import { exactly, lasted, useNow } from '../ui/time.tsx'

/** Counts down to an attempt. */
export function NextAttempt({ at }: { at: string }) {
  const now = useNow(1000)
  const ms = Date.parse(at) - now
  return (
    <time dateTime={at} title={exactly(at)} className="tabular">
      {ms > 0 ? `next in ${lasted(ms + 999)}` : 'about to be sent'}
    </time>
  )
}
