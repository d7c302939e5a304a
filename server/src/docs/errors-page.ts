import { api, type ErrorCode, errors, errorsOf, type Operation } from '@baton/protocol'
import { operationLink } from './reference.ts'
import { remedies } from './remedies.ts'

/** A longer list of operations is left out. */
const fewOperations = 15

/** One entry for each code, by status. */
export function errorsPage(): string {
  const codes = (Object.keys(errors) as ErrorCode[]).sort(
    (a, b) => errors[a].status - errors[b].status || a.localeCompare(b),
  )
  const operations = Object.entries<Operation>(api).map(([name, operation]) => ({
    link: `[\`${name}\`](${operationLink(name, operation)})`,
    codes: errorsOf(operation),
  }))
  return `# Errors

Every error is \`{code, message, details}\`, and its response has the header \`Link: <…/docs/errors#CODE>; rel="help"\`, which points to its entry here. Codes are stable and for programs; messages are for people and may change. The OAuth routes ${oauthRoutes()} return the format of RFC 6749 instead: \`{error, error_description}\`.

${codes.map((code) => entry(code, operations)).join('\n')}`
}

const oauthRoutes = () =>
  Object.values<Operation>(api)
    .filter(({ errorFormat }) => errorFormat === 'oauth')
    .map(({ route }) => `\`${route.path}\``)
    .join(', ')

type OperationErrors = { link: string; codes: ErrorCode[] }

const entry = (code: ErrorCode, operations: OperationErrors[]) => `## \`${code}\`

**${errors[code].status}.** ${errors[code].message}

${remedies[code]}
${returnedBy(code, operations)}`

function returnedBy(code: ErrorCode, operations: OperationErrors[]): string {
  const names = operations.filter(({ codes }) => codes.includes(code)).map(({ link }) => link)
  return names.length === 0 || names.length > fewOperations ? '' : `\nReturned by ${names.join(', ')}.\n`
}
