import { useEffect, useState } from 'react'
import { dayOf } from './day.ts'

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })

/** Relative time such as "5 minutes ago"; the date after a week. */
export function timeAgo(moment: string, now = Date.now()): string {
  const ms = Date.parse(moment) - now
  if (Math.abs(ms) > 7 * 86_400_000) return dayOf(moment, new Date(now))
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? []
  return unit && size ? relative.format(Math.round(ms / size), unit) : 'just now'
}

export const exactTime = (moment: string) => exact.format(new Date(moment))

/** 95 s is "1m 35s". */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`
}

/** The current time, updated every `everyMs` while `running`. */
export function useNow(everyMs: number, running = true): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!running) return
    setNow(Date.now())
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, running])
  return now
}

/** Relative time, with the exact time as a tooltip. */
export const Time = ({ at, className }: { at: string; className?: string }) => {
  const now = useNow(30_000)
  return (
    <time dateTime={at} title={exactTime(at)} className={className}>
      {timeAgo(at, now)}
    </time>
  )
}
