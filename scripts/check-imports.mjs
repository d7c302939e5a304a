// Imports run one way: what stands further left never imports what stands further right.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { root } from './setup.mjs'

const order = [
  ['clock', 'nap', 'ids', 'crypto', 'log', 'config'],
  ['outbound'],
  ['db'],
  ['relay'],
  ['context', 'addresses'],
  ['unit-of-work'],
  ['http'],
  ['login'],
  ['live'],
  ['audit'],
  ['views'],
  ['workspaces'],
  ['inbox'],
  ['delivery'],
  ['events'],
  ['webhooks'],
  ['installations'],
  ['agent-sessions'],
  ['planning'],
  ['issues', 'projects'],
  ['comments'],
  ['icons'],
  ['agent-apps'],
  ['tools'],
  ['agents'],
  ['oauth'],
  ['mcp'],
  ['demo'],
  ['web'],
  ['service', 'docs', 'key-check', 'housekeeping'],
  ['app'],
  ['start'],
  ['main'],
]

const source = join(root, 'server', 'src')
const roomOf = (file) => relative(source, file).split(/[/\\]/)[0].replace(/\.ts$/, '')
const rank = (room) => order.findIndex((rooms) => rooms.includes(room))

const problems = []
for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts') || entry.name.endsWith('.test.ts')) continue
  const file = join(entry.parentPath, entry.name)
  const from = roomOf(file)
  const text = readFileSync(file, 'utf8')
  const say = (problem) => problems.push(`${relative(root, file)} ${problem}`)
  if (rank(from) < 0) say(`is in ${from}, which has no place in the order yet`)
  if (text.includes('process.env') && !['config', 'main'].includes(from))
    say('reads the environment; config.ts does that')
  for (const [, target] of text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)) {
    const to = roomOf(resolve(dirname(file), target))
    if (to !== from && rank(to) >= rank(from)) say(`imports ${to}, which is not to its left`)
  }
}

for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
