import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, relative, resolve } from 'node:path'
import { type Call, type Command, positionals, text } from '../command.ts'
import { Failure, UsageError } from '../failure.ts'
import { cliSpec, type Example, examples, sdkSpec, writeProject } from '../project.ts'

export const init: Command = {
  name: 'init',
  summary: 'create a small agent project that runs',
  usage: ['DIRECTORY [--example triage] [--no-install]'],
  about: 'Writes files without overwriting any, and installs the SDK and this command with npm.',
  example: 'baton init my-agent',
  options: {
    example: {
      type: 'string',
      value: 'NAME',
      about: `example to copy: ${examples.join(' or ')} (default: ${examples[0]})`,
    },
    name: { type: 'string', value: 'NAME', about: 'name of the agent (default: name of the directory)' },
    sdk: { type: 'string', value: 'SPEC', about: 'version of @baton/sdk, or file: and a path' },
    cli: { type: 'string', value: 'SPEC', about: 'version of @baton/cli, or file: and a path' },
    'no-install': { type: 'boolean', about: 'do not run npm install' },
  },
  async run(call) {
    const [given = ''] = positionals(call.args, 'DIRECTORY')
    const directory = resolve(given)
    const name = nameFrom(text(call, 'name') ?? basename(directory))
    const sdk = absoluteSpec(text(call, 'sdk')) ?? (await sdkSpec())
    const cli = absoluteSpec(text(call, 'cli')) ?? (await cliSpec())
    const files = await writeProject(directory, exampleFrom(text(call, 'example')), { name, sdk, cli })
    const install = !call.values['no-install']
    if (install) await npmInstall(call, directory)
    const where = relative(process.cwd(), directory) || '.'
    const steps = [...(where === '.' ? [] : [`cd ${where}`]), ...(install ? [] : ['npm install']), 'npx baton dev']
    call.terminal.result(
      { directory, name, files, installed: install },
      `Created ${name} in ${where}: ${files.join(', ')}\nNext: ${steps.join(' && ')}`,
    )
  },
}

function exampleFrom(given: string = examples[0]): Example {
  const example = examples.find((one) => one === given)
  if (!example) throw new UsageError(`There is no example ${given}. Use ${examples.join(' or ')}.`)
  return example
}

/** Makes a file: path absolute, because npm resolves it from the new directory. */
const absoluteSpec = (spec: string | undefined) =>
  spec?.replace(/^file:(.*)$/, (_, path: string) => `file:${resolve(path)}`)

/** Accepts names that are valid for both npm and the manifest. */
function nameFrom(given: string): string {
  if (!/^[a-z0-9][a-z0-9._-]{1,99}$/.test(given)) {
    throw new UsageError(
      `${given} is not a valid name. Use 2 to 100 characters of a-z, 0-9, dots, - and _. Give another with --name.`,
    )
  }
  if (given.includes('baton')) {
    throw new UsageError(`${given} is not a valid name: it contains the name of the service. Give another with --name.`)
  }
  return given
}

async function npmInstall({ terminal, signal }: Call, directory: string) {
  terminal.note('Installing @baton/sdk and @baton/cli …')
  const npm = spawn('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    signal,
  })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const failed = (why: string) =>
    new Failure(`The files were written, but npm install failed: ${why}`, {
      code: 'INSTALL_FAILED',
      advice: `Run npm install in ${directory}, or give --sdk with a version or a file.`,
    })
  const code = await once(npm, 'close').then(
    ([exitCode]) => exitCode as number,
    (error: Error) => {
      throw failed(error.message)
    },
  )
  if (code !== 0) throw failed(output.trim().split('\n').slice(-5).join('\n'))
}
