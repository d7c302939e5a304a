import type fc from 'fast-check'
import type { Command } from './command.ts'
import { burst, choose, openInThread, openOnIssue, post, stop, stopByApp, update, write } from './session-commands.ts'
import { approachDeadline, list, read, readActivities, tick, wait } from './time-and-reading-commands.ts'
import {
  assign,
  cover,
  create,
  delegate,
  deleteComment,
  edit,
  makePersonal,
  move,
  remove,
  reply,
  thread,
  uninstall,
  webhook,
} from './tracker-commands.ts'

const repeat = <T>(times: number, item: T): T[] => Array(times).fill(item)

/** Weighted by repetition; commands that end many sessions are rare. */
export const commands: fc.Arbitrary<Command>[] = [
  ...repeat(4, create),
  ...repeat(14, delegate),
  ...repeat(10, thread),
  ...repeat(14, reply),
  ...repeat(4, edit),
  ...repeat(12, write),
  ...repeat(8, choose),
  ...repeat(7, stop),
  ...repeat(44, post),
  ...repeat(10, update),
  ...repeat(4, openOnIssue),
  ...repeat(6, openInThread),
  ...repeat(14, wait),
  ...repeat(16, approachDeadline),
  ...repeat(8, tick),
  ...repeat(3, cover),
  ...repeat(4, move),
  ...repeat(5, read),
  ...repeat(5, readActivities),
  ...repeat(8, list),
  ...repeat(5, webhook),
  ...repeat(3, assign),
  ...repeat(3, deleteComment),
  ...repeat(2, remove),
  ...repeat(2, burst),
  ...[makePersonal, stopByApp, uninstall],
]
