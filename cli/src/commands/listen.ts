import type { AgentApp } from '@baton/sdk'
import { accountOf } from '../account.ts'
import { appMeant } from '../apps.ts'
import { account, appOption, type Command, needed, positionals } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import type { Attempt, Forwarded } from '../forward.ts'
import { type RelayEnd, type RelayEvents, relay } from '../relay.ts'
import type { Terminal } from '../terminal.ts'

export const listen: Command = {
  name: 'listen',
  summary: "receive an app's deliveries on this machine",
  usage: ['[--app APP] --forward-to URL [--take-over]'],
  about: `Posts each delivery to the URL, headers and bytes untouched, and answers with the status it got. The app has
the webhook URL https://listen.invalid/; a manager can divert another with --take-over.`,
  example: 'baton listen --app Robot --forward-to http://localhost:4000/webhook',
  options: {
    ...account,
    app: appOption,
    'forward-to': { type: 'string', value: 'URL', about: 'where your program listens' },
    'take-over': { type: 'boolean', about: 'take the deliveries of an app that has a URL; its receiver gets none' },
  },
  async run(call) {
    positionals(call.args)
    const forwardTo = webAddress(needed(call, 'forward-to', 'the address of your program'))
    const account = await accountOf(call)
    const app = await appMeant(call, account)
    const { terminal, signal } = call
    terminal.note(`Listening for ${app.name} in ${account.workspace.name}; forwarding to ${forwardTo}`)
    const takeOver = call.values['take-over'] === true
    const ended = await relay({ account, appId: app.id, forwardTo, takeOver, signal, on: reporting(terminal) })
    if (ended.end !== 'interrupted') throw over(ended, app, 'End the other, and run `baton listen` again.')
  },
}

/** Why nothing comes any more, and how to get it back. */
export function over(ended: Exclude<RelayEnd, { end: 'interrupted' }>, app: AgentApp, getItBack: string): Failure {
  if (ended.end === 'replaced') {
    const message = `${ended.by} listens to ${app.name} now, from another \`baton listen\` or \`baton dev\`. An app has one listener, so this one has ended.`
    return new Failure(message, { code: 'REPLACED', advice: getItBack })
  }
  const advice = `\`baton apps show ${app.id}\` shows what is registered.`
  return new Failure(`${app.name} has another URL now, or is gone.`, { code: 'ENDED', advice })
}

/** A line for each attempt. */
export const reporting = (terminal: Terminal, prefix = ''): RelayEvents => ({
  ready() {
    if (terminal.json) terminal.event({ event: 'ready' }, '')
    else terminal.note(`${prefix}Ready: deliveries come here.`)
  },
  forwarded(attempt, outcome) {
    const status = outcome.answer?.status ?? null
    const { attempt_id, delivery_id } = attempt
    const { tookMs, problem, late = false } = outcome
    const value = { event: 'attempt', attempt_id, delivery_id, ...about(attempt), status, duration_ms: tookMs, problem }
    terminal.event({ ...value, late }, prefix + line(terminal, attempt, outcome))
  },
  lost(why, pauseMs) {
    terminal.note(`${prefix}${why} Trying again in ${(pauseMs / 1000).toFixed(1)} s.`)
  },
  ignored: (why) => terminal.note(prefix + why),
})

function line(terminal: Terminal, attempt: Attempt, { answer, problem, tookMs, late }: Forwarded) {
  const { type, action } = about(attempt)
  const good = answer !== null && answer.status < 300 && !late
  const said = terminal.paint(good ? 'green' : 'red', String(answer?.status ?? 'timeout'))
  const more = problem ?? (late ? 'too late: the service had given up' : '')
  return `${said} ${type} ${action} ${terminal.paint('dim', `${attempt.delivery_id} ${tookMs} ms`)}${more && `  ${more}`}`
}

function about({ body }: Attempt): { type: string; action: string } {
  const { type, action } = JSON.parse(Buffer.from(body, 'base64').toString())
  return { type, action }
}

export function webAddress(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`${given} is not an http or https address.`)
  return url.href
}
