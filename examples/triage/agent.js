// An agent that asks a question, acts on the answer, and shows its progress in a plan.
import { createServer } from 'node:http'
import { createAgent, envTokens, fileTokens } from '@baton/sdk'

const { BATON_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', WEBHOOK_SECRET = '' } = process.env
const { PORT = '4000', TOKENS = './tokens' } = process.env

/** The choices, and the change of the issue that each causes. */
const kinds = {
  bug: { label: 'Something is broken', change: { type: 'bug', priority: 'high' } },
  feature: { label: 'Something is missing', change: { type: 'feature', priority: 'medium' } },
  chore: { label: 'Routine work', change: { type: 'task', priority: 'low' } },
}
const steps = ['Ask what kind it is', 'Classify the issue', 'Write a comment']

/** The plan with this many completed steps. */
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
  store: envTokens(fileTokens(TOKENS)),

  async onCreated(session) {
    await session.setPlan(planAt(0))
    await ask(session, `What kind of issue is ${session.data.issue?.identifier}?`)
    // Does not wait: the answer arrives at onPrompted, perhaps days later and in another process.
  },

  async onPrompted(session) {
    const { issue } = session.data
    // People choose an option or write a free text.
    const answer = session.selected[0] ?? session.prompt.trim().toLowerCase()
    const kind = Object.hasOwn(kinds, answer) ? kinds[answer] : undefined
    if (!kind || !issue) {
      await ask(session, `Please choose one of: ${Object.keys(kinds).join(', ')}.`)
      return
    }
    await session.setPlan(planAt(1))
    const { type, priority } = await session.client.updateIssue({ issue_id: issue.id, ...kind.change })
    await session.action('classify', issue.identifier, `${type}, priority ${priority}`)

    await session.setPlan(planAt(2))
    await session.client.createComment({
      target_type: 'issue',
      target_id: issue.id,
      text: `Classified as ${type} with priority ${priority}.`,
    })
    await session.setPlan(planAt(3))
    return `${issue.identifier} is now a ${type} with priority ${priority}.`
  },

  onStop: () => 'Stopped. Changes made so far remain.',
})

const server = createServer(agent.node)
server.listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))

// Graceful shutdown: accepts no new requests and finishes running work.
process.once('SIGTERM', async () => {
  server.close()
  await agent.settled()
  process.exit(0)
})
