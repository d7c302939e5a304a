// Steps that scripts share: install, build, run. Uses only Node's own modules, because nothing may be installed yet.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withBuildLock } from './build-lock.mjs'
import { compiling, compilingFile } from './compiling.mjs'
import { ifChanged } from './if-changed.mjs'
import { Interrupted, StepFailed } from './step-failed.mjs'

export { StepFailed }

export const root = fileURLToPath(new URL('..', import.meta.url))

const oldestNode = [20, 19]

/** Runs a command and prints its title and duration; prints its output if it fails. */
export async function step(title, command, args, options = {}) {
  const { show = false, lock } = options
  const started = Date.now()
  // In a file, what other programs print meanwhile would end up in the middle of the line.
  const begun = show || Boolean(process.stdout.isTTY)
  if (begun) process.stdout.write(`▸ ${title} … ${show ? '\n' : ''}`)
  const { code, output } = await run(command, args, options)
  const took = `${((Date.now() - started) / 1000).toFixed(1)} s`
  const rest = begun ? '' : `▸ ${title} … `
  if (code === 0) {
    console.log(show ? `  ${title}: ${took}` : `${rest}${took}`)
    return output
  }
  if (lock?.signal.aborted) {
    console.log(`${rest}stopped`)
    throw lock.signal.reason
  }
  console.log(`${rest}failed after ${took}`)
  if (!show) console.error(output)
  throw Object.assign(new StepFailed(`${title} failed: ${[command, ...args].join(' ')}`), { output })
}

/** Runs a check in this process: a function that returns a line for each problem. */
export function checkStep(title, findProblems) {
  const started = Date.now()
  const problems = findProblems()
  const took = `${((Date.now() - started) / 1000).toFixed(1)} s`
  console.log(`▸ ${title} … ${problems.length > 0 ? `failed after ${took}` : took}`)
  if (problems.length > 0) throw new StepFailed(`\n  ${problems.join('\n  ')}`)
}

/** `as` has the uid and gid to run it with, `lock` the lock that this process holds meanwhile. */
export function run(command, args, { env = {}, timeoutMs, show = false, as = {}, lock } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...as,
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      shell: process.platform === 'win32',
      detached: lock !== undefined && process.platform !== 'win32',
    })
    lock?.own(child)
    let output = ''
    child.stdout?.on('data', (text) => {
      output += text
    })
    child.stderr?.on('data', (text) => {
      output += text
    })
    const timer = timeoutMs && setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const overtime = signal === 'SIGKILL' && timeoutMs ? `\nkilled: it took longer than ${timeoutMs / 1000} s` : ''
      if (overtime) console.error(overtime)
      resolve({ code: code ?? 1, output: output + overtime })
    })
  })
}

/** The path of a dependency's program. */
export const bin = (name) => join(root, 'node_modules', '.bin', name)

export async function install() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
    throw new StepFailed(`Baton needs Node ${oldestNode.join('.')} or later; this is ${process.versions.node}`)
  }
  const stamp = join(root, 'node_modules', '.baton-installed')
  const lockfile = () =>
    createHash('sha256')
      .update(readFileSync(join(root, 'package-lock.json')))
      .digest('hex')
  const isInstalled = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lockfile()
  if (isInstalled()) return
  await withBuildLock(root, async (lock) => {
    if (isInstalled()) return
    const installed = lockfile()
    // npm does so only after some seconds.
    rmSync(stamp, { force: true })
    await step('Installing dependencies', 'npm', ['ci', '--no-audit', '--no-fund'], { lock })
    writeFileSync(stamp, installed)
  })
}

/**
 * Installs the packages of a folder of `root`, which has its own lockfile, apart from the workspace, which does not need
 * them. Returns the directory that contains their node_modules.
 */
export async function installApart(title, folder) {
  const [source, target] = [join(root, folder), join(root, 'node_modules', '.cache', basename(folder))]
  const lockfile = (dir) => readFileSync(join(dir, 'package-lock.json'), 'utf8')
  const isInstalled = () =>
    existsSync(join(target, 'node_modules', '.package-lock.json')) && lockfile(target) === lockfile(source)
  if (isInstalled()) return target
  await withBuildLock(root, async (lock) => {
    if (isInstalled()) return
    rmSync(join(target, 'node_modules'), { recursive: true, force: true })
    mkdirSync(target, { recursive: true })
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, name), join(target, name))
    const args = ['ci', '--prefix', target, '--workspaces=false', '--ignore-scripts', '--no-audit', '--no-fund']
    await step(title, 'npm', args, { lock })
  })
  return target
}

/** Incremental: the compiler rebuilds only what changed. */
export const build = (title, ...projects) =>
  withBuildLock(root, (lock) => compiling(root, () => step(title, bin('tsc'), ['-b', ...projects], { lock })))

/** Packages that the bundle does not contain, because they load files of their own: WebAssembly, native code. */
export const bundleExternals = ['@electric-sql/pglite', '@node-rs/argon2']

const serverSources = ['server/src', 'protocol/src', 'scripts/bundle.mjs', 'package-lock.json']

/** The server as few files: reading a thousand modules takes longer than the rest of a start. */
export const bundleServer = () =>
  ifChanged({ root, sources: serverSources, folder: 'server/bundle' }, (to, lock) =>
    step('Bundling the server', process.execPath, [join(root, 'scripts', 'bundle.mjs'), to], { lock }),
  )

const webSources = [
  'web/src',
  'web/public',
  'web/index.html',
  'web/vite.config.ts',
  'protocol/src',
  'sdk/src',
  'package-lock.json',
]

export const buildWeb = () =>
  ifChanged({ root, sources: webSources, folder: 'web/dist' }, (to, lock) =>
    // In another NODE_ENV, as in a test, React would be its development build.
    step('Building the web app', bin('vite'), ['build', 'web', '--outDir', to], {
      lock,
      env: { NODE_ENV: 'production' },
    }),
  )

const packageSources = [
  'protocol/src',
  'tsconfig.base.json',
  'sdk',
  'cli',
  'examples/echo/agent.js',
  'examples/triage/agent.js',
  'scripts/pack.mjs',
  'scripts/built-files.mjs',
  'scripts/end-with-npm.mjs',
  'package-lock.json',
]

const compiledPackages = [
  'protocol/dist/.tsbuildinfo',
  'sdk/dist/sdk.tsbuildinfo',
  'sdk/dist/index.js',
  'cli/dist/.tsbuildinfo',
  'cli/dist/main.js',
]

/**
 * Builds SDK and CLI, which examples and new agents use, and the packages of both that the instance serves. They come from
 * the folders sdk and cli in this one, which scripts/packages.mjs packs too.
 */
export const builtPackages = join(root, 'server', 'dist', 'packages')
export const buildPackages = () =>
  ifChanged(
    {
      root,
      sources: packageSources,
      folder: 'server/dist/packages',
      isComplete: () =>
        !existsSync(compilingFile(root)) && compiledPackages.every((name) => existsSync(join(root, name))),
    },
    (to, lock) =>
      compiling(root, () =>
        step('Building SDK and CLI', process.execPath, [join(root, 'scripts', 'pack.mjs'), to], { lock }),
      ),
  )

export const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })

/** Runs a script; a StepFailed is printed as a message without a stack. A signal that ended a step ends the script. */
export async function main(work) {
  try {
    await work()
  } catch (error) {
    if (error instanceof Interrupted) process.kill(process.pid, error.signal)
    if (!(error instanceof StepFailed)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
