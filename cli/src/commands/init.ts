import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { basename, relative, resolve } from 'node:path'
import { account, type Call, type Command, type Option, positionals, text } from '../command.ts'
import { readConfig } from '../config.ts'
import { Failure, UsageError } from '../failure.ts'
import { commandName, inCheckout, installedFrom } from '../origin.ts'
import { type Example, examples, writeProject } from '../project.ts'
import { defaultUrl, serviceUrl } from '../urls.ts'

export const init: Command = {
  name: 'init',
  summary: 'create a small agent project that runs',
  usage: ['DIRECTORY [--ts] [--example triage] [--no-install]'],
  about: `Writes files without overwriting any, and installs the SDK and this command with npm, from the instance of the
latest login or --url.`,
  example: 'init my-agent',
  options: {
    example: {
      type: 'string',
      value: 'NAME',
      about: `example to copy: ${examples.join(' or ')} (default: ${examples[0]})`,
    },
    ts: { type: 'boolean', about: 'write TypeScript; runs with Node 22.18 or later, or with tsx' },
    url: { ...account.url, about: 'URL of the instance to install from (default: that of the latest login)' } as Option,
    name: { type: 'string', value: 'NAME', about: 'name of the agent (default: name of the directory)' },
    sdk: { type: 'string', value: 'SPEC', about: 'other source of @baton/sdk: a URL, or file: and a path' },
    cli: { type: 'string', value: 'SPEC', about: 'other source of @baton/cli: a URL, or file: and a path' },
    'no-install': { type: 'boolean', about: 'do not run npm install' },
  },
  async run(call) {
    const [given = ''] = positionals(call.args, 'DIRECTORY')
    const directory = resolve(given)
    const name = nameFrom(text(call, 'name') ?? basename(directory))
    const example = exampleFrom(text(call, 'example'))
    const typescript = call.values.ts === true
    const url = await instanceUrl(call)
    const sdk = sourceOf(call, 'sdk', url)
    const cli = sourceOf(call, 'cli', url)
    const files = await writeProject(directory, { name, example, typescript, url: url ?? defaultUrl, sdk, cli })
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

/** The instance of --url, of the latest login, or that this command came from. */
async function instanceUrl(call: Call): Promise<string | null> {
  const named = text(call, 'url')
  return named ? serviceUrl(named) : ((await readConfig()).current ?? installedFrom())
}

/** Where npm gets a package: the instance serves those of its own version. */
function sourceOf(call: Call, part: 'sdk' | 'cli', url: string | null): string {
  const given = absoluteSpec(text(call, part))
  if (given) return given
  if (url) return `${url}/packages/${part}.tgz`
  const directory = inCheckout(part)
  if (directory) return `file:${directory}`
  throw new Failure('It is not known from which instance to install the SDK.', {
    code: 'NOT_LOGGED_IN',
    advice: `Run \`${commandName} login\` first, or give --url.`,
  })
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
      advice: `Run npm install in ${directory}. It needs the instance in package.json, which serves the packages.`,
    })
  const code = await once(npm, 'close').then(
    ([exitCode]) => exitCode as number,
    (error: Error) => {
      throw failed(error.message)
    },
  )
  if (code !== 0) throw failed(output.trim().split('\n').slice(-5).join('\n'))
}
