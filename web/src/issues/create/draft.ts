import type { NewIssue } from '@baton/protocol'
import { momentOf } from '../../ui/day.ts'
import { currentPreset, type Preset } from './create-preset.ts'

/** An issue that is being written. What was begun and closed is there again. */
export interface Draft
  extends Required<
    Pick<NewIssue, 'title' | 'description' | 'status' | 'priority' | 'type' | 'label_ids' | 'personal'>
  > {
  team_id: string | null
  assignee_id: string | null
  delegate_id: string | null
  project_id: string | null
  milestone_id: string | null
  cycle_id: string | null
  /** A day, as a date field has it. */
  due: string
}

const rememberedTeam = 'baton.team'
export const rememberTeam = (id: string) => localStorage.setItem(rememberedTeam, id)

let left: Pick<Draft, 'title' | 'description'> = { title: '', description: '' }
export const leave = ({ title, description }: Pick<Draft, 'title' | 'description'>) => {
  left = { title, description }
}
export const nothingLeft = { title: '', description: '' }

const textIn = (value: unknown) => (typeof value === 'string' ? value : null)

/** Which team it is for; without any it is personal. */
export function placeOf(asked: Record<string, unknown> | undefined, teamIds: readonly string[]) {
  const wanted = [textIn({ ...currentPreset(), ...asked }.team_id), localStorage.getItem(rememberedTeam), teamIds[0]]
  const team_id = wanted.find((id) => id && teamIds.includes(id)) ?? null
  return { team_id, personal: team_id === null }
}

/** What is shown begins it, then where the last one went. */
export function newDraft(asked: Record<string, unknown> | undefined, teamIds: readonly string[]): Draft {
  const preset: Preset & Record<string, unknown> = { ...currentPreset(), ...asked }
  return {
    ...placeOf(asked, teamIds),
    ...(preset.personal && { personal: true }),
    ...left,
    status: preset.status ?? 'backlog',
    priority: preset.priority ?? 'no_priority',
    type: preset.type ?? 'task',
    label_ids: preset.label_ids ?? [],
    assignee_id: preset.assignee_id ?? null,
    delegate_id: preset.delegate_id ?? null,
    project_id: preset.project_id ?? null,
    milestone_id: textIn(preset.milestone_id),
    cycle_id: preset.cycle_id ?? null,
    due: '',
  }
}

/** As the API takes it: what is personal has no team and nobody else. */
export function issueOf({ due, team_id, assignee_id, cycle_id, ...fields }: Draft): NewIssue {
  return {
    ...fields,
    title: fields.title.trim(),
    ...(fields.personal ? {} : { team_id, assignee_id, cycle_id }),
    ...(due && { due_date: momentOf(due) }),
  }
}
