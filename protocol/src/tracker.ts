import { type Static, Type } from 'typebox'
import { nullable } from './common.ts'
import { limits } from './limits.ts'

// Schemas that issues and projects share.

export const Priority = Type.Enum(['no_priority', 'low', 'medium', 'high', 'urgent'])
export type Priority = Static<typeof Priority>

export const Title = Type.String({
  minLength: 1,
  maxLength: limits.title,
  pattern: '\\S',
  'x-message': `must have 1 to ${limits.title} characters and not only spaces`,
})

export const Description = Type.String({ maxLength: limits.description })

/** The id of another record in a request. If the record does not exist, the answer is 422 and names the field. */
export const Ref = Type.String({ minLength: 1, maxLength: 100 })
export const OptionalRef = nullable(Ref)
export const Refs = Type.Array(Ref, { maxItems: limits.idsInArray, uniqueItems: true })

/**
 * A time in a request, with its offset. The pattern excludes values that the format allows but that a database or a
 * JavaScript Date cannot store: the year 0, leap seconds, impossible offsets.
 */
export const Time = Type.String({
  format: 'date-time',
  pattern: '^(19|2\\d)\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-4]):[0-5]\\d)$',
  'x-message': 'must be an ISO 8601 date and time from 1900 to 2999, such as 2026-03-02T09:00:00Z',
})
export const Moment = nullable(Time)

/** Ids in a response; the prefix tells the kind. */
export const Ids = Type.Array(Type.String())
export const OptionalId = nullable(Type.String())
