/** A day in a time zone, as 2026-03-29. */
export type Day = string

const dayMs = 86_400_000

/** The day that it is in the zone. */
export const dayIn = (zone: string, at: Date): Day => localTime(zone, at).slice(0, 10)

/**
 * When the hour of the day begins in the zone. An hour that is skipped begins with the next one; of an hour that is
 * repeated, the first counts.
 */
export function startOfHour(zone: string, day: Day, hour: number): Date {
  const local = Date.parse(`${day}T${String(hour).padStart(2, '0')}:00:00Z`)
  // The offsets before and after a change on that day; mostly the same.
  const [before, after] = [-dayMs, dayMs].map((ms) => offsetMs(zone, new Date(local + ms))) as [number, number]
  const moments = [local - before, local - after].sort((a, b) => a - b)
  const exact = moments.find((moment) => moment + offsetMs(zone, new Date(moment)) === local)
  return new Date(exact ?? local - before)
}

/** The first digest at or after `from` on a day after `last`. */
export function nextDigest(zone: string, hour: number, from: Date, last: Day | null): Date {
  for (let day = dayIn(zone, from); ; day = plusDays(day, 1)) {
    const at = startOfHour(zone, day, hour)
    if (at >= from && (last === null || day > last)) return at
  }
}

/** The day of the newest digest that was due by `now`. */
export function dayOfDigest(zone: string, hour: number, now: Date): Day {
  const today = dayIn(zone, now)
  return startOfHour(zone, today, hour) <= now ? today : plusDays(today, -1)
}

const plusDays = (day: Day, days: number): Day => new Date(Date.parse(day) + days * dayMs).toISOString().slice(0, 10)

const offsetMs = (zone: string, at: Date) =>
  Date.parse(`${localTime(zone, at)}Z`) - Math.floor(at.getTime() / 1000) * 1000

const formats = new Map<string, Intl.DateTimeFormat>()

/** As 2026-03-29T03:00:00. */
function localTime(zone: string, at: Date): string {
  let format = formats.get(zone)
  if (!format) {
    // The Swedish format has this order.
    format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    formats.set(zone, format)
  }
  return format.format(at).replace(' ', 'T')
}
