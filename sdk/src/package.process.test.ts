import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** A user's program, compiled in strict mode with only the package installed. */
const program = `
import { BatonClient, BatonError, createAgent, createInstaller, fileTokens, signWebhook, verifyWebhook } from '@baton/sdk'
import type { AgentActivity, AgentAppManifest, BatonErrorCode, Issue, IssueData, WebhookEvent } from '@baton/sdk'
import { memoryTokens, TokenManager } from '@baton/sdk/tokens'
import { verifyWebhook as again } from '@baton/sdk/webhooks'

export const client = new BatonClient({ baseUrl: 'http://127.0.0.1:1', token: 'svc_at_x', workspaceId: 'wsp_x' })
export async function typed(): Promise<Issue[]> {
  const issue: Issue = await client.createIssue({ title: 'Mend', status: 'todo' })
  const code: string = (await client.call('getIssue', { params: { issue_id: issue.id } })).code
  const posted: AgentActivity = await client.postActivity({ session_id: 's', content: { type: 'thought', body: code } })
  // @ts-expect-error there is no such status
  await client.updateIssue({ issue_id: posted.id, status: 'sideways' })
  // @ts-expect-error the title is missing
  await client.createIssue({})
  // @ts-expect-error there is no such operation
  await client.paintIssue({})
  // @ts-expect-error a response is never ephemeral
  await client.postActivity({ session_id: 's', content: { type: 'response', body: '' }, ephemeral: true })
  const { data } = await client.listIssues({ limit: 5 })
  await client.getMe()
  return data
}
export const manifest: AgentAppManifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots' },
  oauth: { redirect_uris: [], scopes: ['read'] },
}
export const titleOf = (event: WebhookEvent): string | undefined =>
  event.type === 'Issue' ? (event.data satisfies IssueData).title : undefined
export const store = fileTokens('./tokens')
export const tokens = new TokenManager({ clientId: 'a', clientSecret: 'b', baseUrl: 'http://127.0.0.1:1', store: memoryTokens() })
export const installer = createInstaller({
  clientId: 'a', clientSecret: 'b', baseUrl: 'http://127.0.0.1:1', redirectUri: 'https://x.example.com', scopes: ['read'],
  store, installSecret: 'c',
})
const secret = 'pwhsec_x'
const pings: string[] = []
const agent = createAgent({
  baseUrl: 'http://127.0.0.1:1',
  webhookSecret: secret,
  tokens,
  async onCreated(session, event) {
    const body: string = event.data.prompt_context
    await session.thought(body, { ephemeral: true })
    return session.prompt
  },
  onPing: (event) => void pings.push(event.data.label),
})
const signed = signWebhook({ type: 'Ping', action: 'create', data: { webhook_id: 'w', label: 'hello' } }, { secret })
const verified = verifyWebhook({ rawBody: signed.body, headers: signed.headers, secret })
if (!verified.ok || !again({ rawBody: signed.body, headers: signed.headers, secret }).ok) throw new Error('not verified')
const answer = await agent.fetch(new Request('http://localhost/', { method: 'POST', body: signed.body, headers: signed.headers }))
await agent.settled()
const failed = await client.getHealth().catch((error: unknown) => error)
const code: BatonErrorCode | null = failed instanceof BatonError ? failed.code : null
console.log(answer.status, pings.join(), code)
`

test('a user compiles against the packed package in strict mode and runs it', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'sdk-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const env = { ...process.env, npm_config_update_notifier: 'false' }
  await run(process.execPath, ['sdk/build.mjs', join(directory, 'sdk')], { cwd: root })
  await run('npm', ['pack', './sdk'], { cwd: directory, env })
  const [tarball = ''] = (await readdir(directory)).filter((name) => name.endsWith('.tgz'))
  await rm(join(directory, 'sdk'), { recursive: true })
  await writeFile(join(directory, 'package.json'), JSON.stringify({ name: 'user', type: 'module', private: true }))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(directory, tarball)], {
    cwd: directory,
    env,
  })
  expect(await readdir(join(directory, 'node_modules'))).toEqual(['.package-lock.json', '@baton'])

  await writeFile(join(directory, 'main.ts'), program)
  const compilerOptions = {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
  }
  await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }))
  expect(await complaints(directory, 'tsconfig.json')).toBe('')
  const { stdout } = await run(process.execPath, ['main.js'], { cwd: directory })
  expect(stdout).toBe('200 hello NETWORK_ERROR\n')

  const packed = join(directory, 'node_modules', '@baton', 'sdk')
  const examples = [...(await readFile(join(packed, 'README.md'), 'utf8')).matchAll(/```ts\n([\s\S]*?)```/g)]
  expect(examples.length).toBeGreaterThan(2)
  for (const [n, [, code = '']] of examples.entries()) await writeFile(join(directory, `example-${n}.ts`), code)
  // With the types of Node instead of those of browsers.
  const onNode = {
    ...compilerOptions,
    lib: ['es2023'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  }
  const inNode = { compilerOptions: { ...onNode, noEmit: true }, include: ['*.ts'] }
  await writeFile(join(directory, 'tsconfig.node.json'), JSON.stringify(inNode))
  expect(await complaints(directory, 'tsconfig.node.json')).toBe('')

  const files = await readdir(packed, { recursive: true })
  expect(
    files.filter((name) => !/^(dist|dist\/LICENSE|dist\/.*\.(js|d\.ts)|README\.md|package\.json)$/.test(name)),
  ).toEqual([])
  for (const name of files.filter((file) => /\.(js|d\.ts)$/.test(file))) {
    expect(await readFile(join(packed, name), 'utf8'), name).not.toMatch(/typebox|@baton\/protocol/)
  }
})

async function complaints(cwd: string, project: string) {
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '-p', project]
  const { stdout } = await run(process.execPath, tsc, { cwd }).catch((error: { stdout: string }) => error)
  return stdout
}
