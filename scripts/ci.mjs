// Runs before a change is merged (.ci/run): npm test, PostgreSQL, programs of others, query plans, other versions of
// Node, a real coding agent, and the README in a fresh clone. Ends with all failures and one line of counts.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { summaryOf } from './ci-summary.mjs'
import { root } from './setup.mjs'

const budgetSeconds = 2700
const seconds = () => Math.round(performance.now() / 1000)

/** The parts after npm test do less on a slow machine, and say so, so that the run keeps within its budget. */
const parts = [
  { title: 'npm test', command: ['npm', 'test'] },
  {
    title: 'Tests on PostgreSQL',
    command: () => ['npm', 'run', '--silent', 'test:postgres', '--', '--third', seconds() < 1000 ? 'auto' : 'none'],
  },
  { title: 'Programs of others', command: ['npm', 'run', '--silent', 'test:foreign'], latestSeconds: 2250 },
  { title: 'Query plans', command: ['npm', 'run', '--silent', 'check:plans'], latestSeconds: 2300 },
  { title: 'Other versions of Node', command: ['npm', 'run', '--silent', 'check:nodes'], latestSeconds: 2400 },
  {
    title: 'Real coding agents',
    command: ['npm', 'run', '--silent', 'test:agents', '--', '--if-installable', 'opencode'],
    latestSeconds: 2400,
  },
  {
    title: 'README in a fresh clone',
    command: [process.execPath, 'scripts/try-readme.mjs'],
    latestSeconds: 2450,
  },
]

const results = []
for (const { title, command, latestSeconds = Number.POSITIVE_INFINITY } of parts) {
  if (seconds() > latestSeconds) console.log(`▸ Skipped ${title}: no time left`)
  else results.push({ title, ...(await runPart(typeof command === 'function' ? command() : command)) })
}
const { lines, failed } = summaryOf(results)
console.log(`Whole run: ${seconds()} s (budget ${budgetSeconds} s)`)
for (const line of lines) console.log(line)
if (failed > 0) process.exitCode = 1

/** Shows the output and returns its lines. */
async function runPart([command, ...args]) {
  // In CI a missing browser and a test marked `only` are failures, and a failed test is retried once.
  const child = spawn(command, args, {
    cwd: root,
    env: { ...process.env, CI: 'true' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      console.log(line)
      output.push(line)
    })
  }
  const code = await new Promise((resolve) => {
    child.once('error', (error) => {
      console.error(error.message)
      resolve(1)
    })
    child.once('close', resolve)
  })
  return { code, output }
}
