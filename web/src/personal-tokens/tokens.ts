import type { PersonalToken } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { queries, readAll } from '../data/api.ts'

export const tokensQuery = queryOptions({
  queryKey: ['personal-tokens', 'own'],
  queryFn: () => readAll('listPersonalTokens'),
})

export const workspaceTokensQuery = queryOptions({
  queryKey: ['personal-tokens', 'workspace'],
  queryFn: () => readAll('listTokensOfWorkspace'),
})

export const rereadTokens = () => queries.invalidateQueries({ queryKey: ['personal-tokens'] })

export const isExpired = ({ expires_at }: PersonalToken, now = Date.now()) => Date.parse(expires_at) <= now
