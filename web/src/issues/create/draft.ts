import type { NewIssue } from '@baton/protocol'
import type { IssueSubject } from '../fields/issue-field.ts'

/** A new issue before it is created. */
export interface Draft extends IssueSubject {
  title: string
  description: string
}

export const noText = { title: '', description: '' }

export const blankDraft: Draft = {
  ...noText,
  status: 'backlog',
  priority: 'no_priority',
  type: 'task',
  label_ids: [],
  personal: false,
  team_id: null,
  assignee_id: null,
  delegate_id: null,
  project_id: null,
  milestone_id: null,
  cycle_id: null,
  due_date: null,
  time_estimate: null,
}

/** The text of a form that was closed, for the next time it is opened. */
let unsaved = noText
export const keepText = ({ title, description }: typeof noText) => {
  unsaved = { title, description }
}

/** The team of a new issue: the preset, the last one used, or the first. Without a team the issue is private. */
export function teamFor(preset: Partial<Draft>, teamIds: readonly string[], lastUsed: string | null) {
  const wanted = [preset.team_id, lastUsed, teamIds[0]]
  const team_id = wanted.find((id) => id && teamIds.includes(id)) ?? null
  return { team_id, personal: team_id === null }
}

export const newDraft = (preset: Partial<Draft>, teamIds: readonly string[], lastUsed: string | null): Draft => ({
  ...blankDraft,
  ...preset,
  ...teamFor(preset, teamIds, lastUsed),
  ...(preset.personal && { personal: true }),
  ...unsaved,
})

/** The body for the API. A private issue has no team, assignee or cycle. */
export function newIssue({ team_id, assignee_id, cycle_id, ...draft }: Draft): NewIssue {
  return { ...draft, title: draft.title.trim(), ...(draft.personal ? {} : { team_id, assignee_id, cycle_id }) }
}
