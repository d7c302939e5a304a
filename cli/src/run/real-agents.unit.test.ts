import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const pinned = {
  opencode: ['opencode-linux-x64', '1.18.18'],
  codex: ['@agentclientprotocol/codex-acp', '2.6.0'],
} as const

// What the agents do is shown by release/agents.test.ts (run.real-agents-in-tests).
test('real agents are pinned apart from the workspace, so only npm run test:agents installs them', () => {
  const { scripts } = JSON.parse(read('package.json'))
  expect(scripts['test:agents']).toBe('node scripts/test-agents.mjs')
  const workspace = Object.keys(JSON.parse(read('package-lock.json')).packages)
  expect(workspace).toContain('node_modules/vitest')
  expect(workspace.filter((name) => /opencode|codex/.test(name))).toEqual([])
  for (const [folder, [name, version]] of Object.entries(pinned)) {
    const { packages } = JSON.parse(read(`cli/test/agents/${folder}/package-lock.json`))
    expect(packages[`node_modules/${name}`]).toMatchObject({ version, integrity: expect.any(String) })
  }
  for (const script of ['start', 'test', 'setup']) expect(read(`scripts/${script}.mjs`)).not.toMatch(/test\/agents/)
})
