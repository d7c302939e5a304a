import type fc from 'fast-check'
import type { Command } from './command.ts'
import { burst, choose, openInThread, openOnIssue, say, stop, stopByApp, update, write } from './session-commands.ts'
import { approach, list, read, readActivities, tick, wait } from './time-and-reading-commands.ts'
import {
  assign,
  cover,
  create,
  delegate,
  edit,
  hide,
  move,
  remove,
  reply,
  thread,
  uninstall,
  unsay,
  webhook,
} from './tracker-commands.ts'

const often = <T>(times: number, item: T): T[] => Array(times).fill(item)

/** Each as often as it stands here; what ends many things is rare. */
export const commands: fc.Arbitrary<Command>[] = [
  ...often(2, create),
  ...often(7, delegate),
  ...often(5, thread),
  ...often(7, reply),
  ...often(2, edit),
  ...often(6, write),
  ...often(2, choose),
  ...often(4, stop),
  ...often(14, say),
  ...often(4, update),
  ...often(2, openOnIssue),
  ...often(3, openInThread),
  ...often(6, wait),
  ...often(6, approach),
  ...often(4, tick),
  ...often(3, cover),
  ...often(3, move),
  ...often(3, read),
  ...often(3, readActivities),
  ...often(4, list),
  ...often(2, webhook),
  ...[assign, hide, remove, unsay, burst, stopByApp, uninstall],
]
