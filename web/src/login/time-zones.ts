import type { Option } from '../ui/picker.tsx'

export const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone

/** Such as GMT+1, at this time of the year. */
const offsetOf = (timeZone: string, now: Date) =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
    .formatToParts(now)
    .find(({ type }) => type === 'timeZoneName')?.value

/** All zones that this browser knows, its own first. Words of a zone are separated by spaces, so that they can be searched. */
export function zoneOptions(now = new Date()): Option[] {
  const local = localZone()
  const zones = new Set([local, 'UTC', ...Intl.supportedValuesOf('timeZone')])
  return [...zones].map((zone) => ({
    value: zone,
    label: zone.replaceAll('_', ' '),
    hint: zone === local ? 'this browser' : offsetOf(zone, now),
  }))
}
