import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as old from 'a2a-sdk-0.3/server'
import * as oldExpress from 'a2a-sdk-0.3/server/express'
import { AgentCard, Role, TaskState } from 'a2a-sdk-1.3'
import * as current from 'a2a-sdk-1.3/server'
import * as currentExpress from 'a2a-sdk-1.3/server/express'
import express from 'express'
import { afterEach, describe, expect } from 'vitest'
import { a2aScene, eventually, inWords } from '../server/test/a2a.ts'
import { test, verifies } from '../server/test/harness.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

type Binding = 'JSONRPC' | 'HTTP+JSON'

/** What the agent does, in the words of the protocol; each library has its own values for it. */
interface Bus {
  task(state: string): void
  status(state: string, text: string): void
  artifact(name: string, text: string): void
  finished(): void
}

/** Asks which door, fixes the one that is named, and works without an end on a door that is stuck. */
function work(text: string, isAnswer: boolean, bus: Bus) {
  if (isAnswer) {
    bus.task('working')
    bus.status('working', 'Oiling.')
    bus.artifact('Report', `Oiled ${text}`)
    bus.status('completed', `Fixed: ${text}`)
    return bus.finished()
  }
  bus.task('submitted')
  if (text.includes('stuck')) return bus.status('working', 'Pulling.')
  bus.status('input-required', 'Which door?')
  bus.finished()
}

async function listening(mount: (app: ReturnType<typeof express>, origin: string) => void): Promise<string> {
  const app = express()
  const server = createServer(app)
  servers.push(server)
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`
  mount(app, origin)
  return origin
}

const skills = [{ id: 'doors', name: 'Doors', description: 'Fixes doors', tags: ['doors'], examples: [] }]
const common = {
  name: 'Doorman',
  description: 'Fixes doors.',
  version: '2.0.0',
  capabilities: { streaming: true, pushNotifications: false },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
}

const currentStates: Record<string, TaskState> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  canceled: TaskState.TASK_STATE_CANCELED,
}

const serveCurrent = (binding: Binding, streaming: boolean) =>
  listening((app, origin) => {
    const part = (value: string) => ({
      content: { $case: 'text' as const, value },
      metadata: undefined,
      filename: '',
      mediaType: '',
    })
    const busOf = (eventBus: current.ExecutionEventBus, taskId: string, contextId: string): Bus => {
      const status = (state: string, text?: string) => ({
        state: currentStates[state] as TaskState,
        timestamp: new Date().toISOString(),
        message: text
          ? {
              messageId: crypto.randomUUID(),
              contextId,
              taskId,
              role: Role.ROLE_AGENT,
              parts: [part(text)],
              metadata: undefined,
              extensions: [],
              referenceTaskIds: [],
            }
          : undefined,
      })
      return {
        task: (state) =>
          eventBus.publish(
            current.AgentEvent.task({
              id: taskId,
              contextId,
              status: status(state),
              artifacts: [],
              history: [],
              metadata: undefined,
            }),
          ),
        status: (state, text) =>
          eventBus.publish(
            current.AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }),
          ),
        artifact: (name, text) =>
          eventBus.publish(
            current.AgentEvent.artifactUpdate({
              taskId,
              contextId,
              artifact: {
                artifactId: name,
                name,
                description: '',
                parts: [part(text)],
                metadata: undefined,
                extensions: [],
              },
              append: false,
              lastChunk: true,
              metadata: undefined,
            }),
          ),
        finished: () => eventBus.finished(),
      }
    }
    const contexts = new Map<string, string>()
    const executor: current.AgentExecutor = {
      execute: async ({ userMessage, taskId, contextId, task }, eventBus) => {
        contexts.set(taskId, contextId)
        const { content } = userMessage.parts[0] ?? {}
        work(content?.$case === 'text' ? content.value : '', Boolean(task), busOf(eventBus, taskId, contextId))
      },
      cancelTask: async (taskId, eventBus) => {
        const bus = busOf(eventBus, taskId, contexts.get(taskId) ?? '')
        bus.status('canceled', 'Let go.')
        bus.finished()
      },
    }
    const card = AgentCard.fromJSON({
      ...common,
      capabilities: { ...common.capabilities, streaming },
      skills,
      supportedInterfaces: [{ url: `${origin}/a2a`, protocolBinding: binding, protocolVersion: '1.0' }],
    })
    const requestHandler = new current.DefaultRequestHandler(card, new current.InMemoryTaskStore(), executor)
    const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } = currentExpress
    const userBuilder = UserBuilder.noAuthentication
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
    app.use('/a2a', (binding === 'JSONRPC' ? jsonRpcHandler : restHandler)({ requestHandler, userBuilder }))
  })

const serveOld = (binding: Binding, streaming: boolean) =>
  listening((app, origin) => {
    const busOf = (eventBus: old.ExecutionEventBus, taskId: string, contextId: string): Bus => {
      const status = (state: string, text?: string) => ({
        state: state as 'working',
        timestamp: new Date().toISOString(),
        ...(text
          ? {
              message: {
                kind: 'message' as const,
                messageId: crypto.randomUUID(),
                role: 'agent' as const,
                parts: [{ kind: 'text' as const, text }],
                taskId,
                contextId,
              },
            }
          : {}),
      })
      const isFinal = (state: string) => ['completed', 'canceled', 'input-required'].includes(state)
      return {
        task: (state) => eventBus.publish({ kind: 'task', id: taskId, contextId, status: status(state) }),
        status: (state, text) =>
          eventBus.publish({
            kind: 'status-update',
            taskId,
            contextId,
            status: status(state, text),
            final: isFinal(state),
          }),
        artifact: (name, text) =>
          eventBus.publish({
            kind: 'artifact-update',
            taskId,
            contextId,
            artifact: { artifactId: name, name, parts: [{ kind: 'text', text }] },
            append: false,
            lastChunk: true,
          }),
        finished: () => eventBus.finished(),
      }
    }
    const contexts = new Map<string, string>()
    const executor: old.AgentExecutor = {
      execute: async ({ userMessage, taskId, contextId, task }, eventBus) => {
        contexts.set(taskId, contextId)
        const [part] = userMessage.parts
        work(part?.kind === 'text' ? part.text : '', Boolean(task), busOf(eventBus, taskId, contextId))
      },
      cancelTask: async (taskId, eventBus) => {
        const bus = busOf(eventBus, taskId, contexts.get(taskId) ?? '')
        bus.status('canceled', 'Let go.')
        bus.finished()
      },
    }
    const card = {
      ...common,
      capabilities: { ...common.capabilities, streaming },
      skills,
      protocolVersion: '0.3.0',
      url: `${origin}/a2a`,
      preferredTransport: binding,
    }
    const requestHandler = new old.DefaultRequestHandler(card, new old.InMemoryTaskStore(), executor)
    const { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } = oldExpress
    const userBuilder = UserBuilder.noAuthentication
    app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }))
    app.use('/a2a', (binding === 'JSONRPC' ? jsonRpcHandler : restHandler)({ requestHandler, userBuilder }))
  })

const versions = [
  ['1.3', 'JSONRPC', true, serveCurrent],
  ['1.3', 'HTTP+JSON', true, serveCurrent],
  ['1.3', 'JSONRPC', false, serveCurrent],
  ['0.3.14', 'JSONRPC', true, serveOld],
  ['0.3.14', 'HTTP+JSON', true, serveOld],
  ['0.3.14', 'JSONRPC', false, serveOld],
] as const

describe.each(versions)('a server of @a2a-js/sdk %s over %s, streaming %s', (_, binding, streaming, serve) => {
  test('is registered, asks, answers and stops', verifies('a2a.versions'), async ({ app }) => {
    const origin = await serve(binding, streaming)
    const scene = await a2aScene(app, { origin })
    expect(scene.app.a2a).toMatchObject({ interface: { binding }, card: { name: 'Doorman', streaming } })
    // Polls of an agent without streaming are due with the clock of the service.
    const shows = (session: Awaited<ReturnType<typeof scene.delegated>>, ...expected: string[]) =>
      eventually(async () => {
        app.clock.advance({ seconds: 2 })
        const all = await session.activities()
        expect(all.filter(({ author, ephemeral }) => author.kind === 'app' && !ephemeral).map(inWords)).toEqual(
          expected,
        )
      })

    const session = await scene.delegated()
    await app.deliver()
    await shows(session, 'elicitation Which door?')
    await eventually(async () => expect((await scene.tasks())[0]?.state).toBe('input_required'))
    await session.write('The front door')
    await app.deliver()
    await shows(
      session,
      'elicitation Which door?',
      'action Artifact Report Oiled The front door',
      'response Fixed: The front door',
    )
    await eventually(async () => expect(await scene.tasks()).toMatchObject([{ state: 'completed' }]))

    const stuck = await scene.delegated({ title: 'The door is stuck' })
    await app.deliver()
    await eventually(async () => {
      app.clock.advance({ seconds: 2 })
      expect((await stuck.activities()).map(inWords)).toContain('thought Pulling.')
    })
    await stuck.stop()
    await app.deliver()
    await shows(stuck, 'response Stopped.')
    expect(await stuck.get()).toMatchObject({ end_reason: 'stopped' })
  })
})
