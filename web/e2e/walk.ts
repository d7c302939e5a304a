import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Script, scriptedModel } from '../../cli/test/agents/model.ts'
import { openCodeSettings } from '../../cli/test/agents/settings.ts'
import { installApart } from '../../scripts/setup.mjs'
import { expect, signedIn, test } from './baton.ts'
import { menu } from './parts.ts'
import { settled } from './screens.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const before = `export function isOpen(door) {\n  return door.angle > 0\n}\n`
const after = `/** A door that is ajar keeps no rain out. */\nexport function isOpen(door) {\n  return door.angle > 2\n}\n`

const script: Script = (prompt, answered) => {
  if (/Say why/.test(prompt))
    return { say: 'A door that is ajar by up to 2 degrees counts as closed, because its seal still touches the frame.' }
  if (answered === 0)
    return { say: 'I read how the door decides.', call: { name: 'read', input: { filePath: 'door.js' } } }
  if (answered === 1) return { say: '', call: { name: 'write', input: { filePath: 'door.js', content: after } } }
  if (answered === 2)
    return { say: '', call: { name: 'bash', input: { command: 'node --test', description: 'Run the tests' } } }
  return { say: 'The door now counts as closed while its seal touches the frame. The tests pass.' }
}

/** The pictures of docs/guides/coding-agents.md, with the real OpenCode: `npx playwright test -c web/e2e/screenshots.config.ts walk`. */
test('from the command to the changes', async ({ page, company, service }) => {
  const modules = join(await installApart('Installing opencode', 'cli/test/agents/opencode'), 'node_modules')
  const model = await scriptedModel(script)
  const home = await mkdtemp(join(tmpdir(), 'baton-walk-'))
  const repo = join(home, 'door')
  const git = (...args: string[]) =>
    promisify(execFile)('git', ['-c', 'user.name=Olive', '-c', 'user.email=olive@example.com', ...args], { cwd: repo })
  await promisify(execFile)('git', ['init', '--quiet', '--initial-branch', 'main', repo])
  await writeFile(join(repo, 'door.js'), before)
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'Add the door')
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, 'config'), ...openCodeSettings(model.url) }
  const baton = (args: string[]) =>
    spawn(process.execPath, [join(root, 'cli/bin/baton.mjs'), ...args], {
      cwd: repo,
      env,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
  const login = baton(['login', '--url', service.url, '--email', company.owner.email, '--password-stdin'])
  login.stdin.end(company.owner.password)
  await once(login, 'close')
  const opencode = join(modules, `opencode-linux-${process.arch}`, 'bin', 'opencode')
  const runner = baton(['run', '--name', 'OpenCode', '--', opencode, 'acp'])
  let printed = ''
  runner.stderr.on('data', (text) => {
    printed += text
  })
  const picture = async (name: string) => {
    await settled(page)
    await page.screenshot({ path: join(root, 'docs/pictures', `coding-agent-${name}.png`), animations: 'disabled' })
  }
  try {
    await page.setViewportSize({ width: 1120, height: 700 })
    await signedIn(page, company.owner)
    await page.goto('/agents/add')
    await picture('add')
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('is ready')
    const [issue] = company.issues
    await page.goto(`/issue/${issue.code}`)
    await expect(page.getByText('It sticks when it rains.')).toBeVisible()
    await page.keyboard.press('d')
    await expect(menu(page).getByText('OpenCode')).toBeVisible()
    await picture('delegate')
    await menu(page).getByText('OpenCode').click()
    await expect(page.getByRole('button', { name: /Allow once/ })).toBeVisible({ timeout: 60_000 })
    await page.getByRole('button', { name: /Allow this for the session/ }).scrollIntoViewIfNeeded()
    await picture('question')
    await page.getByRole('button', { name: /Allow once/ }).click()
    await page
      .getByRole('link', { name: /1 file/ })
      .first()
      .click({ timeout: 60_000 })
    await picture('changes')
    await page.goBack()
    const { data: sessions } = await company.owner.api.listAgentSessions({ issue_id: issue.id })
    await page.goto(`/agent-session/${sessions[0]?.id}`)
    await page.getByRole('textbox').first().fill('Say why 2 degrees.')
    await page.keyboard.press('Enter')
    await expect(page.getByText('its seal still touches')).toBeVisible({ timeout: 60_000 })
    await picture('answer')
  } finally {
    runner.kill('SIGINT')
    await once(runner, 'close')
    await model.close()
    await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }
})
