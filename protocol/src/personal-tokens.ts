import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, Page, Timestamp } from './common.ts'
import { accountLimits, limits } from './limits.ts'
import { operation } from './operation.ts'
import { personScopes, routes } from './routes.ts'
import { Ref, Time } from './tracker.ts'

/** `svc_pat_`, 43 random characters and a checksum of 6. */
export const personalTokenPattern = '^svc_pat_[A-Za-z0-9_-]{49}$'

const fields = {
  id: id('pat'),
  name: Type.String(),
  scopes: Type.Array(Type.Enum(personScopes)),
  team_ids: nullable(Type.Array(id('team'))),
  expires_at: Timestamp,
  last_used_at: nullable(Timestamp),
  created_at: Timestamp,
}

export const PersonalToken = Type.Object(fields, { ...closed, title: 'PersonalToken' })
export type PersonalToken = Static<typeof PersonalToken>

/** With its owner, for managers. */
export const MemberToken = Type.Object(
  { ...fields, user: Type.Object({ id: id('usr'), name: Type.String() }, closed) },
  { ...closed, title: 'MemberToken' },
)
export type MemberToken = Static<typeof MemberToken>

export const NewPersonalToken = Type.Object(
  {
    name: Name,
    scopes: Type.Array(Type.Enum(personScopes, { 'x-message': `must be one of: ${personScopes.join(', ')}` }), {
      minItems: 1,
      maxItems: personScopes.length,
      uniqueItems: true,
      'x-message': 'must contain at least one scope, each once',
    }),
    /** Null: all teams, and the personal items of the user. */
    team_ids: Type.Optional(
      nullable(
        Type.Array(Ref, {
          minItems: 1,
          maxItems: limits.idsInArray,
          uniqueItems: true,
          'x-message': `must be null or contain 1 to ${limits.idsInArray} teams, each once`,
        }),
      ),
    ),
    expires_at: Type.Optional(Time),
  },
  closed,
)
export type NewPersonalToken = Static<typeof NewPersonalToken>

export const personalTokens = {
  listPersonalTokens: operation(routes.listPersonalTokens, {
    summary: 'List your personal tokens of this workspace, newest first',
    query: Page,
    returns: { 200: list(PersonalToken) },
  }),
  createPersonalToken: operation(routes.createPersonalToken, {
    summary: `Create a personal token, which acts as you in this workspace; at most ${accountLimits.personalTokensPerPerson}, each for 1 to ${accountLimits.personalTokenDays} days`,
    body: NewPersonalToken,
    returns: {
      201: Type.Object(
        { personal_token: PersonalToken, token: Type.String({ pattern: personalTokenPattern }) },
        closed,
      ),
    },
    errors: ['TOKEN_LIMIT_REACHED'],
  }),
  deletePersonalToken: operation(routes.deletePersonalToken, {
    summary: 'Revoke one of your personal tokens; it stops working at once',
    returns: { 204: null },
  }),
  listTokensOfWorkspace: operation(routes.listTokensOfWorkspace, {
    summary: 'List the personal tokens of all members of this workspace, newest first',
    query: Page,
    returns: { 200: list(MemberToken) },
  }),
  deleteTokenOfWorkspace: operation(routes.deleteTokenOfWorkspace, {
    summary: 'Revoke a personal token of any member; it stops working at once',
    returns: { 204: null },
  }),
}
