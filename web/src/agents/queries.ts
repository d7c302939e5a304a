import type { Choice, Installation, Team } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { all, api } from '../api.ts'

/** Everybody who takes work and is not a person. Under 'workspace', so that what is read anew there is read here too. */
export const agentsQuery = queryOptions({
  queryKey: ['workspace', 'agents'],
  queryFn: () =>
    all((cursor) =>
      api.listAgents({ include_apps: true, include_deployment: true, limit: 100, ...(cursor && { cursor }) }),
    ),
})

export const installationsQuery = queryOptions({
  queryKey: ['workspace', 'installations'],
  queryFn: () => all((cursor) => api.listInstallations({ limit: 100, ...(cursor && { cursor }) })),
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

/** Why nobody can hand work to it, whatever the team. */
export const unavailableWords: Record<NonNullable<Choice['unavailable_reason']>, string> = {
  app_not_installed_for_team: 'Not installed for any team',
  app_missing_scope: 'Takes no work: it was not allowed to be delegated to',
  app_webhook_disabled: 'Cannot be reached: its webhook is switched off',
  personal_agent_not_yours: 'Works for its owner alone',
}
