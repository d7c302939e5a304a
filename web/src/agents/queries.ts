import type { Choice, Installation, Team } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { all, api } from '../api.ts'

/** Everybody who takes work and is not a person. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: () =>
    all((cursor) =>
      api.listAgents({ include_apps: true, include_deployment: true, limit: 100, ...(cursor && { cursor }) }),
    ),
})

export const kindWords: Record<NonNullable<Choice['agent_kind']>, string> = {
  app: 'App',
  deployment: 'Built-in',
  personal: 'Personal',
}

/** Which teams it works in, in words. */
export function coverageOf(agent: Choice, installation: Installation | undefined, teams: Team[]): string {
  if (agent.agent_kind === 'deployment') return 'All teams'
  if (!installation) return agent.agent_kind === 'personal' ? 'Wherever you can go' : ''
  if (installation.all_teams) return 'All teams'
  const names = teams.filter(({ id }) => installation.team_ids.includes(id)).map(({ name }) => name)
  const unseen = installation.team_ids.length - names.length
  if (names.length === 0) return unseen === 0 ? 'No team' : unseen === 1 ? '1 team' : `${unseen} teams`
  return unseen > 0 ? `${names.join(', ')} and ${unseen} more` : names.join(', ')
}
