import type { Choice, Installation, Team } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, readAll } from './api.ts'

/** All agents: apps, the built-in agent and the user's personal agents. */
export const agentsQuery = queryOptions({
  queryKey: ['agents', 'all'],
  queryFn: () => readAll('listAgents', { include_apps: true, include_deployment: true }),
})

const none = new Map<string, Choice>()
const byId = (agents: Choice[]) => new Map(agents.map((agent) => [agent.id, agent]))

/** Agents by id. Empty only until they are loaded, since there is always the built-in agent. */
export const useAgents = () => useQuery({ ...agentsQuery, select: byId }).data ?? none

/** The user's personal agents, with their instructions. */
export const personalAgentsQuery = queryOptions({
  queryKey: ['agents', 'personal'],
  queryFn: () => readAll('listPersonalAgents'),
})

/** Health of the language model, for managers. The live stream does not report it, so it is polled. */
export const modelQuery = queryOptions({
  queryKey: ['agents', 'model'],
  refetchInterval: 30_000,
  queryFn: () => api.getModelStatus(),
})

export const kindLabels: Record<NonNullable<Choice['agent_kind']>, string> = {
  app: 'App',
  deployment: 'Built in',
  personal: 'Personal',
}

/** The teams that the agent works in, as text. */
export function coverageOf(agent: Choice, installation: Installation | undefined, teams: Team[]): string {
  if (agent.agent_kind === 'deployment' || installation?.all_teams) return 'All teams'
  if (!installation) return ''
  const names = teams.filter(({ id }) => installation.team_ids.includes(id)).map(({ name }) => name)
  const hidden = installation.team_ids.length - names.length
  if (names.length === 0) return hidden === 0 ? 'No team' : hidden === 1 ? '1 team' : `${hidden} teams`
  return hidden > 0 ? `${names.join(', ')} and ${hidden} more` : names.join(', ')
}
