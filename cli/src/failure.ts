import { type BatonError, isBatonError } from '@baton/sdk'

/** Something was refused or did not work: what happened, and what to do about it. Ends with 1. */
export class Failure extends Error {
  readonly code: string
  readonly advice: string | null
  constructor(message: string, { code = 'FAILED', advice = null }: { code?: string; advice?: string | null } = {}) {
    super(message)
    this.code = code
    this.advice = advice
  }
}

/** The command was not given as it has to be. Ends with 2. */
export class UsageError extends Error {
  readonly code = 'USAGE'
}

interface Explained {
  exitCode: 1 | 2
  code: string
  message: string
  advice: string | null
  details?: Record<string, unknown>
}

/** Whatever was thrown, in words for whoever typed the command. */
export function explain(error: unknown, command: string): Explained {
  if (error instanceof UsageError) {
    return { exitCode: 2, code: error.code, message: error.message, advice: `Try \`${command} --help\`.` }
  }
  if (error instanceof Failure) return { exitCode: 1, code: error.code, message: error.message, advice: error.advice }
  if (isBatonError(error)) {
    const { code, details } = error
    const message = [error.message, ...linesOf(error)].join('\n  ')
    return { exitCode: 1, code, message, advice: adviceOn[code] ?? whoToAsk(error.requestId), details }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: 1, code: 'FAILED', message, advice: error instanceof TypeError ? notUnderstood : null }
}

const adviceOn: Record<string, string> = {
  NETWORK_ERROR: 'Is Baton running at that address? `--url` names another.',
  TIMEOUT: 'Try again; if it stays so, look at the log of the service.',
  UNEXPECTED_ANSWER: 'Is that the address of Baton, and not of a proxy or another program?',
  UNAUTHORIZED: 'The login is over. `baton login` makes another.',
  INVALID_CREDENTIALS: 'Check e-mail and password.',
  WORKSPACE_ACCESS_DENIED: 'You are no member of that workspace. `--workspace` names another.',
  FORBIDDEN: 'That is for owners and admins of the workspace, or for whoever registered the app.',
  RATE_LIMIT_EXCEEDED: 'Too many tries; wait a little.',
}

/** Most likely something in an answer was not where it belongs. */
const notUnderstood = 'Is that the address of Baton, and of a version that goes with this command?'

const whoToAsk = (requestId: string | null) => (requestId ? `The service logged it as request ${requestId}.` : null)

/** One line for each thing that the service says beside its sentence. */
function linesOf({ code, details, requestId }: BatonError): string[] {
  const entries = Object.entries(details).filter(([, value]) => value !== null && value !== requestId)
  if (code === 'VALIDATION_ERROR') return entries.map(([field, problem]) => `${field} ${problem}`)
  // Its sentence is all of it.
  if (code === 'OAUTH_ERROR') return []
  return entries.map(([name, value]) => `${name}: ${inWords(value)}`)
}

function inWords(value: unknown): string {
  if (typeof value !== 'string') return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
  return Object.hasOwn(reasons, value) ? `${reasons[value]} (${value})` : value
}

/** Why an agent cannot be given work, and why a session has ended. */
const reasons: Record<string, string> = {
  app_not_installed_for_team:
    "it is not installed for the issue's team; `baton apps install APP --teams` chooses teams",
  app_missing_scope: 'it has not been granted the scope for this; add it to the manifest and install the app again',
  app_webhook_disabled: 'its webhook is switched off or failing; `baton apps show` has the state, a manager enables it',
  personal_agent_not_yours: 'it works for its owner alone',
  stopped: 'somebody pressed Stop',
  undelegated: 'the issue was taken back',
  uninstalled: 'the agent was uninstalled',
  team_removed: 'the agent no longer reaches this',
  issue_deleted: 'what it was about was deleted',
}

/** For a `catch`: what cannot be found is named. */
export const notFound = (what: string) => (error: unknown) => {
  if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
  throw new Failure(`There is no ${what} that you can see.`, {
    code: error.code,
    advice: 'Look at how it is written, and whether it is in another workspace: `--workspace` names one.',
  })
}
