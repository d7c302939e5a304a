import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What the model says, and the tool it calls then. Without a call the turn ends. */
export interface Step {
  say: string
  call?: { name: string; input: object }
}

/** Chooses the next step by the user's latest message and the number of tools that have answered since. */
export type Script = (prompt: string, answered: number) => Step

const usage = { input: 1000, output: 50 }

/** A model on loopback that follows a script, for agents that speak OpenAI's chat completions or responses. */
export async function scriptedModel(script: Script) {
  let calls = 0
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}')
    const id = `call_${++calls}`
    if (request.url?.endsWith('/chat/completions')) completeChat(response, body, id, script)
    else if (request.url?.endsWith('/responses')) respond(response, body, id, script)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ object: 'list', data: [] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface ChatMessage {
  role: string
  content: string | { text?: string }[] | null
}

function completeChat(
  response: ServerResponse,
  body: { messages: ChatMessage[]; tools?: object[] },
  id: string,
  script: Script,
) {
  const asked = body.messages.findLastIndex(({ role }) => role === 'user')
  const answered = body.messages.slice(asked).filter(({ role }) => role === 'tool').length
  // A request without tools asks for a title of the conversation.
  const step = body.tools?.length ? script(textOf(body.messages[asked]?.content), answered) : { say: 'A title' }
  const send = (choices: object[], more = {}) =>
    response.write(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: 'm', choices, ...more })}\n\n`)
  response.setHeader('content-type', 'text/event-stream')
  send([{ index: 0, delta: { role: 'assistant', content: step.say } }])
  if (step.call) {
    const call = { name: step.call.name, arguments: JSON.stringify(step.call.input) }
    send([{ index: 0, delta: { tool_calls: [{ index: 0, id, type: 'function', function: call }] } }])
  }
  send([{ index: 0, delta: {}, finish_reason: step.call ? 'tool_calls' : 'stop' }])
  const { input, output } = usage
  send([], { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } })
  response.end('data: [DONE]\n\n')
}

interface ResponseItem {
  type: string
  role?: string
  content?: { text?: string }[]
}

function respond(response: ServerResponse, body: { input: ResponseItem[] }, id: string, script: Script) {
  const asked = body.input.findLastIndex(({ role }) => role === 'user')
  const answered = body.input.slice(asked).filter(({ type }) => type === 'function_call_output').length
  const step = script(textOf(body.input[asked]?.content), answered)
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
  response.setHeader('content-type', 'text/event-stream')
  send('response.created', { response: { id } })
  const content = [{ type: 'output_text', text: step.say }]
  send('response.output_item.done', { item: { type: 'message', role: 'assistant', id: `msg_${id}`, content } })
  if (step.call) {
    const call = { name: step.call.name, arguments: JSON.stringify(step.call.input) }
    send('response.output_item.done', { item: { type: 'function_call', id: `fc_${id}`, call_id: id, ...call } })
  }
  const { input, output } = usage
  const total = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  send('response.completed', { response: { id, usage: total } })
  response.end()
}

const textOf = (content: ChatMessage['content'] | undefined) =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('\n')
