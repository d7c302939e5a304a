import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface PullRequest {
  directory: string
  branch: string
  base: string
  title: string
  env: Record<string, string | undefined>
}

/** Opens a draft with `gh` or `glab`, whichever is installed and works here. Returns its https link, or null. */
export async function openPullRequest({ directory, branch, base, title, env }: PullRequest): Promise<string | null> {
  const calls: [string, string[]][] = [
    ['gh', ['pr', 'create', '--draft', '--head', branch, '--base', base, '--title', title, '--body', '']],
    [
      'glab',
      [
        'mr',
        'create',
        '--draft',
        '--source-branch',
        branch,
        '--target-branch',
        base,
        '--title',
        title,
        '--description',
        '',
        '--yes',
      ],
    ],
  ]
  for (const [program, args] of calls) {
    try {
      const { stdout } = await run(program, args, { cwd: directory, env, timeout: 60_000 })
      const [link] = /https:\/\/[^\s/?#@]+\/\S+/.exec(stdout) ?? []
      if (link && link.length <= 2048) return link
    } catch {
      // Not installed, not signed in, or the remote belongs to the other.
    }
  }
  return null
}
