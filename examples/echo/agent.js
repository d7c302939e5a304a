// The smallest agent: it answers with what it was told.
import { createServer } from 'node:http'
import { createAgent, fileTokens } from '@baton/sdk'

const { BATON_URL = '', CLIENT_ID = '', CLIENT_SECRET = '', WEBHOOK_SECRET = '' } = process.env
const { PORT = '4000', TOKENS = './tokens' } = process.env

const agent = createAgent({
  baseUrl: BATON_URL,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  webhookSecret: WEBHOOK_SECRET,
  store: fileTokens(TOKENS),

  // Somebody delegated an issue to us, or mentioned us in a comment.
  async onCreated(session) {
    const { comment, issue, creator } = session.data
    await session.thought(`Listening to ${creator.name}.`)
    return comment ? `You wrote: ${comment.body}` : `You gave me ${issue?.identifier}: ${issue?.title}`
  },

  // Somebody wrote in the session.
  onPrompted: (session) => `You said: ${session.prompt}`,
})

const server = createServer(agent.node)
server.listen(Number(PORT), () => console.log(`Listening on http://localhost:${PORT}/`))

// Asked to end: takes nothing new, and finishes what it is at.
process.once('SIGTERM', async () => {
  server.close()
  await agent.settled()
  process.exit(0)
})
