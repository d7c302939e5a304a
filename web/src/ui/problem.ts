import { isBatonError } from '@baton/sdk/errors'

/** The message to show for a failed request. */
export function messageOf(error: unknown): string {
  if (isBatonError(error, 'NETWORK_ERROR') || isBatonError(error, 'TIMEOUT')) {
    return 'The server cannot be reached. Check the connection and try again.'
  }
  if (isBatonError(error, 'RATE_LIMIT_EXCEEDED') && error.retryAfter) {
    return `Too many attempts. Try again in ${waitOf(error.retryAfter)}.`
  }
  if (isBatonError(error, 'VALIDATION_ERROR')) {
    const [field, problem] = Object.entries(fieldErrors(error))[0] ?? []
    return field ? `${labelOf(field)} ${problem}.` : error.message
  }
  return error instanceof Error ? error.message : 'Something went wrong.'
}

/** "Assignee" for `assignee_id`. */
function labelOf(field: string) {
  const words = field.replace(/_id(s?)$/, '$1').replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const waitOf = (seconds: number) =>
  seconds < 90 ? `${Math.ceil(seconds)} seconds` : `${Math.ceil(seconds / 60)} minutes`

/** Validation messages by field name. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!isBatonError(error, 'VALIDATION_ERROR')) return {}
  const fields = error.details
  return Object.fromEntries(
    Object.entries(fields).map(([field, problem]) => [
      field,
      // Items that the API calls personal are private in the app.
      (Array.isArray(problem) ? problem.join(', ') : String(problem)).replace(/personal (issue|project)/, 'private $1'),
    ]),
  )
}
