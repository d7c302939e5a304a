import { type BatonError, isBatonError } from '@baton/sdk'
import { commandName } from './origin.ts'

/** An expected failure, with advice on what to do. Exit code 1. */
export class Failure extends Error {
  readonly code: string
  readonly advice: string | null
  constructor(message: string, { code = 'FAILED', advice = null }: { code?: string; advice?: string | null } = {}) {
    super(message)
    this.code = code
    this.advice = advice
  }
}

/** The command line is wrong. Exit code 2. */
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

/** Converts any thrown value into a message for the terminal. */
export function explain(error: unknown, command: string): Explained {
  if (error instanceof UsageError) {
    return { exitCode: 2, code: error.code, message: error.message, advice: `Try \`${command} --help\`.` }
  }
  if (error instanceof Failure) return { exitCode: 1, code: error.code, message: error.message, advice: error.advice }
  if (isBatonError(error)) {
    const { code, details } = error
    const message = [error.message, ...linesOf(error)].join('\n  ')
    return { exitCode: 1, code, message, advice: adviceOn[code] ?? requestAdvice(error.requestId), details }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { exitCode: 1, code: 'FAILED', message, advice: error instanceof TypeError ? incompatibleAdvice : null }
}

const adviceOn: Record<string, string> = {
  NETWORK_ERROR: 'Is Baton running at that URL? Choose another with --url.',
  TIMEOUT: 'Try again. If it persists, check the log of the service.',
  UNEXPECTED_ANSWER: 'Check the URL: it may belong to a proxy or another program.',
  UNAUTHORIZED: `The login has expired. Run \`${commandName} login\`.`,
  INVALID_CREDENTIALS: 'Check the e-mail address and the password.',
  WORKSPACE_ACCESS_DENIED: 'You are not a member of that workspace. Choose another with --workspace.',
  FORBIDDEN: 'This requires an owner or admin of the workspace, or the user who registered the app.',
  RATE_LIMIT_EXCEEDED: 'Wait a moment and try again.',
}

/** For a TypeError: most likely a response lacks an expected field. */
const incompatibleAdvice = 'Check that the URL is that of Baton, in a version compatible with this command.'

const requestAdvice = (requestId: string | null) =>
  requestId ? `The service logged it as request ${requestId}.` : null

/** One line for each entry of `details`. */
function linesOf({ code, details, requestId }: BatonError): string[] {
  const entries = Object.entries(details).filter(([, value]) => value !== null && value !== requestId)
  if (code === 'VALIDATION_ERROR') return entries.map(([field, problem]) => `${field} ${problem}`)
  // The message already contains them.
  if (code === 'OAUTH_ERROR') return []
  return entries.map(([name, value]) => `${name}: ${formatValue(value)}`)
}

function formatValue(value: unknown): string {
  if (typeof value !== 'string') return Array.isArray(value) ? value.join(', ') : JSON.stringify(value)
  return Object.hasOwn(reasons, value) ? `${reasons[value]} (${value})` : value
}

/** Reasons why an agent is unavailable or a session has ended. */
const reasons: Record<string, string> = {
  app_not_installed_for_team: `it is not installed for the issue's team; choose teams with \`${commandName} apps install APP --teams\``,
  app_missing_scope: 'it lacks the scope; add it to the manifest and install the app again',
  app_webhook_disabled: `its webhook is disabled or failing; see \`${commandName} apps show\`; a manager can enable it`,
  personal_agent_not_yours: 'only its owner can use it',
  stopped: 'a person pressed Stop',
  undelegated: 'the delegation was removed',
  uninstalled: 'the agent was uninstalled',
  team_removed: 'the agent no longer has access to the team',
  issue_deleted: 'the issue or project was deleted',
}

/** For `catch`: replaces RESOURCE_NOT_FOUND by a message that names what was not found. */
export const notFound = (what: string) => (error: unknown) => {
  if (!isBatonError(error, 'RESOURCE_NOT_FOUND')) throw error
  throw new Failure(`Not found: ${what}.`, {
    code: error.code,
    advice: 'Check the spelling. If it is in another workspace, give --workspace.',
  })
}
