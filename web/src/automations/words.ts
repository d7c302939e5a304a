import type {
  ActionResult,
  Automation,
  AutomationAction,
  AutomationFilter,
  AutomationRun,
  AutomationTrigger,
  PausedReason,
  RunReason,
} from '@baton/protocol'
import type { Tone } from '../ui/pill.tsx'
import { scheduleText } from './schedule.ts'

export const stateWords: Record<Automation['state'], { label: string; tone: Tone }> = {
  on: { label: 'On', tone: 'ok' },
  off: { label: 'Off', tone: 'neutral' },
  paused: { label: 'Paused', tone: 'warn' },
}

export const pausedWords: Record<PausedReason, string> = {
  owner_left: 'Its owner left the workspace. A manager can take it over.',
  owner_not_allowed: 'Its owner is no longer in the team. A manager can take it over.',
  agent_gone: 'An agent that it names was removed. Choose another one and turn it on.',
  failing: 'Five runs in a row failed. See the history, fix the cause and turn it on.',
  too_many_runs: 'It caused too many runs within an hour. Narrow it, and turn it on after an hour.',
}

export const runWords: Record<AutomationRun['state'], { label: string; tone: Tone }> = {
  pending: { label: 'Waiting', tone: 'info' },
  done: { label: 'Done', tone: 'ok' },
  skipped: { label: 'Skipped', tone: 'neutral' },
  failed: { label: 'Failed', tone: 'bad' },
}

const reasonWords: Record<RunReason, string> = {
  off: 'The automation was off.',
  missed: 'Baton did not run at this time.',
  loop: 'Automations caused each other, so the chain ended here.',
  own_work: 'The agent created this issue itself.',
  rate_limited: 'The limit of runs was reached.',
  previous_open: 'The previous issue is not done.',
  issue_gone: 'The issue was deleted, moved to another team or made private.',
  owner_not_allowed: 'The owner is no longer in the team.',
  refused: 'An action was refused, so none of them was done.',
  gave_up: 'It was begun five times and not finished.',
}

/** Why a run did nothing, in words. */
export const reasonOf = ({ reason }: Pick<AutomationRun, 'reason'>) => (reason ? reasonWords[reason] : null)

export const actionWords: Record<AutomationAction['type'], string> = {
  create_issue: 'create an issue',
  set_fields: 'set fields',
  delegate: 'delegate it to an agent',
  ask_agent: 'ask an agent',
  comment: 'comment',
  notify: 'notify people',
}

const messageWords: Record<string, string> = {
  already_delegated: 'has a delegate already',
  unchanged: 'nothing to change',
  undone: 'undone, because a later action was refused',
  own_work: 'the agent created this issue itself',
  previous_open: 'the previous issue is not done',
}

/** The result of one action: "Comment", "Create an issue: Weekly report". */
export function resultText({ type, message }: ActionResult): string {
  const words = actionWords[type]
  const what = words.charAt(0).toUpperCase() + words.slice(1)
  return message ? `${what}: ${messageWords[message] ?? message}` : what
}

/** Why a run happened. */
export function causeText({ cause }: Pick<AutomationRun, 'cause'>): string {
  if (cause === 'manual') return 'Run by its owner'
  if (cause.startsWith('evt_')) return 'Issue changed'
  return cause.startsWith('sess_') ? 'Agent session' : 'Schedule'
}

export const outcomeWords: Record<Extract<AutomationTrigger, { type: 'session' }>['outcomes'][number], string> = {
  finished: 'finishes',
  failed: 'fails',
  asked: 'asks a question',
  stopped: 'is stopped',
  stale: 'goes stale',
}

/** When it runs, as part of a sentence. */
export function triggerText(trigger: AutomationTrigger): string {
  if (trigger.type === 'schedule') return `${scheduleText(trigger.cron)} (${trigger.time_zone})`
  if (trigger.type === 'session') {
    return `When a session ${trigger.outcomes.map((outcome) => outcomeWords[outcome]).join(' or ')}`
  }
  return {
    created: 'When an issue is created',
    changed: 'When an issue changes',
    both: 'When an issue is created or changes',
  }[trigger.on]
}

/**
 * Why changes hardly run it, and what to do; null if there is a condition. A change runs an automation when its
 * conditions hold and did not hold before: without one, only issues from another team do that.
 */
export function withoutConditions(trigger: AutomationTrigger, filter: AutomationFilter = {}): string | null {
  if (trigger.type !== 'issue' || trigger.on === 'created' || Object.keys(filter).length > 0) return null
  const todo = 'Add the condition that an issue begins to meet, such as “Status: Done”'
  return trigger.on === 'both'
    ? `Without a condition, it runs for issues that are created or come from another team, and for no other change. ${todo}.`
    : `Without a condition, no change within the team runs it, only issues that come from another team. ${todo}, or choose “an issue is created”.`
}
