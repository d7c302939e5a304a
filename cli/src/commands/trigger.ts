import type { AgentSession } from '@baton/sdk'
import { type Account, accountOf } from '../account.ts'
import { appMeant, installed } from '../apps.ts'
import { account, appOption, type Call, type Command, needed, positionals, text } from '../command.ts'
import { Failure, notFound, UsageError } from '../failure.ts'

export const trigger: Command = {
  name: 'trigger',
  summary: 'make something happen that an agent hears of',
  usage: [
    'created [--app APP] --issue ISSUE',
    'mention [--app APP] --issue ISSUE [--text TEXT]',
    'prompt --issue ISSUE | --session ID [--text TEXT]',
    'stop --issue ISSUE | --session ID',
    'ping [--app APP]',
  ],
  about: 'Done with your login, as if you had clicked: an issue is delegated, a comment written, a session stopped.',
  example: 'baton trigger created --app Robot --issue ENG-1',
  options: {
    ...account,
    app: appOption,
    issue: { type: 'string', value: 'ISSUE', about: 'such as ENG-1; of its sessions, the latest' },
    session: { type: 'string', value: 'ID', about: 'id of an agent session' },
    text: { type: 'string', value: 'TEXT', about: 'what to say' },
  },
  async run(call) {
    const [what = ''] = positionals(call.args, 'What to trigger')
    const run = triggers[what]
    if (!run) throw new UsageError(`There is no \`trigger ${what}\`, but ${Object.keys(triggers).join(', ')}.`)
    await run(call)
  },
}

const triggers: Record<string, (call: Call) => Promise<void>> = { created, mention, prompt, stop, ping }

async function created(call: Call) {
  const issue_id = needed(call, 'issue', 'the issue to delegate')
  const account = await accountOf(call)
  const app = await appMeant(call, account)
  const { app_user_id } = await installed(account, app)
  const { client } = account
  const before = await issueNamed(account, issue_id)
  if (before.delegate_id === app_user_id) {
    throw new Failure(`${issue_id} is delegated to ${app.name} already.`, {
      code: 'ALREADY_DELEGATED',
      advice: '`baton trigger prompt` writes in its session; another issue opens another.',
    })
  }
  const issue = await client.updateIssue({ issue_id, delegate_id: app_user_id })
  const session = await latestSession(account, issue.id)
  call.terminal.result(
    { issue_id: issue.id, session_id: session.id },
    `${issue_id} is delegated to ${app.name}: session ${session.id}.`,
  )
}

async function mention(call: Call) {
  const issue_id = needed(call, 'issue', 'the issue to comment on')
  const account = await accountOf(call)
  const app = await appMeant(call, account)
  const { app_user_id } = await installed(account, app)
  const issue = await issueNamed(account, issue_id)
  const body = `@[${app.name}](${app_user_id}) ${text(call, 'text') ?? 'what do you make of this?'}`
  const comment = await account.client.createComment({ target_type: 'issue', target_id: issue.id, text: body })
  call.terminal.result({ issue_id: issue.id, comment_id: comment.id }, `Mentioned ${app.name} on ${issue_id}.`)
}

async function prompt(call: Call) {
  const account = await accountOf(call)
  const { id: session_id } = await sessionMeant(call, account)
  const body = text(call, 'text') ?? 'How far are you?'
  const { id } = await account.client.postActivity({ session_id, content: { type: 'prompt', body } })
  call.terminal.result({ session_id, activity_id: id }, `Wrote in session ${session_id}.`)
}

async function stop(call: Call) {
  const account = await accountOf(call)
  const { id: session_id } = await sessionMeant(call, account)
  const session = await account.client.stopAgentSession({ session_id })
  call.terminal.result({ session_id, state: session.state }, `Pressed Stop in session ${session_id}.`)
}

async function ping(call: Call) {
  const account = await accountOf(call)
  const app = await appMeant(call, account)
  const result = await account.client.testAppWebhook({ app_id: app.id })
  const { ok, status, reason, duration_ms } = result
  if (ok) return call.terminal.result(result, `${app.name} answered ${status} within ${duration_ms} ms.`)
  const listens = app.listener ? '' : ` Nobody listens; \`baton listen --app ${app.id}\` would.`
  throw new Failure(`The ping failed: ${[status, reason].filter((one) => one !== null).join(' ')}.`, {
    code: 'PING_FAILED',
    advice: `\`baton deliveries\` shows deliveries; \`baton doctor\` tries a receiver.${listens}`,
  })
}

async function sessionMeant(call: Call, account: Account): Promise<AgentSession> {
  const session_id = text(call, 'session')
  if (session_id) {
    const missing = notFound(`session ${session_id} in ${account.workspace.name}`)
    return account.client.getAgentSession({ session_id }).catch(missing)
  }
  const issue = await issueNamed(account, needed(call, 'issue', 'or --session'))
  return latestSession(account, issue.id)
}

const issueNamed = ({ client, workspace }: Account, issue_id: string) =>
  client.getIssue({ issue_id }).catch(notFound(`issue ${issue_id} in ${workspace.name}`))

async function latestSession({ client }: Account, issue_id: string): Promise<AgentSession> {
  const { data } = await client.listAgentSessions({ issue_id, limit: 100 })
  const latest = data.toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0]
  if (latest) return latest
  throw new Failure('No agent has a session on that issue.', {
    code: 'NO_SESSION',
    advice: '`baton trigger created` delegates it.',
  })
}
