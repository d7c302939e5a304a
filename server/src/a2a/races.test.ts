import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { a2aScene, eventually } from '../../test/a2a.ts'
import { A2aServer, task } from '../../test/a2a-server.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { collide } from '../../test/races.ts'
import { sql } from '../db/sql.ts'
import { A2aRunner } from './runner.ts'

let server: A2aServer
beforeAll(async () => {
  server = await A2aServer.start()
})
beforeEach(() => {
  server.reset()
  server.card = { capabilities: { streaming: false } }
})
afterAll(() => server.stop())

test(
  'workers send each message once, and one of them follows each task after the others died',
  verifiesOnPostgres('a2a.worker-dies'),
  async ({ startApp }) => {
    const app = await startApp()
    const second = await startApp({}, app)
    const scene = await a2aScene(app, server)
    server.on.SendMessage = (call) => call.reply({ task: task(call.params.message.messageId, 'WORKING') })
    const sessions = await Promise.all(Array.from({ length: 10 }, () => scene.delegated()))
    await Promise.all([app.deliver(), second.deliver()])
    await eventually(async () => {
      await Promise.all([app.deliver(), second.deliver()])
      expect((await scene.deliveries()).map(({ status }) => status)).toEqual(Array(10).fill('succeeded'))
    })
    expect(server.of('SendMessage')).toHaveLength(10)
    await eventually(async () => expect((await scene.tasks()).map(({ state }) => state)).toContain('working'))

    await Promise.all([app.a2a.kill(), second.a2a.kill()])
    server.calls.length = 0
    server.on.GetTask = (call) => call.reply(task(call.params.id, 'COMPLETED', 'Done.'))
    app.clock.advance({ seconds: 31 })
    const others = Array.from({ length: 4 }, () => new A2aRunner(app.ctx, app.door))
    await Promise.all(others.map((runner) => runner.renew()))
    await eventually(async () => {
      app.clock.advance({ seconds: 2 })
      expect((await scene.tasks()).map(({ state }) => state)).toEqual(Array(10).fill('completed'))
    })
    const asked = server.of('GetTask').map(({ params }) => params.id)
    expect(asked.toSorted()).toEqual((await scene.tasks()).map(({ task_id }) => task_id).toSorted())
    for (const session of sessions) await session.shows('response Done.')
    await Promise.all(others.map((runner) => runner.kill()))
  },
)

test(
  'messages of one session that are due at once are sent one after the other, in order',
  verifiesOnPostgres('a2a.message-waits'),
  async ({ startApp }) => {
    const app = await startApp()
    const scene = await a2aScene(app, server)
    server.on.SendMessage = (call) => call.reply({ task: task('t0', 'INPUT_REQUIRED', 'Which door?') })
    const session = await scene.delegated()
    await app.deliver()
    await eventually(async () => expect((await scene.tasks())[0]?.state).toBe('input_required'))
    let [sending, most] = [0, 0]
    server.on.SendMessage = (call) => {
      most = Math.max(most, ++sending)
      setImmediate(() => {
        sending -= 1
        call.reply({ task: task(call.params.message.messageId, 'COMPLETED', 'Done.') })
      })
    }
    const texts = ['One', 'Two', 'Three', 'Four', 'Five', 'Six']
    for (const text of texts) await session.write(text)
    const lock = sql`select 1 from a2a_sessions where session_id = ${session.id} for update`
    await collide(app, lock, () => [app.deliver()])
    await eventually(async () => {
      await app.deliver()
      expect(server.of('SendMessage')).toHaveLength(1 + texts.length)
    })
    const sent = server.of('SendMessage').map((call) => call.params.message.parts[0].text)
    expect(sent.slice(1)).toEqual(texts)
    expect(most).toBe(1)
  },
)
