import type { Settings } from './options.ts'
import { firstCharacters, lastCharacters } from './text.ts'
import type { TurnEnd } from './turn-agent.ts'
import type { Clean } from './updates.ts'

/** Why the runner itself ended a turn. */
export type Ending = 'stop' | 'ended' | 'silent' | 'limit' | 'shutdown' | 'budget'

interface Ended {
  end: TurnEnd
  ending: Ending | null
  /** The text after the last tool call. */
  message: string
  /** What has to be said about commit and push. */
  notes: string[]
  /** The sum of the changes. */
  summary: string
}

/** A response, or an error if there is a reason. */
interface Word {
  reason: string | null
  body: string
}

const bodyLength = 32_000

/** What a turn ends with in the session. */
export function lastWord(ended: Ended, limits: Pick<Settings, 'silenceMs' | 'turnLimitMs'>, clean: Clean): Word {
  const { reason, body } = byRunner(ended, limits) ?? byAgent(ended)
  const more = ended.notes.length > 0 ? clean(`\n\n${ended.notes.join('\n')}`) : ''
  return { reason, body: `${lastCharacters(clean(body), bodyLength - more.length)}${more}` }
}

const response = (body: string): Word => ({ reason: null, body })
const failure = (reason: string, body: string): Word => ({ reason, body })

function byRunner({ ending, summary }: Ended, { silenceMs, turnLimitMs }: Pick<Settings, 'silenceMs' | 'turnLimitMs'>) {
  switch (ending) {
    case 'stop':
      return response(`Stopped. ${summary}`)
    case 'shutdown':
      return failure(
        'runner_stopped',
        'The runner was stopped during this turn. Its work so far is kept. Write a message to continue.',
      )
    case 'silent':
      return failure('agent_silent', `Nothing came from the agent for ${minutes(silenceMs)}. The turn was cancelled.`)
    case 'limit':
      return failure('turn_limit', `The turn took longer than ${minutes(turnLimitMs)} and was cancelled.`)
  }
  return null
}

function byAgent({ end, message, summary }: Ended): Word {
  if (end.end === 'failed') return failure(end.reason, end.message)
  const text = (end.end === 'answered' ? end.text : message).trim()
  switch (end.end === 'answered' ? 'end_turn' : end.stopReason) {
    case 'end_turn':
      return response(text || `Finished without a message. ${summary}`)
    case 'max_tokens':
    case 'max_turn_requests': {
      const which = end.end === 'finished' ? end.stopReason : ''
      return failure('agent_limit', withText(`The agent reached its limit (${which}).`, text))
    }
    case 'refusal':
      return failure('agent_refused', withText('The agent refused to continue.', text))
    case 'cancelled':
      return response(withText('A step was not allowed. Write what to do instead.', text))
  }
  const reason = end.end === 'finished' ? firstCharacters(end.stopReason, 100) : ''
  return failure('agent_failed', `The agent ended the turn with an unknown reason: ${reason}.`)
}

const withText = (first: string, text: string) => (text === '' ? first : `${first}\n\n${text}`)
const minutes = (ms: number) => (ms % 60_000 === 0 ? `${ms / 60_000} minutes` : `${ms / 1000} seconds`)
