import { setTimeout as sleep } from 'node:timers/promises'
import type { Delivery } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { deliveriesOf, findApp } from '../apps.ts'
import { account, appOption, type Call, type Command, count, positionals } from '../command.ts'
import { notFound, UsageError } from '../failure.ts'
import { commandName } from '../origin.ts'
import type { Terminal } from '../terminal.ts'

export const deliveries: Command = {
  name: 'deliveries',
  summary: 'list deliveries of an app and their attempts',
  usage: ['[--app APP] [--failed] [--limit N] [--follow]', 'redeliver DELIVERY [--app APP]'],
  example: 'deliveries --app Robot --failed',
  options: {
    ...account,
    app: appOption,
    failed: { type: 'boolean', about: 'failed deliveries only' },
    limit: { type: 'string', value: 'N', about: 'number of deliveries, newest first (default: 20, maximum: 100)' },
    follow: { type: 'boolean', about: 'keep running and print changes' },
  },
  async run(call) {
    const [verb, ...args] = call.args
    if (verb === 'redeliver') return redeliver({ ...call, args })
    if (verb !== undefined) throw new UsageError(`There is no command \`deliveries ${verb}\`.`)
    const limit = Math.min(100, count(call, 'limit', 1, 20))
    const account = await currentAccount(call)
    const app = await findApp(call, account)
    const query = { limit, ...(call.values.failed ? { status: 'failed' as const } : {}) }
    if (call.values.follow) return follow(call, account, app.id, query)
    const found = await deliveriesOf(account, app.id, query)
    call.terminal.result(
      found,
      found.map((delivery) => describe(call.terminal, delivery)).join('\n') || 'No deliveries.',
    )
  },
}

async function redeliver(call: Call) {
  const [delivery_id = ''] = positionals(call.args, 'DELIVERY')
  const account = await currentAccount(call)
  const app = await findApp(call, account)
  const delivery = await account.client
    .redeliverToApp({ app_id: app.id, delivery_id })
    .catch(notFound(`delivery ${delivery_id} of ${app.name}`))
  call.terminal.result(
    delivery,
    `${delivery_id} will be sent again. See the result with \`${commandName} deliveries\`.`,
  )
}

/** Prints the oldest first, and each again after it has changed. */
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
      const text = describe(terminal, delivery)
      if (shown.get(delivery.id) !== text) terminal.event(delivery, text)
      now.set(delivery.id, text)
    }
    shown = now
    await sleep(1500, undefined, { signal }).catch(() => {})
  }
}

const colours = { pending: 'yellow', succeeded: 'green', failed: 'red', canceled: 'dim' } as const

function describe(terminal: Terminal, { id, type, action, status, created_at, attempts, next_attempt_at }: Delivery) {
  const head = `${id}  ${created_at}  ${type} ${action}  ${terminal.paint(colours[status], status)}`
  const attemptLines = attempts.map(
    ({ number, started_at, http_status, reason, duration_ms }) =>
      `  ${number}. ${started_at}  ${[http_status, reason].filter((one) => one !== null).join(' ')}  ${duration_ms} ms`,
  )
  const next = next_attempt_at ? [`  next ${next_attempt_at}`] : []
  return [head, ...attemptLines, ...next].join('\n')
}
