import { firstCharacters, longestLine } from './text.ts'

/** Replaces secrets before anything is posted or logged. */
export interface Redactor {
  /** The text with every secret replaced. */
  all(text: string): string
  /** As `all`, for text that goes on: an end that may be the beginning of a secret is left out. */
  soFar(text: string): string
  /** As `all`, for lines that come one by one; null for a line within a private key. */
  lines(): (line: string) => string | null
  /** Whether the text contains a secret. */
  finds(text: string): boolean
  /** Adds a value that became known later, such as a new access token. Only the latest are kept. */
  add(value: string): void
}

const mark = '[redacted]'
const secretName = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i
/** Shorter values would hide ordinary words. */
const shortest = 8
/** Access tokens expire after an hour. */
const mostAdded = 40
const keyBegin = '-----BEGIN '
const privateKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g

/** The beginning of a private key, if its end is not in the text. */
const openKey = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?![\s\S]*-----END )/
const keyEnd = /-----END [A-Z0-9 ]*PRIVATE KEY-----/
/** A key has fewer lines. */
const mostKeyLines = 500

/** The values of variables that are named like secrets, and of those in `names`. */
export const secretValues = (env: Record<string, string | undefined>, names: readonly string[]): string[] =>
  Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && value.length >= shortest && (secretName.test(name) || names.includes(name)) ? [value] : [],
  )

export function redactor(initial: readonly string[]): Redactor {
  const added: string[] = []
  let values: string[] = []
  let pattern: RegExp | null = null
  const prepare = () => {
    const long = [...initial, ...added].filter(({ length }) => length >= shortest)
    // Also as they are in JSON, for the log of messages. The longest first, because one value may begin with another.
    values = [...new Set(long.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))].sort(
      (a, b) => b.length - a.length,
    )
    pattern = values.length > 0 ? new RegExp(values.map(escaped).join('|'), 'g') : null
  }
  prepare()
  const all = (text: string) => {
    const withoutKeys = text.includes(keyBegin) ? text.replace(privateKey, mark) : text
    return pattern ? withoutKeys.replace(pattern, mark) : withoutKeys
  }
  return {
    all,
    add(value) {
      if (values.includes(value)) return
      added.push(value)
      if (added.length > mostAdded) added.shift()
      prepare()
    },
    soFar(text) {
      const clean = all(text)
      const open = Math.max(0, ...[...values, keyBegin].map((value) => overlap(clean, value)))
      return open > 0 ? clean.slice(0, -open) : clean
    },
    lines() {
      let left = 0
      return (line) => {
        if (left > 0) {
          left = keyEnd.test(line) ? 0 : left - 1
          return null
        }
        if (openKey.test(line)) left = mostKeyLines
        return all(line)
      }
    },
    finds: (text) => all(text) !== text,
  }
}

/** Length of the longest end of `text` that is a beginning of `value`, but not all of it. */
function overlap(text: string, value: string): number {
  for (let length = Math.min(text.length, value.length - 1); length > 0; length--) {
    if (text.endsWith(value.slice(0, length))) return length
  }
  return 0
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const longestLogLine = 2000

/** Logs the output of a program, which comes line by line, without secrets. */
export function programLog(redactor: Redactor, log: (line: string) => void): (line: string) => void {
  const clean = redactor.lines()
  return (line) => {
    const text = clean(line)
    // A line that was cut may end within a secret.
    if (text !== null) log(firstCharacters(line.length < longestLine ? text : redactor.soFar(text), longestLogLine))
  }
}
