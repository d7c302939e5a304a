import type { AutomationAction, NewAutomation } from '@baton/protocol'
import { actionWords } from './words.ts'

type Type = AutomationAction['type']
type Draft = Pick<NewAutomation, 'trigger' | 'actions'>

/** Whether the action at this place has an issue to act on: that of the trigger, or one that is created before it. */
export const hasIssue = ({ trigger, actions }: Draft, index: number): boolean =>
  trigger.type !== 'schedule' || actions.slice(0, index).some(({ type }) => type === 'create_issue')

const needNoIssue: readonly Type[] = ['create_issue', 'notify']

/** The types that the menu of the action at this place offers, and the one that it has. */
export const offeredTypes = (draft: Draft, index: number): Type[] =>
  (Object.keys(actionWords) as Type[]).filter(
    (type) => hasIssue(draft, index) || needNoIssue.includes(type) || type === draft.actions[index]?.type,
  )

/** The actions for a trigger: on a schedule, the first one needs no issue. */
export function actionsFor({ trigger, actions }: Draft): AutomationAction[] {
  const [first, ...rest] = actions
  if (trigger.type !== 'schedule' || !first) return actions
  if (!needNoIssue.includes(first.type)) return [{ type: 'create_issue' }, ...rest]
  return first.type === 'notify' && first.who ? [{ type: 'notify', who: 'team' }, ...rest] : actions
}

/** The placeholders that can be filled, as a hint. */
export const placeholderHint = (withIssue: boolean) =>
  `Placeholders: {{date}} {{week}} {{month}}${withIssue ? ' {{issue.code}} {{issue.title}} {{issue.url}} {{agent.name}}' : ''}`
