import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { test, verifies } from '../../../server/test/harness.ts'
import { temporary } from '../../test/baton.ts'
import { type RunnerScene, runnerScene } from '../../test/runner-scene.ts'

const capabilities = { mcpCapabilities: { http: true } }
const call = (name: string, args: object = {}) => ({ mcp: { method: 'tools/call', params: { name, arguments: args } } })
const list = { mcp: { method: 'tools/list' } }
const results = async (scene: RunnerScene) =>
  (await scene.agentLog()).flatMap(({ mcp }) => (mcp === undefined ? [] : [mcp]))

test(
  "the agent reads with Baton's tools through the runner, with its secret only",
  verifies('run.mcp-server-for-agent', 'run.mcp-tools-limited'),
  async ({ app }) => {
    const go = join(await temporary(), 'go')
    const scene = await runnerScene(app, {
      flags: { silence: '4h', 'turn-limit': '4h' },
      script: {
        capabilities,
        turns: [
          [
            list,
            call('list_issues'),
            call('create_issue', { title: 'Mine' }),
            call('post_activity', {}),
            { mcp: { ...list.mcp, headers: { Authorization: 'Bearer wrong' } } },
            { mcp: { ...list.mcp, headers: {} } },
          ],
          [{ waitFor: go }, call('list_issues')],
        ],
      },
    })
    await scene.start()
    const { sessionId } = await scene.delegate('Mend the door')
    await scene.inState(sessionId, 'complete')
    const [tools, read, write, session, wrong, none] = await results(scene)
    const names = tools.body.result.tools.map(({ name }: { name: string }) => name)
    expect(names).toContain('list_issues')
    for (const name of ['create_issue', 'post_activity', 'update_session_plan', 'open_agent_session'])
      expect(names).not.toContain(name)
    expect(JSON.stringify(read.body.result)).toContain('Mend the door')
    for (const refused of [write, session]) expect(refused.body.error.message).toMatch(/does not offer/)
    expect([wrong.status, none.status]).toEqual([401, 401])
    expect((await scene.owner.get('/issues')).body.data).toHaveLength(1)

    // The token that was valid at the start has expired.
    await scene.say(sessionId, 'Again.')
    await scene.until(async () => (await scene.prompts()).length === 2)
    await scene.pass(61 * 60_000)
    await writeFile(go, '')
    await scene.inState(sessionId, 'complete')
    expect(JSON.stringify((await results(scene)).at(-1).body.result)).toContain('Mend the door')
  },
)

test(
  '--tools all leaves sessions to the runner, none offers nothing',
  verifies('run.mcp-tools-limited'),
  async ({ app }) => {
    const scene = await runnerScene(app, {
      script: {
        capabilities,
        turns: [[list, ...['post_activity', 'update_session_usage', 'get_agent_session'].map((name) => call(name))]],
      },
      flags: { tools: 'all' },
    })
    const first = await scene.start()
    const { sessionId } = await scene.delegate()
    await scene.inState(sessionId, 'complete')
    const [tools, ...called] = await results(scene)
    const names = tools.body.result.tools.map(({ name }: { name: string }) => name)
    expect(names).toContain('create_issue')
    const aboutSessions = ['get_agent_session', 'get_session_changes', 'list_activities', 'list_agent_sessions']
    expect(names.filter((name: string) => /activit|session/.test(name)).sort()).toEqual(aboutSessions)
    const errors = called.map(({ body }) => body.error?.message ?? '')
    expect(errors.map((message: string) => /does not offer/.test(message))).toEqual([true, true, false])
    await first.stop()
    await scene.start({ tools: 'none' })
    const other = await scene.delegate('Other')
    await scene.inState(other.sessionId, 'complete')
    expect((await results(scene)).at(-1)).toBeNull()
    expect((await scene.received('session/new')).at(-1).mcpServers).toEqual([])
  },
)
