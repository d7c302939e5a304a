import type { AgentSession } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { findApp, requireInstallation } from '../apps.ts'
import { account, appOption, type Call, type Command, positionals, requiredOption, text } from '../command.ts'
import { Failure, notFound, UsageError } from '../failure.ts'
import { commandName } from '../origin.ts'

export const trigger: Command = {
  name: 'trigger',
  summary: 'cause an event for an agent',
  usage: [
    'created [--app APP] --issue ISSUE',
    'mention [--app APP] --issue ISSUE [--text TEXT]',
    'prompt --issue ISSUE | --session ID [--text TEXT]',
    'stop --issue ISSUE | --session ID',
    'ping [--app APP]',
  ],
  about: 'Acts with your login, as in the web app: delegates an issue, writes a comment, stops a session.',
  example: 'trigger created --app Robot --issue ENG-1',
  options: {
    ...account,
    app: appOption,
    issue: { type: 'string', value: 'ISSUE', about: 'for example ENG-1; its latest session is used' },
    session: { type: 'string', value: 'ID', about: 'id of an agent session' },
    text: { type: 'string', value: 'TEXT', about: 'text of the message' },
  },
  async run(call) {
    const [what = ''] = positionals(call.args, 'EVENT')
    const run = triggers[what]
    if (!run)
      throw new UsageError(`There is no command \`trigger ${what}\`. Use one of: ${Object.keys(triggers).join(', ')}.`)
    await run(call)
  },
}

const triggers: Record<string, (call: Call) => Promise<void>> = { created, mention, prompt, stop, ping }

async function created(call: Call) {
  const issue_id = requiredOption(call, 'issue', 'the issue to delegate')
  const account = await currentAccount(call)
  const app = await findApp(call, account)
  const { app_user_id } = await requireInstallation(account, app)
  const { client } = account
  const before = await findIssue(account, issue_id)
  if (before.delegate_id === app_user_id) {
    throw new Failure(`${issue_id} is already delegated to ${app.name}.`, {
      code: 'ALREADY_DELEGATED',
      advice: `Write in its session with \`${commandName} trigger prompt --issue ${issue_id}\`, or delegate another issue.`,
    })
  }
  const issue = await client.updateIssue({ issue_id, delegate_id: app_user_id })
  const session = await latestSession(account, issue.id)
  call.terminal.result(
    { issue_id: issue.id, issue_url: issue.url, session_id: session.id },
    `Delegated ${issue_id} to ${app.name}: session ${session.id}.\n${issue.url}`,
  )
}

async function mention(call: Call) {
  const issue_id = requiredOption(call, 'issue', 'the issue to comment on')
  const account = await currentAccount(call)
  const app = await findApp(call, account)
  const { app_user_id } = await requireInstallation(account, app)
  const issue = await findIssue(account, issue_id)
  const body = `@[${app.name}](${app_user_id}) ${text(call, 'text') ?? 'please have a look.'}`
  const comment = await account.client.createComment({ target_type: 'issue', target_id: issue.id, text: body })
  call.terminal.result(
    { issue_id: issue.id, issue_url: issue.url, comment_id: comment.id },
    `Mentioned ${app.name} on ${issue_id}.\n${issue.url}`,
  )
}

async function prompt(call: Call) {
  const account = await currentAccount(call)
  const { id: session_id, issue } = await findSession(call, account)
  const body = text(call, 'text') ?? 'What is the status?'
  const { id } = await account.client.postActivity({ session_id, content: { type: 'prompt', body } })
  call.terminal.result(
    { session_id, issue_url: issue?.url ?? null, activity_id: id },
    [`Wrote in session ${session_id}.`, ...linkOf(issue)].join('\n'),
  )
}

async function stop(call: Call) {
  const account = await currentAccount(call)
  const { id: session_id, issue } = await findSession(call, account)
  const session = await account.client.stopAgentSession({ session_id })
  call.terminal.result(
    { session_id, issue_url: issue?.url ?? null, state: session.state },
    [`Asked the agent to stop session ${session_id}.`, ...linkOf(issue)].join('\n'),
  )
}

const linkOf = (issue: AgentSession['issue']) => (issue ? [issue.url] : [])

async function ping(call: Call) {
  const account = await currentAccount(call)
  const app = await findApp(call, account)
  const result = await account.client.testAppWebhook({ app_id: app.id })
  const { ok, status, reason, duration_ms } = result
  if (ok) return call.terminal.result(result, `${app.name} answered ${status} within ${duration_ms} ms.`)
  const listenerAdvice = app.listener
    ? ''
    : ` The app has no listener; start one with \`${commandName} listen --app ${app.id}\`.`
  throw new Failure(`The ping failed: ${[status, reason].filter((one) => one !== null).join(' ')}.`, {
    code: 'PING_FAILED',
    advice: `See \`${commandName} deliveries\`, or test the receiver with \`${commandName} doctor\`.${listenerAdvice}`,
  })
}

async function findSession(call: Call, account: Account): Promise<AgentSession> {
  const session_id = text(call, 'session')
  if (session_id) {
    const missing = notFound(`session ${session_id} in ${account.workspace.name}`)
    return account.client.getAgentSession({ session_id }).catch(missing)
  }
  const issue = await findIssue(account, requiredOption(call, 'issue', 'the issue, or give --session'))
  return latestSession(account, issue.id)
}

const findIssue = ({ client, workspace }: Account, issue_id: string) =>
  client.getIssue({ issue_id }).catch(notFound(`issue ${issue_id} in ${workspace.name}`))

async function latestSession({ client }: Account, issue_id: string): Promise<AgentSession> {
  const { data } = await client.listAgentSessions({ issue_id, limit: 100 })
  const latest = data.toSorted((a, b) => b.created_at.localeCompare(a.created_at))[0]
  if (latest) return latest
  throw new Failure('The issue has no agent session.', {
    code: 'NO_SESSION',
    advice: `Delegate it with \`${commandName} trigger created --issue ${issue_id}\`.`,
  })
}
