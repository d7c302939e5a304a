import type { IssueStatus, IssueType, NewIssue, Priority } from '@baton/protocol'
import { useEffect } from 'react'
import { none } from '../../ui/picker.tsx'
import { type IssueSearch, valuesOf } from '../../views/search.ts'
import type { Known } from '../fields/known.tsx'
import { priorities, statuses, types } from '../fields/words.tsx'

/** What a new issue begins with: the values by which the screen is filtered, where there is one of each. */
export type Preset = Partial<
  Pick<
    NewIssue,
    | 'team_id'
    | 'status'
    | 'priority'
    | 'type'
    | 'assignee_id'
    | 'delegate_id'
    | 'project_id'
    | 'cycle_id'
    | 'label_ids'
    | 'personal'
  >
>

export function presetFor(search: IssueSearch, known: Known): Preset {
  const only = (field: Parameters<typeof valuesOf>[1]) => {
    const values = valuesOf(search, field).filter((value) => value !== none)
    return values.length === 1 ? values[0] : undefined
  }
  const assignee = only('assignee')
  const team = known.teams.find(({ key }) => key === only('team'))
  const [delegate, label, project, cycle] = [only('delegate'), only('label'), only('project'), only('cycle')]
  const status: IssueStatus | undefined = statuses.find(({ value }) => value === only('status'))?.value
  const priority: Priority | undefined = priorities.find(({ value }) => value === only('priority'))?.value
  const type: IssueType | undefined = types.find(({ value }) => value === only('type'))?.value
  return {
    ...(team && { team_id: team.id }),
    ...(status && { status }),
    ...(priority && { priority }),
    ...(type && { type }),
    ...(assignee && { assignee_id: assignee === 'me' ? known.me : assignee }),
    ...(delegate && { delegate_id: delegate }),
    ...(label && { label_ids: [label] }),
    ...(project && { project_id: project }),
    ...(cycle && { cycle_id: cycle }),
  }
}

let preset: Preset = {}
export const currentPreset = () => preset

/** For as long as this screen is there, new issues begin as what it shows. */
export function usePreset(search: IssueSearch, known: Known) {
  useEffect(() => {
    preset = presetFor(search, known)
    return () => {
      preset = {}
    }
  }, [search, known])
}
