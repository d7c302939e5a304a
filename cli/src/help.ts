import { type Command, commonOptions, type Option } from './command.ts'
import { commandName } from './origin.ts'
import { table } from './terminal.ts'

export function overview(commands: readonly Command[]): string {
  return `baton: run coding agents as teammates, and build agents for Baton

Commands:
${indent(table(commands.map(({ name, summary }) => [name, summary])))}

Run \`${commandName} COMMAND --help\` for details, \`${commandName} --version\` for the version. Every command accepts --json.
Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted by Ctrl-C. \`run\`, \`dev\`, \`listen\` and
\`deliveries --follow\` run until Ctrl-C and then exit with 0. \`run --once\` exits with 3 if a question is not answered.
`
}

export function helpOf({ name, summary, usage, about, example, options }: Command): string {
  const rows = Object.entries({ ...options, ...commonOptions }).map(([key, option]) => [
    flag(key, option),
    option.about,
  ])
  return `${summary}

Usage:
${indent(usage.map((form) => `${commandName} ${name}${form ? ` ${form}` : ''}`).join('\n'))}
${about ? `\n${about}\n` : ''}
Options:
${indent(table(rows))}

Example:
${indent(`${commandName} ${example}`)}
`
}

const flag = (key: string, { short, value }: Option) =>
  `${short ? `-${short}, ` : ''}--${key}${value ? ` ${value}` : ''}`

export const indent = (text: string) => text.replace(/^(?=.)/gm, '  ')
