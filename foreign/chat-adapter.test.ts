import { createRequire } from 'node:module'
import { createLinearAdapter } from '@chat-adapter/linear'
import { createMemoryState } from '@chat-adapter/state-memory'
import { Chat, type Thread } from 'chat'
import { expect } from 'vitest'
import { sql } from '../server/src/db/sql.ts'
import { idOf } from '../server/src/linear-shape/ids.ts'
import { type TestApp, test, verifies } from '../server/test/harness.ts'
import { installedLinearApp } from '../server/test/linear.ts'
import type { Received, Receiver } from '../server/test/receiver.ts'

type Answer = (thread: Thread) => Promise<unknown>

/** A bot whose token requests, which go to Linear's fixed address, are led to Baton as by `baton linear`. */
async function scene(app: TestApp, receiver: Receiver, answer: Answer) {
  // The library compares the time of a delivery with the real one.
  app.clock.advance({ milliseconds: Date.now() - app.clock.now().getTime() })
  process.env.BATON_LINEAR_URL = app.rootUrl
  createRequire(import.meta.url)('../cli/bin/linear-preload.cjs')
  const { owner, member } = await app.workspace()
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const issue = (await member.post('/issues', { title: 'Fix the door', team_id: team.id })).body
  const robot = await installedLinearApp(app, owner, { receiver })
  const adapter = createLinearAdapter({
    clientCredentials: { clientId: robot.client_id, clientSecret: robot.client_secret },
    webhookSecret: robot.webhook_secret,
    mode: 'agent-sessions',
    apiUrl: `${app.rootUrl}/linear/graphql`,
  } as never)
  const bot = new Chat({
    userName: 'robot',
    adapters: { linear: adapter },
    state: createMemoryState(),
    logger: 'silent',
  })
  bot.onNewMention(answer as never)
  const receive = async ({ raw, headers }: Received) => {
    const work: Promise<unknown>[] = []
    const request = new Request('https://bot.example.com/hook', {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: raw.toString(),
    })
    const response = await bot.webhooks.linear(request, { waitUntil: (task: Promise<unknown>) => void work.push(task) })
    expect(response.status).toBe(200)
    await Promise.all(work)
  }
  const mention = async () => {
    await app.deliver()
    receiver.take()
    await member.post('/comments', {
      target_type: 'issue',
      target_id: issue.id,
      text: `@[Robot](${idOf('usr', robot.viewerId)}) look`,
    })
    await app.deliver()
    for (const delivery of receiver.take()) await receive(delivery)
    const [session] = (await owner.get('/agent-sessions')).body.data
    const { data } = (await owner.get(`/agent-sessions/${session.id}/activities`)).body
    return { session, activities: data as { type: string; content: { body?: string } }[] }
  }
  return { app, adapter, mention, robot }
}

test(
  'the adapter for Linear answers a mention',
  verifies('linear.chat-adapter-mention', 'linear.oauth-adapter-one-token'),
  async ({ app, receiver }) => {
    const read: string[] = []
    const { mention } = await scene(app, receiver, async (thread) => {
      await thread.startTyping()
      const sent = await thread.post('On it.')
      read.push(sent.text)
      for await (const message of thread.allMessages) read.push(message.text)
    })
    const { session, activities } = await mention()
    expect(activities.at(-1)).toMatchObject({ type: 'response', content: { body: 'On it.' } })
    expect(session.state).toBe('complete')
    expect(read[0]).toBe('On it.')
    const tokens = await app.ctx.db.rows(sql`
    select t.hash from access_tokens t join grants g on g.id = t.grant_id where g.by_secret`)
    expect(tokens).toHaveLength(1)
  },
)

test('the adapter for Linear streams an answer', verifies('linear.chat-adapter-stream'), async ({ app, receiver }) => {
  const { mention } = await scene(app, receiver, async (thread) => {
    await thread.post(
      (async function* () {
        yield 'First part.\n\n'
        yield { type: 'task_update' as const, id: '1', title: 'Search', status: 'complete' as const, output: 'found' }
      })() as never,
    )
  })
  const { session, activities } = await mention()
  expect(activities.at(-1)).toMatchObject({ type: 'response', content: { body: 'Done.' } })
  expect(session.state).toBe('complete')
})
