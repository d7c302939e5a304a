import type { Choice, Installation, Team } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, readAll } from './api.ts'

/** Everybody who takes work and is not a person. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: () => readAll('listAgents', { include_apps: true, include_deployment: true }),
})

const none = new Map<string, Choice>()
const byId = (agents: Choice[]) => new Map(agents.map((agent) => [agent.id, agent]))

/** Agents by their id; empty until they were read, for there is always the built-in one. */
export const useAgents = () => useQuery({ ...agentsQuery, select: byId }).data ?? none

/** The agents that one made for oneself, with what they are told to do. */
export const personalAgentsQuery = queryOptions({
  queryKey: ['agents', 'personal'],
  queryFn: () => readAll('listPersonalAgents'),
})

/** How the language model does: for managers. Nobody tells when that changes. */
export const modelQuery = queryOptions({
  queryKey: ['agents', 'model'],
  refetchInterval: 30_000,
  queryFn: () => api.getModelStatus(),
})

export const kindWords: Record<NonNullable<Choice['agent_kind']>, string> = {
  app: 'App',
  deployment: 'Built in',
  personal: 'Personal',
}

/** Which teams it works in, in words. */
export function coverageOf(agent: Choice, installation: Installation | undefined, teams: Team[]): string {
  if (agent.agent_kind === 'deployment' || installation?.all_teams) return 'All teams'
  if (!installation) return ''
  const names = teams.filter(({ id }) => installation.team_ids.includes(id)).map(({ name }) => name)
  const unseen = installation.team_ids.length - names.length
  if (names.length === 0) return unseen === 0 ? 'No team' : unseen === 1 ? '1 team' : `${unseen} teams`
  return unseen > 0 ? `${names.join(', ')} and ${unseen} more` : names.join(', ')
}
