import { type ParseArgsConfig, parseArgs } from 'node:util'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

type OptionTypes = NonNullable<ParseArgsConfig['options']>

export interface Option {
  type: 'string' | 'boolean'
  short?: string
  /** What stands after it in the help, such as `ID`. */
  value?: string
  about: string
}

export interface Command {
  name: string
  /** One line in the list of commands. */
  summary: string
  /** What stands after the command's name, one line for each form. */
  usage: string[]
  /** More for its own help. */
  about?: string
  example: string
  options: Record<string, Option>
  run(call: Call): Promise<void>
}

type Values = Record<string, string | boolean | undefined>

/** One call of a command. */
export interface Call {
  args: string[]
  /** What stands after `--`. */
  rest: string[]
  values: Values
  terminal: Terminal
  /** Aborted when the person presses Ctrl-C. */
  signal: AbortSignal
}

/** For commands that call Baton. */
export const account: Record<string, Option> = {
  url: { type: 'string', value: 'ADDRESS', about: 'address of Baton; the one you logged in at last if left out' },
  workspace: { type: 'string', value: 'NAME', about: 'name or id of the workspace' },
}

export const appOption: Option = {
  type: 'string',
  value: 'APP',
  about: 'name or id; not needed where .env has APP_ID, or if there is one app only',
}

export const everywhere: Record<string, Option> = {
  json: { type: 'boolean', about: 'JSON on stdout' },
  help: { type: 'boolean', short: 'h', about: 'this text' },
}

/** What is for this command, and what stands after `--` and is for another. */
export function split(argv: string[]) {
  const end = argv.indexOf('--')
  return end < 0 ? { own: argv, rest: [] } : { own: argv.slice(0, end), rest: argv.slice(end + 1) }
}

export function parse(argv: string[], options: Record<string, Option>) {
  const known: OptionTypes = Object.fromEntries(
    Object.entries({ ...options, ...everywhere }).map(([name, { type, short }]) => [
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

/** A value of an option that takes text. */
export const text = ({ values }: Pick<Call, 'values'>, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function needed(call: Pick<Call, 'values'>, name: string, what: string): string {
  const value = text(call, name)
  if (!value) throw new UsageError(`--${name} is missing: ${what}.`)
  return value
}

/** A whole number of at least `min`. */
export function count(call: Pick<Call, 'values'>, name: string, min: number, otherwise: number): number {
  const value = text(call, name)
  if (value === undefined) return otherwise
  if (!/^\d+$/.test(value) || Number(value) < min) throw new UsageError(`--${name} must be a number from ${min}.`)
  return Number(value)
}

/** Positional arguments by name; too few and too many are both said. */
export function positionals(args: string[], ...names: string[]): string[] {
  const required = names.filter((name) => !name.endsWith('?'))
  const missing = required[args.length]
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  if (args.length > names.length) throw new UsageError(`${args[names.length]} is one word too many.`)
  return args
}
