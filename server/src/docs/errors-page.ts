import { api, type ErrorCode, errors, errorsOf, type Operation } from '@baton/protocol'
import { remedies } from './remedies.ts'

/** Above this, naming the operations says less than that there are many. */
const fewOperations = 15

/** One entry for each code, by status. */
export function errorsPage(): string {
  const codes = (Object.keys(errors) as ErrorCode[]).sort(
    (a, b) => errors[a].status - errors[b].status || a.localeCompare(b),
  )
  const operations = Object.entries<Operation>(api).map(([name, operation]) => ({ name, codes: errorsOf(operation) }))
  return `# Errors

Every error is \`{code, message, details}\`, and its answer carries the header \`Link: <…/docs/errors#CODE>; rel="help"\`, which leads here. The codes are for programs and stay as they are; the messages are for people. ${inOtherWords()} answer as RFC 6749 has it instead, with \`{error, error_description}\`.

${codes.map((code) => entry(code, operations)).join('\n')}`
}

const inOtherWords = () =>
  Object.values<Operation>(api)
    .filter(({ errorFormat }) => errorFormat === 'oauth')
    .map(({ route }) => `\`${route.path}\``)
    .join(', ')

type Refuser = { name: string; codes: ErrorCode[] }

const entry = (code: ErrorCode, operations: Refuser[]) => `## \`${code}\`

**${errors[code].status}.** ${errors[code].message}

${remedies[code]}
${answeredBy(code, operations)}`

function answeredBy(code: ErrorCode, operations: Refuser[]): string {
  const names = operations
    .filter(({ codes }) => codes.includes(code))
    .map(({ name }) => `[\`${name}\`](reference.md#${name})`)
  return names.length === 0 || names.length > fewOperations ? '' : `\nAnswered by ${names.join(', ')}.\n`
}
