// The smallest agent: it answers with the text it received.
import { createServer } from 'node:http'
import { createAgent, envTokens, fileTokens } from '@baton/sdk'

const { BATON_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', WEBHOOK_SECRET = '' } = process.env
const { PORT = '4000', TOKENS = './tokens' } = process.env

const agent = createAgent({
  baseUrl: BATON_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  store: envTokens(fileTokens(TOKENS)),

  // A person delegated an issue to the agent or mentioned it in a comment.
  async onCreated(session) {
    const { comment, issue, creator } = session.data
    await session.thought(`Listening to ${creator.name}.`)
    return comment ? `You wrote: ${comment.body}` : `You delegated ${issue?.identifier}: ${issue?.title}`
  },

  // A person wrote in the session.
  onPrompted: (session) => `You said: ${session.prompt}`,
})

const server = createServer(agent.node)
server.listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))

// Graceful shutdown: accepts no new requests and finishes running work.
process.once('SIGTERM', async () => {
  server.close()
  await agent.settled()
  process.exit(0)
})
