import type { ResourceType } from '@baton/protocol'

/** What the values of a key are chosen from. */
export type Source = 'people' | 'agents' | 'projects' | 'labels' | readonly string[]

interface Key {
  label: string
  source: Source
  /** Label of the value null, for items without one. */
  none?: string
}

const ofEvent: Record<string, Key> = {
  actions: { label: 'Action', source: ['create', 'update', 'remove'] },
  actor_types: { label: 'Actor', source: ['user', 'application', 'system'] },
}
const priority: Key = { label: 'Priority', source: ['urgent', 'high', 'medium', 'low', 'no_priority'] }
const labels: Key = { label: 'Label', source: 'labels' }

/** The keys of each type, in the order in which they are offered. */
export const filterKeys: Record<ResourceType, Record<string, Key>> = {
  Issue: {
    changed: {
      label: 'Changed field',
      source: [
        'title',
        'description',
        'status',
        'priority',
        'type',
        'team_id',
        'project_id',
        'milestone_id',
        'cycle_id',
        'parent_id',
        'assignee_id',
        'delegate_id',
        'label_ids',
        'blocks_ids',
        'blocked_by_ids',
        'time_estimate',
        'due_date',
        'completed_at',
      ],
    },
    status: { label: 'Status', source: ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'] },
    priority,
    type: { label: 'Type', source: ['bug', 'feature', 'task', 'story'] },
    project_id: { label: 'Project', source: 'projects', none: 'No project' },
    assignee_id: { label: 'Assignee', source: 'people', none: 'No assignee' },
    delegate_id: { label: 'Delegate', source: 'agents', none: 'No delegate' },
    label_ids: labels,
    ...ofEvent,
  },
  Project: {
    changed: {
      label: 'Changed field',
      source: [
        'title',
        'description',
        'status',
        'priority',
        'health_status',
        'owner_id',
        'lead_id',
        'initiative_id',
        'member_ids',
        'team_ids',
        'label_ids',
        'start_date',
        'target_date',
        'completed_at',
        'progress',
      ],
    },
    status: {
      label: 'Status',
      source: [
        'idea',
        'discovery',
        'proposal',
        'accepted',
        'ready',
        'in_progress',
        'paused',
        'maintenance',
        'completed',
        'canceled',
      ],
    },
    priority,
    health_status: { label: 'Health', source: ['on_track', 'at_risk', 'off_track'], none: 'No health' },
    lead_id: { label: 'Lead', source: 'people', none: 'No lead' },
    label_ids: labels,
    ...ofEvent,
  },
  Comment: {
    target_type: { label: 'Comment on', source: ['issue', 'project'] },
    mentioned_user_ids: { label: 'Mentioned user', source: 'people' },
    ...ofEvent,
  },
}

/** "in_progress" becomes "In progress"; "assignee_id" becomes "Assignee". */
export function wordOf(value: string): string {
  const text = value.replace(/_ids?$/, '').replaceAll('_', ' ')
  return text === 'qa' ? 'QA' : text.charAt(0).toUpperCase() + text.slice(1)
}
