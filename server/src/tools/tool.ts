import type { Operation } from '@baton/protocol'
import type { TSchema } from 'typebox'

/** An operation of the API as something that a model can do. */
export interface Tool {
  name: string
  /** For the model: when to use it, what comes back, what to mind. */
  description: string
  operation: Operation
  /** Whose tool it is, where not everybody's. */
  for?: 'app' | 'person'
  /** The part of the operation's body that the tool is about, where that takes more. */
  body?: TSchema
}

export const tool = (
  name: string,
  operation: Operation,
  description: string,
  more: Pick<Tool, 'for' | 'body'> = {},
): Tool => ({ name, operation, description, ...more })
