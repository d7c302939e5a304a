import { limits } from '@baton/protocol'

/** Replaces what PostgreSQL cannot store. */
const storable = (text: string) => text.replace(/[\0\p{Surrogate}]/gu, '\ufffd')

const cut = (text: string, max: number) => (text.length <= max ? text : Array.from(text).slice(0, max).join(''))

/** Text of an agent, with at most `max` characters. */
export const plainText = (value: unknown, max: number): string =>
  cut(storable(String(value ?? '').slice(0, max * 2)), max)

const notice = '\n\n[Truncated]'

/** A text with at most `max` characters. A notice shows that it was cut. */
export function truncated(text: string, max: number = limits.activityBody): string {
  const whole = storable(text)
  return cut(whole, max) === whole ? whole : cut(whole, max - notice.length) + notice
}
