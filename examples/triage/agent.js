// An agent that asks, acts on the answer, and shows on its plan how far it is.
import { createServer } from 'node:http'
import { createAgent, fileTokens } from '@baton/sdk'

const { BATON_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', WEBHOOK_SECRET = '' } = process.env
const { PORT = '4000', TOKENS = './tokens' } = process.env

/** What people can choose, and what it means for the issue. */
const kinds = {
  bug: { label: 'Something is broken', change: { type: 'bug', priority: 'high' } },
  feature: { label: 'Something is missing', change: { type: 'feature', priority: 'medium' } },
  chore: { label: 'Something has to be done', change: { type: 'task', priority: 'low' } },
}
const steps = ['Ask what it is', 'File the issue', 'Say so in a comment']

/** The plan with this many steps behind us. */
const planAt = (done) =>
  steps.map((content, at) => ({ content, status: at < done ? 'completed' : at === done ? 'inProgress' : 'pending' }))

const ask = (session, question) =>
  session.select(
    question,
    Object.entries(kinds).map(([value, { label }]) => ({ value, label })),
  )

const agent = createAgent({
  baseUrl: BATON_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  store: fileTokens(TOKENS),

  async onCreated(session) {
    await session.setPlan(planAt(0))
    await ask(session, `What is ${session.data.issue?.identifier}?`)
    // The answer comes to onPrompted, perhaps days later and in another process: nothing waits for it here.
  },

  async onPrompted(session) {
    const { issue } = session.data
    // People choose one of the options, or write what they like.
    const answer = session.selected[0] ?? session.prompt.trim().toLowerCase()
    const kind = Object.hasOwn(kinds, answer) ? kinds[answer] : undefined
    if (!kind || !issue) {
      await ask(session, `I know ${Object.keys(kinds).join(', ')}. Which is it?`)
      return
    }
    await session.setPlan(planAt(1))
    const { type, priority } = await session.client.updateIssue({ issue_id: issue.id, ...kind.change })
    await session.action('file', issue.identifier, `${type}, priority ${priority}`)

    await session.setPlan(planAt(2))
    await session.client.createComment({
      target_type: 'issue',
      target_id: issue.id,
      text: `Filed as ${type} with priority ${priority}.`,
    })
    await session.setPlan(planAt(3))
    return `${issue.identifier} is a ${type} with priority ${priority} now.`
  },

  onStop: () => 'Stopped. The issue is as I left it.',
})

const server = createServer(agent.node)
server.listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))

// Asked to end: takes nothing new, and finishes what it is at.
process.once('SIGTERM', async () => {
  server.close()
  await agent.settled()
  process.exit(0)
})
