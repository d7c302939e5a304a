import type { AgentApp } from '@baton/sdk'
import { Failure } from './failure.ts'
import type { Attempt, Forwarded } from './forward.ts'
import { commandName } from './origin.ts'
import type { RelayEnd, RelayEvents } from './relay.ts'
import { isSignedWith, wrongSecret } from './secrets.ts'
import type { Terminal } from './terminal.ts'

/** Explains why the relay ended and how to start it again. */
export function relayFailure(ended: Exclude<RelayEnd, { end: 'interrupted' }>, app: AgentApp, advice: string): Failure {
  if (ended.end === 'replaced') {
    const message = `${ended.by} now listens to ${app.name} from another \`listen\` or \`dev\`. An app has only one listener, so this one has ended.`
    return new Failure(message, { code: 'REPLACED', advice })
  }
  const check = `Check it with \`${commandName} apps show ${app.id}\`.`
  return new Failure(`${app.name} was deleted or has another webhook URL now.`, { code: 'ENDED', advice: check })
}

interface OutputOptions {
  prefix?: string
  app: AgentApp
  /** The webhook secret that the receiver is expected to have, and the file with it; null if it is not known. */
  secret(): { value: string; file: string } | null
}

/** Prints a line for each attempt. */
export const relayOutput = (terminal: Terminal, { prefix = '', app, secret }: OutputOptions): RelayEvents => ({
  ready() {
    if (terminal.json) terminal.event({ event: 'ready' }, '')
    else terminal.note(`${prefix}Ready to receive deliveries.`)
  },
  forwarded(attempt, outcome) {
    const status = outcome.answer?.status ?? null
    const { attempt_id, delivery_id } = attempt
    const { tookMs, problem, late = false } = outcome
    const value = { event: 'attempt', attempt_id, delivery_id, ...about(attempt), status, duration_ms: tookMs, problem }
    terminal.event({ ...value, late }, prefix + line(terminal, attempt, outcome))
    const expected = status === 401 ? secret() : null
    if (!expected) return
    const { value: key, file } = expected
    const isRight = isSignedWith(key, attempt.headers, Buffer.from(attempt.body, 'base64'))
    const rightSecret = `WEBHOOK_SECRET in ${file} is right, but your program refused the delivery: check which secret it uses.`
    terminal.note(prefix + (isRight ? rightSecret : wrongSecret('webhook', app, file)))
  },
  lost(why, pauseMs) {
    terminal.note(`${prefix}${why} Retrying in ${(pauseMs / 1000).toFixed(1)} s.`)
  },
  ignored: (why) => terminal.note(prefix + why),
})

function line(terminal: Terminal, attempt: Attempt, { answer, problem, tookMs, late }: Forwarded) {
  const { type, action, issue_url } = about(attempt)
  const succeeded = answer !== null && answer.status < 300 && !late
  const status = terminal.paint(succeeded ? 'green' : 'red', String(answer?.status ?? 'timeout'))
  const more = problem ?? (late ? 'too late: the service had timed out' : '')
  return `${status} ${type} ${action} ${terminal.paint('dim', `${attempt.delivery_id} ${tookMs} ms`)}${issue_url ? ` ${issue_url}` : ''}${more && `  ${more}`}`
}

/** `issue_url` is the link of the issue that an agent session is about. */
function about({ body }: Attempt): { type: string; action: string; issue_url: string | null } {
  const { type, action, data } = JSON.parse(Buffer.from(body, 'base64').toString())
  return { type, action, issue_url: data?.agent_session?.issue?.url ?? null }
}
