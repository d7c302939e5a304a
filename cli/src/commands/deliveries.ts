import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '@baton/sdk'
import { type Account, accountOf } from '../account.ts'
import { appMeant, deliveriesOf } from '../apps.ts'
import { account, appOption, type Call, type Command, count, positionals } from '../command.ts'
import { notFound, UsageError } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

export const deliveries: Command = {
  name: 'deliveries',
  summary: 'what was delivered to an app, and what came of each attempt',
  usage: ['[--app APP] [--failed] [--limit N] [--follow]', 'redeliver DELIVERY [--app APP]'],
  example: 'baton deliveries --app Robot --failed',
  options: {
    ...account,
    app: appOption,
    failed: { type: 'boolean', about: 'only those that were given up' },
    limit: { type: 'string', value: 'N', about: 'how many, newest first; 20 if left out, 100 at most' },
    follow: { type: 'boolean', about: 'go on, and show what changes' },
  },
  async run(call) {
    const [verb, ...args] = call.args
    if (verb === 'redeliver') return redeliver({ ...call, args })
    if (verb !== undefined) throw new UsageError(`There is no \`deliveries ${verb}\`.`)
    const limit = Math.min(100, count(call, 'limit', 1, 20))
    const account = await accountOf(call)
    const app = await appMeant(call, account)
    const query = { limit, ...(call.values.failed ? { status: 'failed' as const } : {}) }
    if (call.values.follow) return follow(call, account, app.id, query)
    const found = await deliveriesOf(account, app.id, query)
    call.terminal.result(found, found.map((delivery) => words(call.terminal, delivery)).join('\n') || 'No deliveries.')
  },
}

async function redeliver(call: Call) {
  const [delivery_id = ''] = positionals(call.args, 'DELIVERY')
  const account = await accountOf(call)
  const app = await appMeant(call, account)
  const delivery = await account.client
    .redeliverToApp({ app_id: app.id, delivery_id })
    .catch(notFound(`delivery ${delivery_id} of ${app.name}`))
  call.terminal.result(delivery, `${delivery_id} is being sent once more; \`baton deliveries\` shows what comes of it.`)
}

/** Oldest first, and each again whenever it has changed. */
async function follow(
  { terminal, signal }: Call,
  account: Account,
  appId: string,
  query: Parameters<typeof deliveriesOf>[2],
) {
  let shown = new Map<string, string>()
  while (!signal.aborted) {
    const now = new Map<string, string>()
    for (const delivery of (await deliveriesOf(account, appId, query)).reverse()) {
      const text = words(terminal, delivery)
      if (shown.get(delivery.id) !== text) terminal.event(delivery, text)
      now.set(delivery.id, text)
    }
    shown = now
    await sleep(1500, undefined, { signal }).catch(() => {})
  }
}

const colours = { pending: 'yellow', succeeded: 'green', failed: 'red', canceled: 'dim' } as const

function words(terminal: Terminal, { id, type, action, status, created_at, attempts, next_attempt_at }: Delivery) {
  const head = `${id}  ${created_at}  ${type} ${action}  ${terminal.paint(colours[status], status)}`
  const tries = attempts.map(
    ({ number, started_at, http_status, reason, duration_ms }) =>
      `  ${number}. ${started_at}  ${[http_status, reason].filter((one) => one !== null).join(' ')}  ${duration_ms} ms`,
  )
  const next = next_attempt_at ? [`  next ${next_attempt_at}`] : []
  return [head, ...tries, ...next].join('\n')
}
