// An agent that speaks ACP as a script says: `node acp-agent.mjs SCRIPT.json`. Uses nothing of Baton.
// Everything it receives, and answers to its own calls, is appended to the script's `log`, one JSON value per line.
import { execSync, spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const script = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const log = (entry) => script.log && appendFileSync(script.log, `${JSON.stringify({ pid: process.pid, ...entry })}\n`)
const write = (line) => process.stdout.write(`${line}\n`)
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
const update = (sessionId, value) => send({ method: 'session/update', params: { sessionId, update: value } })

log({ started: process.cwd(), env: process.env, args: process.argv.slice(3) })

let cancelled = false
let calls = 0
let prompts = script.promptsBefore ?? 0
const answers = new Map()
const sessions = new Set()

function call(method, params) {
  const id = `call-${++calls}`
  send({ id, method, params })
  return new Promise((resolve) => answers.set(id, resolve))
}

const until = async (isTrue) => {
  while (!isTrue()) await sleep(10)
}

/** Returns the result of the prompt when a step ends the turn. */
async function run(steps, sessionId) {
  for (const step of steps) {
    if ('thought' in step)
      update(sessionId, { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: step.thought } })
    if ('say' in step)
      update(sessionId, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: step.say } })
    if ('update' in step) update(sessionId, step.update)
    if ('raw' in step) write(step.raw)
    if ('long' in step) write(`"${'x'.repeat(step.long)}"`)
    if ('stderr' in step) process.stderr.write(`${step.stderr}\n`)
    if ('write' in step) writeFileSync(step.write[0], step.write[1])
    if ('run' in step) {
      try {
        log({ ran: execSync(step.run, { stdio: 'pipe' }).toString() })
      } catch (error) {
        log({ failed: String(error) })
      }
    }
    if ('spawn' in step) {
      const [program, ...args] = step.spawn
      const child = spawn(program, args, { detached: true, stdio: 'ignore' })
      child.unref()
      log({ spawned: child.pid })
    }
    if ('flood' in step) await flood(step.flood, sessionId)
    if ('call' in step)
      log({ answer: await call(step.call.method, { sessionId, ...step.call.params }), method: step.call.method })
    if ('permissions' in step) {
      const asked = step.permissions.map((one) => call('session/request_permission', { sessionId, ...one }))
      for (const answer of await Promise.all(asked)) log({ outcome: answer.result?.outcome })
    }
    if ('permission' in step) {
      const { result } = await call('session/request_permission', { sessionId, ...step.permission })
      log({ outcome: result?.outcome })
      const option = step.permission.options.find(({ optionId }) => optionId === result?.outcome?.optionId)
      const ended = await run(option?.kind.startsWith('allow') ? (step.allowed ?? []) : (step.refused ?? []), sessionId)
      if (ended) return ended
    }
    if ('waitFor' in step) await until(() => existsSync(step.waitFor) || (cancelled && !step.ignoreCancel))
    if ('mcp' in step) log({ mcp: await callTools(step.mcp) })
    if (step.hang) await until(() => false)
    if ('exit' in step) process.exit(step.exit)
    if ('signal' in step) process.kill(process.pid, step.signal)
    if ('error' in step) return { error: step.error }
    if (cancelled && !step.ignoreCancel) return { result: { stopReason: 'cancelled' } }
    if ('stop' in step) return { result: { stopReason: step.stop, ...(step.usage ? { usage: step.usage } : {}) } }
  }
  return null
}

/** Many updates, with pauses, so that the stream is read at the given rate a second. */
async function flood({ count, rate, update: value }, sessionId) {
  for (let sent = 0; sent < count; sent++) {
    update(sessionId, JSON.parse(JSON.stringify(value).replaceAll('{n}', String(sent))))
    if (rate && sent % Math.ceil(rate / 20) === 0) await sleep(50)
    else if (process.stdout.writableLength > 1_000_000)
      await new Promise((resolve) => process.stdout.once('drain', resolve))
  }
}

let mcpServers = []

/** Calls the tools of the client's MCP server, with its headers or others. */
async function callTools({ method, params = {}, headers }) {
  const [server] = mcpServers
  if (!server) return null
  const given = headers ?? Object.fromEntries(server.headers.map(({ name, value }) => [name, value]))
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...given },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return { status: response.status, body: await response.json() }
}

const opened = (extra) => ({
  ...(script.modes ? { modes: script.modes } : {}),
  ...(script.configOptions ? { configOptions: script.configOptions } : {}),
  ...extra,
})

const methods = {
  initialize: () => ({
    result: {
      protocolVersion: script.version ?? 1,
      agentCapabilities: script.capabilities ?? {},
      authMethods: script.authMethods ?? [],
    },
  }),
  'session/new': ({ mcpServers: servers }) => {
    if (script.authRequired) return { error: { code: -32000, message: 'Authentication required' } }
    mcpServers = servers
    const sessionId = `acp-${process.pid}-${sessions.size + 1}`
    sessions.add(sessionId)
    return { result: opened({ sessionId }) }
  },
  'session/load': ({ sessionId, mcpServers: servers }) => {
    if (script.loadFails) return { error: { code: -32002, message: 'No such session' } }
    mcpServers = servers
    for (const value of script.replay ?? []) update(sessionId, value)
    return { result: opened({}) }
  },
  'session/resume': ({ mcpServers: servers }) => {
    if (script.loadFails) return { error: { code: -32002, message: 'No such session' } }
    mcpServers = servers
    return { result: opened({}) }
  },
  'session/set_mode': () => ({ result: {} }),
  'session/set_config_option': () => ({ result: { configOptions: script.configOptions ?? [] } }),
  'session/prompt': async ({ sessionId }) => {
    cancelled = false
    const turns = script.turns ?? [[{ stop: 'end_turn' }]]
    const steps = turns[Math.min(prompts++, turns.length - 1)]
    return (await run(steps, sessionId)) ?? { result: { stopReason: 'end_turn' } }
  },
}

const input = createInterface({ input: process.stdin })
input.on('line', async (line) => {
  const message = JSON.parse(line)
  log({ received: message })
  const { id, method, params } = message
  if (method === 'session/cancel') cancelled = true
  else if (method === undefined) answers.get(id)?.(message)
  else if (id !== undefined && !(script.silent ?? []).includes(method))
    send({ id, ...(await methods[method](params ?? {})) })
})
input.on('close', () => {
  if (!script.ignoreEnd) process.exit(0)
})
if (script.ignoreEnd) setInterval(() => {}, 1000)
if (script.ignoreSignals) for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => {})
