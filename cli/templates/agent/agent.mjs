import { createServer } from 'node:http'
import { createAgent, fileTokens } from '@baton/sdk'

const { BATON_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', WEBHOOK_SECRET = '', TOKENS = './tokens' } = process.env
const PORT = Number(process.env.PORT ?? 4000)

const agent = createAgent({
  baseUrl: BATON_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  store: fileTokens(TOKENS),

  // Somebody delegated an issue to the agent, or mentioned it. What you return is its answer.
  async onCreated(session) {
    await session.thought('Reading the issue.')
    await session.action('read', session.data.issue?.identifier ?? 'the conversation')
    return `It says: ${session.data.issue?.title ?? session.prompt}`
  },

  // Somebody wrote in the session, perhaps days later.
  onPrompted: (session) => `You said: ${session.prompt}`,
})

const server = createServer((request, response) => agent.node(request, response))
server.listen(PORT, '127.0.0.1', () => console.log(`{{name}} listens on http://localhost:${PORT}`))

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close()
    await agent.settled()
    process.exit(0)
  })
}
