import type { IssueStatus } from '@baton/protocol'
import { issueStatuses } from '@baton/protocol'
import { crockford, dashed, type IdPrefix, uuidOf } from '../ids.ts'

export { dashed, uuidOf }

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const idPattern = /^[a-z]{3,5}_[0-7][0-9a-hjkmnp-tv-z]{25}$/

export const isUuid = (text: string) => uuidPattern.test(text)

export const uuidOrNull = (id: string | null) => (id === null ? null : uuidOf(id))

/** The id with this prefix and the bits of the UUID. */
export function idOf(prefix: IdPrefix, uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`)
  let id = ''
  for (let place = 0; place < 26; place++, bits >>= 5n) id = crockford[Number(bits & 31n)] + id
  return `${prefix}_${id}`
}

/** The id that an input means: a UUID or an id of ours; other text is returned as it is and finds nothing. */
export const inputId = (prefix: IdPrefix, input: string) => (isUuid(input) ? idOf(prefix, input) : input)

export const isId = (prefix: IdPrefix, text: string) => text.startsWith(`${prefix}_`) && idPattern.test(text)

/** States have no row; their ids are the same everywhere, for ever. */
const statePrefix = 'ba700000-0000-4000-8000-00000000000'

export const stateIdOf = (status: IssueStatus) => `${statePrefix}${issueStatuses.indexOf(status)}`

export const statusOf = (stateId: string): IssueStatus | undefined =>
  issueStatuses.find((status) => stateIdOf(status) === stateId.toLowerCase())
