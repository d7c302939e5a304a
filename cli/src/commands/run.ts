import { resolve } from 'node:path'
import { BatonClient, systemClock } from '@baton/sdk'
import { allPages, pageAt } from '../apps.ts'
import { type Call, type Command, positionals, text } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { durationMs, readSettings, runOptions, type Settings } from '../run/options.ts'

export const run: Command = {
  name: 'run',
  summary: 'make a command-line coding agent a teammate',
  usage: [
    '[flags] -- COMMAND …',
    'clean [--older 7d] [--dry-run] [--force] -- COMMAND …',
    'service [flags] -- COMMAND …',
  ],
  about: `COMMAND speaks the Agent Client Protocol on stdio, such as \`opencode acp\` or \`gemini --acp\`; with --plain it is
any command. The first start registers an app and installs it with your login; later starts need no login. Each
session works in its own git worktree and branch. A worktree is no sandbox: the agent has your rights.
clean removes worktrees of sessions that are over and keeps unsaved work. service prints a systemd unit or a
launchd plist.`,
  example: 'run -- opencode acp',
  options: {
    ...runOptions,
    older: { type: 'string', value: 'TIME', about: 'clean: only sessions that are over for this long (default: 7d)' },
    'dry-run': { type: 'boolean', about: 'clean: remove nothing' },
    force: { type: 'boolean', about: 'clean: also remove uncommitted changes and unmerged commits' },
  },
  async run(call) {
    const [what] = positionals(call.args, 'clean or service?')
    if (what !== undefined && what !== 'clean' && what !== 'service')
      throw new UsageError(`Unexpected argument: ${what}.`)
    for (const name of ['older', 'dry-run', 'force']) {
      if (what !== 'clean' && call.values[name] !== undefined) throw new UsageError(`--${name} needs \`run clean\`.`)
    }
    const settings = readSettings(call)
    if (what === 'service') return printService(call, settings)
    if (what === 'clean') return cleanWorktrees(call, settings)
    await runAgent(call, settings)
  },
}

async function runAgent(call: Call, settings: Settings) {
  const { terminal, signal } = call
  // The protocol's library is loaded by this command alone.
  const [{ enrol, findState }, { Runner }, { Repository }] = await Promise.all([
    import('../run/enrol.ts'),
    import('../run/runner.ts'),
    import('../run/git.ts'),
  ])
  const note = (line: string) => terminal.note(line)
  if (!settings.noGit) {
    for (const { path } of settings.repositories) {
      const repository = await Repository.open(path)
      if (await repository.isDirty()) note(`Uncommitted changes in ${path} are not in the worktrees.`)
    }
  }
  const state = await findState(call, settings.name)
  await state.create()
  const unlock = await state.lock()
  try {
    const enrolled = await enrol(call, settings, state)
    const client = new BatonClient({
      baseUrl: enrolled.app.url,
      tokenProvider: enrolled.tokens.provider(enrolled.app.installation_id),
    })
    const people = settings.people ? await peopleIds(client, settings.people) : null
    note(
      settings.plain
        ? 'A worktree is no sandbox, and a plain command asks for nothing: it has your rights.'
        : 'A worktree is no sandbox: the agent has your rights. The runner decides only what the agent asks for; an agent that asks nothing is limited by a sandbox alone.',
    )
    const runner = await Runner.start({
      settings,
      state,
      enrolled,
      people,
      clock: systemClock,
      env: process.env,
      signal,
      log: note,
      event: (value) => {
        if (terminal.json) terminal.event(value, '')
      },
    })
    const outcome = await runner.run()
    if (settings.once && outcome !== null)
      process.exitCode = { response: 0, error: 1, stopped: 1, unanswered: 3 }[outcome]
  } finally {
    await unlock()
  }
}

/** The ids of the people of --people. */
async function peopleIds(client: BatonClient, emails: string[]): Promise<ReadonlySet<string>> {
  const members = await allPages((cursor) => client.listMembers(pageAt(cursor)))
  return new Set(
    emails.map((email) => {
      const member = members.find((one) => one.email?.toLowerCase() === email.toLowerCase())
      if (!member) throw new UsageError(`--people: there is no member ${email} in the workspace.`)
      return member.id
    }),
  )
}

async function printService(call: Call, settings: Settings) {
  const { launchdPlist, systemdUnit } = await import('../run/service-file.ts')
  const [program = '', script = ''] = process.argv
  const flags = process.argv.slice(2).filter((word, n, words) => !(word === 'service' && words[n - 1] === 'run'))
  const options = {
    command: [program, resolve(script), ...flags],
    directory: process.cwd(),
    name: settings.name,
    path: process.env.PATH ?? '',
  }
  const isMac = process.platform === 'darwin'
  const file = isMac ? launchdPlist(options) : systemdUnit(options)
  const where = isMac ? '~/Library/LaunchAgents' : '~/.config/systemd/user'
  call.terminal.note(`Save this in ${where}. The runner needs no login once it has been started by hand.`)
  call.terminal.result({ file }, file.trimEnd())
}

async function cleanWorktrees(call: Call, settings: Settings) {
  const { terminal, values } = call
  const [{ findState }, { clean }] = await Promise.all([import('../run/enrol.ts'), import('../run/clean.ts')])
  const { TokenManager } = await import('@baton/sdk')
  const state = await findState(call, settings.name)
  const app = await state.app()
  if (!app?.installation_id)
    throw new Failure(`${settings.name} has no state in ${state.directory}.`, { code: 'NO_STATE' })
  const tokens = new TokenManager({
    baseUrl: app.url,
    clientId: app.client_id,
    clientSecret: app.client_secret,
    store: state.tokens(),
  })
  const client = new BatonClient({ baseUrl: app.url, tokenProvider: tokens.provider(app.installation_id) })
  const results = await clean({
    state,
    client,
    clock: systemClock,
    olderMs: durationMs(text(call, 'older') ?? '7d', '--older'),
    force: values.force === true,
    dryRun: values['dry-run'] === true,
  })
  const lines = results.map(({ worktree, branch, outcome, why }) => {
    const what = values['dry-run'] && outcome === 'removed' ? 'would remove' : outcome
    return `${what} ${worktree}${branch ? ` (${branch})` : ''}${why ? `: ${why}` : ''}`
  })
  terminal.result(results, lines.join('\n') || 'Nothing to remove.')
}
