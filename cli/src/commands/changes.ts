import type { SessionChanges } from '@baton/sdk'
import { type Account, currentAccount } from '../account.ts'
import { account, type Call, type Command, positionals } from '../command.ts'
import { Failure, notFound, UsageError } from '../failure.ts'
import { table } from '../terminal.ts'

export const changes: Command = {
  name: 'changes',
  summary: 'show or apply what an agent changed in its repository',
  usage: ['ISSUE|SESSION [--stat|--patch|--apply [--partial]]'],
  about: `For an issue, those of its latest session that has changes. --stat is the default. --apply runs \`git apply\` here; check
out the base first. It refuses if a patch is missing, because it was too large, binary or had a secret.`,
  example: 'changes ENG-12 --apply',
  options: {
    ...account,
    stat: { type: 'boolean', about: 'list the files' },
    patch: { type: 'boolean', about: 'print the patches' },
    apply: { type: 'boolean', about: 'apply the patches to the files here' },
    partial: { type: 'boolean', about: 'with --apply: also if patches are missing' },
  },
  async run(call) {
    const [what = ''] = positionals(call.args, 'ISSUE or SESSION')
    const { stat, patch, apply, partial } = call.values
    if ([stat, patch, apply].filter(Boolean).length > 1)
      throw new UsageError('Give one of --stat, --patch and --apply.')
    if (partial && !apply) throw new UsageError('--partial needs --apply.')
    const found = await changesOf(await currentAccount(call), what)
    if (apply) return applyPatches(call, found, partial === true)
    if (patch) return printPatches(call, found)
    call.terminal.result(found, statOf(found))
  },
}

async function changesOf({ client }: Account, what: string): Promise<SessionChanges> {
  const sessionId = what.startsWith('sess_') ? what : await latestSession()
  return client.getSessionChanges({ session_id: sessionId }).catch(notFound(`changes of ${what}`))

  async function latestSession(): Promise<string> {
    const { id } = await client.getIssue({ issue_id: what }).catch(notFound(`issue ${what}`))
    const { data } = await client.listAgentSessions({ issue_id: id, limit: 100 })
    const session = data.find((one) => one.changes !== null)
    if (session) return session.id
    throw new Failure(`No agent has reported changes for ${what}.`, { code: 'NO_CHANGES' })
  }
}

function statOf({ files, files_total, additions, deletions, base, branch, repository }: SessionChanges): string {
  const count = (sign: string, number: number | null) => (number === null ? '' : `${sign}${number}`)
  const rows = files.map((file) => [
    escaped(file.old_path === null ? file.path : `${file.old_path} → ${file.path}`),
    file.status.replace('_', ' '),
    `${count('+', file.additions)} ${count('-', file.deletions)}`.trim(),
    file.omitted === null ? '' : `no patch: ${file.omitted.replace('_', ' ')}`,
  ])
  const more = files_total > files.length ? `and ${files_total - files.length} more files\n` : ''
  const head = `${repository}, ${branch ?? 'no branch'}, against ${base.ref ?? base.commit.slice(0, 12)}`
  return `${head}\n${table(rows)}\n${more}${files_total} ${files_total === 1 ? 'file' : 'files'} +${additions} -${deletions}`
}

function printPatches({ terminal }: Call, found: SessionChanges) {
  if (terminal.json) return terminal.result(found, '')
  const text = found.files.map(({ patch }) => patch ?? '').join('')
  // A terminal would obey what a patch contains; another program needs every byte.
  process.stdout.write(process.stdout.isTTY ? escaped(text) : text)
  for (const line of missing(found)) terminal.note(`No patch: ${line}`)
}

/** Files without a patch. */
const missing = ({ files, files_total }: SessionChanges): string[] => [
  ...files.flatMap(({ path, omitted }) =>
    omitted === null ? [] : [`${escaped(path)} (${omitted.replace('_', ' ')})`],
  ),
  ...(files_total > files.length ? [`${files_total - files.length} more files`] : []),
]

async function applyPatches({ terminal }: Call, found: SessionChanges, partial: boolean) {
  const left = missing(found)
  if (left.length > 0 && !partial) {
    throw new Failure(`Not applied: ${left.length} files have no patch.\n  ${left.join('\n  ')}`, {
      code: 'INCOMPLETE',
      advice: found.pushed
        ? 'Fetch the branch, or apply the other files with --partial.'
        : 'Apply the other files with --partial.',
    })
  }
  const patch = found.files.map((file) => file.patch ?? '').join('')
  const { git } = await import('../run/git.ts')
  const { code, stderr } =
    patch === ''
      ? { code: 0, stderr: '' }
      : await git(['apply', '--whitespace=nowarn', '-'], { cwd: process.cwd(), input: patch })
  if (code !== 0) {
    throw new Failure(`git apply refused the patches; nothing was changed.\n${escaped(stderr.trim())}`, {
      code: 'NOT_APPLIED',
      advice: `Check out ${found.base.commit} first, without changes of your own.`,
    })
  }
  const applied = found.files.filter((file) => file.patch !== null).length
  const note = left.length > 0 ? ` Without: ${left.join(', ')}.` : ''
  terminal.result(
    { applied, missing: left },
    `Applied the changes of ${applied} ${applied === 1 ? 'file' : 'files'}.${note}`,
  )
}

/** Control characters, also those that change the direction of text, are shown by their number. */
const escaped = (text: string) =>
  text.replace(
    /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
