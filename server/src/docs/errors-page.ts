import { api, type ErrorCode, errors, errorsOf, type Operation } from '@baton/protocol'
import { remedies } from './remedies.ts'

/** Above this, naming the operations says less than that there are many. */
const fewOperations = 15

/** One entry for each code, by status. */
export function errorsPage(): string {
  const codes = (Object.keys(errors) as ErrorCode[]).sort(
    (a, b) => errors[a].status - errors[b].status || a.localeCompare(b),
  )
  return `# Errors

Every error is \`{code, message, details}\`, and its answer carries the header \`Link: <…/docs/errors#CODE>; rel="help"\`, which leads here. The codes are for programs and stay as they are; the messages are for people. ${inOtherWords()} answer as RFC 6749 has it instead, with \`{error, error_description}\`.

${codes.map(entry).join('\n')}`
}

const inOtherWords = () =>
  Object.values<Operation>(api)
    .filter(({ errorFormat }) => errorFormat === 'oauth')
    .map(({ route }) => `\`${route.path}\``)
    .join(', ')

const entry = (code: ErrorCode) => `## \`${code}\`

**${errors[code].status}.** ${errors[code].message}

${remedies[code]}
${answeredBy(code)}`

function answeredBy(code: ErrorCode): string {
  const names = Object.entries<Operation>(api)
    .filter(([, operation]) => errorsOf(operation).includes(code))
    .map(([name]) => `[\`${name}\`](reference.md#${name})`)
  return names.length === 0 || names.length > fewOperations ? '' : `\nAnswered by ${names.join(', ')}.\n`
}
