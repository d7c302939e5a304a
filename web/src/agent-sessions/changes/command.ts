import type { SessionChanges } from '@baton/protocol'
import { cliCommand } from '../../data/cli.ts'

/**
 * Fetches the branch if it was pushed, else applies the patches. `subject` is the code of the issue, or the id of the
 * session if others of the issue have changes too. The API refuses refs and URLs with characters that a shell reads.
 */
export const commandOf = ({ pushed, remote_url, branch }: SessionChanges, subject: string) =>
  pushed && remote_url && branch ? `git fetch ${remote_url} ${branch}` : cliCommand(`changes ${subject} --apply`)
