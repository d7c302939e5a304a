import { isBatonError } from '@baton/sdk'

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
    const message = [error.message, ...(code === 'VALIDATION_ERROR' ? fieldsOf(details) : [])].join('\n  ')
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

/** One line for each field that cannot stand. */
const fieldsOf = (details: Record<string, unknown>) =>
  Object.entries(details).map(([field, problem]) => `${field} ${problem}`)
