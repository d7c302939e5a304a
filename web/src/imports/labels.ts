import type { ImportColumn, ImportKind, ImportSource, ImportState } from '@baton/protocol'

export const sourceNames: Record<ImportSource, string> = {
  linear: 'Linear',
  github: 'GitHub',
  jira: 'Jira',
  csv: 'CSV',
}

export const stateNames: Record<ImportState, string> = {
  uploading: 'Uploading',
  reading: 'Reading',
  ready: 'Ready',
  running: 'Running',
  done: 'Done',
  canceled: 'Canceled',
  failed: 'Failed',
}

/** In the order of the table. */
export const kindNames: Record<ImportKind, string> = {
  teams: 'Teams',
  users: 'People',
  labels: 'Labels',
  projects: 'Projects',
  milestones: 'Milestones',
  cycles: 'Cycles',
  issues: 'Issues',
  relations: 'Relations',
  comments: 'Comments',
  files: 'Files',
}

/** In the order of the form. */
export const columnNames: Record<ImportColumn, string> = {
  id: 'Id',
  key: 'Code',
  team: 'Team',
  title: 'Title',
  description: 'Description',
  status: 'Status',
  priority: 'Priority',
  type: 'Type',
  labels: 'Labels',
  project: 'Project',
  milestone: 'Milestone',
  cycle: 'Cycle',
  parent: 'Parent',
  blocks: 'Blocks',
  blockedBy: 'Blocked by',
  duplicateOf: 'Duplicate of',
  related: 'Related',
  creator: 'Reporter',
  assignee: 'Assignee',
  hours: 'Estimate in hours',
  points: 'Points',
  due: 'Due date',
  createdAt: 'Created',
  updatedAt: 'Updated',
  completedAt: 'Completed',
  archived: 'Archived',
  url: 'URL',
}

export const whyManagers = 'Imports create issues, teams and labels of the workspace.'

export const counted = (count: number, noun: string) => `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
