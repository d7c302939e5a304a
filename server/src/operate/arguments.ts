import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Arguments, type Command, UsageError, type Values } from './command.ts'

/** Checks what was typed after the command's name, without `--json`. */
export function parseArguments(command: Command, typed: readonly string[]): Arguments {
  const parameters = Object.entries(command.parameters)
  const named = parameters.filter(([, { positional }]) => !positional)
  const { values, positionals } = parse(named, typed)
  const places = parameters.filter(([, { positional }]) => positional)
  if (positionals.length > places.length) throw new UsageError(`"${positionals[places.length]}" is not expected`)
  const found: Values = {}
  positionals.forEach((value, index) => {
    found[(places[index] as (typeof places)[number])[0]] = value
  })
  for (const [name, value] of Object.entries(values)) {
    if (value.length > 1) throw new UsageError(`--${name} is given ${value.length} times`)
    found[name] = value[0] as string | true
  }
  for (const [name, { kind, required, positional }] of parameters) {
    const value = found[name]
    if (required && (value === undefined || value === '')) {
      throw new UsageError(`${positional ? name.toUpperCase() : `--${name}`} is missing`)
    }
    if (kind === 'path' && typeof value === 'string' && value !== '-') found[name] = resolve(value)
  }
  return new Arguments(found)
}

type Named = [string, Command['parameters'][string]][]

function parse(named: Named, typed: readonly string[]) {
  const options = Object.fromEntries(
    named.map(([name, { kind }]) => [
      name,
      { type: kind === 'flag' ? ('boolean' as const) : ('string' as const), multiple: true as const },
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: [...typed], options, allowPositionals: true, strict: true })
    return { values: values as Record<string, (string | boolean)[]>, positionals }
  } catch (error) {
    // Node's sentences, up to its advice about arguments that begin with a dash. They repeat values only of options
    // that do not exist, which is why no command has an option for a secret.
    throw new UsageError((error as Error).message.split('. ')[0] as string)
  }
}
