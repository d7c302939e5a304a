import type { Operation } from '@baton/protocol'
import type { TSchema } from 'typebox'

/** An operation of the API as a tool for language models. */
export interface Tool {
  name: string
  /** For the model: when to use it, its result, and restrictions. */
  description: string
  operation: Operation
  /** The only kind of caller that has this tool; both kinds if unset. */
  for?: 'app' | 'person'
  /** The part of the operation's body that the tool takes; the whole body if unset. */
  body?: TSchema
  /** The body is the bytes of a file, which the tool takes as base64 in `content`. */
  uploads?: true
  /** The result is a file; an image is returned with it. */
  showsFile?: true
}

export const tool = (
  name: string,
  operation: Operation,
  description: string,
  more: Pick<Tool, 'for' | 'body' | 'uploads' | 'showsFile'> = {},
): Tool => ({ name, operation, description, ...more })
