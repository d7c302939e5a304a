// Runs the README's quick start as a new user would: a fresh clone in a new directory, `npm start`, twice.
// When started by root, it runs as an unprivileged user.
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, main, root, StepFailed } from './setup.mjs'

const firstStartSeconds = 180
/** It installs and builds nothing, which takes longer than this on any machine; a busy one needs more than the README says. */
const secondStartSeconds = 30
const unprivilegedId = 65_534

await main(async () => {
  if (process.getuid?.() === 0) await tryAs('an ordinary user', { uid: unprivilegedId, gid: unprivilegedId })
  else await tryAs('this user', {})
})

async function tryAs(who, as) {
  const home = mkdtempSync(join(tmpdir(), 'baton-readme-'))
  const clone = join(home, 'baton')
  try {
    const cloned = spawnSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone], { encoding: 'utf8' })
    if (cloned.status !== 0) throw new StepFailed(`git clone failed: ${cloned.stderr}`)
    if (as.uid) chownAll(home, as)
    const first = await start(who, clone, home, as, firstStartSeconds, 'SIGTERM')
    const second = await start(who, clone, home, as, secondStartSeconds, 'SIGKILL')
    console.log(`▸ npm start in a fresh clone as ${who}: ready after ${first} s, and after ${second} s the second time`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/**
 * Starts the service as in the README, waits until it is ready, and returns the seconds it took. Then `signal` ends npm
 * alone, and the service must stop in order.
 */
async function start(who, clone, home, as, limitSeconds, signal) {
  const port = await freePort()
  const { DATABASE_URL: _, ...env } = process.env
  const started = performance.now()
  const child = spawn('npm', ['start'], {
    ...as,
    cwd: clone,
    env: { ...env, HOME: home, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  const ended = new Promise((resolve) => child.once('close', resolve))
  const elapsed = () => (performance.now() - started) / 1000
  try {
    while (!(await isReady(port))) {
      if (child.exitCode !== null) throw new StepFailed(`npm start as ${who} ended:\n${output}`)
      if (elapsed() > limitSeconds)
        throw new StepFailed(`npm start as ${who} took longer than ${limitSeconds} s:\n${output}`)
      await sleep(50)
    }
    const seconds = elapsed().toFixed(1)
    const address = `Baton is ready at http://localhost:${port}`
    // It is printed just after the service is ready.
    while (!output.includes(address) && elapsed() < limitSeconds) await sleep(50)
    if (!output.includes(address)) {
      throw new StepFailed(`npm start as ${who} did not print its address:\n${output}`)
    }
    await readDemo(`http://127.0.0.1:${port}/api/v1`)
    process.kill(child.pid, signal)
    await stopped(signal, port, join(clone, '.baton', 'lock'))
    return seconds
  } finally {
    killGroup(child.pid)
    await ended
  }
}

/** Waits until port and data directory are free. */
async function stopped(signal, port, lock) {
  for (let tries = 0; tries < 200; tries++) {
    if (!existsSync(lock) && !(await isReady(port))) return
    await sleep(100)
  }
  throw new StepFailed(`the service did not stop within 20 s after npm got ${signal}`)
}

/** Ends what is left of npm and the service it runs. */
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // Nothing is left.
  }
}

function isReady(port) {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    (response) => response.ok,
    () => false,
  )
}

/** Signs in and reads issues, as in the README. */
async function readDemo(base) {
  const call = async (path, options) => {
    const response = await fetch(base + path, options)
    if (!response.ok) throw new StepFailed(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const { token } = await call('/auth/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"email": "ada@demo.example", "password": "baton-demo"}',
  })
  const headers = { authorization: `Bearer ${token}` }
  const [workspace] = (await call('/auth/me', { headers })).workspaces
  const { data } = await call('/issues?limit=100', { headers: { ...headers, 'x-workspace-id': workspace.id } })
  if (data.length < 60) throw new StepFailed(`the demo has ${data.length} issues`)
}

function chownAll(dir, { uid, gid }) {
  chownSync(dir, uid, gid)
  for (const entry of readdirSync(dir, { recursive: true })) chownSync(join(dir, entry), uid, gid)
}
