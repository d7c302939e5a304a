import { expect, vi } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { asApp, connected } from '../../test/oauth.ts'

test(
  'the log of requests names the person or the app, the workspace and the program, and no token',
  verifies('log.names-apps'),
  async ({ startApp }) => {
    const app = await startApp()
    const { id, owner, member } = await app.workspace()
    const { id: otherId } = await app.workspace()
    const robot = await app.installed(owner)
    const editor = await connected(app, member, id)
    const { body: script } = await owner.post('/personal-tokens', { name: 'Script', scopes: ['read'] })
    const logged = vi.spyOn(app.ctx.log, 'info')

    const entryOf = async (call: Promise<unknown>) => {
      logged.mockClear()
      await call
      await vi.waitFor(() => expect(logged).toHaveBeenCalledTimes(1))
      const [[entry] = []] = logged.mock.calls
      const ids = ['user', 'workspace_id', 'app', 'installation_id', 'client']
      return Object.fromEntries(
        Object.entries({ ...(entry as object | undefined) }).filter(([key]) => ids.includes(key)),
      )
    }
    expect(await entryOf(app.anonymous.get('/auth/me'))).toEqual({})
    expect(await entryOf(owner.get('/teams'))).toEqual({ user: owner.user.id, workspace_id: id })
    const byApp = { user: robot.userId, workspace_id: id, app: robot.app.id, installation_id: robot.installationId }
    expect(await entryOf(robot.get('/teams'))).toEqual(byApp)
    expect(await entryOf(robot.get('/no-such-path'))).toEqual(byApp)
    expect(await entryOf(asApp(app, id, editor.access_token).get('/teams'))).toEqual({
      user: member.user.id,
      workspace_id: id,
      client: editor.client_id,
    })
    expect(await entryOf(asApp(app, id, script.token).get('/teams'))).toEqual({
      user: owner.user.id,
      workspace_id: id,
      client: script.personal_token.id,
    })
    // A workspace that the caller only named is not logged as theirs.
    expect(await entryOf(owner.with({ 'x-workspace-id': otherId }).get('/teams'))).toEqual({ user: owner.user.id })
    for (const token of [owner.token, robot.token, editor.access_token, script.token]) {
      expect(JSON.stringify(logged.mock.calls)).not.toContain(token)
    }
  },
)
