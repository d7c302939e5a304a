import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

type OptionTypes = NonNullable<ParseArgsConfig['options']>

export interface Option {
  type: 'string' | 'boolean'
  short?: string
  /** Placeholder of its value in the help, such as `ID`. */
  value?: string
  about: string
}

export interface Command {
  name: string
  /** Its line in the list of commands. */
  summary: string
  /** The arguments, one line for each form. */
  usage: string[]
  /** Further lines in its help. */
  about?: string
  /** Without the name of the program. */
  example: string
  options: Record<string, Option>
  run(call: Call): Promise<void>
}

type Values = Record<string, string | boolean | undefined>

/** One call of a command. */
export interface Call {
  args: string[]
  /** Arguments after `--`. */
  rest: string[]
  values: Values
  terminal: Terminal
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
}

/** For commands that call Baton. */
export const account: Record<string, Option> = {
  url: { type: 'string', value: 'URL', about: 'URL of Baton (default: that of the latest login)' },
  workspace: { type: 'string', value: 'NAME', about: 'name or id of the workspace' },
}

export const appOption: Option = {
  type: 'string',
  value: 'APP',
  about: 'name or id (default: APP_ID in .env, or the only app)',
}

export const commonOptions: Record<string, Option> = {
  json: { type: 'boolean', about: 'print JSON on stdout' },
  help: { type: 'boolean', short: 'h', about: 'show this help' },
}

/** Splits at `--`: own arguments, and those for another program. */
export function split(argv: string[]) {
  const end = argv.indexOf('--')
  return end < 0 ? { own: argv, rest: [] } : { own: argv.slice(0, end), rest: argv.slice(end + 1) }
}

export function parse(argv: string[], options: Record<string, Option>) {
  const known: OptionTypes = Object.fromEntries(
    Object.entries({ ...options, ...commonOptions }).map(([name, { type, short }]) => [
      name,
      { type, ...(short ? { short } : {}) },
    ]),
  )
  const { own, rest } = split(argv)
  try {
    const { values, positionals } = parseArgs({ args: own, options: known, allowPositionals: true })
    return { values: values as Values, args: positionals, rest }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The value of a string option. */
export const text = ({ values }: Pick<Call, 'values'>, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function requiredOption(call: Pick<Call, 'values'>, name: string, what: string): string {
  const value = text(call, name)
  if (!value) throw new UsageError(`--${name} is missing: ${what}.`)
  return value
}

/** The value of a numeric option, at least `min`. */
export function count(call: Pick<Call, 'values'>, name: string, min: number, defaultValue: number): number {
  const value = text(call, name)
  if (value === undefined) return defaultValue
  if (!/^\d+$/.test(value) || Number(value) < min)
    throw new UsageError(`--${name} must be a whole number of at least ${min}, not ${value}.`)
  return Number(value)
}

/** Checks the number of positional arguments; a name that ends in `?` is optional. */
export function positionals(args: string[], ...names: string[]): string[] {
  const required = names.filter((name) => !name.endsWith('?'))
  const missing = required[args.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  if (args.length > names.length) throw new UsageError(`Unexpected argument: ${args[names.length]}.`)
  return args
}
