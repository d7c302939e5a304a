#!/usr/bin/env node
// The command `baton-server`: runs the service, or a command of its operator.
import { readFileSync } from 'node:fs'
import module from 'node:module'
import { endWithNpm } from './end-with-npm.mjs'

const usage = `Usage: baton-server [COMMAND]

start            Runs the service (the default). Its data is in ./.baton unless BATON_DATA_DIR or DATABASE_URL says otherwise.
health           Asks the service of this machine whether it is ready: exit code 0, or 1 with the reason.
operate COMMAND  Runs a command for operators; without a command it lists them.
--version        Prints the version.
--help           Prints this.

Settings are environment variables: see docs/guides/running.md, which the service serves at /docs/running.`

const built = (file) => import(new URL(`../dist/${file}`, import.meta.url).href)
const [command = 'start', ...args] = process.argv.slice(2)

if (command === 'operate') {
  const { operate } = await built('operate.js')
  process.exitCode = await operate(args, process.env)
} else if (args.length > 0 || !['start', 'health', '--version', '--help'].includes(command)) {
  console.error(`Unknown command: ${[command, ...args].join(' ')}\n\n${usage}`)
  process.exitCode = 2
} else if (command === '--version') {
  console.log(JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version)
} else if (command === '--help') {
  console.log(usage)
} else if (command === 'health') {
  const { health } = await built('health.js')
  process.exit(await health(process.env))
} else {
  endWithNpm()
  // Since Node 22: keeps compiled code for the next start.
  module.enableCompileCache?.()
  const { run } = await built('run.js')
  await run()
}
