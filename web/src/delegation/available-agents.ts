import type { Choice, UnavailableReason } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { readAll } from '../data/api.ts'

/** Agents to hand an issue to, with whether that is possible there. */
export const agentsForIssueQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['agents', 'issue', issueId],
    staleTime: 5000,
    queryFn: () => readAll('listAgents', { issue_id: issueId, include_apps: true, include_deployment: true }),
  })

const reasons: Record<UnavailableReason, string> = {
  app_not_installed_for_team: 'Not installed for this team',
  app_missing_scope: 'Not allowed to take issues',
  app_webhook_disabled: 'Its webhook is switched off',
  personal_agent_not_yours: 'Works for its owner alone',
}
/** Why an agent cannot be given work, in plain words. The built-in one works wherever more than one person looks. */
export function reasonWords({
  available,
  agent_kind,
  unavailable_reason: reason,
}: Pick<Choice, 'available' | 'agent_kind' | 'unavailable_reason'>): string | undefined {
  if (available) return undefined
  if (agent_kind === 'deployment') return sharedOnly
  return reason ? reasons[reason] : 'Not available here'
}

export const sharedOnly = 'Works on shared issues only'

/** What kind of agent it is, where most are apps. */
export const kindHint = ({ agent_kind }: Pick<Choice, 'agent_kind'>) =>
  agent_kind === 'deployment' ? 'built in' : agent_kind === 'personal' ? 'yours' : undefined

const remedies: Record<UnavailableReason, string> = {
  app_not_installed_for_team: 'Choose its teams',
  app_missing_scope: 'Look at what it may do',
  app_webhook_disabled: 'Enable its webhook',
  personal_agent_not_yours: 'Make a personal agent of your own',
}
/** What a manager does about it. */
export const remedyWords = (reason: UnavailableReason | null) => (reason ? remedies[reason] : 'Look at its settings')
