// A folder with the scripts of a checkout, and builds that tests hold and kill, for build-lock.test.mjs.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { identityOf, isRunning } from './processes.mjs'
import { root } from './setup.mjs'

const scripts = ['build-lock', 'compiling', 'if-changed', 'processes', 'setup', 'step-failed']

/** Writes half a result, then its process id to `begun`, and the rest as soon as the file `go` exists. */
const program = `import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
const [dir, to, text] = process.argv.slice(2)
mkdirSync(to, { recursive: true })
writeFileSync(to + '/half', text)
appendFileSync(dir + '/begun', process.pid + '\\n')
const timer = setInterval(() => {
  if (!existsSync(dir + '/go')) return
  writeFileSync(to + '/rest', text)
  clearInterval(timer)
}, 10)`

const buildOut = `import { readFileSync } from 'node:fs'
import { ifChanged } from './scripts/if-changed.mjs'
import { main, root, step } from './scripts/setup.mjs'
await main(() => ifChanged({ root, sources: ['src'], folder: 'out' }, (to, lock) =>
  step('Building', process.execPath, [root + '/program.mjs', root, to, readFileSync('src/text', 'utf8')], { lock })))`

export class SmallCheckout {
  dir = mkdtempSync(join(tmpdir(), 'baton-checkout-'))
  #started = []

  constructor() {
    chmodSync(this.dir, 0o755)
    for (const name of scripts) cpSync(join(root, 'scripts', `${name}.mjs`), this.path('scripts', `${name}.mjs`))
    this.write('program.mjs', program)
    this.write('build.mjs', buildOut)
    this.write('package-lock.json', '{}')
    this.write('src/text', 'first')
  }

  path = (...parts) => join(this.dir, ...parts)
  read = (name) => readFileSync(this.path(name), 'utf8')
  exists = (name) => existsSync(this.path(name))
  write(name, text) {
    mkdirSync(join(this.path(name), '..'), { recursive: true })
    writeFileSync(this.path(name), text)
  }

  /** The process ids of the programs that began to build. */
  begun = () => (this.exists('begun') ? this.read('begun').split('\n').filter(Boolean).map(Number) : [])

  /** Runs a script of the checkout. `bin` is searched for programs. */
  start(name = 'build.mjs', as = {}) {
    const env = { ...process.env, PATH: [this.path('bin'), process.env.PATH].join(delimiter) }
    const child = spawn(process.execPath, [this.path(name)], { cwd: this.dir, env, ...as })
    const script = { pid: child.pid, kill: (signal) => child.kill(signal), output: '' }
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        script.output += text
      })
    }
    script.ended = once(child, 'close').then(([code, signal]) => ({ result: code ?? signal, output: script.output }))
    this.#started.push(child)
    return script
  }

  remove() {
    for (const child of this.#started) child.kill('SIGKILL')
    for (const pid of this.begun()) endIfRunning(pid)
    rmSync(this.dir, { recursive: true, force: true })
  }
}

export const isAlive = (pid) => isRunning(identityOf(pid))

/** Fails by the time limit of the test. */
export async function until(isTrue) {
  while (!isTrue()) await sleep(10)
}

function endIfRunning(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {}
}
