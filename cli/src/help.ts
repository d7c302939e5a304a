import { type Command, everywhere, type Option } from './command.ts'
import { table } from './terminal.ts'

export function overview(commands: readonly Command[]): string {
  return `baton: build agents for Baton, and try them on your own machine

Commands:
${indent(table(commands.map(({ name, summary }) => [name, summary])))}

\`baton COMMAND --help\` says more. Every command takes --json.
It ends with 0 when it worked, 1 when something was refused or failed, 2 when the command was not understood,
130 when Ctrl-C ended it before it was done. \`dev\`, \`listen\` and \`deliveries --follow\` end with Ctrl-C, and then with 0.
`
}

export function helpOf({ name, summary, usage, about, example, options }: Command): string {
  const rows = Object.entries({ ...options, ...everywhere }).map(([key, option]) => [flag(key, option), option.about])
  return `${summary}

Usage:
${indent(usage.map((form) => `baton ${name}${form ? ` ${form}` : ''}`).join('\n'))}
${about ? `\n${about}\n` : ''}
Options:
${indent(table(rows))}

Example:
${indent(example)}
`
}

const flag = (key: string, { short, value }: Option) =>
  `${short ? `-${short}, ` : ''}--${key}${value ? ` ${value}` : ''}`

export const indent = (text: string) => text.replace(/^(?=.)/gm, '  ')
