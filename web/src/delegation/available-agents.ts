import type { Choice, UnavailableReason } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { readAll } from '../data/api.ts'

const agentsQuery = (place: { issue_id: string } | { team_id: string } | object, ...key: (string | null)[]) =>
  queryOptions({
    queryKey: ['agents', ...key],
    staleTime: 5000,
    queryFn: () => readAll('listAgents', { ...place, include_apps: true, include_deployment: true }),
  })

/** Agents and whether each is available for the issue. */
export const agentsForIssueQuery = (issueId: string) => agentsQuery({ issue_id: issueId }, 'issue', issueId)

/** Agents and whether each is available for new issues of the team; without a team, for private issues. */
export const agentsForTeamQuery = (teamId: string | null) =>
  agentsQuery(teamId ? { team_id: teamId } : {}, 'team', teamId)

const reasons: Record<UnavailableReason, string> = {
  app_not_installed_for_team: 'Not installed for this team',
  app_missing_scope: 'Not allowed to accept issues',
  app_webhook_disabled: 'Its webhook is disabled',
  personal_agent_not_yours: 'Works only for its owner',
  app_budget_reached: 'Reached its monthly budget',
}
/** Why an agent is unavailable. The built-in agent works on everything that is not private. */
export function unavailableText({
  available,
  agent_kind,
  unavailable_reason: reason,
}: Pick<Choice, 'available' | 'agent_kind' | 'unavailable_reason'>): string | undefined {
  if (available) return undefined
  if (agent_kind === 'deployment') return sharedOnly
  return reason ? reasons[reason] : 'Not available here'
}

export const sharedOnly = 'Works on shared issues only'

/** Whether the agent cannot receive work now, because no program listens for it. It receives it later. */
export const isDisconnected = (agent: Pick<Choice, 'listening'> | undefined) => agent?.listening === false

/** That the agent is not connected, or its kind unless it is an app. */
export const hintOf = ({ agent_kind, listening }: Pick<Choice, 'agent_kind' | 'listening'>) =>
  isDisconnected({ listening })
    ? 'not connected'
    : agent_kind === 'deployment'
      ? 'built in'
      : agent_kind === 'personal'
        ? 'yours'
        : undefined

const remedies: Record<UnavailableReason, string> = {
  app_not_installed_for_team: 'Choose its teams',
  app_missing_scope: 'Review its permissions',
  app_webhook_disabled: 'Enable its webhook',
  personal_agent_not_yours: 'Create a personal agent',
  app_budget_reached: 'Raise its budget',
}
/** What a manager can do about it. */
export const remedyText = (reason: UnavailableReason | null) => (reason ? remedies[reason] : 'Open its settings')
