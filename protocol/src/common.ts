import { type Static, type TSchema, Type } from 'typebox'
import { limits } from './limits.ts'
import type { NameKind } from './names.ts'

/** Unknown keys are refused, not dropped. */
export const closed = { additionalProperties: false } as const

/** Where a schema has `x-message`, validation errors contain it instead of the default message. */
export const text = (minLength: number, maxLength: number) => Type.String({ minLength, maxLength })

/** `x-name` normalises the text before its length is checked, and refuses names that mislead readers (names.ts). */
const nameOf = (kind: NameKind) =>
  Type.String({
    minLength: 1,
    maxLength: limits.name,
    pattern: '\\S',
    'x-name': kind,
    'x-message': `must have 1 to ${limits.name} characters and not only spaces`,
  })
export const Name = nameOf('plain')
export const PersonName = nameOf('person')
export const AgentName = nameOf('agent')

export const Guidance = Type.String({ maxLength: limits.guidance })

/** The domain of people who exist only in imported data; no mail can arrive there (RFC 2606). */
export const placeholderDomain = 'placeholder.invalid'

export const Email = Type.String({
  format: 'email',
  maxLength: limits.email,
  // In any letter case.
  pattern: '^(?!.*@[pP][lL][aA][cC][eE][hH][oO][lL][dD][eE][rR]\\.[iI][nN][vV][aA][lL][iI][dD]$)',
  'x-message': 'must be an e-mail address',
})

export const Timestamp = Type.String({
  format: 'date-time',
  pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
})

/** The id of a record in responses: a prefix and 26 lowercase Crockford characters. */
export const id = (prefix: string) => Type.String({ pattern: `^${prefix}_[0-9a-hjkmnp-tv-z]{26}$` })

export const Role = Type.Enum(['owner', 'admin', 'member'], { 'x-message': 'must be owner, admin or member' })
export type Role = Static<typeof Role>

export const paging = {
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limits.pageMax,
      default: limits.pageDefault,
      'x-message': `must be a whole number from 1 to ${limits.pageMax}`,
    }),
  ),
}

export const Page = Type.Object(paging, closed)

export const list = <Item extends TSchema>(item: Item) =>
  Type.Object({ data: Type.Array(item), next_cursor: Type.Union([Type.String(), Type.Null()]) }, closed)

export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
