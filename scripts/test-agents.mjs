// npm run test:agents: baton run with real coding agents and scripted models. They are large, so nothing else installs
// them. Names of agents as arguments run only those; --if-installable skips an agent that npm cannot install here.
import { parseArgs } from 'node:util'
import { ownCommand } from './own-command.mjs'
import { build, install, installApart, main, StepFailed } from './setup.mjs'

const known = ['opencode', 'codex']
const budgetSeconds = 300
const { values, positionals } = parseArgs({
  options: { 'if-installable': { type: 'boolean' } },
  allowPositionals: true,
})
const chosen = positionals.length > 0 ? positionals : known

await main(async () => {
  const unknown = chosen.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new StepFailed(`no agent ${unknown.join(', ')}; there are ${known.join(' and ')}`)
  await install()
  await build('Building', '.')
  const env = {}
  for (const name of chosen) {
    const directory = await installed(name)
    if (directory) env[`BATON_${name.toUpperCase()}`] = `${directory}/node_modules`
  }
  const count = Object.keys(env).length
  if (count === 0) return
  await ownCommand('npm run test:agents', ['release/agents.test.ts'], {
    env,
    budgetSeconds,
    partial: count < known.length,
  })
})

async function installed(name) {
  try {
    return await installApart(`Installing ${name}`, `cli/test/agents/${name}`)
  } catch (error) {
    if (!(error instanceof StepFailed && values['if-installable'])) throw error
    console.log(`▲ ${name} cannot be installed here: not tried`)
    return null
  }
}
