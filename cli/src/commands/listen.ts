import type { AgentApp } from '@baton/sdk'
import { currentAccount } from '../account.ts'
import { findApp } from '../apps.ts'
import { account, appOption, type Command, positionals, requiredOption } from '../command.ts'
import { readEnvSync } from '../env-file.ts'
import { commandName } from '../origin.ts'
import { relay } from '../relay.ts'
import { relayFailure, relayOutput } from '../relay-output.ts'
import { httpUrl } from '../urls.ts'

export const listen: Command = {
  name: 'listen',
  summary: "receive an app's deliveries on this machine",
  usage: ['[--app APP] --forward-to URL [--take-over]'],
  about: `Forwards each delivery to the URL, with unchanged headers and bytes, and returns the status. The app's webhook URL
must be https://listen.invalid/; managers can receive the deliveries of other apps with --take-over.`,
  example: 'listen --app Robot --forward-to http://localhost:4000/webhook',
  options: {
    ...account,
    app: appOption,
    'forward-to': { type: 'string', value: 'URL', about: 'URL of your program' },
    'take-over': {
      type: 'boolean',
      about: 'receive the deliveries of an app with another URL, instead of its receiver',
    },
  },
  async run(call) {
    positionals(call.args)
    const forwardTo = httpUrl(requiredOption(call, 'forward-to', 'the URL of your program'))
    const account = await currentAccount(call)
    const app = await findApp(call, account)
    const { terminal, signal } = call
    terminal.note(`Listening for ${app.name} in ${account.workspace.name}; forwarding to ${forwardTo}`)
    const takeOver = call.values['take-over'] === true
    const on = relayOutput(terminal, { app, secret: () => secretOf(app) })
    const ended = await relay({ account, appId: app.id, forwardTo, takeOver, signal, on })
    if (ended.end !== 'interrupted')
      throw relayFailure(ended, app, `End the other command and run \`${commandName} listen\` again.`)
  },
}

/** The secret in .env, if this is the directory of the app. */
function secretOf({ id }: AgentApp) {
  const { APP_ID, WEBHOOK_SECRET } = readEnvSync('.env')
  return APP_ID === id && WEBHOOK_SECRET ? { value: WEBHOOK_SECRET, file: '.env' } : null
}
