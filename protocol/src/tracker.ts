import { type Static, Type } from 'typebox'
import { nullable } from './common.ts'
import { limits } from './limits.ts'

/** What issues and projects have in common. */

export const Priority = Type.Enum(['no_priority', 'low', 'medium', 'high', 'urgent'])
export type Priority = Static<typeof Priority>

export const Title = Type.String({
  minLength: 1,
  maxLength: limits.title,
  pattern: '\\S',
  'x-message': `must have 1 to ${limits.title} characters, and not only spaces`,
})

export const Description = Type.String({ maxLength: limits.description })

/** The id of something else, as callers send it. Whether it exists is looked up, and 422 names the field. */
export const Ref = Type.String({ minLength: 1, maxLength: 100 })
export const OptionalRef = nullable(Ref)
export const Refs = Type.Array(Ref, { maxItems: limits.idsInArray, uniqueItems: true })

/**
 * A moment, as callers send it: a day that exists, with its offset. The pattern keeps out what the format allows and a
 * database or a JavaScript Date does not hold: the year 0, leap seconds, offsets that no place has.
 */
export const Moment = nullable(
  Type.String({
    format: 'date-time',
    pattern: '^(19|2\\d)\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-4]):[0-5]\\d)$',
    'x-message': 'must be an ISO 8601 date and time from 1900 to 2999, like 2026-03-02T09:00:00Z',
  }),
)

/** Ids in an answer; their kinds are told by their prefixes. */
export const Ids = Type.Array(Type.String())
export const OptionalId = nullable(Type.String())
