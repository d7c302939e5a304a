import type { InboxKind, NotificationWay } from '@baton/protocol'

/** The kinds of notification, in the order of the settings. */
export const kindLabels: Record<InboxKind, { label: string; forManagers?: true }> = {
  mention: { label: 'Mentions' },
  assignment: { label: 'Assigned issues' },
  comment: { label: 'Comments on watched issues' },
  status: { label: 'Watched issues done or reopened' },
  agent_needs_you: { label: 'Questions of agents' },
  agent_finished: { label: 'Agents that finished or failed' },
  review_requested: { label: 'Requests for review' },
  suggestions_ready: { label: 'Suggested changes' },
  webhook_failing: { label: 'Disabled webhooks', forManagers: true },
  webhook_struggling: { label: 'Failing webhooks', forManagers: true },
  install_request: { label: 'Requests to install an app', forManagers: true },
  automation_notice: { label: 'Notices of automations' },
  automation_paused: { label: 'Paused automations' },
  budget_reached: { label: 'Agents that reached their budget', forManagers: true },
}

export const wayLabels: Record<NotificationWay, string> = {
  immediately: 'Immediately',
  daily: 'Daily summary',
  never: 'Never',
}
