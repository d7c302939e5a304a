import type { IssueTemplate } from '@baton/protocol'
import { blankDraft, type Draft } from './draft.ts'

/** The templates for the draft's team: those of the team, then those of the workspace. */
export function templatesFor(
  templates: readonly IssueTemplate[],
  { team_id, personal }: Pick<Draft, 'team_id' | 'personal'>,
) {
  const own = personal ? [] : templates.filter((one) => one.team_id !== null && one.team_id === team_id)
  return [...own, ...templates.filter((one) => one.team_id === null)]
}

/** The default of the team, otherwise that of the workspace. */
export const defaultTemplate = (available: readonly IssueTemplate[]) => available.find((one) => one.default) ?? null

/**
 * What a template changes in a draft. Typed text stays, as do fields that the user or the screen has set: only empty
 * values and those of a template are replaced. `previous` is the template that was applied before.
 */
export function applyTemplate(
  draft: Draft,
  template: IssueTemplate | null,
  previous: IssueTemplate | null,
  all: readonly IssueTemplate[],
): Partial<Draft> {
  const text = (field: 'title' | 'description') => {
    const isTyped = draft[field].trim() !== '' && !all.some((one) => one[field] === draft[field])
    return isTyped ? draft[field] : (template?.[field] ?? '')
  }
  const value = <Field extends 'priority' | 'type' | 'label_ids'>(field: Field): Draft[Field] => {
    const replaced = String(draft[field]) === String((previous ?? blankDraft)[field])
    return (replaced ? (template ?? blankDraft)[field] : draft[field]) as Draft[Field]
  }
  return {
    title: text('title'),
    description: text('description'),
    priority: value('priority'),
    type: value('type'),
    label_ids: value('label_ids'),
  }
}
