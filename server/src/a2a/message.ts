import type { Message, Part, SendMessageRequest } from '@a2a-js/sdk'
import type { AgentSession } from '@baton/protocol'
import { uuidOf } from '../ids.ts'

/** The parts of a recorded AgentSessionEvent that an A2A message needs. */
export interface SessionEvent {
  action: 'created' | 'prompted'
  data: {
    agent_session: AgentSession
    prompt_context?: string
    agent_activity?: { seq: number; content: { body: string }; signal: string | null }
  }
}

export const isStop = ({ data }: SessionEvent) => data.agent_activity?.signal === 'stop'

/** Where a message belongs: a task that needs input, a context, or neither. */
export interface Place {
  contextId: string | null
  /** The task that asked, if any. */
  taskId: string | null
  /** The task before, which has ended. */
  previousTaskId: string | null
}

export const newContext: Place = { contextId: null, taskId: null, previousTaskId: null }

const text = (value: string): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType: '',
})
/** ROLE_USER. A value of the library would load it. */
const roleUser = 1

/** The texts of a message: what the person asks, and for a new session its context. */
export function textsOf({ data }: SessionEvent, description: string | null): string[] {
  const { agent_session: session, prompt_context, agent_activity } = data
  if (agent_activity) return [agent_activity.content.body]
  const { comment, issue } = session
  const ask = comment ? comment.body : issue ? `${issue.identifier} ${issue.title}` : 'You were asked to help.'
  return [!comment && description ? `${ask}\n\n${description}` : ask, ...(prompt_context ? [prompt_context] : [])]
}

export function messageOf(deliveryId: string, event: SessionEvent, texts: string[], place: Place): Message {
  const { id, issue, creator } = event.data.agent_session
  return {
    // The same in each attempt.
    messageId: uuidOf(deliveryId),
    contextId: place.contextId ?? '',
    taskId: place.taskId ?? '',
    role: roleUser,
    parts: texts.map(text),
    metadata: { baton: { session_id: id, issue, creator } },
    extensions: [],
    referenceTaskIds: place.taskId === null && place.previousTaskId !== null ? [place.previousTaskId] : [],
  }
}

export const requestOf = (message: Message, tenant: string): SendMessageRequest => ({
  tenant,
  message,
  configuration: {
    acceptedOutputModes: ['text/plain', 'application/json'],
    taskPushNotificationConfig: undefined,
    returnImmediately: true,
  },
  metadata: undefined,
})
